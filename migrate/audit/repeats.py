"""Findings on entries that share their url: identical, overlapping, or merely alike."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from cronspec.naming import identity
from cronspec.routing import DEFAULT_SERVICE
from cronspec.schedule import EndTimeInterval
from migrate.audit.evidence import lines, zone_of
from migrate.audit.finding import told
from migrate.audit.spacing import first_common_tick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.config import CronEntry
    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_COMPARED: Final = 12  # earlier entries of one url that an entry is compared with
_PAIRS: Final = 200  # of schedules, whose ticks are compared in one audit


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell entries that share url and target; other queries are other urls."""
    sharing = defaultdict[tuple[str, str], list["CronEntry"]](list)
    for entry in evidence.entries:
        service = DEFAULT_SERVICE if entry.target is None else entry.target
        sharing[service, entry.url].append(entry)
    pairs = iter(range(_PAIRS))
    for entries in sharing.values():
        doubles = list(_doubles(entries, evidence.now, pairs))
        yield from doubles
        if len(entries) > 1 and not doubles:
            yield _sharing(entries)


def _doubles(
    entries: list[CronEntry], now: datetime, pairs: Iterator[int]
) -> Iterator[Finding]:
    """Tell each entry that fires along with an earlier one of its url."""
    first: dict[tuple[str, str], CronEntry] = {}
    for number, entry in enumerate(entries):
        same = first.setdefault((identity(entry).schedule, zone_of(entry)), entry)
        if same is not entry:
            yield told(
                "fires-twice",
                entry.place,
                f"{entry.url} stands here just as on {lines([same.place])}, with the "
                "same target, schedule and time zone: both fire",
                "take one of them out",
            )
            continue
        earlier = entries[max(0, number - _COMPARED) : number]
        for other, _ in zip(earlier, pairs, strict=False):
            at = _common(entry, other, now)
            if at is not None:
                yield told(
                    "overlapping-entries",
                    entry.place_of("schedule"),
                    f"{entry.url} fires twice when this schedule meets "
                    f"{other.schedule_text!r} on {lines([other.place])}, next at "
                    f"{at:%Y-%m-%d %H:%M} UTC",
                    "part the schedules, or keep one entry",
                )
                break


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
