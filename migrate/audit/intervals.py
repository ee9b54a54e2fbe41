"""Findings on intervals counted from the end, and on zones left out."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec.kinds import minute_of
from cronspec.schedule import EVERY_DAY, EndTimeInterval, StartTimeInterval, ticks
from cronspec.zones import load
from migrate.audit.evidence import zone_of
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.schedule import FixedSchedule, GrocSchedule
    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_HALF_A_YEAR: Final = timedelta(days=182)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell what has no fixed time, and what runs in UTC unlike its siblings."""
    for entry in evidence.entries:
        if isinstance(entry.schedule, EndTimeInterval):
            yield told(
                "interval-drifts",
                entry.place_of("schedule"),
                "counted from the end of each run: no fixed time of day, and the count "
                "starts anew when the changed entry is deployed",
                _fixed_twin(entry.schedule),
            )
    yield from _missing_zones(evidence)


def _fixed_twin(schedule: EndTimeInterval) -> str:
    if schedule.period == _DAY:
        return "`every day HH:MM` runs at a fixed time"
    if schedule.period < _DAY and not _DAY % schedule.period:
        hours, rest = divmod(schedule.period, _HOUR)
        minutes = schedule.period // timedelta(minutes=1)
        count = f"{minutes} minutes" if rest else f"{hours} hours"
        return f"`every {count} synchronized` keeps to the clock"
    return "name days and a time, such as `every monday HH:MM`, for a fixed time"


def _missing_zones(evidence: Evidence) -> Iterator[Finding]:
    named = Counter(zone_of(entry) for entry in evidence.entries if entry.timezone)
    named.pop("UTC", None)
    if len(named) != 1:
        return
    ((zone, count),) = named.items()
    others = "another entry" if count == 1 else f"{count} other entries"
    for entry in evidence.entries:
        schedule = entry.schedule
        if (
            entry.timezone is not None
            or isinstance(schedule, EndTimeInterval)
            or _is_alike_in_all_zones(schedule)
        ):
            continue
        times = _in_both(schedule, zone, evidence.now)
        if times:
            yield told(
                "zone-missing",
                entry.place_of("schedule"),
                f"no timezone: {times}, the zone of {others}",
                f"write `timezone: {zone}`, or `timezone: UTC` if that is meant",
            )


def _in_both(schedule: FixedSchedule, zone: str, now: datetime) -> str:
    """Say what a time in UTC is in `zone`, now or half a year on; "" if the same."""
    for start in (now, now + _HALF_A_YEAR):
        tick = next(ticks(schedule, load("UTC"), start))
        local = tick.astimezone(load(zone))
        if local.utcoffset():
            when = "" if start == now else f" on {tick:%Y-%m-%d}"
            return f"{tick:%H:%M} in UTC, which is {local:%H:%M} in {zone}{when}"
    return ""


def _is_alike_in_all_zones(schedule: GrocSchedule) -> bool:
    """Tell whether a schedule runs at least hourly, all day and every day."""
    if not isinstance(schedule, StartTimeInterval) or schedule.weekdays != EVERY_DAY:
        return False
    all_day = (minute_of(schedule.last) - minute_of(schedule.first)) % 1440 == 1439
    return all_day and not _HOUR % schedule.period
