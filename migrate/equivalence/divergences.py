"""Where two streams of ticks part: the instants that only one of them has."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from cronspec.instants import to_datetime
from cronspec.schedule import ticks
from cronspec.zones import load
from migrate.verdict import Divergence, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cronspec.schedule import FixedSchedule, UnixCron

_SHOWN: Final = 4  # as many divergences say what is going on
_SEARCHED: Final = 500_000  # ticks; differences as sets show long before


def first_divergences(
    before: FixedSchedule,
    after: tuple[UnixCron, ...],
    timezone: str,
    since: int,
    until: int | None = None,
) -> tuple[Divergence, ...]:
    """Give the first instants, later than `since`, at which one side alone ticks.

    `until`, if given, is the last instant that counts.
    """
    zone, start = load(timezone), to_datetime(since)
    last = datetime.max.replace(tzinfo=UTC) if until is None else to_datetime(until)
    ours = ticks(before, zone, start)
    theirs = _merged([ticks(cron, zone, start) for cron in after])
    counted = (
        takewhile(lambda tick: tick <= last, stream) for stream in (ours, theirs)
    )
    return tuple(islice(_differences(*counted), _SHOWN))


def _merged(streams: list[Iterator[datetime]]) -> Iterator[datetime]:
    """Merge streams of ticks in order; ticks at one instant all stay."""
    import heapq  # noqa: PLC0415 - only a divergence, which is rare, needs it

    return heapq.merge(*streams)


def _differences(
    ours: Iterator[datetime], theirs: Iterator[datetime]
) -> Iterator[Divergence]:
    """Yield what only one of two ordered streams has."""
    end = datetime.max.replace(tzinfo=UTC)
    our, their = next(ours, end), next(theirs, end)
    for _ in range(_SEARCHED):
        if our == their == end:
            return
        if our < their:
            yield Divergence(our, Side.BEFORE)
            our = next(ours, end)
        elif their < our:
            yield Divergence(their, Side.AFTER)
            their = next(theirs, end)
        else:
            our, their = next(ours, end), next(theirs, end)
