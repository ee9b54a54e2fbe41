"""Schedules, and the instants (*ticks*) at which they ask for a run.

A schedule is a value; the two languages it is written in are read and rendered by
`groc` (cron.yaml's) and `unixcron` (Cloud Scheduler's other one). The meaning is
that of Google's own groc evaluator, with its clock-change rules:

* a wall-clock schedule (`CustomInterval`, `UnixCron`) ticks whenever its zone's
  clock shows its time: not at all on a day whose clock skips that time, twice on
  one whose clock shows it twice;
* a `StartTimeInterval` starts a window each day and counts *elapsed* time from
  there: its wall times shift for the rest of a window that a clock change falls
  in. A start that the clock skips moves to the next minute it shows; a bound that
  the clock shows twice means the first.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import Enum, IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from cronspec.zones import DAY, HORIZON, Clock, clock_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo


class ScheduleError(ValueError):
    """A text that is no schedule: `column` (from 1) points at the word at fault.

    `fix` is the text that was most likely meant, and is a schedule; "" if unknown.
    """

    def __init__(self, text: str, column: int, reason: str, fix: str = "") -> None:
        self.text = text
        self.column = column
        self.reason = reason
        self.fix = fix
        way_out = f"; did you mean {fix!r}?" if fix else ""
        super().__init__(f"schedule {text!r}, column {column}: {reason}{way_out}")


class Weekday(IntEnum):
    """A day of the week, numbered as in both languages."""

    SUNDAY = 0
    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6


EVERY_DAY: Final = frozenset(Weekday)
EVERY_MONTH: Final = frozenset(range(1, 13))
EVERY_ORDINAL: Final = frozenset(range(1, 6))


@dataclass(frozen=True, slots=True)
class EndTimeInterval:
    """`every 5 minutes`: counted from the end of the last run."""

    period: timedelta
    weekdays: frozenset[Weekday] = EVERY_DAY


@dataclass(frozen=True, slots=True)
class StartTimeInterval:
    """`every 5 minutes from 10:00 to 14:00`; `synchronized` is 00:00 to 23:59.

    A `last` before `first` is on the next day; one equal to it makes one tick a
    day. `weekdays` are those of the tick itself, not of its window's start.
    """

    period: timedelta
    first: time
    last: time
    weekdays: frozenset[Weekday] = EVERY_DAY


@dataclass(frozen=True, slots=True)
class MonthDays:
    """`1,15 of month`: days by their number; a month without one passes it over."""

    days: frozenset[int]


@dataclass(frozen=True, slots=True)
class OrdinalWeekdays:
    """`1st,3rd tuesday`: the first and third Tuesday of a month."""

    ordinals: frozenset[int]
    weekdays: frozenset[Weekday]


@dataclass(frozen=True, slots=True)
class CustomInterval:
    """`1st monday of jan 09:00`: one time of day, on some days of some months."""

    at: time
    days: MonthDays | OrdinalWeekdays
    months: frozenset[int] = EVERY_MONTH


class Unrestricted(Enum):
    """What `*` says in a day field of unix-cron: this field does not choose."""

    STAR = "*"


STAR: Final = Unrestricted.STAR


@dataclass(frozen=True, slots=True)
class UnixCron:
    """`0 9 * * 1`: where both day fields choose, a day that either chooses is in."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | Literal[Unrestricted.STAR] = STAR
    months: frozenset[int] = EVERY_MONTH
    weekdays: frozenset[Weekday] | Literal[Unrestricted.STAR] = STAR


# An end-time interval has no place among these: nothing but the run itself
# says when it ticks next, so asking for its ticks is a type error.
WallClockSchedule = CustomInterval | UnixCron
FixedSchedule = StartTimeInterval | WallClockSchedule
GrocSchedule = EndTimeInterval | StartTimeInterval | CustomInterval
Schedule = EndTimeInterval | FixedSchedule


def minute_of(at: time) -> int:
    """Give the minute of the day, 0 to 1439, that `at` falls in."""
    return at.hour * 60 + at.minute


