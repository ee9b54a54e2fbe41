"""Findings on days of clock change: runs that are skipped, doubled or shifted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from cronspec.instants import DAY, to_datetime, to_seconds
from cronspec.schedule import (
    CustomInterval,
    EndTimeInterval,
    StartTimeInterval,
    Weekday,
    minute_of,
    on_day,
    ticks,
    window_steps,
)
from cronspec.zones import clock, load
from migrate.audit.evidence import place_of, zone_of
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.schedule import GrocSchedule
    from cronspec.zones import Change
    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_YEARS: Final = 5  # as far as changes are looked for; leap days lie within
_SHOWN: Final = 2


@dataclass(frozen=True, slots=True)
class Effect:
    """What clock changes do to a schedule: a code, its words and a way out."""

    code: str
    text: str
    fix: str


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell the entries whose runs clock changes touch, with the next dates."""
    today = to_seconds(evidence.now) // DAY * DAY
    for entry in evidence.entries:
        for effect in effects(entry.schedule, zone_of(entry), today):
            place = place_of(entry, "schedule")
            yield told(effect.code, place, effect.text, effect.fix)


@lru_cache(maxsize=2048)
def effects(schedule: GrocSchedule, zone: str, since: int) -> tuple[Effect, ...]:
    """Give what the zone's clock changes after `since` do to a schedule."""
    match schedule:
        case EndTimeInterval():
            return ()
        case CustomInterval():
            return tuple(_at_one_time(schedule, zone, since))
        case StartTimeInterval():
            return tuple(_in_window(schedule, zone, since))


@lru_cache(maxsize=256)
def _changes(zone: str, since: int) -> tuple[Change, ...]:
    end = since + _YEARS * 366 * DAY
    return tuple(takewhile(lambda c: c.at < end, clock(zone).changes(since)))


# --- One time of day ----------------------------------------------------------


def _at_one_time(schedule: CustomInterval, zone: str, since: int) -> Iterator[Effect]:
    skipped, doubled = list["datetime"](), list["datetime"]()
    for change in _changes(zone, since):
        shown = _touched(schedule, change)
        if shown is not None:
            forward = change.after > change.before
            (skipped if forward else doubled).append(shown)
    way_out = "choose a time of day that every day has once, or UTC"
    if skipped:
        yield Effect(
            "clock-change-skipped",
            f"no run on {_dates(skipped)}: the clock in {zone} passes over "
            f"{schedule.at:%H:%M} that day",
            way_out,
        )
    if doubled:
        yield Effect(
            "clock-change-doubled",
            f"two runs on {_dates(doubled)}: the clock in {zone} shows "
            f"{schedule.at:%H:%M} twice that day",
            way_out,
        )


def _touched(schedule: CustomInterval, change: Change) -> datetime | None:
    """Give the schedule's wall time that a change skips or doubles, if any."""
    low, high = change.wall
    at = minute_of(schedule.at) * 60
    for day in range(low // DAY, high // DAY + 1):
        if not low <= day * DAY + at < high:
            continue
        shown = to_datetime(day * DAY + at)
        weekday = Weekday((day + 4) % 7)
        if shown.month in schedule.months and on_day(schedule, shown.day, weekday):
            return shown
    return None


def _dates(days: list[datetime]) -> str:
    shown = " and ".join(f"{day:%Y-%m-%d}" for day in days[:_SHOWN])
    return f"{shown} and later" if len(days) > _SHOWN else shown


# --- Windows ------------------------------------------------------------------


def _in_window(schedule: StartTimeInterval, zone: str, since: int) -> Iterator[Effect]:
    """Compare the times of the clock on days of change with those of any other day."""
    told_codes = set[str]()
    for change in _changes(zone, since)[:4]:
        if _keeps_its_times(schedule, change):
            continue
        for day in range(change.wall[0] // DAY - 1, change.wall[1] // DAY + 1):
            effect = _on(schedule, zone, day)
            if effect is not None and effect.code not in told_codes:
                told_codes.add(effect.code)
                yield effect


def _keeps_its_times(schedule: StartTimeInterval, change: Change) -> bool:
    """Tell whether a schedule goes on all day in steps that a change fits in.

    Such a schedule keeps its pace: nothing of it is skipped or done twice.
    """
    step = int(schedule.period.total_seconds())
    steps = window_steps(schedule)
    all_day = steps[-1] + step >= DAY
    return all_day and not DAY % step and not (change.after - change.before) % step


def _on(schedule: StartTimeInterval, zone: str, day: int) -> Effect | None:
    """Give what differs on one day, as a day number of the zone's own calendar."""
    usual, actual = _usual_minutes(schedule, day), _actual_minutes(schedule, zone, day)
    if usual == actual:
        return None
    date = f"{to_datetime(day * DAY):%Y-%m-%d}"
    shifted = [minute for minute in actual if minute not in usual]
    if shifted:
        return Effect(
            "clock-change-shifted",
            f"on {date}, when the clock in {zone} changes, it runs at "
            f"{_times(actual)} instead of {_times(usual)}",
            "steps count elapsed time from the window's start; in UTC they stay",
        )
    return Effect(
        "clock-change-window",
        f"{len(actual)} instead of {len(usual)} runs on {date}, when the clock in "
        f"{zone} changes",
        "",
    )


def _usual_minutes(schedule: StartTimeInterval, day: int) -> list[int]:
    if Weekday((day + 4) % 7) not in schedule.weekdays:
        return []
    first = minute_of(schedule.first)
    return sorted((first + step // 60) % 1440 for step in window_steps(schedule))


def _actual_minutes(schedule: StartTimeInterval, zone: str, day: int) -> list[int]:
    shown = clock(zone)
    start = day * DAY - DAY
    found = defaultdict[int, list[int]](list)
    for tick in ticks(schedule, load(zone), to_datetime(start)):
        instant = to_seconds(tick)
        if instant > start + 3 * DAY:
            break
        wall = instant + shown.offset(instant)
        found[wall // DAY].append(wall % DAY // 60)
    return sorted(found[day])


def _times(minutes: list[int]) -> str:
    shown = [f"{minute // 60:02}:{minute % 60:02}" for minute in minutes]
    if len(shown) > 6:
        shown = [*shown[:5], f"… {shown[-1]}"]
    return ", ".join(shown) or "no time"
