"""How far apart a schedule's ticks lie, and where two schedules meet."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from cronspec.kinds import minute_of, minutes_of_day, window_steps
from cronspec.schedule import (
    CustomInterval,
    EndTimeInterval,
    FixedSchedule,
    GrocSchedule,
    StartTimeInterval,
    ticks,
)
from cronspec.zones import load

if TYPE_CHECKING:
    from datetime import datetime

_SAMPLE: Final = 60  # ticks of a window; enough to meet its shortest distance
_ALMOST_A_DAY: Final = timedelta(hours=22)  # less a clock change
_LOOK_AHEAD: Final = timedelta(days=400)
_DAYS: Final = 8  # ticks of a schedule that has one a day at most
_FAR: Final = timedelta(days=2)
_STEPS: Final = 2_000
_SECOND: Final = timedelta(seconds=1)


def period(
    schedule: GrocSchedule, zone: str, now: datetime, than: timedelta
) -> timedelta | None:
    """Give the least time between coming ticks if that is no longer `than`.

    None for an end-time interval too: its next run waits for the end of the last.
    """
    if isinstance(schedule, EndTimeInterval):
        return None
    if isinstance(schedule, CustomInterval) and than < _ALMOST_A_DAY:
        return None
    shortest = _shortest(schedule, zone, now)
    return shortest if shortest is not None and shortest <= than else None


@lru_cache(maxsize=1024)
def _shortest(schedule: FixedSchedule, zone: str, now: datetime) -> timedelta | None:
    sample = _SAMPLE if isinstance(schedule, StartTimeInterval) else _DAYS
    coming = islice(ticks(schedule, load(zone), now), sample)
    distances = (after - before for before, after in pairwise(coming))
    return min(distances, default=None)


@lru_cache(maxsize=1024)
def first_common_tick(
    one: tuple[FixedSchedule, str], other: tuple[FixedSchedule, str], now: datetime
) -> datetime | None:
    """Give the first instant at which both tick; None if none comes soon.

    Looks 400 days ahead, and no further than some thousand ticks.
    """
    if one[1] == other[1] and _minutes(one[0]).isdisjoint(_minutes(other[0])):
        return None  # on any day but one of clock change, which is told by itself
    end = now + _LOOK_AHEAD
    sides = [one, other]
    streams = [ticks(schedule, load(zone), now) for schedule, zone in sides]
    at = [next(stream, end) for stream in streams]
    for _ in range(_STEPS):
        if at[0] == at[1]:
            return at[0] if at[0] < end else None
        late = at.index(min(at))
        if at[1 - late] >= end:
            return None
        if at[1 - late] - at[late] > _FAR:  # rather jump than walk
            schedule, zone = sides[late]
            streams[late] = ticks(schedule, load(zone), at[1 - late] - _SECOND)
        at[late] = next(streams[late], end)
    return None


@lru_cache(maxsize=1024)
def _minutes(schedule: FixedSchedule) -> frozenset[int]:
    """Give the minutes of an ordinary day at which a schedule may tick."""
    if isinstance(schedule, StartTimeInterval):
        first = minute_of(schedule.first)
        steps = window_steps(schedule)
        return frozenset((first + step // 60) % 1440 for step in steps)
    return frozenset(minutes_of_day(schedule))
