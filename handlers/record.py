"""Registers and their records: the names, what is kept, and what a store must do.

A *register* is what a store compares and sets: one for each tick, one for each
end-time interval, one for each forced run. Its record says which run it holds, who
works on it and until when, and how it ended. The rules over records are in `runs.py`;
stores keep them and know no rule.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = 1
"""The number of the records' format; a reader refuses what it does not know."""


# --- Names ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class At:
    """The window of one instant: a tick, or the minute of a run that has none.

    One kind for both, so that a run whose tick our copy of the file does not know,
    and the same run fired by a job that does, fall into one window.
    """

    at: datetime

    def __str__(self) -> str:
        return f"at {self.at.isoformat()}"


@dataclass(frozen=True, slots=True)
class Interval:
    """The window of an end-time interval: all its runs, one after the other."""

    def __str__(self) -> str:
        return "interval"


@dataclass(frozen=True, slots=True)
class Forced:
    """The window of runs that somebody forced before the tick `at`."""

    at: datetime

    def __str__(self) -> str:
        return f"forced before {self.at.isoformat()}"


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Not a run's window: who of an entry's runs works now (`overlap="skip"`)."""

    def __str__(self) -> str:
        return "occupancy"


Window = At | Interval | Forced | Occupancy


@dataclass(frozen=True, slots=True)
class RegisterKey:
    """What names a register: the same whoever fires."""

    scope: str
    entry: str
    window: Window

    @property
    def digest(self) -> str:
        """The key as 64 hexadecimal digits: a document's name in any store."""
        parts = json.dumps([self.scope, self.entry, str(self.window)])
        return hashlib.sha256(parts.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RunId:
    """Names one run; its text is a token of 32 digits and letters a-f.

    A tick's is made of its register's key; elsewhere, where one register holds run
    after run, it is that of the run's first attempt. Retries keep it.
    """

    token: str

    def __str__(self) -> str:
        return self.token


# --- Records --------------------------------------------------------------------


class State(Enum):
    """How far a run is; a `WORKING` one is free again when its lease is over."""

    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Lease:
    """The timed right to work on a run; `attempt_id` fences a late worker."""

    attempt_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """What a register holds.

    `began` is when the run's first attempt started, `started` when this one did;
    `ended` is the end that an interval counts from (while working: the lease's);
    `written_at` is when the record was written, by its writer's clock.
    """

    key: RegisterKey
    run_id: RunId
    sender: str
    lease: Lease
    state: State
    attempt: int
    began: datetime
    started: datetime
    ended: datetime
    written_at: datetime
    expire_at: datetime

    def is_expired(self, now: datetime) -> bool:
        """Tell whether the record no longer counts, deleted or not."""
        return now >= max(self.expire_at, self.lease.expires_at)

    def is_held(self, now: datetime) -> bool:
        """Tell whether an attempt holds a lease."""
        return self.state is State.WORKING and now < self.lease.expires_at

    def is_free(self, now: datetime) -> bool:
        """Tell whether the run is to be tried again: failed, or its lease over."""
        lapsed = self.state is State.WORKING and now >= self.lease.expires_at
        return lapsed or self.state is State.FAILED


class StoreError(Exception):
    """The store cannot be used; the message says why and what would mend it."""


class StoreUnreachableError(StoreError):
    """The store did not answer: a write may have been carried out, or not."""


_TIMES: Final = ("began", "started", "ended", "written_at", "expire_at")


def to_fields(record: Record) -> dict[str, str | int | datetime]:
    """Give a record as plain values, for a store to keep."""
    return {
        "scope": record.key.scope,
        "entry": record.key.entry,
        "window": str(record.key.window),
        "run_id": str(record.run_id),
        "sender": record.sender,
        "attempt_id": record.lease.attempt_id,
        "lease_expires": record.lease.expires_at,
        "state": record.state.value,
        "attempt": record.attempt,
        "format": FORMAT,
        **{name: getattr(record, name) for name in _TIMES},
    }


def from_fields(key: RegisterKey, fields: Mapping[str, object]) -> Record:
    """Read what `to_fields` gave; times may have become text.

    Raises StoreError for a record that this copy cannot read: it is no leave to run.
    """
    if fields.get("format") != FORMAT:
        raise StoreError(
            f"the record of {key.entry!r}, {key.window}, has the format "
            f"{fields.get('format')!r}, and this copy knows {FORMAT}: deploy the newer "
            "version everywhere, or give each its own CRON_STORE"
        )
    try:
        return Record(
            key=key,
            run_id=RunId(str(fields["run_id"])),
            sender=str(fields["sender"]),
            lease=Lease(str(fields["attempt_id"]), _time(fields["lease_expires"])),
            state=State(fields["state"]),
            attempt=int(str(fields["attempt"])),
            **{name: _time(fields[name]) for name in _TIMES},
        )
    except (KeyError, ValueError) as error:
        raise StoreError(
            f"the record of {key.entry!r}, {key.window}, cannot be read ({error!r}): "
            "something else wrote to the store; delete the record or use another store"
        ) from error


def _time(value: object) -> datetime:
    time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if time.tzinfo is None:
        raise ValueError(f"{time} has no zone")
    return time


def to_text(record: Record) -> str:
    """Give a record as one text, for a store that keeps no fields."""
    return json.dumps(to_fields(record), default=lambda time: time.isoformat())


def from_text(key: RegisterKey, text: str) -> Record:
    """Read what `to_text` gave. Raises StoreError."""
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    return from_fields(key, fields if isinstance(fields, dict) else {})


# --- The store's side -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as a store has it; `version` is the store's own, for `replace`."""

    record: Record
    version: object


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody was faster: there is a record already, or another version of it."""


class RunStore(Protocol):
    """A register that is compared and set. Safe across threads and processes.

    Each call ends within the store's own time-out and raises StoreUnreachableError
    where it is not known what became of it, StoreError where trying again is vain.
    """

    def check(self) -> None:
        """Reach the store once. Raises StoreError with the way out."""

    def read(self, key: RegisterKey) -> Stored | None:
        """Give the record of a register, if it has one."""

    def create(self, record: Record) -> Stored | Conflict:
        """Write the first record of a register."""

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        """Write over `version` of a record: a conflict if it is no longer there."""