def ticks(schedule: FixedSchedule, tz: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the ticks later than `after`, in UTC, each later than the one before.

    Ends before the year 9999, or at once for a schedule with no day to tick on.
    The zone's data are the pinned tzdata's, by the name of `tz`. Raises ZoneError
    (a ValueError) for a zone without a name, ValueError for an `after` without one.

    >>> from cronspec import groc, zones
    >>> start = datetime(2026, 3, 7, tzinfo=UTC)
    >>> daily = ticks(groc.parse("every day 02:30"), zones.load("Europe/Rome"), start)
    >>> next(daily).isoformat()
    '2026-03-07T01:30:00+00:00'
    """
    since = to_seconds(after)
    clock = clock_of(tz)
    match schedule:
        case StartTimeInterval():
            return _interval_ticks(schedule, clock, since)
        case CustomInterval() | UnixCron():
            return _wall_clock_ticks(schedule, clock, since)
        case EndTimeInterval():  # type: ignore[unreachable]  # callers without mypy
            raise TypeError("an end-time interval has no ticks: its runs set its time")
    raise TypeError(f"not a schedule with ticks: {schedule!r}")


# How far back the latest tick may lie: an hour to most, four hundred years to none.
_LOOK_BACK = (3600, DAY, 40 * DAY, 400 * DAY, 8 * 366 * DAY + DAY, 400 * 366 * DAY)


def last_tick(schedule: FixedSchedule, tz: ZoneInfo, at: datetime) -> datetime | None:
    """Give the latest tick not later than `at`, in UTC; None if there never was one."""
    until = to_seconds(at)
    for seconds in _LOOK_BACK:
        latest = None
        for tick in ticks(schedule, tz, to_datetime(until - seconds)):
            if tick > at:
                break
            latest = tick
        if latest is not None:
            return latest
    return None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def to_seconds(instant: datetime) -> int:
    """Give the whole seconds from 1970-01-01T00:00Z to `instant`, rounded down."""
    if instant.tzinfo is None:
        raise ValueError(f"a time without a zone: {instant.isoformat()}")
    return (instant - _EPOCH) // _SECOND


def to_datetime(seconds: int) -> datetime:
    """Give the instant `seconds` after 1970-01-01T00:00Z, in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


# --- Days ---------------------------------------------------------------------


def days_of_month(
    schedule: WallClockSchedule, year: int, month: int
) -> tuple[int, ...]:
    """Give the days of one month on which a wall-clock schedule ticks, in order."""
    first_weekday, length = monthrange(year, month)
    return _days(schedule, month, (first_weekday + 1) % 7, length)


@lru_cache(maxsize=8192)
def _days(
    schedule: WallClockSchedule, month: int, first_weekday: int, length: int
) -> tuple[int, ...]:
    if month not in schedule.months:
        return ()
    return tuple(
        day
        for day in range(1, length + 1)
        if on_day(schedule, day, Weekday((first_weekday + day - 1) % 7))
    )


def on_day(schedule: WallClockSchedule, day: int, weekday: Weekday) -> bool:
    """Tell whether a schedule ticks on this day of each of its months."""
    match schedule:
        case CustomInterval(days=MonthDays(days)):
            return day in days
        case CustomInterval(days=OrdinalWeekdays(ordinals, weekdays)):
            return weekday in weekdays and (day - 1) // 7 + 1 in ordinals
        case UnixCron(days=Unrestricted(), weekdays=Unrestricted()):
            return True
        case UnixCron(days=Unrestricted(), weekdays=frozenset() as weekdays):
            return weekday in weekdays
        case UnixCron(days=frozenset() as days, weekdays=Unrestricted()):
            return day in days
        case UnixCron(days=frozenset() as days, weekdays=frozenset() as weekdays):
            return day in days or weekday in weekdays
    raise TypeError(f"not a wall-clock schedule: {schedule!r}")


def minutes_of_day(schedule: WallClockSchedule) -> tuple[int, ...]:
    """Give the minutes of the day at which a wall-clock schedule ticks, in order."""
    if isinstance(schedule, CustomInterval):
        return (minute_of(schedule.at),)
    return tuple(
        sorted(
            60 * hour + minute for hour in schedule.hours for minute in schedule.minutes
        )
    )


def _month_days(
    schedule: WallClockSchedule, first_day: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield months as (day number of its day 0, days); none after a barren 400 years.

    Day numbers count from 1970-01-01.
    """
    start = _EPOCH + timedelta(days=first_day)
    year, month = start.year, start.month
    midnight = (start - timedelta(days=start.day) - _EPOCH).days
    barren = 0
    while barren <= 400 * 12:
        first_weekday = (midnight + 5) % 7  # 1970-01-01, day 0, was a Thursday
        length = monthrange(year, month)[1]
        days = _days(schedule, month, first_weekday, length)
        barren = 0 if days else barren + 1
        if days:
            yield midnight, days
        midnight += length
        month += 1
        if month == 13:
            year, month = year + 1, 1


def _wall_clock_ticks(
    schedule: WallClockSchedule, clock: Clock, since: int
) -> Iterator[datetime]:
    """Yield what the clock shows of the schedule's times, span by span."""
    minutes = [timedelta(minutes=minute) for minute in minutes_of_day(schedule)]
    if not minutes:
        return
    first, last = minutes[0], minutes[-1]
    for span in clock.spans(since):
        # What the clock shows in this span, later than `since`.
        begin = to_datetime(max(span.start - 1, since) + span.offset)
        end = to_datetime(min(span.end, HORIZON) + span.offset)
        back = timedelta(seconds=span.offset)
        for midnight, days in _month_days(schedule, (begin - _EPOCH).days):
            zero = _EPOCH + timedelta(days=midnight)
            if zero >= end:
                break
            for day in days:
                wall = zero + timedelta(days=day)
                if wall + first > begin and wall + last < end:
                    start = wall - back
                    for minute in minutes:
                        yield start + minute
                else:
                    for minute in minutes:
                        if begin < wall + minute < end:
                            yield wall + minute - back


# --- Windows ------------------------------------------------------------------


def window_steps(schedule: StartTimeInterval) -> range:
    """Give the seconds from a window's start to each tick, on an ordinary day."""
    length = (minute_of(schedule.last) - minute_of(schedule.first)) % 1440 * 60
    return range(0, length + 1, int(schedule.period.total_seconds()))


def _interval_ticks(
    schedule: StartTimeInterval, clock: Clock, since: int
) -> Iterator[datetime]:
    """Yield the steps of each day's window, span by span."""
    first = minute_of(schedule.first) * 60
    by_weekday = _steps_by_weekday(schedule)
    limit = to_datetime(since)
    day = (since - 2 * DAY) // DAY - 1
    for span in clock.spans(since - 4 * DAY):
        while (wall := day * DAY + first) + DAY - span.offset <= span.end:
            if wall + DAY >= HORIZON:
                return
            start = wall - span.offset
            if start < span.start:  # this window's start fell in an earlier span
                yield from _changed_window(schedule, clock, day, since)
            else:
                begin = to_datetime(start)
                for step in by_weekday[(day + 4) % 7]:
                    if (tick := begin + step) > limit:
                        yield tick
            day += 1
        while span.end < HORIZON and day * DAY + first - span.offset < span.end:
            yield from _changed_window(schedule, clock, day, since)
            day += 1


def _steps_by_weekday(schedule: StartTimeInterval) -> list[list[timedelta]]:
    """Give, by the weekday of a window's start, the steps whose own day is allowed."""
    first = minute_of(schedule.first) * 60
    steps = [timedelta(seconds=step) for step in window_steps(schedule)]
    return [
        [
            step
            for step in steps
            if (weekday + (first + step // _SECOND) // DAY) % 7 in schedule.weekdays
        ]
        for weekday in range(7)
    ]


def _changed_window(
    schedule: StartTimeInterval, clock: Clock, day: int, since: int
) -> Iterator[datetime]:
    """Yield the ticks of the window of one day that a clock change may touch."""
    first, last = minute_of(schedule.first) * 60, minute_of(schedule.last) * 60
    start = clock.first_instant(day * DAY + first)
    following = clock.first_instant((day + 1) * DAY + first)
    end = next(
        bound
        for nearby in range(day - 1, day + 4)
        if (bound := clock.first_instant(nearby * DAY + last)) >= start
    )
    step = int(schedule.period.total_seconds())
    for tick in range(start, min(end + 1, following), step):
        weekday = ((tick + clock.offset(tick)) // DAY + 4) % 7
        if tick > since and weekday in schedule.weekdays:
            yield to_datetime(tick)
