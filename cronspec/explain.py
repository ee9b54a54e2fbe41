"""A schedule of either language in plain words.

Two schedules that mean different things never share a text: every part of a
schedule that changes its ticks stands in its words.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from cronspec.groc_words import MONTH_NAMES
from cronspec.kinds import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    CustomInterval,
    EndTimeInterval,
    MonthDays,
    StartTimeInterval,
    UnixCron,
    Weekday,
    minute_of,
    minutes_of_day,
    window_steps,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cronspec.kinds import Schedule

_HOUR: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)
_MOST_TIMES: Final = 4  # as many as a reader takes in as a list
_NTH: Final = ("first", "second", "third", "fourth", "fifth")
_PASSED_OVER: Final = "A month without such a day is passed over."


def explain(schedule: Schedule, timezone: str | None = None) -> str:
    """Say in one or two sentences when a schedule asks for a run.

    >>> from cronspec import groc
    >>> explain(groc.parse("1st monday of jan 9:00"), "Europe/Rome")
    'At 09:00 on the first Monday of January, Europe/Rome time.'
    """
    match schedule:
        case EndTimeInterval():
            said, more = _end_time(schedule), ""
        case StartTimeInterval():
            said, more = _start_time(schedule)
        case CustomInterval():
            said, more = _custom(schedule)
        case _:
            said, more = _unix(schedule)
    zone = "" if timezone is None else f", {timezone}{' time' * (timezone != 'UTC')}"
    return f"{said}{zone}.{more and ' '}{more}"


# --- Intervals ------------------------------------------------------------------


def _end_time(schedule: EndTimeInterval) -> str:
    only = ""
    if schedule.weekdays != EVERY_DAY:
        only = f", on {_plural(schedule.weekdays)} only"
    return f"{_every(schedule.period)}, counted from the end of the last run{only}"


def _start_time(schedule: StartTimeInterval) -> tuple[str, str]:
    first, last = f"{schedule.first:%H:%M}", f"{schedule.last:%H:%M}"
    wraps = schedule.last < schedule.first
    said = f"{_every(schedule.period)} from {first} to {last}"
    said += " of the next day" if wraps else ""
    if schedule.weekdays == EVERY_DAY:
        said += ", every day"
    else:
        said += f", on {_plural(schedule.weekdays)}"
        said += " (the day of the run itself)" if wraps else ""
    steps = window_steps(schedule)
    rest = (minute_of(schedule.first) + steps[-1] // 60 + 1) % 1440
    if len(steps) == 1:
        return said, f"This is once a day: each day's count begins at {first}."
    if rest and 86_400 - steps[-1] < steps.step:
        return said, f"Each day's count begins at {first} again."
    return said, ""


def _every(period: timedelta) -> str:
    unit, name = (_MINUTE, "minute") if period % _HOUR else (_HOUR, "hour")
    count = period // unit
    return f"Every {name}" if count == 1 else f"Every {count} {name}s"


# --- Days -----------------------------------------------------------------------


def _custom(schedule: CustomInterval) -> tuple[str, str]:
    at, months = f"At {schedule.at:%H:%M}", schedule.months
    if isinstance(schedule.days, MonthDays):
        days = schedule.days.days
        return f"{at} on the {_dates(days)} of {_months(months)}", _gaps(days, months)
    ordinals, weekdays = schedule.days.ordinals, schedule.days.weekdays
    if ordinals == EVERY_ORDINAL:
        return f"{at} {_each(weekdays)}{_of(months)}", ""
    nth = _and(_NTH[number - 1] for number in sorted(ordinals))
    names = _and(map(_name, _from_monday(weekdays)))
    said = f"{at} on the {nth} {names} of {_months(months)}"
    return said, (_PASSED_OVER if 5 in ordinals else "")


def _unix(schedule: UnixCron) -> tuple[str, str]:
    times, months = _times(schedule), schedule.months
    match schedule.days, schedule.weekdays:
        case frozenset() as days, frozenset() as weekdays:
            dates, each = _dates(days), _each(weekdays)
            said = f"{times} on the {dates} of every month, and also {each}"
            if months != EVERY_MONTH:
                said = f"{times} on the {dates}, and also {each}, of {_months(months)}"
            return said, "Either is enough: unix-cron joins its day fields by 'or'."
        case frozenset() as days, _:
            return (
                f"{times} on the {_dates(days)} of {_months(months)}",
                _gaps(days, months),
            )
        case _, frozenset() as weekdays:
            return f"{times} {_each(weekdays)}{_of(months)}", ""
    return f"{times} every day{_of(months)}", ""


def _gaps(days: frozenset[int], months: frozenset[int]) -> str:
    """Say what becomes of days that not every month has."""
    lengths = [monthrange(2023, month)[1] for month in months]
    if max(days) <= min(lengths):
        return ""
    if min(days) > max(monthrange(2024, month)[1] for month in months):
        return "There is no such day: it never runs."
    return _PASSED_OVER


def _of(months: frozenset[int]) -> str:
    return "" if months == EVERY_MONTH else f" of {_months(months)}"


def _months(months: frozenset[int]) -> str:
    if months == EVERY_MONTH:
        return "every month"
    return _and(MONTH_NAMES[month - 1].capitalize() for month in sorted(months))


def _dates(days: frozenset[int]) -> str:
    return _and(_runs(days, _nth))


def _each(weekdays: frozenset[Weekday]) -> str:
    if weekdays == EVERY_DAY:
        return "every day"
    return f"every {_and(map(_name, _from_monday(weekdays)))}"


def _plural(weekdays: frozenset[Weekday]) -> str:
    return _and(f"{_name(day)}s" for day in _from_monday(weekdays))


def _from_monday(weekdays: frozenset[Weekday]) -> list[Weekday]:
    return sorted(weekdays, key=lambda day: (day - 1) % 7)


def _name(weekday: Weekday) -> str:
    return weekday.name.capitalize()


# --- Times of unix-cron -----------------------------------------------------------


def _times(schedule: UnixCron) -> str:
    times = minutes_of_day(schedule)
    if len(times) <= _MOST_TIMES:
        return f"At {_and(f'{at // 60:02}:{at % 60:02}' for at in times)}"
    hours = "every hour"
    if len(schedule.hours) < 24:
        several = "s" if len(schedule.hours) > 1 else ""
        hours = f"the hour{several} {_and(_runs(schedule.hours, '{:02}'.format))}"
    return f"{_minutes(schedule.minutes)} of {hours},"


def _minutes(minutes: frozenset[int]) -> str:
    ordered = sorted(minutes)
    steps = {later - earlier for earlier, later in pairwise([*ordered, 60])}
    if ordered[0] == 0 and len(steps) == 1:
        return _every(steps.pop() * _MINUTE) if len(ordered) > 1 else "At minute 0"
    plural = "s" if len(ordered) > 1 else ""
    return f"At minute{plural} {_and(_runs(minutes, str))}"


# --- Lists ------------------------------------------------------------------------


def _runs(numbers: Iterable[int], spelt: Callable[[int], str]) -> list[str]:
    """Spell numbers in order, three and more in a row as `1st to 3rd`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = list[str]()
    for run in runs:
        if len(run) > 2:
            said.append(f"{spelt(run[0])} to {spelt(run[-1])}")
        else:
            said += map(spelt, run)
    return said


def _nth(number: int) -> str:
    teens = 10 < number % 100 < 14
    return f"{number}{'th' if teens else _SUFFIXES.get(number % 10, 'th')}"


_SUFFIXES: Final = {1: "st", 2: "nd", 3: "rd"}


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
