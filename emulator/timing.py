"""When a job's schedule asks for its next run, and whether it is one at all."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from cronspec import groc, unixcron, zones
from cronspec.schedule import EndTimeInterval, Schedule, ScheduleError, ticks
from emulator.errors import invalid

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


@lru_cache(maxsize=8192)
def read_schedule(text: str) -> Schedule:
    """Read either language. Raises ApiError as the API words it.

    Google's format page lists `every minute` among the examples, which its own
    client-side grammar refuses.
    """
    if text.strip().lower() == "every minute":
        text = "every 1 minutes"
    try:
        return unixcron.parse(text)
    except ScheduleError:
        try:
            return groc.parse(text)
        except ScheduleError:
            raise _refusal() from None


def read_zone(name: str) -> ZoneInfo:
    """Give the time zone called `name`. Raises ApiError as the API words it."""
    try:
        return zones.load(name)
    except zones.ZoneError:
        raise _refusal() from None


def _refusal() -> Exception:
    return invalid("Schedule or time zone is invalid.")


def next_time(schedule: Schedule, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Give the next time a schedule asks for a run; None if it never does.

    `after` is where an end-time interval counts from: the end of its last run, or
    the creation or update of its job; its times are whole minutes, rounded down.
    """
    if not isinstance(schedule, EndTimeInterval):
        return next(ticks(schedule, zone, after), None)
    clock = zones.clock_of(zone)
    found = after
    while True:
        found = (found + schedule.period).replace(second=0, microsecond=0)
        offset = clock.offset(int(found.timestamp()))
        wall = datetime.fromtimestamp(found.timestamp() + offset, UTC)
        if wall.isoweekday() % 7 in schedule.weekdays:
            return found


def rfc3339(instant: datetime) -> str:
    """Spell an instant as the API does: UTC, `Z`, no fraction or six digits of one."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
