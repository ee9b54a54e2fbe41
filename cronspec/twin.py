"""A schedule's twin in the other language: what ticks alike on ordinary days.

Clock changes are not looked at here: whether a twin also ticks alike on the days on
which a zone's clock changes is for a proof to say.
"""

from __future__ import annotations

from datetime import time, timedelta
from itertools import pairwise

from cronspec.kinds import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    STAR,
    CustomInterval,
    MonthDays,
    OrdinalWeekdays,
    StartTimeInterval,
    UnixCron,
    Unrestricted,
    Weekday,
    minute_of,
    minutes_of_day,
    window_steps,
)


def to_unix(schedule: StartTimeInterval | CustomInterval) -> tuple[UnixCron, ...]:
    """Give the fewest unix-cron schedules that together tick alike; none if none can.

    No two of them tick at the same instant. One is the common case; several are
    needed where the minutes differ from hour to hour (`every 90 minutes …`).
    """
    match schedule:
        case StartTimeInterval(weekdays=weekdays):
            first = minute_of(schedule.first)
            minutes = {(first + step // 60) % 1440 for step in window_steps(schedule)}
            restricted = STAR if weekdays == EVERY_DAY else weekdays
            return tuple(
                UnixCron(by_minutes, hours, weekdays=restricted)
                for hours, by_minutes in _rectangles(minutes)
            )
        case CustomInterval(at, days, months):
            minute, hour = frozenset((at.minute,)), frozenset((at.hour,))
            fields = _day_fields(days)
            return (
                (UnixCron(minute, hour, fields[0], months, fields[1]),)
                if fields
                else ()
            )
    raise TypeError(f"not a schedule with ticks: {schedule!r}")


def _rectangles(
    minutes: set[int],
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Split minutes of the day into (hours, minutes of the hour), all disjoint."""
    by_hour: dict[int, set[int]] = {}
    for minute in minutes:
        by_hour.setdefault(minute // 60, set()).add(minute % 60)
    hours: dict[frozenset[int], set[int]] = {}
    for hour, of_hour in sorted(by_hour.items()):
        hours.setdefault(frozenset(of_hour), set()).add(hour)
    return [(frozenset(at), of_hour) for of_hour, at in hours.items()]


_MonthField = frozenset[int] | Unrestricted
_WeekField = frozenset[Weekday] | Unrestricted


def _day_fields(
    days: MonthDays | OrdinalWeekdays,
) -> tuple[_MonthField, _WeekField] | None:
    """Give the two day fields; None where unix-cron's OR cannot say it."""
    match days:
        case MonthDays(numbers):
            return (STAR if len(numbers) == 31 else numbers), STAR
        case OrdinalWeekdays(ordinals, weekdays) if ordinals == EVERY_ORDINAL:
            return STAR, (STAR if weekdays == EVERY_DAY else weekdays)
        case OrdinalWeekdays(ordinals, weekdays) if weekdays == EVERY_DAY:
            # The n-th of every weekday are the days 7n-6 to 7n.
            numbers = frozenset(
                day for day in range(1, 32) if (day - 1) // 7 + 1 in ordinals
            )
            return numbers, STAR
    return None


def to_groc(schedule: UnixCron) -> StartTimeInterval | CustomInterval | None:
    """Give one groc schedule that ticks alike on ordinary days, or None.

    >>> from cronspec import groc, unixcron
    >>> groc.render(to_groc(unixcron.parse("*/5 10-13 * * *")))
    'every 5 minutes from 10:00 to 13:55'
    """
    minutes = minutes_of_day(schedule)
    if isinstance(schedule.days, frozenset) and isinstance(
        schedule.weekdays, frozenset
    ):
        return None
    if len(minutes) == 1:
        at = time(minutes[0] // 60, minutes[0] % 60)
        if isinstance(schedule.days, frozenset):
            return CustomInterval(at, MonthDays(schedule.days), schedule.months)
        weekdays = _weekdays(schedule)
        days = OrdinalWeekdays(EVERY_ORDINAL, weekdays)
        return CustomInterval(at, days, schedule.months)
    steps = {b - a for a, b in pairwise(minutes)}
    if (
        len(steps) != 1
        or schedule.months != EVERY_MONTH
        or isinstance(schedule.days, frozenset)
    ):
        return None
    (step,) = steps
    first, last = minutes[0], minutes[-1]
    if first == 0 and last + step == 1440:
        last = 1439  # as `synchronized` has it
    return StartTimeInterval(
        timedelta(minutes=step),
        time(first // 60, first % 60),
        time(last // 60, last % 60),
        _weekdays(schedule),
    )


def _weekdays(schedule: UnixCron) -> frozenset[Weekday]:
    if isinstance(schedule.weekdays, frozenset):
        return schedule.weekdays
    return EVERY_DAY
