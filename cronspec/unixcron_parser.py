"""The grammar of unix-cron, field by field: words in, a schedule out.

`unixcron` holds the grammar as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from cronspec.kinds import (
    STAR,
    ScheduleError,
    UnixCron,
    Unrestricted,
    Weekday,
    abridged,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One of the five fields: its name, its values and their names."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()  # of low, low + 1, …

    def number(self, text: str) -> int | None:
        """Give the value that `text` names; None if it names none."""
        if text.upper() in self.names:
            return self.names.index(text.upper()) + self.low
        if re.fullmatch(r"[0-9]{1,4}", text) and self.low <= int(text) <= self.high:
            return int(text)
        return None

    def values(self) -> str:
        """Say which values there are."""
        names = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{self.low}-{self.high}{names}"


_MONTHS: Final = tuple("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split())
_DAYS: Final = tuple("SUN MON TUE WED THU FRI SAT".split())
FIELDS: Final = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of month", 1, 31),
    Field("month", 1, 12, _MONTHS),
    Field("day of week", 0, 7, _DAYS),
)
_LAYOUT: Final = "minute, hour, day of month, month, day of week"
_BLANKS: Final = " \t\r\n"
# What other crons take, by the part of a field that shows it.
_FOREIGN: Final = (
    (r"\?", "'?' is Quartz's and others', not Cloud Scheduler's; write '*'"),
    (
        r".*#.*",
        "'#' (the n-th weekday) is not Cloud Scheduler's; its groc has '1st monday'",
    ),
    (r"(?:\d+|[a-z]{3})?L(?:-\d+)?", "'L' (the last) is not Cloud Scheduler's"),
    (r"(?:\d+|L)W", "'W' (the nearest weekday) is not Cloud Scheduler's"),
    (r"H(?:\(.*\))?(?:/.*)?", "'H' (a hash) is Jenkins's, not Cloud Scheduler's"),
    (r"[^-*/]+/.*", "a step needs a range or '*' before it, as in '5-59/10'"),
)


def read(text: str) -> UnixCron:
    """Read a unix-cron text. Raises ScheduleError, which names no fix."""
    words = list(re.finditer(rf"[^{_BLANKS}]+", text))
    if len(words) != len(FIELDS):
        column = words[0].start() + 1 if words else 1
        raise ScheduleError(text, column, _wrong_count([word[0] for word in words]))
    minutes, hours, days, months, weekdays = (
        _parse_field(text, word[0], word.start() + 1, field)
        for word, field in zip(words, FIELDS, strict=True)
    )
    return UnixCron(
        minutes=_all(FIELDS[0]) if minutes is STAR else minutes,
        hours=_all(FIELDS[1]) if hours is STAR else hours,
        days=days,
        months=_all(FIELDS[3]) if months is STAR else months,
        weekdays=STAR
        if weekdays is STAR
        else frozenset(Weekday(day % 7) for day in weekdays),
    )


def _wrong_count(words: list[str]) -> str:
    if words and words[0].startswith("@"):
        return (
            f"{abridged(words[0])!r} is not Cloud Scheduler's: "
            f"write the five fields ({_LAYOUT})"
        )
    if words and words[0].isalpha():
        return f"this is no unix-cron: expected five fields ({_LAYOUT})"
    if len(words) in {6, 7}:
        return (
            f"{len(words)} fields, but Cloud Scheduler has neither seconds nor years: "
            f"expected five ({_LAYOUT})"
        )
    return f"expected five fields ({_LAYOUT}), found {len(words) or 'none'}"


def _all(field: Field) -> frozenset[int]:
    return frozenset(range(field.low, field.high + 1))


def _parse_field(
    text: str, word: str, column: int, field: Field
) -> frozenset[int] | Literal[Unrestricted.STAR]:
    if word == "*":
        return STAR
    values = set[int]()
    for part in word.split(","):
        try:
            values.update(_parse_part(part, field))
        except ValueError as error:
            raise ScheduleError(text, column, f"{field.name}: {error}") from None
        column += len(part) + 1
    return frozenset(values)


def _parse_part(part: str, field: Field) -> range:
    for pattern, reason in _FOREIGN:
        if re.fullmatch(pattern, part, re.IGNORECASE):
            raise ValueError(reason)
    span, slash, step_text = part.partition("/")
    step = _step(step_text, field) if slash else 1
    if span == "*":
        # `*` counts from 0 for days of the week, so 7 is not a Sunday of its own.
        return range(field.low, min(field.high, 6 if field.high == 7 else 99) + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, field)
    if not dash:
        return range(first, first + 1)
    last = _number(last_text, field)
    if first >= last:
        raise ValueError(
            f"the range {span!r} must go up: Cloud Scheduler has no ranges that wrap "
            "around or hold one value; write a list"
        )
    return range(first, last + 1, step)


def _step(text: str, field: Field) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not int(text):
        raise ValueError(f"{abridged(text)!r} is no step: a number from 1 on")
    if int(text) > field.high:
        raise ValueError(f"the step {text} exceeds the largest value, {field.high}")
    return int(text)


def _number(text: str, field: Field) -> int:
    number = field.number(text)
    if number is None:
        raise ValueError(f"{abridged(text)!r} is not in {field.values()}")
    return number


def accepts(text: str) -> bool:
    """Tell whether a text is unix-cron."""
    try:
        read(text)
    except ScheduleError:
        return False
    return True
