"""A schedule's canonical groc text: lower case, short names, two-digit hours."""

from __future__ import annotations

from datetime import time, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from cronspec.groc_words import MAX_NUMBER, MONTH_NAMES, UNITS
from cronspec.kinds import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    EndTimeInterval,
    GrocSchedule,
    MonthDays,
    OrdinalWeekdays,
    StartTimeInterval,
    Weekday,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_Value = TypeVar("_Value")
_DAY: Final = timedelta(days=1)


def render(schedule: GrocSchedule) -> str:
    """Give a schedule's canonical text: `parse(render(s)) == s`.

    >>> from cronspec.groc import parse
    >>> render(parse("EVERY monday,tue9:00"))
    'every mon,tue 09:00'
    """
    match schedule:
        case EndTimeInterval(period, weekdays):
            return _period(period) + _on(weekdays)
        case StartTimeInterval(period, first, last, weekdays):
            whole_day = (first, last) == (time(0, 0), time(23, 59))
            if whole_day and period <= _DAY and not _DAY % period:
                return f"{_period(period)} synchronized{_on(weekdays)}"
            window = f" from {first:%H:%M} to {last:%H:%M}"
            return _period(period) + window + _on(weekdays)
    return f"{_days(schedule.days, schedule.months)} {schedule.at:%H:%M}"


def _days(days: MonthDays | OrdinalWeekdays, months: frozenset[int]) -> str:
    of = "month" if months == EVERY_MONTH else _names(months, _MONTH_NAMES)
    if isinstance(days, MonthDays):
        return f"{','.join(map(str, sorted(days.days)))} of {of}"
    every = days.ordinals == EVERY_ORDINAL
    which = "every" if every else _names(days.ordinals, _NTH)
    # `day` after an ordinal would be a day of the month.
    whole_week = every and days.weekdays == EVERY_DAY
    names = "day" if whole_week else _names(days.weekdays, _DAY_NAMES)
    scope = "" if months == EVERY_MONTH else f" of {of}"
    return f"{which} {names}{scope}"


_DAY_NAMES: Final = {day: day.name.lower()[:3] for day in Weekday}
_NTH: Final = dict(zip(range(1, 6), ("1st", "2nd", "3rd", "4th", "5th"), strict=True))
_MONTH_NAMES: Final = {n: name[:3] for n, name in enumerate(MONTH_NAMES, start=1)}


def _period(period: timedelta) -> str:
    hours = period // UNITS["hours"]
    if period % UNITS["hours"] or hours > MAX_NUMBER:
        return f"every {period // UNITS['minutes']} minutes"
    return f"every {hours} hours"


def _on(weekdays: frozenset[Weekday]) -> str:
    return "" if weekdays == EVERY_DAY else f" on {_names(weekdays, _DAY_NAMES)}"


def _names(values: frozenset[_Value], names: Mapping[_Value, str]) -> str:
    return ",".join(name for value, name in names.items() if value in values)
