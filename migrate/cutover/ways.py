"""Overlap, hand-over or gap: which way an entry goes, and why. Pure.

Side by side is safe where both schedulers' requests for one tick become one run: the
entry has ticks, the job has the same ones, both reach the same service, that service
serves one version, and what answers there is our host with this very list of entries.
An interval has no ticks: it is handed over in a rest. All others go over by a gap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cronspec import groc
from cronspec.naming import entries_digest, identity
from cronspec.routing import parse_target
from cronspec.schedule import EndTimeInterval
from migrate.cutover.seen import Chosen, Way
from migrate.job import HttpTarget
from migrate.verdict import Equivalent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from migrate.translate import Translation

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Health:
    """What a host says of itself at /healthz: digests of its entries and its store."""

    entries: str
    store: str


@dataclass(frozen=True, slots=True)
class Silent:
    """No host of ours answers; `why` says what was met instead."""

    why: str


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its versions' shares of the traffic, and what answers there."""

    shares: Mapping[str, float]
    health: Health | Silent


def digest_of(translations: Sequence[Translation]) -> str:
    """Give the digest that a host tells which has these entries."""
    return entries_digest(
        (one.key, identity(one.entry).schedule, identity(one.entry).timezone)
        for one in translations
    )


def choose(one: Translation, services: Mapping[str, Service], digest: str) -> Chosen:
    """Choose the way of an entry."""
    if isinstance(one.entry.schedule, EndTimeInterval) and _keeps_interval(one):
        return Chosen(Way.HAND_OVER, "it is counted from the end of each run")
    against = _against_overlap(one, services, digest)
    if against:
        return Chosen(Way.GAP, against)
    return Chosen(Way.OVERLAP, "the host makes one run of both schedulers' requests")


def _keeps_interval(one: Translation) -> bool:
    return any(
        isinstance(groc.parse(job.schedule), EndTimeInterval)
        for job in one.jobs
        if job.schedule.startswith("every")
    )


def _against_overlap(
    one: Translation, services: Mapping[str, Service], digest: str
) -> str:
    """Say what speaks against both firing for a while; "" where nothing does."""
    if isinstance(one.entry.schedule, EndTimeInterval):
        return "an interval becomes clock times: no tick of one is one of the other"
    if any(isinstance(job.target, HttpTarget) for job in one.jobs):
        return "it becomes an HTTP target, which is another address"
    if parse_target(one.entry.target).version:
        return "it is pinned to a version"
    if not isinstance(one.schedule, Equivalent):
        return "its ticks are not proven equal"
    if not isinstance(one.retry, Equivalent):
        return "its retries differ"
    before, after = one.route.before, one.route.after
    if before != after:
        return f"it is answered by {before} today and by {after} then"
    return _against_service(before, services, digest)


def _against_service(name: str, services: Mapping[str, Service], digest: str) -> str:
    if name not in services:
        return f"the app has no service {name}"
    service = services[name]
    serving = sorted(version for version, share in service.shares.items() if share > 0)
    if len(serving) != 1:
        return f"the traffic of {name} is split ({', '.join(serving) or 'none'})"
    match service.health:
        case Silent(why):
            return f"{name} has no host of ours: {why}"
        case Health(entries, store):
            if not _DIGEST.fullmatch(store):
                return f"the host of {name} does not say which store it has"
            if entries != digest:
                return f"the host of {name} has another list of entries than this"
    return ""
