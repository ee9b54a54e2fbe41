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

from bisect import bisect_left
from calendar import isleap, monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, time, timedelta
from enum import Enum, IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from cronspec.instants import DAY, start_of_year, to_datetime, to_seconds, year_of
from cronspec.windows import interval_ticks, minute_of, window_steps
from cronspec.zones import HORIZON, clock_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from zoneinfo import ZoneInfo

    from cronspec.zones import Clock


__all__ = [
    "EVERY_DAY",
    "EVERY_MONTH",
    "EVERY_ORDINAL",
    "STAR",
    "CustomInterval",
    "EndTimeInterval",
    "FixedSchedule",
    "GrocSchedule",
    "MonthDays",
    "OrdinalWeekdays",
    "Schedule",
    "ScheduleError",
    "StartTimeInterval",
    "UnixCron",
    "Unrestricted",
    "WallClockSchedule",
    "Weekday",
    "abridged",
    "last_tick",
    "minute_of",
    "minutes_of_day",
    "on_day",
    "ticks",
    "to_datetime",
    "to_seconds",
    "window_steps",
]


def abridged(text: str, most: int = 200) -> str:
    """Give a text as messages quote it: the middle of a very long one left out."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} … {text[-most // 4 :]}"


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
        quoted = repr(abridged(text))
        super().__init__(f"schedule {quoted}, column {column}: {reason}{way_out}")


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


def ticks(schedule: FixedSchedule, tz: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the ticks later than `after`, in UTC, each later than the one before.

    Begins with the year 2 and ends with 9998; a schedule with no day to tick on has
    none.
    The zone's data are the pinned tzdata's, by the name of `tz`. Raises ZoneError
    (a ValueError) for a zone without a name, ValueError for an `after` without one.

    >>> from cronspec import groc, zones
    >>> start = datetime(2026, 3, 7, tzinfo=UTC)
    >>> daily = ticks(groc.parse("every day 02:30"), zones.load("Europe/Rome"), start)
    >>> next(daily).isoformat()
    '2026-03-07T01:30:00+00:00'
    """
    since = max(to_seconds(after), _FIRST)
    clock = clock_of(tz)
    if since >= HORIZON:
        return iter(())
    match schedule:
        case StartTimeInterval():
            return interval_ticks(schedule, clock, since)
        case CustomInterval() | UnixCron():
            return _wall_clock_ticks(schedule, clock, since)
        case EndTimeInterval():  # type: ignore[unreachable]  # callers without mypy
            raise TypeError("an end-time interval has no ticks: its runs set its time")
    raise TypeError(f"not a schedule with ticks: {schedule!r}")


_FIRST = start_of_year(2)  # a year of room below, for offsets and earlier windows
# How far back the latest tick may lie: an hour to most, four hundred years to none.
_LOOK_BACK = (3600, DAY, 40 * DAY, 400 * DAY, 8 * 366 * DAY + DAY, 400 * 366 * DAY)


def last_tick(schedule: FixedSchedule, tz: ZoneInfo, at: datetime) -> datetime | None:
    """Give the latest tick not later than `at`, in UTC; None if there never was one."""
    until = to_seconds(at)
    for seconds in _LOOK_BACK:
        latest = None
        for tick in ticks(schedule, tz, to_datetime(max(until - seconds, _FIRST))):
            if tick > at:
                break
            latest = tick
        if latest is not None:
            return latest
    return None


# --- Days ---------------------------------------------------------------------


def on_day(schedule: WallClockSchedule, day: int, weekday: Weekday) -> bool:
    """Tell whether a schedule ticks on this day of each of its months."""
    return _day_rule(schedule)(day, weekday)


