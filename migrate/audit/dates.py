"""Findings on days that months lack, and on schedules that seldom fire."""

from __future__ import annotations

from calendar import monthrange
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from cronspec.groc import MONTH_NAMES
from cronspec.schedule import (
    CustomInterval,
    GrocSchedule,
    MonthDays,
    OrdinalWeekdays,
    ticks,
)
from cronspec.zones import load
from migrate.audit.evidence import zone_of
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_SELDOM: Final = timedelta(days=367)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell the schedules that pass over months, or years."""
    for entry in evidence.entries:
        place = entry.place_of("schedule")
        rare = seldom(entry.schedule, zone_of(entry), evidence.now)
        missing = passed_over(entry.schedule)
        if rare:
            yield told("rarely-fires", place, rare)
        elif missing:
            yield told("months-passed-over", place, missing, _fix(entry.schedule))


@lru_cache(maxsize=2048)
def seldom(schedule: GrocSchedule, zone: str, now: datetime) -> str:
    """Say when a schedule next fires if that takes over a year; else ""."""
    if not isinstance(schedule, CustomInterval) or len(schedule.months) > 4:
        return ""
    coming = list(islice(ticks(schedule, load(zone), now), 2))
    if all(b - a <= _SELDOM for a, b in zip([now, *coming], coming, strict=False)):
        return ""
    when = " and ".join(f"{tick.astimezone(load(zone)):%Y-%m-%d}" for tick in coming)
    return f"fires less than once a year, next on {when}"


def passed_over(schedule: GrocSchedule) -> str:
    """Say which months a schedule passes over for want of a day; "" if none."""
    match schedule:
        case CustomInterval(days=MonthDays(days), months=months):
            return _without_days(days, months)
        case CustomInterval(days=OrdinalWeekdays(ordinals)) if ordinals == {5}:
            return "fires only in months with a fifth such weekday, four or five a year"
    return ""


def _without_days(days: frozenset[int], months: frozenset[int]) -> str:
    empty = _lacking(min(days), months)
    if empty:
        return f"no run in {_names(empty)}, which has no day {min(days)}"
    short = _lacking(max(days), months)
    if short:
        return f"day {max(days)} is passed over in {_names(short)}"
    return ""


def _lacking(day: int, months: frozenset[int]) -> list[int]:
    # 2001 was no leap year: February has a 29th only one year in four.
    return [month for month in sorted(months) if day > monthrange(2001, month)[1]]


def _names(months: list[int]) -> str:
    return ", ".join(MONTH_NAMES[month - 1][:3] for month in months)


def _fix(schedule: GrocSchedule) -> str:
    if isinstance(schedule, CustomInterval) and isinstance(schedule.days, MonthDays):
        return (
            f"groc has no last day of the month; `1 of month {schedule.at:%H:%M}` "
            "is the day after"
        )
    return ""
