from __future__ import annotations

import json
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from cronspec import groc, unixcron, zones
from cronspec.instants import to_datetime, to_seconds
from cronspec.kinds import on_day
from cronspec.schedule import (
    EndTimeInterval,
    FixedSchedule,
    GrocSchedule,
    UnixCron,
    last_tick,
    ticks,
)

CASES = Path(__file__).parents[1] / "cases" / "schedules.jsonl"


def fixed(text: str) -> FixedSchedule:
    schedule = groc.parse(text) if text[0].isalpha() or "of" in text else None
    schedule = schedule or unixcron.parse(text)
    assert not isinstance(schedule, EndTimeInterval)
    return schedule


def local(text: str, zone: str, after: str, count: int) -> list[str]:
    """Give ticks as the zone's clock shows them."""
    tz = zones.load(zone)
    start = datetime.fromisoformat(after).replace(tzinfo=tz)
    found = islice(ticks(fixed(text), tz, start), count)
    return [at.astimezone(tz).strftime("%m-%d %H:%M %z") for at in found]


# --- What Google's own evaluator answered ----------------------------------------


def test_every_recorded_answer_of_googles_evaluator_is_ours_too() -> None:
    kinds = dict[str, int]()
    for line in CASES.read_text().splitlines():
        case = json.loads(line)
        text, zone = case["schedule"], case["timezone"] or "UTC"
        kind = case.get("kind", f"bad {case.get('bad')}")
        kinds[kind] = kinds.get(kind, 0) + 1
        if case["ok"]:
            _agrees(case, groc.parse(text), zone)
        elif case["bad"] == "schedule":
            assert not groc.accepts(text), case
        else:
            with pytest.raises(zones.ZoneError):
                zones.load(zone)
    assert sum(kinds.values()) == 1996
    assert len(kinds) == 6, kinds


def _agrees(case: dict[str, Any], schedule: GrocSchedule, zone: str) -> None:
    if isinstance(schedule, EndTimeInterval):
        assert schedule.period == timedelta(seconds=case["seconds"]), case
        return
    after = datetime.fromisoformat(case["after"])
    expected = [datetime.fromisoformat(at) for at in case["ticks"]]
    found = list(islice(ticks(schedule, zones.load(zone), after), len(expected)))
    assert found == expected, case


# --- Clock changes ----------------------------------------------------------------

