"""Do two schedules tick alike, do two retry policies wait alike? A proof, or where not.

Schedules are proven, not sampled. Ordinary days (on which the zone's clock does not
change) are compared as sets: a day is told apart only by its month, number and
weekday, all of whose combinations occur in the calendar's 400 years. Then every clock
change of the zone is looked at one by one, over 400 years, after which the calendar
and so every zone's rule repeats.

How Cloud Scheduler fires unix-cron at a time that a day's clock skips or shows twice
is not documented ("anomalies"), so a unix-cron schedule with such a time is never
called equal to another schedule.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final

from cronspec.instants import DAY, to_datetime, to_seconds
from cronspec.kinds import minute_of, minutes_of_day, on_day, window_steps
from cronspec.retry import timeline
from cronspec.schedule import (
    EndTimeInterval,
    FixedSchedule,
    Schedule,
    StartTimeInterval,
    UnixCron,
    WallClockSchedule,
    Weekday,
    ticks,
)
from cronspec.zones import Change, clock, load
from migrate.verdict import (
    FOREVER,
    Divergence,
    Divergent,
    Equivalent,
    RetryDivergent,
    RetryVerdict,
    Side,
    Unfixed,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.retry import RetryPolicy

_SHOWN: Final = 4  # as many divergences say what is going on
_CYCLE: Final = 146_097 * DAY  # the Gregorian calendar repeats after 400 years
_SEARCHED: Final = 500_000  # ticks; differences as sets show long before


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
    ours = _by_minute((before,))
    theirs = _by_minute(after)
    if ours is None or theirs is None or ours != theirs:
        return Divergent(_first_divergences(before, after, timezone, since))
    touched, changes = _changes(timezone, since)
    if touched & _reach(before):
        for change in changes:
            verdict = _around(before, after, timezone, change)
            if verdict is not None:
                return verdict
    return Equivalent(FOREVER)


# --- Ordinary days ------------------------------------------------------------

# A day, apart from its month, as a bit: 7 weekdays for each of 31 numbers.
_LENGTHS: Final = tuple(monthrange(2000, month)[1] for month in range(1, 13))
_VALID: Final = tuple((1 << 7 * length) - 1 for length in _LENGTHS)


def _by_minute(
    schedules: tuple[FixedSchedule, ...],
) -> dict[int, tuple[int, ...]] | None:
    """Give the days of each month, as bits, by the minute of the day.

    None if two of the schedules tick at the same instant.
    """
    days: dict[int, tuple[int, ...]] = {}
    for schedule in schedules:
        months = _days_by_month(schedule)
        for minute in _minutes(schedule):
            known = days.get(minute)
            if known is None:
                days[minute] = months
            elif any(a & b for a, b in zip(known, months, strict=True)):
                return None
            else:
                days[minute] = tuple(a | b for a, b in zip(known, months, strict=True))
    return days


def _minutes(schedule: FixedSchedule) -> Sequence[int]:
    if isinstance(schedule, StartTimeInterval):
        first = minute_of(schedule.first)
        return [(first + step // 60) % 1440 for step in window_steps(schedule)]
    return minutes_of_day(schedule)


@lru_cache(maxsize=4096)
def _days_by_month(schedule: FixedSchedule) -> tuple[int, ...]:
    if isinstance(schedule, StartTimeInterval):
        week = sum(1 << weekday for weekday in schedule.weekdays)
        bits = sum(week << 7 * number for number in range(31))
        return tuple(bits & valid for valid in _VALID)
    bits = sum(
        1 << 7 * number + weekday
        for number in range(31)
        for weekday in Weekday
        if on_day(schedule, number + 1, weekday)
    )
    return tuple(
        bits & valid if month in schedule.months else 0
        for month, valid in enumerate(_VALID, start=1)
    )


def _first_divergences(
    before: FixedSchedule, after: tuple[UnixCron, ...], timezone: str, since: int
) -> tuple[Divergence, ...]:
    zone, start = load(timezone), to_datetime(since)
    ours = ticks(before, zone, start)
    theirs = _merged([ticks(cron, zone, start) for cron in after])
    return tuple(islice(_differences(ours, theirs), _SHOWN))


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


# --- Clock changes ------------------------------------------------------------


@lru_cache(maxsize=1024)
def _changes(timezone: str, since: int) -> tuple[int, tuple[Change, ...]]:
    """Give all later clock changes, and as bits the minutes of the day they touch."""
    changes = []
    last_listed = None
    for change in clock(timezone).changes(since):
        last_listed = last_listed or change.at
        if change.at > last_listed + _CYCLE + 50 * 366 * DAY:
            break
        changes.append(change)
    touched = 0
    for start, length in {
        (c.wall[0] // 60 % 1440, (c.wall[1] - c.wall[0]) // 60) for c in changes
    }:
        for minute in range(start, start + min(length, 1440)):
            touched |= 1 << minute % 1440
    return touched, tuple(changes)


@lru_cache(maxsize=4096)
def _reach(schedule: FixedSchedule) -> int:
    """Give, as bits, the minutes of the day at which a clock change would matter."""
    if isinstance(schedule, StartTimeInterval):
        first = minute_of(schedule.first)
        length = (minute_of(schedule.last) - first) % 1440
        minutes: Sequence[int] = range(first, first + length + 1)
    else:
        minutes = minutes_of_day(schedule)
    return sum(1 << minute for minute in {minute % 1440 for minute in minutes})


def _around(
    before: FixedSchedule, after: tuple[UnixCron, ...], timezone: str, change: Change
) -> Divergent | Unfixed | None:
    """Compare the ticks around one clock change; None if it makes no difference."""
    if not _may_matter(before, change):
        return None
    zone = load(timezone)
    start, end = change.at - DAY - 1, change.at + 2 * DAY
    ours = _until(ticks(before, zone, to_datetime(start)), end)
    theirs = _until(
        _merged([ticks(cron, zone, to_datetime(start)) for cron in after]), end
    )
    first = tuple(islice(_differences(ours, theirs), _SHOWN))
    if first:
        return Divergent(first)
    for cron in after:
        undocumented = _wall_times_within(cron, change.wall)
        if undocumented is not None:
            happens = "skipped" if change.after > change.before else "shown twice"
            return Unfixed(
                f"{undocumented:%H:%M} is {happens} on {undocumented:%Y-%m-%d} in "
                f"{timezone}, and what Cloud Scheduler then does with unix-cron is "
                "not documented"
            )
    return None


def _until(stream: Iterator[datetime], end: int) -> Iterator[datetime]:
    last = to_datetime(end)
    for tick in stream:
        if tick > last:
            return
        yield tick


def _may_matter(schedule: FixedSchedule, change: Change) -> bool:
    """Tell whether a schedule has anything to do on the days around a change."""
    low, high = change.wall
    if isinstance(schedule, StartTimeInterval):
        days = range(low // DAY - 1, high // DAY + 2)
        return any(Weekday((day + 4) % 7) in schedule.weekdays for day in days)
    return _wall_times_within(schedule, (low, high)) is not None


def _wall_times_within(
    schedule: WallClockSchedule, wall: tuple[int, int]
) -> datetime | None:
    """Give the first of a schedule's wall times in [from, to), if there is one."""
    low, high = wall
    for day in range(low // DAY, high // DAY + 1):
        shown = to_datetime(day * DAY)
        if shown.month not in schedule.months:
            continue
        if not on_day(schedule, shown.day, Weekday((day + 4) % 7)):
            continue
        for minute in minutes_of_day(schedule):
            if low <= day * DAY + minute * 60 < high:
                return shown + timedelta(minutes=minute)
    return None


# --- Retries ------------------------------------------------------------------

_ATTEMPTS: Final = (timedelta(0), timedelta(minutes=1), timedelta(minutes=10))
_COMPARED: Final = 200


def retries(before: RetryPolicy, after: RetryPolicy) -> RetryVerdict:
    """Compare two retry policies by the time lines of a run that always fails.

    The lines are those of attempts that fail at once, after a minute and after ten,
    the longest that App Engine's automatic scaling allows.
    """
    if before == after:
        return Equivalent(FOREVER)
    for attempt in _ATTEMPTS:
        ours = list(islice(timeline(before, attempt), _COMPARED))
        theirs = list(islice(timeline(after, attempt), _COMPARED))
        for ordinal, (our, their) in enumerate(zip_longest(ours, theirs), start=1):
            if our != their:
                shown = max(ordinal, 6)
                return RetryDivergent(tuple(ours[:shown]), tuple(theirs[:shown]))
    return Equivalent(FOREVER)
