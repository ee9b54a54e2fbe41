"""What holds for every schedule, text and zone."""

from __future__ import annotations

import re
import time as clock_time
from calendar import monthrange
from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cronspec import groc, unixcron, zones
from cronspec.explain import explain
from cronspec.instants import start_of_year, to_datetime
from cronspec.kinds import minutes_of_day, on_day
from cronspec.schedule import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    STAR,
    CustomInterval,
    EndTimeInterval,
    FixedSchedule,
    MonthDays,
    OrdinalWeekdays,
    Schedule,
    ScheduleError,
    StartTimeInterval,
    UnixCron,
    Weekday,
    last_tick,
    ticks,
)
from cronspec.twin import to_groc, to_unix

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

# Zones with odd rules: half hours, gaps at midnight, a skipped day, negative summer
# time, changes by the moon, and changes of whole minutes long ago.
ZONES = (
    "UTC America/New_York Australia/Lord_Howe Pacific/Apia Europe/Dublin Asia/Tehran "
    "America/Sao_Paulo Africa/Casablanca Africa/Cairo Asia/Gaza America/Havana "
    "Asia/Kathmandu Antarctica/Troll Pacific/Kwajalein Africa/Monrovia Europe/Amsterdam"
).split()


def some(values: range | frozenset[int]) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.sampled_from(sorted(values)), min_size=1)


times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
weekdays = st.just(EVERY_DAY) | st.frozensets(st.sampled_from(Weekday), min_size=1)
months = st.just(EVERY_MONTH) | some(EVERY_MONTH)
short_periods = st.integers(1, 1440).map(lambda count: timedelta(minutes=count))
long_periods = st.builds(
    lambda count, unit: count * unit,
    st.integers(1, 99_999),
    st.sampled_from((timedelta(minutes=1), timedelta(hours=1))),
)


def has_a_day(schedule: CustomInterval) -> bool:
    return not isinstance(schedule.days, MonthDays) or min(schedule.days.days) <= max(
        monthrange(2024, month)[1] for month in schedule.months
    )


custom_intervals = st.builds(
    CustomInterval,
    times,
    st.builds(MonthDays, some(range(1, 32)))
    | st.builds(OrdinalWeekdays, st.just(EVERY_ORDINAL) | some(EVERY_ORDINAL), weekdays)
    # `<ordinals> day` means days of the month, so these are never written.
    .filter(lambda d: d.ordinals == EVERY_ORDINAL or d.weekdays != EVERY_DAY),
    months,
).filter(has_a_day)
start_time_intervals = st.builds(
    StartTimeInterval, short_periods, times, times, weekdays
) | st.builds(StartTimeInterval, long_periods, times, times)
end_time_intervals = st.builds(EndTimeInterval, short_periods, weekdays) | st.builds(
    EndTimeInterval, long_periods
)
unix_crons = st.builds(
    UnixCron,
    some(range(60)),
    some(range(24)),
    st.just(STAR) | some(range(1, 32)),
    months,
    st.just(STAR) | st.frozensets(st.sampled_from(Weekday), min_size=1),
)
fixed_schedules = custom_intervals | start_time_intervals | unix_crons


def instants_between(first: int, last: int) -> st.SearchStrategy[datetime]:
    seconds = st.integers(start_of_year(first), start_of_year(last))
    return seconds.map(to_datetime)


instants = instants_between(1850, 2200)


# --- Ticks ----------------------------------------------------------------------


@settings(max_examples=250, deadline=None)
@given(fixed_schedules, st.sampled_from(ZONES), instants)
def test_ticks_are_later_than_asked_and_than_each_other(
    schedule: FixedSchedule, zone: str, after: datetime
) -> None:
    found = list(islice(ticks(schedule, zones.load(zone), after), 60))
    assert all(a < b for a, b in pairwise([after, *found]))
    assert all(at.tzinfo is UTC for at in found)


@settings(max_examples=200, deadline=None)
@given(fixed_schedules, st.sampled_from(ZONES), instants)
def test_asking_again_from_a_tick_goes_on_with_the_next(
    schedule: FixedSchedule, zone: str, after: datetime
) -> None:
    tz = zones.load(zone)
    found = list(islice(ticks(schedule, tz, after), 12))
    for at, following in pairwise(found):
        assert next(ticks(schedule, tz, at)) == following
        assert last_tick(schedule, tz, at) == at
        assert last_tick(schedule, tz, following - timedelta(seconds=1)) == at


