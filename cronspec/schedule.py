"""Schedules, and the instants (*ticks*) at which they ask for a run.

A schedule is a value of one of the `kinds`. Its meaning is that of Google's own groc
evaluator, with its clock-change rules:

* a wall-clock schedule (`CustomInterval`, `UnixCron`) ticks whenever its zone's
  clock shows its time: not at all on a day whose clock skips that time, twice on
  one whose clock shows it twice;
* a `StartTimeInterval` starts a window each day and counts *elapsed* time from
  there: its wall times shift for the rest of a window that a clock change falls
  in. A start that the clock skips moves to the next minute it shows; a bound that
  the clock shows twice means the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.instants import DAY, start_of_year, to_datetime, to_seconds
from cronspec.kinds import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    STAR,
    CustomInterval,
    EndTimeInterval,
    FixedSchedule,
    GrocSchedule,
    MonthDays,
    OrdinalWeekdays,
    Schedule,
    ScheduleError,
    StartTimeInterval,
    UnixCron,
    Unrestricted,
    WallClockSchedule,
    Weekday,
)
from cronspec.wallclock import wall_clock_ticks
from cronspec.windows import interval_ticks
from cronspec.zones import HORIZON, clock_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from zoneinfo import ZoneInfo

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
    "last_tick",
    "ticks",
]


def ticks(schedule: FixedSchedule, tz: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the ticks later than `after`, in UTC, each later than the one before.

    Begins with the year 2 and ends with 9998; a schedule with no day to tick on has
    none.
    The zone's data are the pinned tzdata's, by the name of `tz`. Raises ZoneError
    (a ValueError) for a zone without a name, ValueError for an `after` without one.

    >>> from datetime import UTC, datetime
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
            return wall_clock_ticks(schedule, clock, since)
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
