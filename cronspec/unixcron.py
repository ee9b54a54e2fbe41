"""unix-cron as Cloud Scheduler documents it: `0 9 * * 1` ⇄ UnixCron.

Five fields: minute 0-59, hour 0-23, day of month 1-31, month 1-12 or JAN-DEC, day of
week 0-6 or SUN-SAT, 7 being Sunday too. A field is `*` or a list of numbers and of
ranges `a-b` with a < b; `*` and ranges may have a step `/n`, at most the field's
largest value. Where both day fields choose, a day that either chooses is in.
(https://cloud.google.com/scheduler/docs/configuring/cron-job-schedules)

What other crons take and Cloud Scheduler does not document (L, W, #, ?, @daily, a
step on one number) is refused by name. Names may stand in any case here; `render`
writes numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from cronspec.schedule import (
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


def parse(text: str) -> UnixCron:
    """Read a unix-cron text. Raises ScheduleError, and nothing else, where it is none.

    >>> sorted(parse("0 9 * * MON-WED").weekdays)
    [<Weekday.MONDAY: 1>, <Weekday.TUESDAY: 2>, <Weekday.WEDNESDAY: 3>]
    """
    try:
        return _parse(text)
    except ScheduleError as error:
        # Only a text that is refused needs them, and they parse in their turn.
        from cronspec.unixcron_fixes import fix  # noqa: PLC0415 - see above

        raise ScheduleError(text, error.column, error.reason, fix(text)) from None


def accepts(text: str) -> bool:
    """Tell whether a text is unix-cron."""
    try:
        _parse(text)
    except ScheduleError:
        return False
    return True


def _parse(text: str) -> UnixCron:
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


def render(schedule: UnixCron) -> str:
    """Give a schedule's canonical text: `parse(render(s)) == s`.

    >>> render(parse("*/15 9-17 * JAN,FEB,MAR MON-FRI"))
    '*/15 9-17 * 1-3 1-5'
    """
    minute, hour, _, month, _ = FIELDS
    return " ".join(
        (
            _render_field(schedule.minutes, minute.low, minute.high),
            _render_field(schedule.hours, hour.low, hour.high),
            _render_days(schedule.days),
            _render_field(schedule.months, month.low, month.high),
            _render_days(schedule.weekdays),
        )
    )


def _render_days(values: frozenset[int] | frozenset[Weekday] | Unrestricted) -> str:
    """Render a day field: a lone `*` does not choose, so none stands for a choice."""
    if isinstance(values, Unrestricted):
        return "*"
    return _runs(sorted(int(value) for value in values))


def _render_field(values: frozenset[int], low: int, high: int) -> str:
    if len(values) == high - low + 1:
        return "*"
    ordered = sorted(values)
    steps = {b - a for a, b in pairwise(ordered)}
    if len(steps) == 1 and len(ordered) > 2:
        (step,) = steps
        if ordered[0] == low and ordered[-1] + step > high:
            return f"*/{step}"
        if step > 1:
            return f"{ordered[0]}-{ordered[-1]}/{step}"
    return _runs(ordered)


def _runs(ordered: list[int]) -> str:
    """Render values as a list of numbers and of ranges of three and more."""
    parts: list[list[int]] = []
    for value in ordered:
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run))
        for run in parts
    )