def _day_rule(schedule: WallClockSchedule) -> Callable[[int, int], bool]:
    """Give what tells of a day of the month and of the week whether it is chosen."""
    match schedule:
        case CustomInterval(days=MonthDays(days)):
            return lambda day, _: day in days
        case CustomInterval(days=OrdinalWeekdays(ordinals, weekdays)):
            return lambda day, weekday: (
                weekday in weekdays and (day - 1) // 7 + 1 in ordinals
            )
        case UnixCron(days=Unrestricted(), weekdays=Unrestricted()):
            return lambda _day, _weekday: True
        case UnixCron(days=Unrestricted(), weekdays=frozenset() as weekdays):
            return lambda _, weekday: weekday in weekdays
        case UnixCron(days=frozenset() as days, weekdays=Unrestricted()):
            return lambda day, _: day in days
        case UnixCron(days=frozenset() as days, weekdays=frozenset() as weekdays):
            return lambda day, weekday: day in days or weekday in weekdays
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


class _Year(NamedTuple):
    """A year: its first midnight, and which of the fourteen kinds it is of."""

    start: int  # seconds from 1970-01-01T00:00
    end: int
    midnight: datetime
    kind: tuple[bool, int]  # leap year? weekday of 1 January


@cache
def _year(year: int) -> _Year:
    midnight = datetime(year, 1, 1, tzinfo=UTC)
    weekday = midnight.isoweekday() % 7
    start, length = to_seconds(midnight), 365 + isleap(year)
    return _Year(start, start + DAY * length, midnight, (isleap(year), weekday))


_DAYS: Final = [timedelta(days=day) for day in range(366)]


class _Calendar(dict[tuple[bool, int], tuple[list[int], list[timedelta]]]):
    """A schedule's times of day, and by kind of year its days from 1 January on.

    Both as numbers, to be searched, and as time deltas, to be added.
    """

    def __init__(self, schedule: WallClockSchedule) -> None:
        super().__init__()
        self._months = schedule.months
        self._chosen = _day_rule(schedule)
        self.times = [60 * minute for minute in minutes_of_day(schedule)]
        self.steps = [timedelta(seconds=at) for at in self.times]

    def __missing__(self, kind: tuple[bool, int]) -> tuple[list[int], list[timedelta]]:
        leap, weekday = kind
        chosen = self._chosen
        days, first = list[int](), 0
        for month in range(1, 13):
            length = monthrange(2024 if leap else 2023, month)[1]
            if month in self._months:
                days += [
                    day
                    for day in range(first, first + length)
                    if chosen(day - first + 1, (weekday + day) % 7)
                ]
            first += length
        self[kind] = days, [_DAYS[day] for day in days]
        return self[kind]

    @property
    def barren(self) -> bool:
        """Whether there is no day in any year."""
        return not any(self[leap, day][0] for leap in (True, False) for day in range(7))


_calendar = lru_cache(maxsize=1024)(_Calendar)


def _wall_clock_ticks(
    schedule: WallClockSchedule, clock: Clock, since: int
) -> Iterator[datetime]:
    """Yield what the clock shows of the schedule's times, span by span."""
    calendar = _calendar(schedule)
    times, steps = calendar.times, calendar.steps
    if not times:
        return
    first, last = times[0], times[-1]
    number = year_of(since) + 1
    for span in clock.spans(since):
        # What the clock shows in this span, later than `since`: [begin, end).
        begin = max(span.start, since + 1) + span.offset
        end = span.end + span.offset
        back = timedelta(seconds=span.offset)
        while (year := _year(number)).start > begin:
            number -= 1
        while year.start < end:
            days, from_new_year = calendar[year.kind]
            low, high = 0, len(days)
            # A time t of day d is shown if begin - start <= DAY * d + t < end - start.
            if year.start < begin:
                low = bisect_left(days, -((year.start + last - begin) // DAY))
            if year.end > end:
                high = bisect_left(days, -((year.start + first - end) // DAY))
            if first == last and low < high:
                start = year.midnight + (steps[0] - back)
                yield from map(start.__add__, from_new_year[low:high])
            else:
                for day in range(low, high):
                    midnight = year.start + DAY * days[day]
                    shown = _between(times, begin - midnight, end - midnight)
                    start = year.midnight + (from_new_year[day] - back)
                    yield from map(start.__add__, steps[shown])
            if number == MAXYEAR or (not days and calendar.barren):
                return
            number += 1
            year = _year(number)


def _between(times: list[int], begin: int, end: int) -> slice:
    return slice(bisect_left(times, begin), bisect_left(times, end))
