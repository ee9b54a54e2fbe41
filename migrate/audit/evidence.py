"""What an audit is given: the files as they were read, and what the user knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cronspec import routing, zones

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cronspec.config import (
        AppFile,
        CronEntry,
        CronFile,
        Destination,
        DispatchFile,
        DispatchRule,
        Place,
    )
    from migrate.audit.taskfile import TaskFile


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file of code, or a script, as text."""

    file: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that an audit looks at.

    `services` are those that the user says exist (`--services`); `texts` the files'
    texts by name, for the comments that ignore a code; `sources` code and scripts;
    `tasks` the code that declares services' tasks.
    """

    now: datetime
    crons: tuple[CronFile, ...] = ()
    dispatch: DispatchFile | None = None
    apps: tuple[AppFile, ...] = ()
    services: frozenset[str] = frozenset()
    project: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceText, ...] = ()
    tasks: tuple[TaskFile, ...] = ()

    @property
    def entries(self) -> list[CronEntry]:
        """The entries without faults, of all files."""
        return [entry for cron in self.crons for entry in cron.entries]

    @property
    def rules(self) -> tuple[DispatchRule, ...]:
        """The dispatch rules without faults."""
        return self.dispatch.rules if self.dispatch is not None else ()


@dataclass(frozen=True, slots=True)
class Routed:
    """Where an entry that has a url wants its requests, and where they go.

    `place` is that of its `target` or `url`, where known.
    """

    destination: Destination
    place: Place
    route: routing.Route


def routed(evidence: Evidence) -> list[Routed]:
    """Give the route of every entry that has a url, in file order."""
    entries = {entry.place: entry for entry in evidence.entries}
    found = []
    for cron in evidence.crons:
        for destination in cron.destinations:
            entry = entries.get(destination.place)
            place = entry.place_of("target", "url") if entry else destination.place
            route = routing.effective(
                destination.url, destination.target, evidence.rules, evidence.project
            )
            found.append(Routed(destination, place, route))
    return found


def zone_of(entry: CronEntry) -> str:
    """Give an entry's time zone in the tz database's spelling; UTC where none is."""
    return zones.canonical(entry.timezone or "UTC")


_NAMED = 20


def lines(places: Sequence[Place]) -> str:
    """Name places in words: `line 4`, or `cron.yaml:4` where files differ."""
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    shown = places[:_NAMED]
    if len({place.file for place in places}) > 1:
        return ", ".join(f"{place.file}:{place.line}" for place in shown) + more
    word = "line" if len(places) == 1 else "lines"
    return f"{word} {', '.join(str(place.line) for place in shown)}{more}"
