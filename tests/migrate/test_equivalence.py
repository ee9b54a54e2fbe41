"""Proofs of equivalence: tables of known pairs, and laws against brute force."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cronspec import groc, unixcron, zones
from cronspec.instants import to_seconds
from cronspec.retry import NO_RETRIES, RetryPolicy
from cronspec.schedule import (
    EVERY_DAY,
    EVERY_ORDINAL,
    CustomInterval,
    MonthDays,
    OrdinalWeekdays,
    StartTimeInterval,
    Weekday,
    ticks,
)
from cronspec.twin import to_unix
from cronspec.zones import load
from migrate import equivalence
from migrate.equivalence import clock_changes, divergences
from migrate.equivalence.divergences import first_divergences
from migrate.verdict import (
    Divergent,
    Equivalent,
    RetryDivergent,
    Side,
    Unfixed,
    Verdict,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


DAILY = CustomInterval(time(9), OrdinalWeekdays(EVERY_ORDINAL, EVERY_DAY))


def compare(text: str, crons: list[str], zone: str) -> Verdict:
    after = [unixcron.parse(cron) for cron in crons]
    return equivalence.schedules(groc.parse(text), after, zone, NOW)


@pytest.mark.parametrize(
    ("text", "crons", "zone"),
    [
        ("every day 09:00", ["0 9 * * *"], "America/New_York"),
        ("every monday,friday 09:00", ["0 9 * * 1,5"], "Europe/Rome"),
        ("1,15 of month 06:00", ["0 6 1,15 * *"], "Australia/Lord_Howe"),
        ("every 6 hours synchronized", ["0 */6 * * *"], "Asia/Tokyo"),
        ("every 90 minutes synchronized", ["0 */3 * * *", "30 1-22/3 * * *"], "UTC"),
        # Clock changes come on Sundays there, and the window on Wednesdays.
        ("every 2 hours from 00:00 to 04:00 on wed", ["0 0,2,4 * * 3"], "Europe/Rome"),
        # June has no clock change in Rome.
        ("1,15 of jun 02:30", ["30 2 1,15 6 *"], "Europe/Rome"),
        # The window ends before the clock changes at 02:00, or starts after it.
        ("every 30 minutes from 05:00 to 06:30", ["*/30 5-6 * * *"], "Europe/Rome"),
        ("every 30 minutes from 00:00 to 01:30", ["*/30 0-1 * * *"], "Europe/Rome"),
        ("every 15 minutes from 03:00 to 04:45", ["*/15 3-4 * * *"], "Europe/Rome"),
        # Days 1 to 7 and Mondays: each day that either field chooses.
        ("1st,2nd,3rd,4th,5th day 00:00", ["0 0 1-5 * *"], "UTC"),
        ("29 of feb 00:00", ["0 0 29 2 *"], "UTC"),
        ("every day 09:00", ["0 9 * * 1-5", "0 9 * * 0,6"], "UTC"),
    ],
)
def test_schedules_proven_equal(text: str, crons: list[str], zone: str) -> None:
    assert isinstance(compare(text, crons, zone), Equivalent)


@pytest.mark.parametrize(
    ("text", "crons", "zone", "first", "side"),
    [
        # Ordinary days.
        ("every day 09:00", ["5 9 * * *"], "UTC", "2026-12-01T09:00", Side.BEFORE),
        ("every day 09:00", ["0 9 * * 1-6"], "UTC", "2026-12-06T09:00", Side.BEFORE),
        # The tempting twin of an ordinal weekday: days 1 to 7 OR every Monday.
        (
            "1st monday of month 09:00",
            ["0 9 1-7 * 1"],
            "UTC",
            "2026-12-01T09:00",
            Side.AFTER,
        ),
        # 31 of month passes April over; the last day of April is no tick.
        ("31 of month 00:00", ["0 0 30 * *"], "UTC", "2026-12-30T00:00", Side.AFTER),
        # A difference only on leap days.
        ("1 of feb 00:00", ["0 0 1,29 2 *"], "UTC", "2028-02-29T00:00", Side.AFTER),
        # Two jobs that share a tick fire twice.
        (
            "every day 09:00",
            ["0 9 * * *", "0 9 1 * *"],
            "UTC",
            "2026-12-01T09:00",
            Side.AFTER,
        ),
        # Elapsed time across a clock change: 00, 07, 13, 19 on 2027-03-14.
        (
            "every 6 hours synchronized",
            ["0 */6 * * *"],
            "America/New_York",
            "2027-03-14T10:00",
            Side.AFTER,
        ),
        # On Sundays alone, and so first where the clock changes: 00, 05, 09 then.
        (
            "every 4 hours from 00:00 to 12:00 on sun",
            ["0 0,4,8,12 * * 0"],
            "America/New_York",
            "2027-03-14T08:00",
            Side.AFTER,
        ),
    ],
)
def test_schedules_proven_different_are_shown_where(
    text: str, crons: list[str], zone: str, first: str, side: Side
) -> None:
    verdict = compare(text, crons, zone)
    assert isinstance(verdict, Divergent)
    assert verdict.first[0].at == datetime.fromisoformat(first).replace(tzinfo=UTC)
    assert verdict.first[0].side is side


@pytest.mark.parametrize(
    ("text", "crons", "zone", "why"),
    [
        (
            "every day 02:30",
            ["30 2 * * *"],
            "America/New_York",
            "skipped on 2027-03-14",
        ),
        ("every day 01:30", ["30 1 * * *"], "America/New_York", "twice on 2027-11-07"),
        ("every sunday 02:30", ["30 2 * * 0"], "Europe/Rome", "skipped on 2027-03-28"),
        # The first second Sunday of March that the 14th is comes in 2027.
        ("14 of mar 02:30", ["30 2 14 3 *"], "America/New_York", "2027-03-14"),
        ("9 of mar 02:30", ["30 2 9 3 *"], "America/New_York", "2031-03-09"),
        (
            "every 1 hours synchronized",
            ["0 * * * *"],
            "America/New_York",
            "02:00 is skipped",
        ),
        # Half an hour in spring: the quarters go on as the clock shows them.
        (
            "every 15 minutes synchronized",
            ["*/15 * * * *"],
            "Australia/Lord_Howe",
            "Australia/Lord_Howe",
        ),
    ],
)
def test_times_that_a_day_lacks_or_repeats_are_never_called_equal(
    text: str, crons: list[str], zone: str, why: str
) -> None:
    verdict = compare(text, crons, zone)
    assert isinstance(verdict, Unfixed)
    assert why in verdict.why


def test_a_search_for_instants_ends_where_they_are_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(divergences, "_SEARCHED", 10)
    leap_days_left_out = unixcron.parse("0 9 1-28,30,31 * *")
    assert first_divergences(DAILY, (leap_days_left_out,), "UTC", 0) == ()


def test_the_same_schedule_is_equal_to_itself_at_any_time() -> None:
    daily = groc.parse("every day 02:30")
    verdict = equivalence.schedules(daily, [daily], "America/New_York", NOW)
    assert isinstance(verdict, Equivalent)


def test_an_end_time_interval_has_no_instants_to_compare() -> None:
    interval = groc.parse("every 5 minutes")
    same = equivalence.schedules(interval, [interval], "UTC", NOW)
    other = equivalence.schedules(interval, [unixcron.parse("*/5 * * * *")], "UTC", NOW)
    assert isinstance(same, Unfixed)
    assert isinstance(other, Unfixed)
    assert same.why != other.why


def test_only_unix_cron_can_replace_another_schedule() -> None:
    one, other = groc.parse("every day 09:00"), groc.parse("every day 10:00")
    with pytest.raises(TypeError, match="unix-cron"):
        equivalence.schedules(one, [other], "UTC", NOW)


@pytest.mark.parametrize(
    ("cron", "found"),
    [
        ("59 1 14 3 *", None),
        ("0 2 14 3 *", "02:00"),
        ("59 2 14 3 *", "02:59"),
        ("0 3 14 3 *", None),  # the first minute that the clock shows again
        ("30 2 15 3 *", None),
        ("30 2 14 4 *", None),
    ],
)
def test_a_skipped_hour_begins_with_its_first_minute_and_ends_before_the_next(
    cron: str, found: str | None
) -> None:
    spring = next(zones.clock("America/New_York").changes(to_seconds(NOW)))
    within = clock_changes._wall_times_within(unixcron.parse(cron), spring.wall)
    assert (within and f"{within:%H:%M}") == found


# --- Laws -----------------------------------------------------------------------

ODD_ZONES = st.sampled_from(
    [
        "UTC",
        "America/New_York",
        "Europe/Dublin",
        "Australia/Lord_Howe",  # half an hour
        "Africa/Cairo",  # at midnight, and last Thursdays
        "America/Havana",  # 00:00 to 01:00
        "Asia/Beirut",
        "America/Santiago",
        "America/Nuuk",
        "Pacific/Chatham",  # at 02:45
        "Antarctica/Troll",  # two hours
        "Asia/Kolkata",
    ]
)
TIMES = st.builds(time, st.integers(0, 23), st.sampled_from([0, 1, 15, 30, 45, 59]))
WEEKDAYS = st.frozensets(st.sampled_from(list(Weekday)), min_size=1)
MONTHS = st.frozensets(st.integers(1, 12), min_size=1)
SPANS = st.sampled_from([15, 20, 30, 45, 60, 90, 120, 180, 240, 360]).map(
    lambda minutes: timedelta(minutes=minutes)
)
WINDOWS = st.builds(
    StartTimeInterval, SPANS, TIMES, TIMES, WEEKDAYS | st.just(EVERY_DAY)
)
CUSTOM = st.builds(
    CustomInterval,
    TIMES,
    st.builds(MonthDays, st.frozensets(st.integers(1, 28), min_size=1))
    | st.builds(OrdinalWeekdays, st.just(EVERY_ORDINAL), WEEKDAYS)
    | st.builds(
        OrdinalWeekdays,
        st.frozensets(st.integers(1, 5), min_size=1),
        st.just(EVERY_DAY),
    ),
    MONTHS,
)


def spelt_out(
    schedule: object, zone: str, since: datetime, days: int
) -> list[datetime]:
    until = since + timedelta(days=days)
    found = []
    for tick in ticks(schedule, load(zone), since):  # type: ignore[arg-type]  # any fixed schedule
        if tick > until:
            break
        found.append(tick)
    return found


@settings(max_examples=150, deadline=None)
@given(WINDOWS | CUSTOM, ODD_ZONES, st.integers(2026, 2060))
def test_what_is_proven_equal_ticks_alike_over_any_two_years(
    schedule: StartTimeInterval | CustomInterval, zone: str, year: int
) -> None:
    crons = to_unix(schedule)
    verdict = equivalence.schedules(schedule, crons, zone, NOW)
    if not isinstance(verdict, Equivalent):
        return
    since = max(datetime(year, 1, 1, tzinfo=UTC), NOW)
    ours = spelt_out(schedule, zone, since, 400)
    theirs = sorted(t for cron in crons for t in spelt_out(cron, zone, since, 400))
    assert ours == theirs


@settings(max_examples=150, deadline=None)
@given(WINDOWS | CUSTOM, WINDOWS | CUSTOM, ODD_ZONES)
def test_what_is_proven_different_differs_where_it_is_said_to(
    schedule: StartTimeInterval | CustomInterval,
    other: StartTimeInterval | CustomInterval,
    zone: str,
) -> None:
    crons = to_unix(other)
    verdict = equivalence.schedules(schedule, crons, zone, NOW)
    if not isinstance(verdict, Divergent):
        return
    assert verdict.first
    for divergence in verdict.first:
        just_before = divergence.at - timedelta(seconds=1)
        ours = next(iter(ticks(schedule, load(zone), just_before)), None)
        theirs = [
            next(iter(ticks(cron, load(zone), just_before)), None) for cron in crons
        ]
        on_our_side = int(ours == divergence.at)
        on_theirs = theirs.count(divergence.at)
        assert on_our_side != on_theirs
        assert (divergence.side is Side.BEFORE) == (on_our_side > on_theirs)


@settings(max_examples=100, deadline=None)
@given(CUSTOM, ODD_ZONES, st.integers(0, 20_000))
def test_a_custom_interval_without_a_proof_has_a_time_that_some_day_lacks_or_repeats(
    schedule: CustomInterval, zone: str, days: int
) -> None:
    crons = to_unix(schedule)
    verdict = equivalence.schedules(schedule, crons, zone, NOW)
    since = NOW + timedelta(days=days)
    clock_times = {
        tick.astimezone(load(zone)).time()
        for tick in islice(ticks(schedule, load(zone), since), 40)
    }
    assert clock_times <= {schedule.at}
    assert isinstance(verdict, Equivalent | Unfixed)


# --- Retries ----------------------------------------------------------------------


def policy(
    limit: int = 0,
    age: float = 0,
    least: float = 10,
    most: float = 300,
    doublings: int = 3,
) -> RetryPolicy:
    return RetryPolicy(limit, timedelta(seconds=age), least, most, doublings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (policy(5), policy(5)),
        (NO_RETRIES, policy(0)),  # no retries, whatever the waits
        (policy(3, doublings=3), policy(3, doublings=16)),  # never gets so far
        (policy(2, most=300), policy(2, most=3600)),  # as little
    ],
)
def test_policies_with_one_time_line_are_equal(
    before: RetryPolicy, after: RetryPolicy
) -> None:
    assert isinstance(equivalence.retries(before, after), Equivalent)


@pytest.mark.parametrize(
    ("before", "after", "firsts"),
    [
        (policy(1), NO_RETRIES, ([10], [])),
        (policy(1, least=0.1), policy(1, least=5), ([0.1], [5])),
        (policy(2), policy(3), ([10, 30], [10, 30, 70])),
        # Both limits given: it goes on until both are reached.
        (policy(1, age=60), policy(1), ([10, 30, 70], [10])),
    ],
)
def test_policies_whose_time_lines_part_are_shown_side_by_side(
    before: RetryPolicy, after: RetryPolicy, firsts: tuple[list[float], list[float]]
) -> None:
    verdict = equivalence.retries(before, after)
    assert isinstance(verdict, RetryDivergent)
    ours = [at.total_seconds() for at in verdict.before]
    theirs = [at.total_seconds() for at in verdict.after]
    assert (ours, theirs) == firsts
