"""What plan and apply say besides, case by case."""

from __future__ import annotations

import pytest

from migrate.apply import Failed, Made, NotTried, Outcome
from migrate.livejob import LiveJob
from migrate.plan import Create, Delete, Scope, diff
from migrate.problems import Refused
from migrate.report.changes import monthly_cost, next_runs, plan_text, remarks
from migrate.report.outcomes import outcome_text, result_text
from tests.migrate.live.world import NOW, PARENT, job, ours


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"schedule": "0 9 * * 1"}, "2026-03-09 08:00 UTC, 2026-03-16 08:00 UTC"),
        ({"schedule": "every 5 minutes"}, "5 min after the end of each run"),
        ({"schedule": "0 0 30 2 *"}, "never"),
        ({"schedule": "when it suits"}, "a schedule that only Google can read"),
        ({"timeZone": "Mars/Base"}, "a schedule that only Google can read"),
    ],
)
def test_next_runs_are_told_or_why_not(fields, words):
    assert next_runs(job("a", **fields), NOW, 2).words() == words


@pytest.mark.parametrize(
    ("jobs", "dollars"), [(0, 0), (3, 0), (4, 0.1), (250, 24.7), (5000, 499.7)]
)
def test_three_jobs_are_free_and_ten_cents_each_the_others(jobs, dollars):
    assert monthly_cost(jobs) == dollars


def test_a_deletion_says_where_and_in_what_state():
    disabled = LiveJob({**ours("a"), "state": "DISABLED"})
    where, state = remarks(Delete(disabled), NOW)
    assert where == "in europe-west1"
    assert state.startswith("disabled by Google")


def test_a_finish_says_that_it_stays_paused():
    begun = ours("a")
    begun["appEngineHttpTarget"]["headers"]["X-Cron-Unborn"] = "x"
    plan = diff([ours("a")], [LiveJob({**begun, "state": "PAUSED"})], Scope(PARENT))
    text = "\n".join(line.plain for line in plan_text(plan, NOW))
    assert "1 to finish, 0 unchanged" in text
    assert "its paused creation was broken off: finished, and left paused" in text


def test_an_outcome_says_what_was_not_done_and_why():
    changes = [Create(ours(id_)) for id_ in "abc"]
    results = (
        Made(changes[0]),
        Failed(changes[1], Refused("no")),
        NotTried(changes[2], "stopped before it"),
    )
    lines = [line.plain for line in outcome_text(Outcome(results), stopped=True)]
    assert lines == [
        "Stopped: 1 of 3 changes made.",
        "  not done: create b: no",
        "  not done: create c: stopped before it",
        "Run it again: it goes on from what is there.",
    ]
    assert result_text(results[1], 2, 10).plain == "[ 2/10] FAILED  create b: no"


def test_many_strangers_are_counted():
    live = [LiveJob(job(f"s{n:02}")) for n in range(12)]
    text = "\n".join(
        line.plain for line in plan_text(diff([], live, Scope(PARENT)), NOW)
    )
    assert (
        "Not ours, left alone: s00, s01, s02, s03, s04, s05, s06, s07 and 4 more"
        in text
    )