@settings(max_examples=80, deadline=None)
@given(
    custom_intervals | unix_crons,
    st.sampled_from(ZONES),
    instants_between(2005, 2045),
)
def test_a_wall_clock_schedule_ticks_when_zoneinfo_shows_its_time(
    schedule: CustomInterval | UnixCron, zone: str, after: datetime
) -> None:
    tz, minutes = zones.load(zone), frozenset(minutes_of_day(schedule))
    start = after.replace(second=0, microsecond=0)
    if start < after:
        start += timedelta(minutes=1)
    expected = []
    for number in range(1, 3 * 1440):
        at = start + timedelta(minutes=number)
        local = at.astimezone(tz)
        if (
            local.hour * 60 + local.minute in minutes
            and local.month in schedule.months
            and on_day(schedule, local.day, Weekday(local.isoweekday() % 7))
        ):
            expected.append(at)
    end = start + timedelta(minutes=3 * 1440 - 1)
    found = list(islice(ticks(schedule, tz, start), len(expected) + 1))
    assert [at for at in found if at <= end] == expected


# --- Texts ------------------------------------------------------------------------


@settings(max_examples=250, deadline=None)
@given(end_time_intervals | start_time_intervals | custom_intervals)
def test_a_rendered_groc_schedule_is_read_as_itself(schedule: Schedule) -> None:
    assert not isinstance(schedule, UnixCron)
    assert groc.parse(groc.render(schedule)) == schedule


@settings(max_examples=250, deadline=None)
@given(unix_crons)
def test_a_rendered_unix_cron_schedule_is_read_as_itself(schedule: UnixCron) -> None:
    assert unixcron.parse(unixcron.render(schedule)) == schedule


_BLANKS = st.text(" \t\r\n", max_size=3)


@settings(max_examples=200, deadline=None)
@given(end_time_intervals | start_time_intervals | custom_intervals, st.data())
def test_case_and_white_space_do_not_matter_in_groc(
    schedule: Schedule, data: st.DataObject
) -> None:
    assert not isinstance(schedule, UnixCron)
    words = re.findall(r"\d+:\d+|\d+(?:st|nd|rd|th)|\w+|,", groc.render(schedule))
    spelt = "".join(
        data.draw(st.sampled_from((word, word.upper(), word.title())))
        + data.draw(_BLANKS)
        for word in words
    )
    assert groc.parse(spelt) == schedule
    assert groc.render(groc.parse(spelt)) == groc.render(schedule)


_WORDS = st.sampled_from(
    "every day of month quarter from to synchronized on , mon monday tues jan sept "
    "1st 2nd 6th 31st first sixth 1 5 15 31 60 24 9:00 09:69 24:00 9 0.5 hours hour "
    "minutes min days weeks at and the 9am 12pm until weekday - / * @daily # ; . L W "
    "? \x0b é 0 */5 1-5 5-1 FRI-MON MON 5/10 H".split(" ")
)
_TEXTS = (
    st.text(max_size=60)
    | st.text("every dayof1mon:0,5/-*#?LWh", max_size=40)
    | st.lists(_WORDS, max_size=9).map(" ".join)
    | st.lists(_WORDS, max_size=9).map("".join)
)


def _refusal(parse: Callable[[str], object], text: str) -> ScheduleError | None:
    try:
        parse(text)
    except ScheduleError as error:
        return error
    return None


