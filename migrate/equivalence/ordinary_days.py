"""Days on which the zone's clock does not change, compared as sets.

Such a day is told apart only by its month, number and weekday, all of whose
combinations occur in the calendar's 400 years.
"""

from __future__ import annotations

from calendar import monthrange
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cronspec.kinds import minute_of, minutes_of_day, on_day, window_steps
from cronspec.schedule import StartTimeInterval, Weekday

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cronspec.schedule import FixedSchedule

# A day, apart from its month, as a bit: 7 weekdays for each of 31 numbers.
_LENGTHS: Final = tuple(monthrange(2000, month)[1] for month in range(1, 13))
_VALID: Final = tuple((1 << 7 * length) - 1 for length in _LENGTHS)


def days_by_minute(
    schedules: tuple[FixedSchedule, ...],
) -> dict[int, tuple[int, ...]] | None:
    """Give the days of each month, as bits, by the minute of the day.

    None if two of the schedules tick at the same instant.
    """
    days: dict[int, tuple[int, ...]] = {}
    for schedule in schedules:
        months = _days_by_month(schedule)
        for minute in _minutes(schedule):
            known = days.get(minute)
            if known is None:
                days[minute] = months
            elif any(a & b for a, b in zip(known, months, strict=True)):
                return None
            else:
                days[minute] = tuple(a | b for a, b in zip(known, months, strict=True))
    return days


def _minutes(schedule: FixedSchedule) -> Sequence[int]:
    if isinstance(schedule, StartTimeInterval):
        first = minute_of(schedule.first)
        return [(first + step // 60) % 1440 for step in window_steps(schedule)]
    return minutes_of_day(schedule)


@lru_cache(maxsize=4096)
def _days_by_month(schedule: FixedSchedule) -> tuple[int, ...]:
    if isinstance(schedule, StartTimeInterval):
        week = sum(1 << weekday for weekday in schedule.weekdays)
        bits = sum(week << 7 * number for number in range(31))
        return tuple(bits & valid for valid in _VALID)
    bits = sum(
        1 << 7 * number + weekday
        for number in range(31)
        for weekday in Weekday
        if on_day(schedule, number + 1, weekday)
    )
    return tuple(
        bits & valid if month in schedule.months else 0
        for month, valid in enumerate(_VALID, start=1)
    )
