"""How far apart a schedule's ticks lie, and where two schedules meet."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from cronspec.schedule import EndTimeInterval, FixedSchedule, GrocSchedule, ticks
from cronspec.zones import load

if TYPE_CHECKING:
    from datetime import datetime

_SAMPLE: Final = 60  # ticks; enough to meet a schedule's shortest distance
_LOOK_AHEAD: Final = timedelta(days=400)
_FAR: Final = timedelta(days=2)
_STEPS: Final = 10_000
_SECOND: Final = timedelta(seconds=1)


@lru_cache(maxsize=1024)
def period(schedule: GrocSchedule, zone: str, now: datetime) -> timedelta | None:
    """Give the least time between coming ticks; None for an end-time interval.

    Its next run waits for the end of the last, whatever that takes.
    """
    if isinstance(schedule, EndTimeInterval):
        return None
    coming = islice(ticks(schedule, load(zone), now), _SAMPLE)
    distances = (after - before for before, after in pairwise(coming))
    return min(distances, default=None)


@lru_cache(maxsize=1024)
def first_common_tick(
    one: tuple[FixedSchedule, str], other: tuple[FixedSchedule, str], now: datetime
) -> datetime | None:
    """Give the first instant at which both tick; None if none comes soon.

    Looks 400 days ahead, and no further than some thousand ticks.
    """
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
