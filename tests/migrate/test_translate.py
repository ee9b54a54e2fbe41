"""Entries as jobs: what gcloud itself sends, every note, and the marks."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cronspec.config import load_cron, load_dispatch
from cronspec.naming import Marks, read_marks
from migrate.choices import (
    EntryChoices,
    Home,
    Intervals,
    Routing,
    Schedules,
    ToAppEngine,
    ToHttp,
)
from migrate.job import AppEngineHttpTarget, AppEngineRouting, HttpTarget, to_api
from migrate.notes import CODES, Level
from migrate.translate import RouteVerdict, Translation, translate
from migrate.verdict import Divergent, Equivalent, RetryDivergent, Side

CASES = Path(__file__).parent.parent / "cases"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOME = Home("demo", "us-central1")
AS_GCLOUD = EntryChoices(schedules=Schedules.GROC, routing=Routing.DECLARED)


def translated(
    cron: str,
    dispatch: str = "dispatch: []",
    choices: EntryChoices | None = None,
    home: Home = HOME,
) -> list[Translation]:
    file = load_cron(cron, "cron.yaml")
    assert not file.faults
    rules = load_dispatch(dispatch, "dispatch.yaml")
    assert not rules.faults
    chosen = choices or EntryChoices()
    return translate(file.entries, rules.rules, home, lambda _e, _r: chosen, NOW)


def one(
    fields: str,
    dispatch: str = "dispatch: []",
    choices: EntryChoices | None = None,
    home: Home = HOME,
) -> Translation:
    cron = "cron:\n- url: /t/a\n" + "".join(
        f"  {line}\n" for line in fields.splitlines()
    )
    return translated(cron, dispatch, choices, home)[0]


def codes(translation: Translation) -> list[str]:
    return [note.code for note in translation.notes]


# --- What gcloud sends ------------------------------------------------------------


def normal(api: dict[str, Any]) -> dict[str, Any]:
    """Bring two spellings of one job together: empty values, durations, our marks."""
    target = {
        key: value
        for key, value in api["appEngineHttpTarget"].items()
        if value and key != "headers"
    }
    config = {
        key: float(value.removesuffix("s")) if key.endswith("Duration") else value
        for key, value in api.get("retryConfig", {}).items()
    }
    if config:
        config.setdefault("retryCount", 0)
    return {
        "target": target,
        "description": api.get("description") or "",
        "schedule": api["schedule"].lower(),
        "timeZone": api["timeZone"],
        "retryConfig": config,
        "attemptDeadline": api.get("attemptDeadline"),
    }


GCLOUD = [
    json.loads(line) for line in (CASES / "conversions.jsonl").read_text().splitlines()
]
# gcloud does not look into schedules and zones; the server refuses these.
UNCHECKED_BY_GCLOUD = {"bad-schedule", "bad-timezone"}


@pytest.mark.parametrize("case", GCLOUD, ids=[case["file"] for case in GCLOUD])
def test_jobs_are_those_that_gcloud_makes_of_real_files(case: dict[str, Any]) -> None:
    path = CASES / "corpus" / case["file"]
    file = load_cron(path.read_text(), case["file"])
    if case.get("error"):
        assert file.faults
        return
    refused = {fault.code for fault in file.faults}
    assert refused <= UNCHECKED_BY_GCLOUD
    if refused:
        return
    made = translate(file.entries, (), HOME, lambda _e, _r: AS_GCLOUD, NOW)
    jobs = [normal(to_api(job)) for translation in made for job in translation.jobs]
    assert jobs == [normal(job) for job in case["jobs"]]


# --- Schedules --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "choices", "schedules", "noted"),
    [
        ("schedule: every monday 9:00", {}, ["0 9 * * 1"], []),
        ("schedule: every monday 9:00", {"schedules": "groc"}, None, ["groc-kept"]),
        ("schedule: every 5 minutes", {}, None, ["interval-kept"]),
        ("schedule: every 5 minutes", {"schedules": "unix"}, [], ["no-unix-twin"]),
        (
            "schedule: every 5 minutes",
            {"intervals": "clock"},
            ["*/5 * * * *"],
            ["interval-to-clock"],
        ),
        (
            "schedule: every 6 hours on mon",
            {"intervals": "clock"},
            ["0 */6 * * 1"],
            ["interval-to-clock"],
        ),
        (
            "schedule: every 90 minutes",
            {"intervals": "clock"},
            [],
            ["needs-split"],
        ),
        (
            "schedule: every 90 minutes",
            {"intervals": "clock", "split": True},
            ["0 */3 * * *", "30 1-22/3 * * *"],
            ["interval-to-clock", "split"],
        ),
        (
            "schedule: every 48 hours",
            {"intervals": "clock"},
            [],
            ["no-unix-twin"],
        ),
        ("schedule: 1st monday of month 9:00", {}, None, ["groc-kept"]),
        (
            "schedule: 1st monday of month 9:00",
            {"schedules": "unix"},
            [],
            ["no-unix-twin"],
        ),
        ("schedule: every 90 minutes synchronized", {}, None, ["groc-kept"]),
        (
            "schedule: every 90 minutes synchronized",
            {"schedules": "unix"},
            [],
            ["needs-split"],
        ),
        (
            "schedule: every 90 minutes synchronized",
            {"split": True},
            ["0 */3 * * *", "30 1-22/3 * * *"],
            ["split"],
        ),
        # The clock of New York skips 02:30 once a year, and has 6 hours of elapsed
        # time where the wall says otherwise.
        (
            "schedule: every day 02:30\ntimezone: America/New_York",
            {},
            None,
            ["groc-kept"],
        ),
        (
            "schedule: every 6 hours synchronized\ntimezone: America/New_York",
            {"schedules": "unix"},
            [],
            ["no-unix-twin"],
        ),
        (
            "schedule: Every Monday 9:00",
            {"schedules": "groc"},
            ["every monday 9:00"],
            ["groc-kept", "schedule-lowered"],
        ),
        (
            "schedule: every 6 hours on mon,fri",
            {},
            None,
            ["interval-kept", "on-weekdays"],
        ),
        ("schedule: every day 9:00\ntimezone: europe/rome", {}, ["0 9 * * *"], None),
        # 24 hours are not divided by 7: the last gap of the day is shorter.
        (
            "schedule: every 7 hours",
            {"intervals": "clock"},
            ["0 */7 * * *"],
            ["interval-to-clock"],
        ),
    ],
)
def test_a_schedule_becomes_unix_cron_only_where_asked_and_proven(
    fields: str,
    choices: dict[str, Any],
    schedules: list[str] | None,
    noted: list[str] | None,
) -> None:
    kinds = {"schedules": Schedules, "intervals": Intervals}
    chosen = EntryChoices(
        **{name: kinds.get(name, bool)(value) for name, value in choices.items()}
    )
    made = one(fields, choices=chosen)
    as_it_stands = [made.entry.schedule_text]
    assert [job.schedule for job in made.jobs] == (
        as_it_stands if schedules is None else schedules
    )
    if noted is not None:
        assert codes(made) == noted


def test_a_block_says_why_and_which_option_avoids_it() -> None:
    made = one("schedule: every 5 minutes", choices=EntryChoices(Schedules.UNIX))
    (block,) = made.of_level(Level.BLOCK)
    assert block.fallback == "--intervals clock"
    assert "end of each run" in block.text


def test_several_jobs_of_one_entry_share_its_key_and_have_ids_of_their_own() -> None:
    made = one(
        "schedule: every 90 minutes synchronized", choices=EntryChoices(split=True)
    )
    first, second = made.jobs
    assert first.name.job_id == made.key
    assert second.name.job_id == f"{made.key}-2"
    marks = [read_marks(job.target.headers) for job in made.jobs]
    assert [mark.entry for mark in marks if isinstance(mark, Marks)] == [made.key] * 2
    assert [mark.schedule for mark in marks if isinstance(mark, Marks)] == [
        job.schedule for job in made.jobs
    ]


# --- Target -----------------------------------------------------------------------

TO_B = 'dispatch:\n- {url: "*/t/*", service: b}'
HOSTS = (
    "dispatch:\n"
    '- {url: "a.demo.uc.r.appspot.com/t/*", service: b}\n'
    '- {url: "b.demo.uc.r.appspot.com/t/*", service: c}'
)


@pytest.mark.parametrize(
    ("target", "dispatch", "declared", "routing", "noted", "reached"),
    [
        ("", "", False, None, [], "default"),
        ("default", "", False, AppEngineRouting("default"), [], "default"),
        ("a", "", False, AppEngineRouting("a"), [], "a"),
        ("a", TO_B, False, AppEngineRouting("b"), ["dispatch-written"], "b"),
        ("", TO_B, False, AppEngineRouting("b"), ["dispatch-written"], "b"),
        ("a", TO_B, True, AppEngineRouting("a"), ["dispatch-decides"], "b"),
        ("", TO_B, True, None, ["dispatch-decides"], "b"),
        ("a:v2", TO_B, False, AppEngineRouting("a", "v2"), ["version-pinned"], "a"),
        # Named b, the request would match the second rule and reach c.
        ("a", HOSTS, False, AppEngineRouting("a"), ["dispatch-decides"], "b"),
    ],
)
def test_a_job_reaches_the_service_that_the_entry_reaches_today(
    target: str,
    dispatch: str,
    declared: bool,  # noqa: FBT001 - a table's column
    routing: AppEngineRouting | None,
    noted: list[str],
    reached: str,
) -> None:
    fields = "schedule: every day 9:00" + (f"\ntarget: {target}" if target else "")
    choices = EntryChoices(routing=Routing.DECLARED if declared else Routing.EFFECTIVE)
    made = one(fields, dispatch or "dispatch: []", choices)
    job_target = made.jobs[0].target
    assert isinstance(job_target, AppEngineHttpTarget)
    assert job_target.routing == routing
    assert codes(made) == noted
    assert made.route == RouteVerdict(reached, reached)


def test_a_rule_for_a_host_that_may_be_the_apps_is_told() -> None:
    rule = 'dispatch:\n- {url: "other.uc.r.appspot.com/*", service: b}'
    offline = one("schedule: every day 9:00", rule, home=Home(None, None))
    assert codes(offline) == ["route-unsure"]
    assert offline.notes[0].fallback == "--project"
    assert codes(one("schedule: every day 9:00", rule)) == []


@pytest.mark.parametrize("url", ["/t/a?x=1&y=%20", "/t/a;b", "/t/ä", "/T/$x'\""])
def test_the_url_is_carried_over_byte_for_byte_as_a_get(url: str) -> None:
    (made,) = translated(
        f"cron:\n- url: {json.dumps(url, ensure_ascii=False)}\n"
        "  schedule: every day 9:00\n"
    )
    target = made.jobs[0].target
    assert isinstance(target, AppEngineHttpTarget)
    assert (target.relative_uri, target.http_method) == (url, "GET")


HTTP = ToHttp("https://w-x.a.run.app/", "cron@demo.iam.gserviceaccount.com", "aud")


CUT = ["deadline-cut"]
OUT = ["deadline-out-of-range"]


def test_an_http_target_has_the_url_the_token_and_the_limit_of_today() -> None:
    made = one("schedule: every day 9:00", choices=EntryChoices(destination=HTTP))
    job = made.jobs[0]
    assert isinstance(job.target, HttpTarget)
    assert job.target.uri == "https://w-x.a.run.app/t/a"
    assert job.target.oidc_token is not None
    assert job.target.oidc_token.audience == "aud"
    assert job.attempt_deadline == timedelta(minutes=10)
    assert codes(made) == ["http-target"]


@pytest.mark.parametrize(
    ("limit", "said", "deadline", "noted"),
    [
        (timedelta(hours=24), None, timedelta(minutes=30), CUT),
        (timedelta(minutes=30), None, timedelta(minutes=30), []),
        (timedelta(minutes=5), None, timedelta(minutes=5), []),
        # A deadline that the user shortens is a cut as well.
        (timedelta(hours=1), timedelta(minutes=30), timedelta(minutes=30), CUT),
        (timedelta(minutes=10), timedelta(minutes=5), timedelta(minutes=5), CUT),
        (timedelta(minutes=10), timedelta(minutes=20), timedelta(minutes=20), []),
    ],
)
def test_an_http_target_cuts_attempts_at_half_an_hour(
    limit: timedelta, said: timedelta | None, deadline: timedelta, noted: list[str]
) -> None:
    made = one(
        "schedule: every day 9:00",
        choices=EntryChoices(destination=HTTP, attempt_deadline=said, limit=limit),
    )
    assert made.jobs[0].attempt_deadline == deadline
    assert codes(made) == ["http-target", *noted]


@pytest.mark.parametrize(
    ("destination", "said", "deadline", "noted"),
    [
        (ToAppEngine(), timedelta(hours=1), timedelta(hours=1), []),
        (ToAppEngine(), timedelta(minutes=9), timedelta(minutes=9), CUT),
        (ToAppEngine(), timedelta(hours=25), None, ["deadline-out-of-range"]),
        (HTTP, timedelta(minutes=31), None, ["http-target", "deadline-out-of-range"]),
        (HTTP, timedelta(seconds=14), None, ["http-target", *OUT, *CUT]),
    ],
)
def test_a_chosen_deadline_is_held_against_today_s_and_the_target_s_range(
    destination: ToAppEngine | ToHttp,
    said: timedelta,
    deadline: timedelta | None,
    noted: list[str],
) -> None:
    choices = EntryChoices(destination=destination, attempt_deadline=said)
    made = one("schedule: every day 9:00", choices=choices)
    assert codes(made) == noted
    assert [job.attempt_deadline for job in made.jobs] == (
        [] if deadline is None else [deadline]
    )


def test_an_url_that_grows_too_long_at_its_new_host_is_a_block() -> None:
    long = f"/{'x' * 2070}"
    (made,) = translated(
        f"cron:\n- url: {long}\n  schedule: every day 9:00\n",
        choices=EntryChoices(destination=HTTP),
    )
    assert "uri-too-long" in codes(made)
    assert made.jobs == ()


# --- Deadlines and retries ----------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "deadline", "noted"),
    [
        ("30.5s", timedelta(seconds=30.5), ["attempt-deadline"]),
        ("14.9s", None, ["attempt-deadline", "deadline-out-of-range"]),
        ("90000s", timedelta(hours=24), ["attempt-deadline", "deadline-cut"]),
    ],
)
def test_attempt_deadline_is_carried_over_within_the_apis_range(
    said: str, deadline: timedelta | None, noted: list[str]
) -> None:
    made = one(f"schedule: every day 9:00\nattempt_deadline: {said}")
    assert codes(made) == noted
    assert [job.attempt_deadline for job in made.jobs] == (
        [] if deadline is None else [deadline]
    )


def test_no_retry_block_makes_no_retry_config_and_no_deadline() -> None:
    job = one("schedule: every day 9:00").jobs[0]
    assert job.retry_config is None
    assert job.attempt_deadline is None
    assert "retryConfig" not in to_api(job)
    assert "attemptDeadline" not in to_api(job)


@pytest.mark.parametrize(
    ("block", "config", "noted"),
    [
        ("{}", (0, "0s", "0.1s", "3600s", 16), ["retry-limit-missing"]),
        (
            "{job_retry_limit: 3}",
            (3, "0s", "0.1s", "3600s", 16),
            ["short-backoff"],
        ),
        (
            "{job_retry_limit: 2, min_backoff_seconds: 7200}",
            (2, "0s", "7200s", "7200s", 16),
            [],
        ),
        (
            "{job_age_limit: 1.5d, min_backoff_seconds: 2.5, max_doublings: 5}",
            (0, "129600s", "2.5s", "3600s", 5),
            ["retry-limit-missing", "age-limit-alone"],
        ),
        (
            "{job_retry_limit: 0, job_age_limit: 1.9s}",
            (0, "1s", "0.1s", "3600s", 16),
            ["age-limit-alone"],
        ),
        (
            "{job_retry_limit: 3, job_age_limit: 59.9999999999s}",
            (3, "59s", "0.1s", "3600s", 16),
            ["short-backoff"],
        ),
    ],
)
def test_all_five_retry_values_are_written_out_where_there_is_a_block(
    block: str, config: tuple[int, str, str, str, int], noted: list[str]
) -> None:
    made = one(f"schedule: every day 9:00\nretry_parameters: {block}")
    names = (
        "retryCount",
        "maxRetryDuration",
        "minBackoffDuration",
        "maxBackoffDuration",
        "maxDoublings",
    )
    assert to_api(made.jobs[0])["retryConfig"] == dict(zip(names, config, strict=True))
    assert codes(made) == noted
    assert isinstance(made.retry, Equivalent)


def test_a_missing_retry_limit_can_be_taken_as_five() -> None:
    made = one(
        "schedule: every day 9:00\nretry_parameters: {min_backoff_seconds: 10}",
        choices=EntryChoices(missing_retry_limit=5),
    )
    assert made.jobs[0].retry_config is not None
    assert made.jobs[0].retry_config.retry_count == 5
    (missing,) = made.notes
    assert missing.fallback == "--missing-retry-limit 0"
    assert not isinstance(made.retry, RetryDivergent)


def test_a_twin_that_parts_is_blocked_with_its_first_divergences() -> None:
    made = one(
        "schedule: every 6 hours synchronized\ntimezone: America/New_York",
        choices=EntryChoices(schedules=Schedules.UNIX),
    )
    assert (codes(made), made.jobs) == (["no-unix-twin"], ())
    assert isinstance(made.schedule, Divergent)
    assert [(str(d.at), d.side) for d in made.schedule.first[:2]] == [
        ("2027-03-14 10:00:00+00:00", Side.AFTER),
        ("2027-03-14 11:00:00+00:00", Side.BEFORE),
    ]


# --- Marks, names, copies -----------------------------------------------------------


def test_a_job_carries_its_own_marks() -> None:
    made = one("schedule: every monday 9:00\ntimezone: Europe/Rome")
    marks = read_marks(made.jobs[0].target.headers)
    scope = "demo/us-central1"
    assert marks == Marks(made.key, "0 9 * * 1", "Europe/Rome", scope, "default")


def test_names_hold_placeholders_where_nobody_knows_the_project() -> None:
    job = one("schedule: every day 9:00", home=Home(None, None, "mine")).jobs[0]
    assert str(job.name).startswith("projects/PROJECT/locations/LOCATION/jobs/t-a-")
    assert job.target.headers["X-Cron-Set"] == "mine"


def test_identical_entries_make_as_many_jobs_with_ids_of_their_own() -> None:
    entry = "- {url: /t/a, schedule: every day 9:00}\n"
    made = translated(f"cron:\n{entry}{entry}{entry}")
    assert len({job.name for translation in made for job in translation.jobs}) == 3
    assert [codes(translation) for translation in made] == [["identical-entries"]] * 3


def test_reordering_a_file_changes_no_job() -> None:
    entries = [
        "- {url: /t/a, schedule: every day 9:00}\n",
        "- {url: /t/a, schedule: every day 10:00}\n",
        "- {url: /t/a, schedule: every day 10:00, target: w}\n",
        "- {url: /t/a, schedule: every day 9:00}\n",
        "- {url: /t/b, schedule: every 5 minutes}\n",
    ]

    def jobs(order: list[str]) -> set[str]:
        made = translated("cron:\n" + "".join(order))
        return {
            json.dumps(to_api(job), sort_keys=True)
            for translation in made
            for job in translation.jobs
        }

    assert jobs(entries) == jobs(entries[::-1]) == jobs(entries[2:] + entries[:2])


def test_an_accepted_loss_is_listed_and_no_longer_in_the_way() -> None:
    choices = EntryChoices(
        intervals=Intervals.CLOCK, accept=frozenset(["interval-to-clock"])
    )
    made = one("schedule: every 5 minutes", choices=choices)
    assert [note.code for note in made.of_level(Level.LOSS)] == ["interval-to-clock"]
    assert made.unaccepted == ()


def test_every_note_that_is_made_has_the_level_of_its_code() -> None:
    for code, kind in CODES.items():
        assert code == code.lower()
        assert kind.reason
