"""Durations, instants and verdicts in words, for every report."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from migrate.notes import Level
from migrate.verdict import Divergent, Equivalent, RetryDivergent, Side, Unfixed

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cronspec.config import Fault
    from migrate.translate import Translation


class Status(Enum):
    """How a translated entry stands: the heading that it is counted under."""

    EQUAL = "equal"
    NOTED = "noted"
    LOST = "lost"
    BLOCKED = "blocked"


def status(translation: Translation) -> Status:
    """Give the weightiest that was noted of a translation."""
    if translation.of_level(Level.BLOCK):
        return Status.BLOCKED
    if translation.of_level(Level.LOSS):
        return Status.LOST
    return Status.NOTED if translation.notes else Status.EQUAL


def duration(value: timedelta) -> str:
    """Give a duration as people write it.

    >>> duration(timedelta(seconds=0.1)), duration(timedelta(minutes=90))
    ('0.1 s', '1 h 30 min')
    """
    whole = int(value.total_seconds())
    if value < timedelta(minutes=1) or value != timedelta(seconds=whole):
        return f"{value.total_seconds():g} s"
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def utc(at: datetime) -> str:
    """Give an instant in UTC, to the minute.

    >>> utc(datetime(2026, 3, 8, 7, 30, tzinfo=UTC))
    '2026-03-08 07:30 UTC'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def local(at: datetime, zone: ZoneInfo) -> str:
    """Give an instant as its zone's clock shows it, with the offset from UTC.

    >>> from cronspec import zones
    >>> local(datetime(2026, 3, 8, 7, 30, tzinfo=UTC), zones.load("America/New_York"))
    'Sun 2026-03-08 03:30 -04:00'
    """
    shown = at.astimezone(zone)
    offset = f"{shown:%z}"
    return f"{shown:%a %Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def side(which: Side) -> str:
    """Say which side alone ticks at a divergence."""
    return "only today" if which is Side.BEFORE else "only then"


def verdict_json(
    verdict: Equivalent | Divergent | Unfixed | RetryDivergent,
) -> dict[str, object]:
    """Give a verdict as JSON: its `kind` and what shows it."""
    match verdict:
        case Equivalent(until):
            return {"kind": "equivalent", "until": until.isoformat()}
        case Divergent(first):
            divergences = [
                {"at": one.at.isoformat(), "side": one.side.value} for one in first
            ]
            return {"kind": "divergent", "first": divergences}
        case Unfixed(why):
            return {"kind": "unfixed", "why": why}
        case RetryDivergent(before, after):
            return {
                "kind": "divergent",
                "before": [wait.total_seconds() for wait in before],
                "after": [wait.total_seconds() for wait in after],
            }


def fault_json(fault: Fault) -> dict[str, object]:
    """Give a fault of a file with its place."""
    return {
        "code": fault.code,
        "file": fault.place.file,
        "line": fault.place.line,
        "column": fault.place.column,
        "text": fault.text,
        "fix": fault.fix or None,
    }