@settings(max_examples=600, deadline=None)
@given(_TEXTS)
@example("every day \ud800")
@example("\x00")
def test_no_text_raises_anything_else_and_each_fix_is_a_schedule(text: str) -> None:
    for parse in (groc.parse, unixcron.parse):
        error = _refusal(parse, text)
        if error is not None:
            assert 1 <= error.column <= len(text) + 1
            assert error.reason
            if error.fix:
                parse(error.fix)


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "1",
        " ",
        ",",
        "1,",
        "1, ",
        "9:",
        "every ",
        "mon ",
        "mon-",
        "1st,",
        "a b",
        "é",
        "from 1 ",
        "from 1:00 to ",
        ".",
        "1.",
        "# ",
        "1 to 2",
        "-",
        "*/",
        "*,",
        "0 0 ",
        "1-2,",
        "#",
        "H(",
        "H/",
        "L",
        "@",
        "\t",
        "to 24:00 ",
        "1 h",
        "and ",
        "mon,",
    ],
)
def test_a_long_text_is_answered_in_no_time(part: str) -> None:
    leads = ("", "every ", "every 5 minutes ", "every day ", "* * * * ")
    texts = [(lead + 99 * part)[:length] for lead in leads for length in (150, 200)]
    for text in [*texts, part * (100_000 // len(part))]:
        start = clock_time.process_time()
        for parse in (groc.parse, unixcron.parse):
            assert len(str(_refusal(parse, text))) < 2_000
        assert clock_time.process_time() - start < 2


# --- Twins --------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(custom_intervals | start_time_intervals, instants)
def test_unix_twins_together_tick_alike_in_utc(
    schedule: CustomInterval | StartTimeInterval, after: datetime
) -> None:
    twins, utc = to_unix(schedule), zones.load("UTC")
    if twins:
        each = [list(islice(ticks(twin, utc, after), 80)) for twin in twins]
        together = sorted(at for found in each for at in found)[:80]
        assert len(set(together)) == len(together)
        assert list(islice(ticks(schedule, utc, after), len(together))) == together
    else:
        assert isinstance(schedule, CustomInterval)
        assert isinstance(schedule.days, OrdinalWeekdays)


@settings(max_examples=200, deadline=None)
@given(
    unix_crons
    | st.builds(UnixCron, some(range(2)), some(range(2)), months=months)
    | (custom_intervals | start_time_intervals).map(
        lambda schedule: (to_unix(schedule) or to_unix(_DAILY))[0]
    ),
    instants,
)
def test_a_groc_twin_ticks_alike_in_utc(schedule: UnixCron, after: datetime) -> None:
    twin, utc = to_groc(schedule), zones.load("UTC")
    if twin is not None:
        assert list(islice(ticks(twin, utc, after), 80)) == list(
            islice(ticks(schedule, utc, after), 80)
        )


_DAILY = CustomInterval(time(9), OrdinalWeekdays(EVERY_ORDINAL, EVERY_DAY))


# --- Words --------------------------------------------------------------------------


def _meaning(schedule: Schedule) -> object:
    """Give what makes a schedule tick: equal for schedules that mean the same."""
    if isinstance(schedule, EndTimeInterval | StartTimeInterval):
        return schedule
    days = frozenset(
        (month, day, weekday)
        for month in schedule.months
        for day in range(1, monthrange(2024, month)[1] + 1)
        for weekday in Weekday
        if on_day(schedule, day, weekday)
    )
    return (minutes_of_day(schedule), days) if days else "never"


def _neighbours(schedule: Schedule, rng: random.Random) -> list[Schedule]:
    """Give schedules that differ little, whose words are likest to be the same."""
    match schedule:
        case UnixCron(minutes, hours, days, months, weekdays):
            flipped = frozenset((rng.randrange(12), 30))
            return [
                UnixCron(minutes ^ flipped or minutes, hours, days, months, weekdays),
                UnixCron(minutes, hours, STAR, months, weekdays),
                UnixCron(minutes, hours, days, months, STAR),
                UnixCron(minutes, hours, days, EVERY_MONTH, weekdays),
                UnixCron(minutes, frozenset(range(24)), days, months, weekdays),
            ]
        case StartTimeInterval(period, first, last, weekdays):
            return [
                EndTimeInterval(period, weekdays),
                StartTimeInterval(period, first, first, weekdays),
                StartTimeInterval(period, last, first, weekdays),
                StartTimeInterval(period * 2, first, last, weekdays),
                StartTimeInterval(period, first, last, EVERY_DAY),
            ]
        case CustomInterval(at, _, months):
            return [
                UnixCron(frozenset((at.minute,)), frozenset((at.hour,)), months=months),
                StartTimeInterval(timedelta(hours=1), at, at),
            ]
    return []


@settings(max_examples=25, deadline=None)
@given(st.lists(fixed_schedules | end_time_intervals, max_size=40), st.randoms())
def test_schedules_that_mean_different_things_never_share_their_words(
    schedules: list[Schedule], rng: random.Random
) -> None:
    said = dict[str, Schedule]()
    neighbours = [other for one in schedules for other in _neighbours(one, rng)]
    for schedule in [*schedules, *neighbours]:
        words = explain(schedule)
        assert words.endswith(".")
        assert words[0].isupper()
        assert not re.search(r"  | ,|,,|\.\.", words), words
        other = said.setdefault(words, schedule)
        assert _meaning(other) == _meaning(schedule), (words, other, schedule)
