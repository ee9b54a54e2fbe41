"""The entries that the host knows: cron.yaml, jobs.yaml and dispatch.yaml, read once.

Pure: texts in, values out. `cronspec` knows what the files mean; here an entry gets
what its runs need: its key, its schedule and zone, and how long its sender goes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from cronspec import config, groc, naming, retry, routing, zones
from cronspec.naming import comparable
from cronspec.retry import MAX_RETRIES, RetryPolicy, timeline
from handlers.runs import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from cronspec.config import CronEntry, CronFile, DispatchFile, DispatchRule, Fault
    from cronspec.schedule import Schedule


class CatalogError(ValueError):
    """Files that cannot be used; the message tells every fault with its place."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in faults))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the file, as its runs need it.

    `service` is the effective one; `line` the time from a run's first failure to its
    last retry; `deadline` the entry's own limit of an attempt, None for the service's.
    """

    key: str
    url: str
    service: str
    schedule: Schedule
    zone: ZoneInfo
    policy: RetryPolicy
    line: timedelta
    deadline: timedelta | None
    said_at: str

    def terms(self, lease: timedelta, deadline: timedelta, period: timedelta) -> Terms:
        """Give what runs of this entry go by; `deadline` is the service's."""
        own = deadline if self.deadline is None else min(deadline, self.deadline)
        return Terms(lease, own, period, own + self.line, self.policy)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All entries, of all services; `digest` is compared before a cut-over."""

    entries: tuple[Entry, ...]
    service: str
    digest: str
    remarks: tuple[str, ...] = ()
    _keyed: dict[str, Entry] = field(init=False, default_factory=dict)
    _listed: dict[str, list[Entry]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the entries by what a request may name."""
        for entry in self.entries:
            self._keyed[entry.key] = entry
            self._listed.setdefault(comparable(entry.url), []).append(entry)

    def by_key(self, key: str) -> Entry | None:
        """Give the entry with this key."""
        return self._keyed.get(key)

    def at(self, url: str) -> tuple[Entry, ...]:
        """Give the entries of a url that reach this service; all where none does."""
        found = self._listed.get(comparable(url), [])
        here = [entry for entry in found if entry.service == self.service]
        return tuple(here or found)

    def here(self) -> tuple[Entry, ...]:
        """Give the entries that reach this service."""
        return tuple(entry for entry in self.entries if entry.service == self.service)


@dataclass(frozen=True, slots=True)
class Texts:
    """The bundled files; "" where there is none, and `name` is cron.yaml's own."""

    name: str
    cron: str
    jobs: str = ""
    dispatch: str = ""


def read(texts: Texts, service: str, project: str | None) -> Catalog:
    """Read the files for one service. Raises CatalogError with all their faults."""
    files = [config.load_cron(texts.cron, texts.name)]
    if texts.jobs:
        files.append(config.load_cron(texts.jobs, "jobs.yaml"))
    dispatch = config.load_dispatch(texts.dispatch, "dispatch.yaml")
    faults = _faults(files, dispatch if texts.dispatch else None)
    if faults:
        raise CatalogError(faults)
    listed, remarks = _as_one_list(files)
    identities = [naming.identity(entry) for entry in listed]
    keys = naming.entry_keys(identities)
    rules = dispatch.rules if texts.dispatch else ()
    return Catalog(
        entries=tuple(
            _entry(entry, key, rules, project)
            for entry, key in zip(listed, keys, strict=True)
        ),
        service=service,
        digest=naming.entries_digest(
            (key, known.schedule, known.timezone)
            for key, known in zip(keys, identities, strict=True)
        ),
        remarks=tuple(remarks),
    )


def _faults(files: Sequence[CronFile], dispatch: DispatchFile | None) -> list[Fault]:
    faults = [fault for file in files for fault in file.faults]
    return faults + list(dispatch.faults if dispatch else ())


def _as_one_list(files: Sequence[CronFile]) -> tuple[list[CronEntry], list[str]]:
    """Give the entries of both files; one that stands in both counts once."""
    listed = list(files[0].entries)
    known = Counter(naming.identity(entry) for entry in listed)
    remarks = []
    for entry in (entry for file in files[1:] for entry in file.entries):
        same = naming.identity(entry)
        if known[same]:
            known[same] -= 1
            remarks.append(
                f"{entry.place}: {entry.url} stands in {files[0].file} too and counts "
                "once: take it out of one of them"
            )
        else:
            listed.append(entry)
    return listed, remarks


# The documentation of today gives a block without a limit no retries, that of 2016
# gave it five; to expect one too many is the safe side.
_MISSING_LIMIT: Final = MAX_RETRIES
_LONG_LINE: Final = 64


def _entry(
    entry: CronEntry, key: str, rules: Sequence[DispatchRule], project: str | None
) -> Entry:
    policy = retry.policy(entry.retry, _MISSING_LIMIT)
    return Entry(
        key=key,
        url=entry.url,
        service=routing.effective(entry.url, entry.target, rules, project).service,
        schedule=entry.schedule,
        zone=zones.load(entry.timezone or "UTC"),
        policy=policy,
        line=_line(policy),
        deadline=entry.attempt_deadline,
        said_at=f"{entry.place} ({entry.url}, {groc.render(entry.schedule)})",
    )


def _line(policy: RetryPolicy) -> timedelta:
    """Give the time from a first failure to the last retry that may answer it."""
    retries = list(islice(timeline(policy, timedelta(0)), _LONG_LINE))
    if len(retries) < _LONG_LINE:
        return retries[-1] if retries else timedelta(0)
    return policy.age_limit + timedelta(seconds=policy.max_backoff)
