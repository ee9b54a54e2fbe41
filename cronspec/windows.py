"""Windows of a start-time interval: `every 2 hours from 22:00 to 02:00`, day by day.

A window begins at its start and counts elapsed time from there, up to its end or to
the start of the next. Where the clock skips a start or an end, the next full minute
that it shows stands for it; where it shows one twice, the first counts (Google's
IntervalTimeSpecification).
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from cronspec.instants import DAY, to_datetime, weekday_of
from cronspec.kinds import minute_of, window_steps
from cronspec.zones import HORIZON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.kinds import StartTimeInterval
    from cronspec.zones import Clock


def interval_ticks(
    schedule: StartTimeInterval, clock: Clock, since: int
) -> Iterator[datetime]:
    """Yield the steps of each day's window, span by span."""
    first = minute_of(schedule.first) * 60
    by_weekday = _steps_by_weekday(schedule)
    longest = window_steps(schedule)[-1]
    limit = to_datetime(since)
    day = (since - 2 * DAY) // DAY - 1
    for span in clock.spans(since - 4 * DAY):
        while (wall := day * DAY + first) + DAY - span.offset <= span.end:
            if wall + DAY >= HORIZON:
                return
            start = wall - span.offset
            if start < span.start + 60:
                # It may have begun in an earlier span; or the bound of the window
                # before was skipped, and fell on this very start.
                yield from _changed_window(schedule, clock, day, since)
            elif start + longest > since:
                begin = to_datetime(start)
                for step in by_weekday[weekday_of(day * DAY)]:
                    if (tick := begin + step) > limit:
                        yield tick
            day += 1
        while span.end < HORIZON and day * DAY + first - span.offset < span.end:
            yield from _changed_window(schedule, clock, day, since)
            day += 1


@lru_cache(maxsize=1024)
def _steps_by_weekday(schedule: StartTimeInterval) -> list[list[timedelta]]:
    """Give, by the weekday of a window's start, the steps whose own day is allowed."""
    steps = [timedelta(seconds=step) for step in window_steps(schedule)]
    if len(schedule.weekdays) == 7:
        return [steps] * 7
    left = timedelta(days=1) - timedelta(minutes=minute_of(schedule.first))
    today = [step for step in steps if step < left]
    tomorrow = steps[len(today) :]
    return [
        (today if weekday in schedule.weekdays else [])
        + (tomorrow if (weekday + 1) % 7 in schedule.weekdays else [])
        for weekday in range(7)
    ]


def _changed_window(
    schedule: StartTimeInterval, clock: Clock, day: int, since: int
) -> Iterator[datetime]:
    """Yield the ticks of the window of one day that a clock change may touch."""
    first, last = minute_of(schedule.first) * 60, minute_of(schedule.last) * 60
    start = clock.first_instant(day * DAY + first)
    following = clock.first_instant((day + 1) * DAY + first)
    ends = [clock.first_instant(near * DAY + last) for near in range(day - 1, day + 4)]
    end = min(end for end in ends if end >= start)
    for tick in range(start, following, int(schedule.period.total_seconds())):
        if tick > end and tick not in ends:
            # Where a skipped end fell on this start, Google's evaluator ends the
            # window there, but for a step that hits the next end to the minute.
            break
        weekday = weekday_of(tick + clock.offset(tick))
        if tick > since and weekday in schedule.weekdays:
            yield to_datetime(tick)
