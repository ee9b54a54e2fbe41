"""What findings say: dates, times, numbers and ways out, case by case."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cronspec.config import load_cron
from migrate.audit import Severity, audit, examine, reaches

if TYPE_CHECKING:
    from collections.abc import Callable

NEW_YORK = "America/New_York"


def entry(schedule: str, zone: str = "", more: str = "", url: str = "/t/a") -> str:
    timezone = f", timezone: {zone}" if zone else ""
    return f"- {{url: {url}, schedule: '{schedule}'{timezone}{more}}}\n"


def texts(given: Any, code: str) -> list[str]:
    return [finding.text for finding in audit(given) if finding.code == code]


@pytest.mark.parametrize(
    ("schedule", "zone", "code", "text"),
    [
        (
            "every day 02:30",
            NEW_YORK,
            "clock-change-skipped",
            (
                "no run on 2027-03-14 and 2028-03-12 and later: the clock in "
                "America/New_York passes over 02:30 that day"
            ),
        ),
        (
            "every day 01:30",
            NEW_YORK,
            "clock-change-doubled",
            (
                "two runs on 2027-11-07 and 2028-11-05 and later: the clock in "
                "America/New_York shows 01:30 twice that day"
            ),
        ),
        (
            "7 of nov 01:30",
            NEW_YORK,
            "clock-change-doubled",
            (
                "two runs on 2027-11-07: the clock in America/New_York shows 01:30 "
                "twice that day"
            ),
        ),
        (
            "every day 00:30",
            "Africa/Cairo",
            "clock-change-skipped",
            (
                "no run on 2027-04-30 and 2028-04-28 and later: the clock in "
                "Africa/Cairo passes over 00:30 that day"
            ),
        ),
        (
            "every 6 hours synchronized",
            NEW_YORK,
            "clock-change-shifted",
            (
                "on 2027-03-14 it runs at 00:00, 07:00, 13:00, 19:00 instead of 00:00, "
                "06:00, 12:00, 18:00; on 2027-11-07 it runs at 00:00, 05:00, 11:00, "
                "17:00, 23:00 instead of 00:00, 06:00, 12:00, 18:00, when the clock in "
                "America/New_York changes"
            ),
        ),
        (
            "every 15 minutes from 02:15 to 02:45",
            NEW_YORK,
            "clock-change-shifted",
            (
                "on 2027-03-14 it runs at 03:00 instead of 02:15, 02:30, 02:45, when "
                "the clock in America/New_York changes"
            ),
        ),
        (
            "every 30 mins from 01:00 to 03:00",
            NEW_YORK,
            "clock-change-window",
            (
                "on 2027-03-14 it has 3 instead of 5 runs; on 2027-11-07 it has 7 "
                "instead of 5 runs, when the clock in America/New_York changes"
            ),
        ),
        (
            "29 of feb 00:00",
            "",
            "rarely-fires",
            "fires less than once a year, next on 2028-02-29 and 2032-02-29",
        ),
        (
            "31 of month 00:00",
            "",
            "months-passed-over",
            "no run in feb, apr, jun, sep, nov, which has no day 31",
        ),
        (
            "1,31 of month 00:00",
            "",
            "months-passed-over",
            "day 31 is passed over in feb, apr, jun, sep, nov",
        ),
        (
            "5th monday 00:00",
            "",
            "months-passed-over",
            "fires only in months with a fifth such weekday, four or five a year",
        ),
    ],
)
def test_a_schedule_is_told_with_dates_and_times(
    evidence: Callable[..., Any], schedule: str, zone: str, code: str, text: str
) -> None:
    given = evidence(cron=f"cron:\n{entry(schedule, zone)}")
    assert texts(given, code)[:1] == [text]


@pytest.mark.parametrize(
    ("schedule", "zone"),
    [
        ("every 6 hours synchronized", "Asia/Tokyo"),
        ("every 5 minutes synchronized", NEW_YORK),
        ("every 4 hours from 00:00 to 12:00 on mon", NEW_YORK),
        ("every day 02:30", "UTC"),
        ("every monday 02:30", NEW_YORK),
        ("every day of jan 02:30", NEW_YORK),
        ("1st monday 09:00", ""),
        ("every 5 minutes", NEW_YORK),
    ],
)
def test_clock_changes_are_told_only_where_they_touch_a_run(
    evidence: Callable[..., Any], schedule: str, zone: str
) -> None:
    found = audit(evidence(cron=f"cron:\n{entry(schedule, zone)}"))
    assert {f.code for f in found} <= {"dialect", "interval-drifts", "no-retries"}


@pytest.mark.parametrize(
    ("period", "fix"),
    [
        ("24 hours", "`every day HH:MM` runs at a fixed time"),
        ("90 minutes", "`every 90 minutes synchronized` keeps to the clock"),
        ("120 minutes", "`every 2 hours synchronized` keeps to the clock"),
        (
            "7 hours",
            "name days and a time, such as `every monday HH:MM`, for a fixed time",
        ),
    ],
)
def test_an_interval_has_the_nearest_fixed_schedule_as_its_way_out(
    evidence: Callable[..., Any], period: str, fix: str
) -> None:
    given = evidence(cron=f"cron:\n{entry(f'every {period}')}")
    assert [f.fix for f in audit(given) if f.code == "interval-drifts"] == [fix]


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Asia/Tokyo", ["no timezone: 09:00 in UTC, which is 18:00 in Asia/Tokyo"]),
        (
            "Europe/London",
            [
                (
                    "no timezone: 09:00 in UTC, which is 10:00 in Europe/London on "
                    "2027-06-01"
                )
            ],
        ),
        ("Africa/Abidjan", []),
        ("utc", []),
    ],
)
def test_a_zone_left_out_is_told_in_the_siblings_time(
    evidence: Callable[..., Any], zone: str, said: list[str]
) -> None:
    written = entry("every day 09:00") + entry("every day 03:00", zone, url="/t/b")
    found = texts(evidence(cron=f"cron:\n{written}"), "zone-missing")
    assert found == [f"{text}, the zone of another entry" for text in said]


def test_no_zone_is_proposed_where_siblings_differ(
    evidence: Callable[..., Any],
) -> None:
    zones = ("", "Asia/Tokyo", "Europe/Rome")
    written = "".join(entry("every day 09:00", zone) for zone in zones)
    assert texts(evidence(cron=f"cron:\n{written}"), "zone-missing") == []


RETRY = ", retry_parameters: {{{}}}"


@pytest.mark.parametrize(
    ("schedule", "block", "code", "text"),
    [
        (
            "every day 09:00",
            "job_retry_limit: 2, job_age_limit: 1h",
            "retry-until-both",
            (
                "up to 16 retries, not 2: a run is given up when both job_retry_limit "
                "and job_age_limit (1h) are reached"
            ),
        ),
        (
            "every day 09:00",
            "job_retry_limit: 2, job_age_limit: 5d, max_backoff_seconds: 1",
            "retry-until-both",
            (
                "up to 1000 or more retries, not 2: a run is given up when both "
                "job_retry_limit and job_age_limit (5d) are reached"
            ),
        ),
        (
            "every day 09:00",
            "job_retry_limit: 2, job_age_limit: 5d, max_backoff_seconds: 1",
            "retries-outlast-period",
            (
                "a failing run may be retried for 5d, but the next is due after 1d, "
                "and is then skipped or late"
            ),
        ),
        (
            "every 10 minutes synchronized",
            "job_retry_limit: 3, min_backoff_seconds: 100",
            "retries-outlast-period",
            (
                "a failing run may be retried for 700s, but the next is due after 10m, "
                "and is then skipped or late"
            ),
        ),
    ],
)
def test_retries_are_told_in_numbers(
    evidence: Callable[..., Any], schedule: str, block: str, code: str, text: str
) -> None:
    given = evidence(cron=f"cron:\n{entry(schedule, more=RETRY.format(block))}")
    assert texts(given, code) == [text]


def test_entries_alike_in_two_files_are_told_with_their_files(
    evidence: Callable[..., Any],
) -> None:
    text = f"cron:\n{entry('every 5 minutes')}"
    given = evidence(cron=text)
    both = replace(given, crons=(*given.crons, load_cron(text, "more/cron.yaml")))
    assert texts(both, "fires-twice") == [
        (
            "/t/a stands here just as on line 2, with the same target, schedule and "
            "time zone: both fire"
        )
    ]
    other = load_cron(f"cron:\n{entry('every day 09:00')}", "more/cron.yaml")
    assert texts(replace(given, crons=(*given.crons, other)), "same-url") == [
        (
            "/t/a stands in 2 entries (cron.yaml:2, more/cron.yaml:2), told apart by "
            "schedule only"
        )
    ]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("every monday 09:00", "every tuesday 09:00", False),
        ("every 5 minutes", "every day 09:00", False),
        ("every day 09:00", "every 5 minutes", False),
        ("every 2 minutes from 01:01 to 23:00", "every 2 minutes synchronized", False),
        ("1 of jan 09:00", "every 10 minutes synchronized", True),
        (
            "every 2 minutes synchronized on mon",
            "every 2 minutes synchronized on tue",
            False,
        ),
        ("29 of feb 09:00", "every day 09:00", False),  # over 400 days ahead
        (
            "every 5 minutes from 00:00 to 12:00",
            "every 7 minutes from 12:00 to 13:00",
            True,
        ),
    ],
)
def test_schedules_of_one_url_are_told_where_they_meet_soon(
    evidence: Callable[..., Any], one: str, other: str, *, meet: bool
) -> None:
    given = evidence(cron=f"cron:\n{entry(one)}{entry(other)}")
    assert bool(texts(given, "overlapping-entries")) is meet
    assert bool(texts(given, "same-url")) is not meet


def test_schedules_of_one_url_in_two_zones_meet_at_the_same_instant(
    evidence: Callable[..., Any],
) -> None:
    written = entry("every day 09:00") + entry("every day 18:00", "Asia/Tokyo")
    (text,) = texts(evidence(cron=f"cron:\n{written}"), "overlapping-entries")
    assert text.endswith("next at 2026-12-01 09:00 UTC")
    written = entry("every day 09:00") + entry("every day 18:30", "Asia/Tokyo")
    found = texts(evidence(cron=f"cron:\n{written}"), "overlapping-entries")
    assert found == []


@pytest.mark.parametrize(
    ("handlers", "codes"),
    [
        ("- {url: /t/.*, login: admin}", ["login-not-enforced"]),
        ("- {url: /t/.*, login: optional}", []),
        ("- {url: /u/.*, login: admin}", []),
        ("- {url: '/t/(', login: admin}", []),
        ("- {url: '/(t|u)/.*', login: admin}", ["login-not-enforced"]),
        # What may take ages is not tried; what an earlier handler takes, no later.
        ("- {url: '(/?[a-z]+)+!', login: admin}", []),
        (f"- {{url: '{'.*' * 90}!', login: admin}}", []),
        (
            "- {url: /t/.*, login: optional}\n- {url: /.*, login: required}",
            [],
        ),
        (f"- {{url: '{'/t/.*' * 50}', login: admin}}", []),
    ],
)
def test_logins_are_told_where_they_cover_a_cron_url(
    evidence: Callable[..., Any], handlers: str, codes: list[str]
) -> None:
    app = f"runtime: python312\nhandlers:\n{handlers}\n"
    given = evidence(cron=f"cron:\n{entry('every 5 minutes')}", apps=[app])
    told = [f.code for f in audit(given) if f.code.startswith("login")]
    assert told == codes


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        (["/t/a", "/t/a?x=1"], "protect /t/a on"),
        (["/t/a", "/t/b"], "protect /t/a and /t/b on"),
        (["/t/a", "/t/b", "/t/c"], "protect /t/a and 2 other cron urls on"),
    ],
)
def test_many_urls_under_a_login_are_counted(
    evidence: Callable[..., Any], urls: list[str], said: str
) -> None:
    cron = "".join(entry("every 5 minutes", url=f"'{url}'") for url in urls)
    app = "runtime: java21\nenv: flex\nhandlers:\n- {url: /t/.*, login: admin}\n"
    (text,) = texts(evidence(cron=f"cron:\n{cron}", apps=[app]), "login-not-enforced")
    assert said in text


def test_a_deadline_is_held_against_the_flexible_environments_hour(
    evidence: Callable[..., Any],
) -> None:
    app = "runtime: python\nenv: flex\nhandlers: []\n"
    cron = f"cron:\n{entry('every day 09:00', more=', attempt_deadline: 4000.0s')}"
    (text,) = texts(evidence(cron=cron, apps=[app]), "deadline-beyond-scaling")
    assert "more than the 3600 s that the flexible environment gives" in text


def test_a_rule_with_another_host_is_told_only_if_it_would_send_elsewhere(
    evidence: Callable[..., Any],
) -> None:
    cron = "cron:\n" + "".join(
        entry("every 5 minutes", more=more, url=url)
        for url, more in (
            ("/t/a", ", target: b"),
            ("/t/a", ", target: 'v1:b'"),
            ("/t/b", ""),
            ("/t/c", ""),
        )
    )
    rules = "dispatch:\n- {url: 'www.example.com/t/*', service: b}\n"
    assert texts(evidence(cron=cron, dispatch=rules), "rule-passes-cron-by") == [
        (
            "'www.example.com/t/*' does not catch the cron requests for /t/b and 1 "
            "more: they come with the app's own appspot.com host"
        )
    ]


@pytest.mark.parametrize(
    ("fail_on", "reached"),
    [
        (Severity.ERROR, False),
        (Severity.WARNING, True),
        (Severity.INFO, True),
        (None, False),
    ],
)
def test_a_report_reaches_its_gravest_finding_and_all_below(
    evidence: Callable[..., Any], fail_on: Severity | None, *, reached: bool
) -> None:
    report = examine(evidence(cron=f"cron:\n{entry('every day 02:30', NEW_YORK)}"))
    assert reaches(report, fail_on) is reached


def test_an_audit_loads_neither_google_nor_flask_nor_rich() -> None:
    program = (
        "import sys, migrate.audit, migrate.evidence_files, migrate.report.findings, "
        "migrate.report.sarif, migrate.report.annotations\n"
        "print({name.split('.')[0] for name in sys.modules} "
        "& {'google', 'flask', 'rich', 'jinja2'})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "set()\n"


def test_a_file_of_hundreds_of_entries_and_rules_with_one_url_is_audited_in_a_second(
    evidence: Callable[..., Any],
) -> None:
    many = "".join(
        entry(f"every 7 minutes from {n % 24:02}:{n % 60:02} to 23:00", NEW_YORK)
        for n in range(400)
    )
    rules = "".join(f"- {{url: '*/u/{n}*', service: a}}\n" for n in range(500))
    given = evidence(cron=f"cron:\n{many}", dispatch=f"dispatch:\n{rules}")
    found = {finding.code for finding in audit(given)}
    assert {"fires-twice", "too-many-entries", "too-many-rules"} <= found
