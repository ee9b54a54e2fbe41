"""Wall-clock schedules: the instants at which a zone's clock shows their times.

Not at all on a day whose clock skips a time, twice on one whose clock shows it twice.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from datetime import MAXYEAR, UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from cronspec.instants import DAY, to_seconds, year_of
from cronspec.kinds import day_rule, minutes_of_day

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cronspec.kinds import WallClockSchedule
    from cronspec.zones import Clock


class _Year(NamedTuple):
    """A year: its first midnight, and which of the fourteen kinds it is of."""

    start: int  # seconds from 1970-01-01T00:00
    end: int
    midnight: datetime
    kind: tuple[bool, int]  # leap year? weekday of 1 January


@cache
def _year(year: int) -> _Year:
    midnight = datetime(year, 1, 1, tzinfo=UTC)
    weekday = midnight.isoweekday() % 7
    start, length = to_seconds(midnight), 365 + isleap(year)
    return _Year(start, start + DAY * length, midnight, (isleap(year), weekday))


_DAYS: Final = [timedelta(days=day) for day in range(366)]


class _Calendar(dict[tuple[bool, int], tuple[list[int], list[timedelta]]]):
    """A schedule's times of day, and by kind of year its days from 1 January on.

    Both as numbers, to be searched, and as time deltas, to be added.
    """

    def __init__(self, schedule: WallClockSchedule) -> None:
        super().__init__()
        self._months = schedule.months
        self._chosen = day_rule(schedule)
        self.times = [60 * minute for minute in minutes_of_day(schedule)]
        self.steps = [timedelta(seconds=at) for at in self.times]

    def __missing__(self, kind: tuple[bool, int]) -> tuple[list[int], list[timedelta]]:
        leap, weekday = kind
        chosen = self._chosen
        days, first = list[int](), 0
        for month in range(1, 13):
            length = monthrange(2024 if leap else 2023, month)[1]
            if month in self._months:
                days += [
                    day
                    for day in range(first, first + length)
                    if chosen(day - first + 1, (weekday + day) % 7)
                ]
            first += length
        self[kind] = days, [_DAYS[day] for day in days]
        return self[kind]

    @property
    def barren(self) -> bool:
        """Whether there is no day in any year."""
        return not any(self[leap, day][0] for leap in (True, False) for day in range(7))


_calendar = lru_cache(maxsize=1024)(_Calendar)


def wall_clock_ticks(
    schedule: WallClockSchedule, clock: Clock, since: int
) -> Iterator[datetime]:
    """Yield what the clock shows of the schedule's times, span by span."""
    calendar = _calendar(schedule)
    times, steps = calendar.times, calendar.steps
    if not times:
        return
    first, last = times[0], times[-1]
    number = year_of(since) + 1
    for span in clock.spans(since):
        # What the clock shows in this span, later than `since`: [begin, end).
        begin = max(span.start, since + 1) + span.offset
        end = span.end + span.offset
        back = timedelta(seconds=span.offset)
        while (year := _year(number)).start > begin:
            number -= 1
        while year.start < end:
            days, from_new_year = calendar[year.kind]
            low, high = 0, len(days)
            # A time t of day d is shown if begin - start <= DAY * d + t < end - start.
            if year.start < begin:
                low = bisect_left(days, -((year.start + last - begin) // DAY))
            if year.end > end:
                high = bisect_left(days, -((year.start + first - end) // DAY))
            if first == last and low < high:
                start = year.midnight + (steps[0] - back)
                yield from map(start.__add__, from_new_year[low:high])
            else:
                for day in range(low, high):
                    midnight = year.start + DAY * days[day]
                    shown = _between(times, begin - midnight, end - midnight)
                    start = year.midnight + (from_new_year[day] - back)
                    yield from map(start.__add__, steps[shown])
            if number == MAXYEAR or (not days and calendar.barren):
                return
            number += 1
            year = _year(number)


def _between(times: list[int], begin: int, end: int) -> slice:
    return slice(bisect_left(times, begin), bisect_left(times, end))
