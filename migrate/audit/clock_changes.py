"""Findings on days of clock change: runs that are skipped, doubled or shifted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from cronspec.instants import DAY, to_datetime, to_seconds
from cronspec.kinds import minute_of, on_day, window_steps
from cronspec.schedule import (
    CustomInterval,
    EndTimeInterval,
    StartTimeInterval,
    Weekday,
    ticks,
)
from cronspec.zones import clock, load
from migrate.audit.evidence import zone_of
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
_SEASONS: Final = 2  # changes that are looked at for windows: spring, autumn


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
            place = entry.place_of("schedule")
            yield told(effect.code, place, effect.text, effect.fix)


@lru_cache(maxsize=2048)
def effects(schedule: GrocSchedule, zone: str, since: int) -> tuple[Effect, ...]:
    """Give what the zone's clock changes after `since` do to a schedule."""
    if isinstance(schedule, EndTimeInterval):
        return ()
    if isinstance(schedule, CustomInterval):
        return tuple(_at_one_time(schedule, zone, since))
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
    shifted, fewer_or_more = list[str](), list[str]()
    for change in _changes(zone, since)[:_SEASONS]:
        if _keeps_its_times(schedule, change):
            continue
        for day, actual in _minutes_around(schedule, zone, change).items():
            usual, date = _usual_minutes(schedule, day), to_datetime(day * DAY)
            if set(actual) - set(usual):
                shifted.append(
                    f"on {date:%Y-%m-%d} it runs at {_times(actual)} instead of "
                    f"{_times(usual)}"
                )
            elif actual != usual:
                fewer_or_more.append(
                    f"on {date:%Y-%m-%d} it has {len(actual)} instead of "
                    f"{len(usual)} runs"
                )
    why = f", when the clock in {zone} changes"
    if shifted:
        way_out = "steps count elapsed time from the window's start; in UTC they stay"
        yield Effect("clock-change-shifted", "; ".join(shifted) + why, way_out)
    if fewer_or_more:
        yield Effect("clock-change-window", "; ".join(fewer_or_more) + why, "")


def _keeps_its_times(schedule: StartTimeInterval, change: Change) -> bool:
    """Tell whether a schedule goes on all day in steps that a change fits in.

    Such a schedule keeps its pace: nothing of it is skipped or done twice.
    """
    step = int(schedule.period.total_seconds())
    steps = window_steps(schedule)
    all_day = steps[-1] + step >= DAY
    return all_day and not DAY % step and not (change.after - change.before) % step


def _usual_minutes(schedule: StartTimeInterval, day: int) -> list[int]:
    if Weekday((day + 4) % 7) not in schedule.weekdays:
        return []
    first = minute_of(schedule.first)
    return sorted((first + step // 60) % 1440 for step in window_steps(schedule))


def _minutes_around(
    schedule: StartTimeInterval, zone: str, change: Change
) -> dict[int, list[int]]:
    """Give the minutes that the clock shows at each tick, by day, around a change.

    Days are numbered from 1970-01-01 on, in the zone's own calendar.
    """
    low, high = change.wall
    first, last = low // DAY - 1, high // DAY
    found: dict[int, list[int]] = {day: [] for day in range(first, last + 1)}
    after, end = to_datetime((first - 1) * DAY), to_datetime((last + 2) * DAY)
    stream = ticks(schedule, load(zone), after)
    for tick in takewhile(lambda tick: tick < end, stream):
        instant = to_seconds(tick)
        wall = instant + (change.before if instant < change.at else change.after)
        day, second = divmod(wall, DAY)
        if day in found:
            found[day].append(second // 60)
    return {day: sorted(minutes) for day, minutes in found.items()}


def _times(minutes: list[int]) -> str:
    shown = [f"{minute // 60:02}:{minute % 60:02}" for minute in minutes]
    if len(shown) > 6:
        shown = [*shown[:5], f"… {shown[-1]}"]
    return ", ".join(shown) or "no time"