SPRING, AUTUMN = "2025-03-09T00:00", "2025-11-02T00:00"  # of New York
NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    ("transition", "zone", "text", "after", "shown"),
    [
        (
            "New York, 02:00 → 03:00: a time in the gap is skipped",
            NEW_YORK,
            "every day 02:30",
            SPRING,
            ["03-10 02:30 -0400", "03-11 02:30 -0400"],
        ),
        (
            "the same weekly",
            NEW_YORK,
            "every sunday 02:30",
            SPRING,
            ["03-16 02:30 -0400"],
        ),
        (
            "the same yearly: a year is skipped",
            NEW_YORK,
            "9 of mar 02:30",
            SPRING,
            ["03-09 02:30 -0400"],  # of 2026, a day after its gap
        ),
        (
            "the first instant of the gap is skipped too",
            NEW_YORK,
            "every day 02:00",
            SPRING,
            ["03-10 02:00 -0400"],
        ),
        (
            "a range that starts in the gap starts with its end",
            NEW_YORK,
            "every 15 minutes from 02:15 to 02:45",
            SPRING,
            ["03-09 03:00 -0400", "03-10 02:15 -0400"],
        ),
        (
            "elapsed time: six hours synchronized shift for the day",
            NEW_YORK,
            "every 6 hours synchronized",
            "2025-03-08T23:59",
            [
                "03-09 00:00 -0500",
                "03-09 07:00 -0400",
                "03-09 13:00 -0400",
                "03-09 19:00 -0400",
                "03-10 00:00 -0400",
            ],
        ),
        (
            "hourly passes the gap over",
            NEW_YORK,
            "every 1 hours synchronized",
            SPRING,
            ["03-09 01:00 -0500", "03-09 03:00 -0400"],
        ),
        (
            "New York, 02:00 → 01:00: a doubled time ticks twice",
            NEW_YORK,
            "every day 01:30",
            AUTUMN,
            ["11-02 01:30 -0400", "11-02 01:30 -0500", "11-03 01:30 -0500"],
        ),
        (
            "unix-cron alike",
            NEW_YORK,
            "30 1 * * *",
            AUTUMN,
            ["11-02 01:30 -0400", "11-02 01:30 -0500", "11-03 01:30 -0500"],
        ),
        (
            "the first instant after the overlap ticks once",
            NEW_YORK,
            "every day 02:00",
            AUTUMN,
            ["11-02 02:00 -0500", "11-03 02:00 -0500"],
        ),
        (
            "six hours synchronized come early for the day",
            NEW_YORK,
            "every 6 hours synchronized",
            "2025-11-01T23:59",
            [
                "11-02 00:00 -0400",
                "11-02 05:00 -0500",
                "11-02 11:00 -0500",
                "11-02 17:00 -0500",
                "11-02 23:00 -0500",
                "11-03 00:00 -0500",
            ],
        ),
        (
            "a range of elapsed time misses its own end",
            NEW_YORK,
            "every 4 hours from 00:00 to 12:00",
            "2025-11-01T23:59",
            [
                "11-02 00:00 -0400",
                "11-02 03:00 -0500",
                "11-02 07:00 -0500",
                "11-02 11:00 -0500",
                "11-03 00:00 -0500",
            ],
        ),
        (
            "a window that ends in the overlap ends with the first hour",
            NEW_YORK,
            "every 30 minutes from 00:30 to 01:30",
            AUTUMN,
            [
                "11-02 00:30 -0400",
                "11-02 01:00 -0400",
                "11-02 01:30 -0400",
                "11-03 00:30 -0500",
            ],
        ),
        (
            "a window across the overlap serves both hours",
            NEW_YORK,
            "every 30 minutes from 01:00 to 02:00",
            AUTUMN,
            [
                "11-02 01:00 -0400",
                "11-02 01:30 -0400",
                "11-02 01:00 -0500",
                "11-02 01:30 -0500",
                "11-02 02:00 -0500",
                "11-03 01:00 -0500",
            ],
        ),
        (
            "Lord Howe, 02:00 → 02:30: hourly is at half past for the day",
            "Australia/Lord_Howe",
            "every 1 hours synchronized",
            "2025-10-05T00:30",
            ["10-05 01:00 +1030", "10-05 02:30 +1100", "10-05 03:30 +1100"],
        ),
        (
            "and back at the hour after midnight",
            "Australia/Lord_Howe",
            "every 1 hours synchronized",
            "2025-10-05T23:00",
            ["10-05 23:30 +1100", "10-06 00:00 +1100"],
        ),
        (
            "São Paulo 2018, a gap at midnight skips 00:30",
            "America/Sao_Paulo",
            "every day 00:30",
            "2018-11-03T12:00",
            ["11-05 00:30 -0200"],
        ),
        (
            "and synchronized starts at 01:00",
            "America/Sao_Paulo",
            "every 12 hours synchronized",
            "2018-11-03T12:30",
            ["11-04 01:00 -0200", "11-04 13:00 -0200", "11-05 00:00 -0200"],
        ),
        (
            "Apia skips the whole of 30 December 2011",
            "Pacific/Apia",
            "every day 10:00",
            "2011-12-28T12:00",
            ["12-29 10:00 -1000", "12-31 10:00 +1400"],
        ),
        (
            "and its window of that day falls on the next midnight",
            "Pacific/Apia",
            "every 24 hours from 10:00 to 12:00",
            "2011-12-28T12:00",
            ["12-29 10:00 -1000", "12-31 00:00 +1400", "12-31 10:00 +1400"],
        ),
        (
            "Dublin's winter time is the negative one: doubled times tick twice",
            "Europe/Dublin",
            "every day 01:30",
            "2025-10-26T00:00",
            ["10-26 01:30 +0100", "10-26 01:30 +0000"],
        ),
        (
            "Cairo's gap at midnight moves start and end of a window to one instant",
            "Africa/Cairo",
            "every 5 hours from 00:18 to 00:00",
            "2025-04-24T20:30",
            ["04-25 01:00 +0300", "04-26 00:18 +0300"],
        ),
    ],
)
def test_a_clock_change_is_met_as_google_meets_it(
    transition: str, zone: str, text: str, after: str, shown: list[str]
) -> None:
    assert local(text, zone, after, len(shown)) == shown, transition


# --- Ordinary days ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "after", "shown"),
    [
        (
            "every 2 hours from 22:00 to 02:00",
            "2026-01-01T21:00",
            ["01-01 22:00", "01-02 00:00", "01-02 02:00", "01-02 22:00"],
        ),
        (
            "every 2 hours from 22:00 to 02:00 on fri",
            "2026-01-01T00:00",
            ["01-02 00:00", "01-02 02:00", "01-02 22:00", "01-09 00:00"],
        ),
        (
            "every 7 hours from 00:00 to 23:59",
            "2026-01-01T13:00",
            ["01-01 14:00", "01-01 21:00", "01-02 00:00"],
        ),
        (
            "every 12 hours from 23:00 to 22:59",
            "2026-01-01T22:59",
            ["01-01 23:00", "01-02 11:00", "01-02 23:00"],
        ),
        ("every 5 minutes from 3:00 to 3:00", "2026-01-01T04:00", ["01-02 03:00"]),
        ("every 48 hours from 3:00 to 4:00", "2026-01-01T03:00", ["01-02 03:00"]),
        ("29 of feb 12:00", "2096-03-01T00:00", ["02-29 12:00"]),  # 2104
        ("31 of month 0:00", "2026-01-31T00:00", ["03-31 00:00", "05-31 00:00"]),
        ("31 of apr,may 0:00", "2026-01-01T00:00", ["05-31 00:00"]),
        ("every mon 9:00", "2026-01-01T00:00", ["01-05 09:00"]),
        ("0 0 13 * 5", "2026-02-07T00:00", ["02-13 00:00", "02-20 00:00"]),
        ("0 0 29 2 *", "2026-01-01T00:00", ["02-29 00:00"]),
        ("30,45 9-10 * * 1", "2026-01-05T09:30", ["01-05 09:45", "01-05 10:30"]),
        ("0 0 31 2 *", "2026-01-01T00:00", []),
    ],
)
def test_a_schedule_ticks(text: str, after: str, shown: list[str]) -> None:
    found = local(text, "UTC", after, len(shown) or 1)
    assert [at.removesuffix(" +0000") for at in found] == shown


