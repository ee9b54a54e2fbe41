"""Findings on entries that share their url: identical, overlapping, or merely alike."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from cronspec.naming import identity
from cronspec.routing import DEFAULT_SERVICE
from cronspec.schedule import EndTimeInterval
from migrate.audit.evidence import lines, place_of, zone_of
from migrate.audit.finding import told
from migrate.audit.spacing import first_common_tick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.config import CronEntry
    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_COMPARED: Final = 12  # earlier entries of one url that an entry is compared with


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell entries that share url and target; other queries are other urls."""
    sharing = defaultdict[tuple[str, str], list["CronEntry"]](list)
    for entry in evidence.entries:
        service = DEFAULT_SERVICE if entry.target is None else entry.target
        sharing[service, entry.url].append(entry)
    for entries in sharing.values():
        clear = list["CronEntry"]()
        for number, entry in enumerate(entries[1:], start=1):
            earlier = entries[:number][-_COMPARED:]
            double = _double(entry, earlier, evidence.now)
            if double is None:
                clear.append(entry)
            else:
                yield double
        if clear and len(clear) == len(entries) - 1:
            yield _sharing(entries)


def _double(
    entry: CronEntry, earlier: list[CronEntry], now: datetime
) -> Finding | None:
    """Tell the first earlier entry that fires along with this one."""
    for other in earlier:
        if _alike(entry, other):
            return told(
                "fires-twice",
                entry.place,
                f"{entry.url} stands here just as on {lines([other.place])}, with the "
                "same target, schedule and time zone: both fire",
                "take one of them out",
            )
    for other in earlier:
        at = _common(entry, other, now)
        if at is not None:
            return told(
                "overlapping-entries",
                place_of(entry, "schedule"),
                f"{entry.url} fires twice when this schedule meets "
                f"{other.schedule_text!r} on {lines([other.place])}, next at "
                f"{at:%Y-%m-%d %H:%M} UTC",
                "part the schedules, or keep one entry",
            )
    return None


def _alike(one: CronEntry, other: CronEntry) -> bool:
    same = identity(one).schedule == identity(other).schedule
    return same and zone_of(one) == zone_of(other)


def _common(one: CronEntry, other: CronEntry, now: datetime) -> datetime | None:
    if isinstance(one.schedule, EndTimeInterval):
        return None
    if isinstance(other.schedule, EndTimeInterval):
        return None
    return first_common_tick(
        (one.schedule, zone_of(one)), (other.schedule, zone_of(other)), now
    )


def _sharing(entries: list[CronEntry]) -> Finding:
    first, *others = entries
    return told(
        "same-url",
        others[0].place,
        f"{first.url} stands in {len(entries)} entries "
        f"({lines([entry.place for entry in entries])}), told apart by schedule only",
    )
