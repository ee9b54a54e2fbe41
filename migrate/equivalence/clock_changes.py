"""The clock changes of a zone, one by one: whether a schedule ticks alike there.

Over 400 years after the last change that the zone's file lists: the calendar, and so
every zone's rule, then repeats. How Cloud Scheduler fires unix-cron at a time that a
day's clock skips or shows twice is not documented ("anomalies"), so where a schedule
has such a time nothing can be proven.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cronspec.instants import DAY, to_datetime
from cronspec.kinds import minute_of, minutes_of_day, on_day
from cronspec.schedule import StartTimeInterval, Weekday
from cronspec.zones import Change, clock
from migrate.equivalence.divergences import first_divergences
from migrate.verdict import Divergent, Unfixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cronspec.schedule import FixedSchedule, UnixCron, WallClockSchedule

_CYCLE: Final = 146_097 * DAY  # the Gregorian calendar repeats after 400 years


def parting(
    before: FixedSchedule, after: tuple[UnixCron, ...], timezone: str, since: int
) -> Divergent | Unfixed | None:
    """Give the first clock change that keeps two schedules from being equal, or None.

    They must tick alike on ordinary days.
    """
    touched, changes = _changes(timezone, since)
    if touched & _reach(before):
        for change in changes:
            verdict = _around(before, after, timezone, change)
            if verdict is not None:
                return verdict
    return None


@lru_cache(maxsize=1024)
def _changes(timezone: str, since: int) -> tuple[int, tuple[Change, ...]]:
    """Give all later clock changes, and as bits the minutes of the day they touch."""
    changes = []
    last_listed = None
    for change in clock(timezone).changes(since):
        last_listed = last_listed or change.at
        if change.at > last_listed + _CYCLE + 50 * 366 * DAY:
            break
        changes.append(change)
    touched = 0
    for start, length in {
        (c.wall[0] // 60 % 1440, (c.wall[1] - c.wall[0]) // 60) for c in changes
    }:
        for minute in range(start, start + min(length, 1440)):
            touched |= 1 << minute % 1440
    return touched, tuple(changes)


@lru_cache(maxsize=4096)
def _reach(schedule: FixedSchedule) -> int:
    """Give, as bits, the minutes of the day at which a clock change would matter."""
    if isinstance(schedule, StartTimeInterval):
        first = minute_of(schedule.first)
        length = (minute_of(schedule.last) - first) % 1440
        minutes: Sequence[int] = range(first, first + length + 1)
    else:
        minutes = minutes_of_day(schedule)
    return sum(1 << minute for minute in {minute % 1440 for minute in minutes})


def _around(
    before: FixedSchedule, after: tuple[UnixCron, ...], timezone: str, change: Change
) -> Divergent | Unfixed | None:
    """Compare the ticks around one clock change; None if it makes no difference."""
    if not _may_matter(before, change):
        return None
    start, end = change.at - DAY - 1, change.at + 2 * DAY
    first = first_divergences(before, after, timezone, start, end)
    if first:
        return Divergent(first)
    for cron in after:
        undocumented = _wall_times_within(cron, change.wall)
        if undocumented is not None:
            happens = "skipped" if change.after > change.before else "shown twice"
            return Unfixed(
                f"{undocumented:%H:%M} is {happens} on {undocumented:%Y-%m-%d} in "
                f"{timezone}, and what Cloud Scheduler then does with unix-cron is "
                "not documented"
            )
    return None


def _may_matter(schedule: FixedSchedule, change: Change) -> bool:
    """Tell whether a schedule has anything to do on the days around a change."""
    low, high = change.wall
    if isinstance(schedule, StartTimeInterval):
        days = range(low // DAY - 1, high // DAY + 2)
        return any(Weekday((day + 4) % 7) in schedule.weekdays for day in days)
    return _wall_times_within(schedule, (low, high)) is not None


def _wall_times_within(
    schedule: WallClockSchedule, wall: tuple[int, int]
) -> datetime | None:
    """Give the first of a schedule's wall times in [from, to), if there is one."""
    low, high = wall
    for day in range(low // DAY, high // DAY + 1):
        shown = to_datetime(day * DAY)
        if shown.month not in schedule.months:
            continue
        if not on_day(schedule, shown.day, Weekday((day + 4) % 7)):
            continue
        for minute in minutes_of_day(schedule):
            if low <= day * DAY + minute * 60 < high:
                return shown + timedelta(minutes=minute)
    return None
