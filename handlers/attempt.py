"""One attempt at a run: claim it, hold it, settle it. The store's faults end here.

Each step is one decision of `runs.py` carried out on a store. Any doubt, be it a
time-out, a conflict or a record that is gone, means: read back and decide again. The
attempt's id is made before the first call, so a write whose answer was lost is
recognised.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

from handlers.record import (
    Conflict,
    Interval,
    Lease,
    Occupancy,
    Record,
    RunStore,
    State,
    Stored,
    StoreUnreachableError,
)
from handlers.runs import (
    AlreadyDone,
    Ask,
    Busy,
    Claimed,
    OutOfReach,
    Settled,
    TakenOver,
    Terms,
    Write,
    decide,
    renewed,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

CLAIM_SECONDS: Final = 15.0
"""How long one claim may go on, lost answers and conflicts included."""

_SETTLE_TRIES: Final = 5
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Got:
    """The run is ours. `over` is the record that was written over, if any."""

    stored: Stored
    over: Record | None


def acquire(
    store: RunStore,
    ask: Ask,
    clock: Callable[[], datetime],
    known: Stored | None = None,
    *,
    look_first: bool = False,
) -> Got | Busy | AlreadyDone | OutOfReach:
    """Claim a run, or say why not.

    `known` is what the register held when this instance last wrote it: good for a
    try, never for a refusal. Raises StoreError; then nothing may be worked on, though
    a claim whose answer was lost may stand until its lease is over.
    """
    give_up = time.monotonic() + CLAIM_SECONDS
    unsure = known is not None
    found = known
    if known is None and (look_first or _is_read_first(ask)):
        found = store.read(ask.key)
    for tries in count():
        claim = decide(found.record if found else None, ask, clock())
        if isinstance(claim, Claimed):
            if tries and time.monotonic() > give_up:
                raise StoreUnreachableError(
                    f"no claim in {CLAIM_SECONDS:g} s: the store is too slow"
                )
            written = _write(store, claim.record, found)
            if isinstance(written, Stored):
                return Got(written, found.record if found else None)
        elif not unsure:
            return claim
        if not unsure:
            _pause(tries, ask.attempt_id)
        over, found, unsure = found, store.read(ask.key), False
        if found is not None and found.record.lease.attempt_id == ask.attempt_id:
            return Got(found, over.record if over else None)
    raise AssertionError("unreachable")  # pragma: no cover - count() has no end


def _is_read_first(ask: Ask) -> bool:
    """Tell whether a register most likely has a record: then a create is in vain."""
    return ask.only_retry or isinstance(ask.key.window, Interval | Occupancy)


def _write(store: RunStore, record: Record, over: Stored | None) -> Stored | Conflict:
    """Write a record; no answer is as good as a conflict: both are read back."""
    try:
        if over is None:
            return store.create(record)
        return store.replace(record, over.version)
    except StoreUnreachableError:
        return Conflict()


def _pause(tries: int, attempt_id: str) -> None:
    """Let rivals pass, each another while: the attempt's id is the dice."""
    if tries:
        share = int(attempt_id[:4], 16) / 0xFFFF
        time.sleep(min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE) * share)


class RunOver(Exception):  # noqa: N818 - raised into tasks: it reads as what it says
    """The attempt has no business to go on; the message says why."""


class Attempt:
    """A claimed run in hand. Safe to renew and settle from several threads.

    `over` is the record that the claim was written over, if any.
    """

    def __init__(
        self,
        store: RunStore,
        got: Got,
        terms: Terms,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._stored = got.stored
        self._terms = terms
        self._clock = clock
        self.over = got.over
        self._lock = threading.Lock()
        self._taken: TakenOver | None = None
        self.deadline = got.stored.record.started + terms.deadline

    @property
    def record(self) -> Record:
        """The record as this attempt last wrote it."""
        return self._stored.record

    @property
    def stored(self) -> Stored:
        """The record and its version as this attempt last wrote it."""
        return self._stored

    @property
    def lease(self) -> Lease:
        """The lease as it stands."""
        return self._stored.record.lease

    @property
    def taken_over(self) -> TakenOver | None:
        """How another attempt stands with the run, once one was seen to have it."""
        return self._taken

    def check(self) -> None:
        """Raise RunOver if the attempt may not go on."""
        now = self._clock()
        if self._taken:
            raise RunOver("another attempt has taken the run over")
        if now >= self.deadline:
            raise RunOver(f"the attempt's deadline, {self.deadline}, has passed")
        if now >= self.lease.expires_at:
            raise RunOver("the lease could not be renewed in time: the run is free")

    def renew(self) -> bool:
        """Prolong the lease; False once there is nothing more to prolong.

        Raises StoreError; the lease then stands as it was.
        """
        with self._lock:
            while self._taken is None and self.record.state is State.WORKING:
                prolonged = renewed(self.record, self._terms, self._clock())
                if prolonged.lease.expires_at <= self.lease.expires_at:
                    return self._clock() < self.deadline
                written = self._store.replace(prolonged, self._stored.version)
                if isinstance(written, Stored):
                    self._stored = written
                    return True
                found = self._store.read(self.record.key)
                if found is None:  # settling writes it again
                    return False
                self._see(found)
            return False

    def _see(self, found: Stored) -> None:
        if found.record.lease.attempt_id == self.lease.attempt_id:
            self._stored = found
        else:
            done = found.record.state in {State.DONE, State.SKIPPED}
            self._taken = TakenOver(done)

    def settle(self, state: State) -> Settled | TakenOver:
        """Say how the attempt ended, unless the run is another's by now.

        Raises StoreError: it is then not known whether it is written.
        """
        with self._lock:
            found: Stored | None = self._stored
            for tries in count():
                record = found.record if found else None
                rule = settle(record, self.record, state, self._terms, self._clock())
                if not isinstance(rule, Write):
                    return rule
                written = _write(self._store, rule.record, found)
                if isinstance(written, Stored):
                    self._stored = written
                    return Settled()
                if tries == _SETTLE_TRIES:
                    raise StoreUnreachableError("the store reads, but does not write")
                _pause(tries, self.lease.attempt_id)
                found = self._store.read(self.record.key)
            raise AssertionError  # pragma: no cover - count() has no end
