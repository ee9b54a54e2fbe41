"""The kinds of schedule, as values, and when in a day or a month each asks for a run.

What makes instants of them is elsewhere: `schedule` gives their ticks in a zone. The
two languages that they are written in are `groc` (cron.yaml's) and `unixcron` (Cloud
Scheduler's other one).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import time, timedelta


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


# --- Days and minutes ---------------------------------------------------------


def on_day(schedule: WallClockSchedule, day: int, weekday: Weekday) -> bool:
    """Tell whether a schedule ticks on this day of each of its months."""
    return day_rule(schedule)(day, weekday)


def day_rule(schedule: WallClockSchedule) -> Callable[[int, int], bool]:
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


def minute_of(at: time) -> int:
    """Give the minute of the day, 0 to 1439, that `at` falls in."""
    return at.hour * 60 + at.minute


def window_steps(schedule: StartTimeInterval) -> range:
    """Give the seconds from a window's start to each tick, on an ordinary day."""
    length = (minute_of(schedule.last) - minute_of(schedule.first)) % 1440 * 60
    return range(0, length + 1, int(schedule.period.total_seconds()))


def minutes_of_day(schedule: WallClockSchedule) -> tuple[int, ...]:
    """Give the minutes of the day at which a wall-clock schedule ticks, in order."""
    if isinstance(schedule, CustomInterval):
        return (minute_of(schedule.at),)
    return tuple(
        sorted(
            60 * hour + minute for hour in schedule.hours for minute in schedule.minutes
        )
    )
