"""Do two schedules tick alike, do two retry policies wait alike? A proof, or where not.

Schedules are proven, not sampled: ordinary days as sets, over the whole calendar
(`ordinary_days`), and every clock change of the zone one by one (`clock_changes`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cronspec.instants import to_seconds
from cronspec.schedule import EndTimeInterval, UnixCron
from migrate.equivalence.clock_changes import parting
from migrate.equivalence.divergences import first_divergences
from migrate.equivalence.ordinary_days import days_by_minute
from migrate.equivalence.waits import retries
from migrate.verdict import FOREVER, Divergent, Equivalent, Unfixed, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cronspec.schedule import FixedSchedule, Schedule

__all__ = ["retries", "schedules"]


def schedules(
    before: Schedule, after: Sequence[Schedule], timezone: str, now: datetime
) -> Verdict:
    """Compare a schedule with those that are to replace it, from `now` on."""
    if after == (before,) or list(after) == [before]:
        if isinstance(before, EndTimeInterval):
            return Unfixed(
                "each run is counted from the end of the one before, on both sides"
            )
        return Equivalent(FOREVER)
    if isinstance(before, EndTimeInterval):
        return Unfixed("an end-time interval has no instants of its own")
    crons = [cron for cron in after if isinstance(cron, UnixCron)]
    if len(crons) != len(after):
        raise TypeError("only unix-cron can replace another schedule")
    return _compare(before, tuple(crons), timezone, to_seconds(now))


@lru_cache(maxsize=4096)
def _compare(
    before: FixedSchedule, after: tuple[UnixCron, ...], timezone: str, since: int
) -> Verdict:
    ours = days_by_minute((before,))
    theirs = days_by_minute(after)
    if ours is None or theirs is None or ours != theirs:
        return Divergent(first_divergences(before, after, timezone, since))
    return parting(before, after, timezone, since) or Equivalent(FOREVER)
