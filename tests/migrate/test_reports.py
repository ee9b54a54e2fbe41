"""What prove, next, explain and translate print, line by line."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from cronspec.config import load_cron
from migrate.choices import EntryChoices, Home, Intervals, Schedules, ToHttp
from migrate.notes import note
from migrate.report import coming, explanation, proof, translation
from migrate.report.words import Status, duration, status, verdict_json
from migrate.translate import RouteVerdict, Translation, translate
from migrate.verdict import (
    Divergence,
    Divergent,
    RetryDivergent,
    Side,
    Unfixed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.text import Text

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MARCH = datetime(2027, 3, 14, 10, 0, tzinfo=UTC)


def made(fields: str, choices: EntryChoices | None = None) -> Translation:
    file = load_cron(f"cron:\n- url: /t/a\n{fields}", "cron.yaml")
    assert not file.faults
    home, chosen = Home("demo", "us-central1"), choices or EntryChoices()
    return translate(file.entries, (), home, lambda _e, _r: chosen, NOW)[0]


def plain(lines: Iterable[Text]) -> str:
    return "\n".join(line.plain for line in lines)


DAILY = "  schedule: every day 09:00\n  timezone: America/New_York\n"


# --- prove ------------------------------------------------------------------------


def test_a_proof_shows_the_instants_at_which_schedules_part() -> None:
    parted = Divergent(
        (Divergence(MARCH, Side.AFTER), Divergence(MARCH, Side.BEFORE)),
    )
    shown = plain(proof.as_text([replace(made(DAILY), schedule=parted)]))
    assert "differs, first at:" in shown
    assert "Sun 2027-03-14 06:00 -04:00 (2027-03-14 10:00 UTC): only then" in shown
    assert "Sun 2027-03-14 06:00 -04:00 (2027-03-14 10:00 UTC): only today" in shown
    assert shown.endswith("0 of 1 entries do what they do today; 1 do not")


def test_a_proof_shows_both_time_lines_of_retries_that_part() -> None:
    second = timedelta(seconds=1)
    parted = RetryDivergent((second,), tuple(second * n for n in range(1, 7)))
    shown = plain(proof.as_text([replace(made(DAILY), retry=parted)]))
    assert "retries   today after 1 s\n" in shown
    assert "then  after 1 s, 2 s, 3 s, 4 s, 5 s, 6 s, …" in shown


def test_a_proof_shows_both_services_of_routes_that_part() -> None:
    parted = replace(made(DAILY), route=RouteVerdict("a", "b"))
    assert "route     differs: a today, b then" in plain(proof.as_text([parted]))
    assert proof.diverges(parted)


def test_a_proof_says_what_cannot_be_proven() -> None:
    unknown = replace(made(DAILY), schedule=Unfixed("nobody knows"))
    assert "not provable: nobody knows" in plain(proof.as_text([unknown]))
    assert not proof.diverges(unknown)


def test_a_proof_shows_the_line_of_equal_retries() -> None:
    block = "  retry_parameters: {job_retry_limit: 2, min_backoff_seconds: 10}\n"
    shown = plain(proof.as_text([made(DAILY + block)]))
    assert "retries   equal: after 10 s, 30 s" in shown
    assert "retries   equal: none" in plain(proof.as_text([made(DAILY)]))


def test_a_blocked_entry_diverges_and_an_accepted_loss_does_not() -> None:
    five = "  schedule: every 5 minutes\n"
    blocked = made(five, EntryChoices(Schedules.UNIX))
    lost = made(five, EntryChoices(intervals=Intervals.CLOCK))
    accepted = replace(lost, accept=frozenset({"interval-to-clock"}))
    assert proof.diverges(blocked)
    assert proof.diverges(lost)
    assert not proof.diverges(accepted)
    assert "(no job)" in plain(proof.as_text([blocked]))
    assert "loss interval-to-clock" in plain(proof.as_text([lost]))
    told = proof.as_json([blocked, accepted])["entries"]
    assert [one["diverges"] for one in told] == [True, False]


# --- next ---------------------------------------------------------------------------


def test_the_next_runs_stand_in_the_zone_and_in_utc_and_minutes_are_shared() -> None:
    file = load_cron(
        "cron:\n"
        + "".join(
            f"- {{url: /{name}, schedule: every day 09:00, timezone: {zone}}}\n"
            for name, zone in (("a", "UTC"), ("b", "UTC"), ("c", "Europe/London"))
        )
        + "- {url: /d, schedule: every 5 minutes}\n",
        "cron.yaml",
    )
    found = coming.coming(file.entries, NOW, 1, None)
    shown = plain(coming.as_text(found))
    assert "  Tue 2026-12-01 09:00 +00:00  2026-12-01 09:00 UTC\n" in shown  # London
    assert "  5 min after the end of each run: no fixed times\n" in shown
    assert "Many at once\n  2026-12-01 09:00 UTC: 3 entries: /a, /b, /c" in shown
    told = coming.as_json(found)
    assert len(told["clashes"]) == 1
    assert told["entries"][3]["why_none"] is not None
    json.dumps(told)


def test_a_span_without_a_run_is_said_to_have_none() -> None:
    file = load_cron("cron:\n- {url: /a, schedule: every day 09:00}\n", "cron.yaml")
    found = coming.coming(file.entries, NOW, 5, NOW + timedelta(hours=1))
    assert "none in this span" in plain(coming.as_text(found))
    until = coming.coming(file.entries, NOW, 5, NOW + timedelta(days=2))
    assert len(until[0].ticks) == 2


# --- explain ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "zone", "twin"),
    [
        ("every day 09:00", "UTC", "twin   '0 9 * * *' in unix-cron, proven equal"),
        ("*/5 10-13 * * *", "UTC", "in groc, proven equal"),
        ("every 5 minutes", "UTC", "twin   none in unix-cron: it is counted"),
        ("0 9 1 * 1", "UTC", "twin   none in groc: groc cannot say this"),
        ("1st monday 09:00", "UTC", "twin   none in unix-cron: unix-cron cannot"),
        ("every day 02:30", "Europe/Rome", "ticks alike on ordinary days only: 02:30"),
    ],
)
def test_an_explanation_ends_with_the_twin_or_why_there_is_none(
    text: str, zone: str, twin: str
) -> None:
    schedule = explanation.read(text)
    one = explanation.explanation(text, zone, NOW, 2)
    shown = plain(explanation.as_text(one, schedule))
    assert twin in shown.splitlines()[-1]
    told = explanation.as_json(one, schedule)
    assert told["twin_is_equal"] == ("proven equal" in shown)
    assert (told["why_no_twin"] is None) == ("proven equal" in shown)


def test_an_explanation_of_an_interval_says_its_period_and_its_dialect() -> None:
    text = "Every 2 hours on mon"
    schedule = explanation.read(text)
    one = explanation.explanation(text, "Europe/Rome", NOW, 3)
    shown = plain(explanation.as_text(one, schedule))
    assert "next   2 h after the last run's end" in shown
    assert shown.count("note   ") == 2
    assert explanation.as_json(one, schedule)["period_seconds"] == 7200


def test_the_next_runs_of_an_explanation_stand_in_utc_besides() -> None:
    one = explanation.explanation("every day 09:00", "Europe/Rome", NOW, 2)
    shown = plain(explanation.as_text(one, explanation.read("every day 09:00")))
    assert "next   Tue 2026-12-01 09:00 +01:00  2026-12-01 08:00 UTC\n" in shown
    assert "       Wed 2026-12-02 09:00 +01:00  2026-12-02 08:00 UTC\n" in shown


# --- translate ------------------------------------------------------------------------


def test_a_decision_names_its_options_and_the_others_have_a_line_each() -> None:
    five = "  schedule: every 5 minutes\n"
    blocked = made(five, EntryChoices(Schedules.UNIX))
    lost = made(five, EntryChoices(intervals=Intervals.CLOCK))
    accepted = replace(lost, accept=frozenset({"interval-to-clock"}))
    http = ToHttp("https://w.a.run.app", "cron@demo.iam.gserviceaccount.com", "aud")
    others = [
        made(DAILY),
        made(DAILY + "  target: worker:v2\n"),
        made(DAILY, EntryChoices(destination=http)),
        accepted,
    ]
    everywhere = note("cron-header-gone", "it is gone", None)
    shown = plain(
        translation.as_text(
            [blocked, lost, *others], [everywhere], Home(None, "us-central1")
        )
    )
    assert shown.startswith("6 entries, 5 jobs: 1 equal, 2 noted, 2 lost, 1 blocked\n")
    assert "Job names hold placeholders: give --project.\n" in shown
    assert "settled by: --intervals clock\n" in shown
    assert "settled by: --accept interval-to-clock, or --intervals keep\n" in shown
    assert "  to worker version v2  [version-pinned]" in shown
    assert "  to https://w.a.run.app/t/a  [http-target]" in shown
    assert "interval-to-clock (accepted): " in shown
    assert "cron-header-gone: it is gone" in shown
    assert status(blocked) is Status.BLOCKED


def test_nothing_to_translate_is_counted_as_such() -> None:
    shown = plain(translation.as_text([], [], Home("demo", "us-central1")))
    assert shown == "0 entries, 0 jobs: 0 equal, 0 noted, 0 lost, 0 blocked"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=0.1), "0.1 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(seconds=61.5), "61.5 s"),
        (timedelta(minutes=1, seconds=10), "1 min 10 s"),
        (timedelta(days=1, hours=2), "1 d 2 h"),
    ],
)
def test_durations_are_written_as_people_do(value: timedelta, words: str) -> None:
    assert duration(value) == words


def test_every_verdict_has_its_json() -> None:
    second = timedelta(seconds=1)
    assert verdict_json(Unfixed("why")) == {"kind": "unfixed", "why": "why"}
    assert verdict_json(Divergent((Divergence(MARCH, Side.AFTER),))) == {
        "kind": "divergent",
        "first": [{"at": "2027-03-14T10:00:00+00:00", "side": "after"}],
    }
    assert verdict_json(RetryDivergent((second,), ())) == {
        "kind": "divergent",
        "before": [1.0],
        "after": [],
    }
