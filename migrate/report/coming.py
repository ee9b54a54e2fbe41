"""`next`: the coming runs of every entry, and the minutes that many share."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cronspec.schedule import EndTimeInterval, ticks
from cronspec.zones import load
from migrate.report.translation import entry_json
from migrate.report.words import duration, local, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cronspec.config import CronEntry

CLASH: Final = 3
"""From so many entries in one minute on, it is called a clash."""


@dataclass(frozen=True, slots=True)
class Coming:
    """The next ticks of one entry; none, with the reason, for an interval."""

    entry: CronEntry
    zone: ZoneInfo
    ticks: tuple[datetime, ...]
    why_none: str = ""


def coming(
    entries: Sequence[CronEntry], since: datetime, count: int, until: datetime | None
) -> list[Coming]:
    """Give the ticks after `since`: `count` of each entry, and none after `until`."""
    found = []
    for entry in entries:
        zone = load(entry.timezone or "UTC")
        if isinstance(entry.schedule, EndTimeInterval):
            period = duration(entry.schedule.period)
            why = f"{period} after the end of each run: no fixed times"
            found.append(Coming(entry, zone, (), why))
            continue
        stream = ticks(entry.schedule, zone, since)
        if until is not None:
            last = until
            stream = takewhile(lambda tick, last=last: tick <= last, stream)  # type: ignore[misc]  # mypy has no view of a bound default
        found.append(Coming(entry, zone, tuple(islice(stream, count))))
    return found


def clashes(found: Sequence[Coming]) -> list[tuple[datetime, list[CronEntry]]]:
    """Give the instants at which CLASH entries or more tick, in order."""
    together: defaultdict[datetime, list[CronEntry]] = defaultdict(list)
    for one in found:
        for tick in one.ticks:
            together[tick].append(one.entry)
    return sorted(
        ((at, entries) for at, entries in together.items() if len(entries) >= CLASH),
        key=lambda clash: clash[0],
    )


def as_json(found: Sequence[Coming]) -> dict[str, Any]:
    """Give all coming ticks and clashes."""
    return {
        "entries": [
            {
                "entry": entry_json(one.entry),
                "ticks": [
                    {
                        "utc": tick.astimezone(UTC).isoformat(),
                        "local": tick.astimezone(one.zone).isoformat(),
                    }
                    for tick in one.ticks
                ],
                "why_none": one.why_none or None,
            }
            for one in found
        ],
        "clashes": [
            {"at": at.isoformat(), "entries": [entry_json(entry) for entry in entries]}
            for at, entries in clashes(found)
        ],
    }


def as_text(found: Sequence[Coming]) -> Iterator[Text]:
    """Yield each entry's ticks in its zone and in UTC, then the clashes."""
    for one in found:
        zone = one.entry.timezone or "UTC"
        yield Text.assemble(
            (f"{one.entry.place.file}:{one.entry.place.line}", "bold"),
            f"  {one.entry.url}  {one.entry.schedule_text} ({zone})",
        )
        if one.why_none:
            yield Text(f"  {one.why_none}", style="dim")
        elif not one.ticks:
            yield Text("  none in this span", style="dim")
        for tick in one.ticks:
            in_utc = "" if zone == "UTC" else f"  {utc(tick)}"
            yield Text(f"  {local(tick, one.zone)}{in_utc}")
    shared = clashes(found)
    if shared:
        yield Text("\nMany at once", style="bold")
    for at, entries in shared:
        urls = ", ".join(entry.url for entry in entries)
        yield Text(f"  {utc(at)}: {len(entries)} entries: {urls}")
