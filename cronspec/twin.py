"""A schedule's twin in the other language: what ticks alike on ordinary days.

Clock changes are not looked at here: whether a twin also ticks alike on the days on
which a zone's clock changes is for a proof to say.
"""

from __future__ import annotations

from calendar import monthrange
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
    """Give few unix-cron schedules that together tick alike; none if none can.

    No two of them tick at the same instant. It is one wherever one can; several are
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
    """Split minutes of the day into (hours, minutes of the hour), all disjoint.

    Either the hours with the same minutes are put together, or the minutes with the
    same hours (`every 30 minutes from 08:30 to 17:00`): whichever makes fewer.
    """
    places = [divmod(minute, 60) for minute in sorted(minutes)]
    by_hour = _alike(places)
    by_minute = _alike([(minute, hour) for hour, minute in places])
    if len(by_minute) < len(by_hour):
        return [(hours, of_hour) for of_hour, hours in by_minute]
    return by_hour


def _alike(
    pairs: list[tuple[int, int]],
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Put the first numbers together that come with the same second ones."""
    seconds: dict[int, set[int]] = {}
    for first, second in pairs:
        seconds.setdefault(first, set()).add(second)
    firsts: dict[frozenset[int], set[int]] = {}
    for first, with_it in seconds.items():
        firsts.setdefault(frozenset(with_it), set()).add(first)
    return [(frozenset(alike), with_it) for with_it, alike in firsts.items()]


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
            longest = max(monthrange(2000, month)[1] for month in schedule.months)
            if min(schedule.days) > longest:
                return None  # groc refuses what never ticks
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