def test_the_first_tick_is_later_than_a_fraction_of_a_second_before_it() -> None:
    at = datetime(2026, 1, 1, 9, tzinfo=UTC)
    daily, utc = fixed("every day 9:00"), zones.load("UTC")
    assert next(ticks(daily, utc, at - timedelta(microseconds=1))) == at
    assert next(ticks(daily, utc, at)) == at + timedelta(days=1)
    assert next(ticks(daily, utc, at + timedelta(microseconds=1))) > at


@pytest.mark.parametrize("text", ["every day 9:00", "every 1 hours synchronized"])
def test_ticks_begin_with_the_year_2_and_end_with_9998(text: str) -> None:
    for zone in ("Pacific/Kiritimati", "America/New_York", "UTC"):
        tz = zones.load(zone)
        first = next(ticks(fixed(text), tz, datetime.min.replace(tzinfo=UTC)))
        assert first.year in {1, 2}
        *_, last = ticks(fixed(text), tz, datetime(9998, 12, 1, tzinfo=UTC))
        assert last.year == 9998
        late = datetime.max.replace(tzinfo=UTC)
        assert list(ticks(fixed(text), tz, late)) == []


def test_a_schedule_without_a_day_has_no_ticks_and_says_so_quickly() -> None:
    never = unixcron.parse("0 0 31 2,4,6 *")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert list(ticks(never, zones.load("America/New_York"), start)) == []
    assert last_tick(never, zones.load("America/New_York"), start) is None
    no_time = UnixCron(frozenset(), frozenset())
    assert list(ticks(no_time, zones.load("UTC"), start)) == []


def test_only_schedules_with_ticks_are_asked_for_them() -> None:
    start, utc = datetime(2026, 1, 1, tzinfo=UTC), zones.load("UTC")
    interval = cast("FixedSchedule", groc.parse("every 5 minutes"))
    with pytest.raises(TypeError, match="no ticks"):
        ticks(interval, utc, start)
    with pytest.raises(TypeError, match="not a schedule"):
        ticks(cast("FixedSchedule", "every day"), utc, start)
    with pytest.raises(TypeError, match="not a wall-clock"):
        on_day(cast("UnixCron", interval), 1, next(iter(interval.weekdays)))


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        ticks(fixed("every day 9:00"), zones.load("UTC"), datetime(2026, 1, 1))  # noqa: DTZ001 - it is the point


def test_ticks_come_from_the_pinned_tzdata_whatever_the_zone_object_holds() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    theirs = ZoneInfo("Europe/Rome")  # may be of the machine's own files
    found = next(ticks(fixed("every day 9:00"), theirs, start))
    assert found == next(
        ticks(fixed("every day 9:00"), zones.load("Europe/Rome"), start)
    )


# --- The last tick ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at", "last"),
    [
        ("every 5 minutes from 9:00 to 10:00", "2026-01-01T09:07", "2026-01-01T09:05"),
        ("every 5 minutes from 9:00 to 10:00", "2026-01-01T09:05", "2026-01-01T09:05"),
        ("every 5 minutes from 9:00 to 10:00", "2026-01-01T08:00", "2025-12-31T10:00"),
        ("every mon 9:00", "2026-01-04T00:00", "2025-12-29T09:00"),
        ("1 of jan 9:00", "2026-01-01T08:59", "2025-01-01T09:00"),
        ("29 of feb 9:00", "2103-01-01T00:00", "2096-02-29T09:00"),
        ("0 0 29 2 *", "1903-01-01T00:00", "1896-02-29T00:00"),
    ],
)
def test_the_last_tick_is_the_latest_that_is_not_later(
    text: str, at: str, last: str
) -> None:
    now = datetime.fromisoformat(at).replace(tzinfo=UTC)
    found = last_tick(fixed(text), zones.load("UTC"), now)
    assert found == datetime.fromisoformat(last).replace(tzinfo=UTC)


def test_there_is_no_last_tick_before_the_first() -> None:
    dawn = datetime(1, 6, 1, tzinfo=UTC)
    assert last_tick(fixed("every day 9:00"), zones.load("UTC"), dawn) is None


def test_seconds_and_instants_are_two_forms_of_one_thing() -> None:
    at = datetime.combine(datetime(1969, 12, 31, tzinfo=UTC), time(23, 59, 59), UTC)
    assert to_seconds(at) == -1
    assert to_datetime(-1) == at
