"""A unix-cron schedule's canonical text: numbers, and the shortest lists of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cronspec.kinds import UnixCron, Unrestricted
from cronspec.unixcron_parser import FIELDS

if TYPE_CHECKING:
    from cronspec.kinds import Weekday


def render(schedule: UnixCron) -> str:
    """Give a schedule's canonical text: `parse(render(s)) == s`.

    >>> from cronspec.unixcron import parse
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
