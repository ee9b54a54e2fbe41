"""The identity that both halves share: entry keys, job ids and a job's own marks.

An entry's key says which entry of cron.yaml a run, a record or a job belongs to. It
uses cron.yaml's own words (the declared service and the url), never where a request
landed, and so stays the same when the file is reordered, when a schedule is edited,
and when the entry moves to another scheduler. Only entries that share service and
url are told apart by their schedule and zone, and identical ones by a count.

Cloud Scheduler jobs have no labels; the marks are headers on the job's target, which
come back from its API and go with every request.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from cronspec import groc
from cronspec.routing import DEFAULT_SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cronspec.config import CronEntry

ENTRY_HEADER: Final = "X-Cron-Entry"
SCHEDULE_HEADER: Final = "X-Cron-Schedule"
SCOPE_HEADER: Final = "X-Cron-Scope"
SET_HEADER: Final = "X-Cron-Set"
UNBORN_HEADER: Final = "X-Cron-Unborn"
"""Marks a job that is being made paused and has not its true schedule yet."""
PAUSED_HEADER: Final = "X-Cron-Paused"
"""Marks a pause of ours: only a pause so marked is ever resumed by us."""

_IN_A_SEGMENT: Final = ":@!$&'()*+,;=~"  # an encoded slash stays what it is
_SLUG_LENGTH: Final = 40
_HASH_LENGTH: Final = 12  # 48 bits: 5,000 entries meet by chance once in 20 million


@dataclass(frozen=True, slots=True)
class Identity:
    """What of an entry its key is made of; `service` is "default" without target.

    `schedule` is its canonical text (`groc.render`), so that spelling is no edit.
    """

    service: str
    url: str
    schedule: str
    timezone: str


def identity(entry: CronEntry) -> Identity:
    """Give what an entry of cron.yaml is known by, in the file's declared words."""
    return Identity(
        service=DEFAULT_SERVICE if entry.target is None else entry.target,
        url=entry.url,
        schedule=groc.render(entry.schedule),
        timezone=entry.timezone or "UTC",
    )


def comparable(url: str) -> str:
    """Give a url as it is compared: what a client may write in two ways, in one.

    >>> comparable("/a b?x=1#top") == comparable("/a%20b?x=1")
    True
    """
    path, question, query = url.partition("#")[0].partition("?")
    parts = (quote(unquote(part), safe=_IN_A_SEGMENT) for part in path.split("/"))
    return "/".join(parts) + question + query


def entry_keys(entries: Sequence[Identity]) -> list[str]:
    """Give each entry's key, in order; no two are equal.

    A key is `[a-z0-9-]{1,60}` and a valid job id: a readable part and a short hash.

    >>> entry_keys([Identity("default", "/tasks/summary", "every day 09:00", "UTC")])
    ['tasks-summary-31d0d0822e36']
    """
    sharing = Counter((entry.service, entry.url) for entry in entries)
    seen = Counter[Identity]()
    keys = []
    for entry in entries:
        seen[entry] += 1
        parts: list[str] = [entry.service, entry.url]
        if sharing[entry.service, entry.url] > 1:
            parts += [entry.schedule, entry.timezone, str(seen[entry])]
        keys.append(f"{_slug(entry)}-{_digest(parts)[:_HASH_LENGTH]}")
    return keys


def _slug(entry: Identity) -> str:
    path = re.split(r"[?#]", entry.url)[0]
    words = path if entry.service == DEFAULT_SERVICE else f"{entry.service} {path}"
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return slug[:_SLUG_LENGTH].strip("-") or "root"


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def entries_digest(keyed: Iterable[tuple[str, str, str]]) -> str:
    """Give the SHA-256 over the sorted (key, schedule, zone) of all entries.

    The host tells it and the migrator compares it: do both read the same file?
    """
    return _digest(sorted(keyed))


@dataclass(frozen=True, slots=True)
class Marks:
    """What a job says of itself: whose it is, and which entry and schedule."""

    entry: str
    schedule: str
    timezone: str
    scope: str
    set: str

    def headers(self) -> dict[str, str]:
        """Give the marks as the headers of a job's target."""
        schedule = " ".join(self.schedule.split())
        return {
            ENTRY_HEADER: self.entry,
            SCHEDULE_HEADER: f"{schedule}; {self.timezone}",
            SCOPE_HEADER: self.scope,
            SET_HEADER: self.set,
        }


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A job or request without our marks, or with marks that cannot be read."""

    reason: str


def read_marks(headers: Mapping[str, str]) -> Marks | Unmarked:
    """Read the marks from headers, whose names may be in any case."""
    lowered = {name.lower(): value for name, value in headers.items()}
    names = (ENTRY_HEADER, SCHEDULE_HEADER, SCOPE_HEADER, SET_HEADER)
    missing = [name for name in names if not lowered.get(name.lower())]
    if missing:
        return Unmarked(f"no {missing[0]} header")
    entry, schedule, scope, job_set = (lowered[name.lower()] for name in names)
    text, separator, timezone = schedule.rpartition(";")
    if not separator or not text.strip() or not timezone.strip():
        return Unmarked(f"{SCHEDULE_HEADER} is not 'SCHEDULE; ZONE': {schedule!r}")
    return Marks(entry, text.strip(), timezone.strip(), scope, job_set)
