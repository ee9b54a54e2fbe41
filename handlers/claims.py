"""Claim the first free of the runs that a request may mean, and wait for busy ones.

A rival that meets a live lease looks again after 1, 2, 4 ... s: the run may be done
by then, or free, because its worker failed or was killed. At most half of the threads
wait, so that waiting never keeps the runs' own answers out.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from handlers.attempt import Attempt, Got, acquire
from handlers.log import Log, Severity
from handlers.record import (
    Interval,
    Occupancy,
    RegisterKey,
    RunId,
    RunStore,
    State,
    Stored,
)
from handlers.runs import (
    AlreadyDone,
    Ask,
    Busy,
    OutOfReach,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from handlers.windows import Candidate

_KNOWN_REGISTERS: Final = 1024
_PAST_THE_END: Final = timedelta(milliseconds=20)


@dataclass(frozen=True, slots=True)
class Mine:
    """A candidate that was claimed, and the attempt to work on it with."""

    candidate: Candidate
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """All that the request may mean is settled; `attempt` of the first settled it."""

    key: RegisterKey
    attempt: int


@dataclass(frozen=True, slots=True)
class Occupied:
    """What the request means is held by `attempt`, and waiting was in vain."""

    key: RegisterKey
    attempt: int


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What others hold of that which the request may mean."""

    held: tuple[tuple[Candidate, Busy], ...]

    @property
    def until(self) -> datetime:
        """When the first lease ends, if it is not renewed."""
        return min(busy.until for _, busy in self.held)

    def after(self, waited: timedelta) -> list[Candidate]:
        """Give what to look at again."""
        return [candidate.after(waited) for candidate, _ in self.held]

    def in_vain(self) -> Occupied:
        """Give the answer when waiting is over."""
        candidate, busy = self.held[0]
        return Occupied(candidate.key, busy.attempt)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a register held when this instance last wrote it.

    `alone`: that was written over its own word, so likely nobody else writes there.
    """

    stored: Stored
    alone: bool


@dataclass
class Claims:
    """Claims runs on one store, for all threads of a process.

    `busy_wait` is seconds; `places` is how many threads may wait.
    """

    store: RunStore
    clock: Callable[[], datetime]
    log: Log
    busy_wait: float
    places: int
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Make what the threads share."""
        self._places = threading.BoundedSemaphore(max(1, self.places))
        self._registers: OrderedDict[RegisterKey, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def first_free(
        self, candidates: Sequence[Candidate], sender: str
    ) -> Mine | NothingToDo | Occupied:
        """Claim the first candidate that is free. Raises StoreError."""
        pause, end = 1.0, time.monotonic() + self.busy_wait
        found = self._look(candidates, sender)
        if isinstance(found, _Waiting):
            with self._place() as has_place:
                while has_place and isinstance(found, _Waiting):
                    before = self.clock()
                    if not self._wait(found.until, pause, end):
                        break
                    pause *= 2
                    left = found.after(self.clock() - before)
                    found = self._look(left, sender, again=True)
        return found.in_vain() if isinstance(found, _Waiting) else found

    @contextmanager
    def _place(self) -> Iterator[bool]:
        """Take one of the places for waiting, if there is one."""
        wanted = self.places > 0 and self.busy_wait > 0
        taken = wanted and self._places.acquire(blocking=False)
        try:
            yield taken
        finally:
            if taken:
                self._places.release()

    def _wait(self, until: datetime, pause: float, end: float) -> bool:
        """Wait for the next look, or a lease's end if that is sooner; False: no more.

        A service that is told to stop does not wait.
        """
        left = end - time.monotonic()
        if left <= 0:
            return False
        free = (until - self.clock() + _PAST_THE_END).total_seconds()
        return not self.stopping.wait(min(pause, left, max(free, 0.02)))

    def _look(
        self, candidates: Sequence[Candidate], sender: str, *, again: bool = False
    ) -> Mine | _Waiting | NothingToDo:
        """Claim the first free candidate; else say which are busy, and until when."""
        held: list[tuple[Candidate, Busy]] = []
        settled: list[tuple[Candidate, int]] = []
        beyond: list[Candidate] = []
        for candidate in candidates:
            match self._ask(candidate, sender, look_first=again):
                case Got() as got:
                    return self._mine(candidate, got)
                case Busy() as busy:
                    held.append((candidate, busy))
                case OutOfReach():
                    beyond.append(candidate)
                case AlreadyDone(attempt):
                    settled.append((candidate, attempt))
        if held:
            return _Waiting(tuple(held))
        repeated = [one for one in settled if not one[0].only_retry]
        if beyond and not repeated:
            return self._apart(beyond, sender)
        candidate, attempt = (repeated or settled)[0]
        return NothingToDo(candidate.key, attempt)

    def _apart(
        self, beyond: Sequence[Candidate], sender: str
    ) -> Mine | _Waiting | NothingToDo:
        """Claim a run of its own: the sender cannot mean any that it ran."""
        now = self.clock()
        found = self._look([candidate.apart(now) for candidate in beyond], sender)
        if isinstance(found, Mine):
            self.log(
                Severity.WARNING,
                "this sender's last run was settled longer ago than it would repeat "
                "it: somebody forced a run, or this copy of cron.yaml is older than "
                "the deployed one; it runs in a window of its own",
                entry=found.candidate.key.entry,
                window=str(found.candidate.key.window),
            )
        return found

    def _ask(
        self, candidate: Candidate, sender: str, *, look_first: bool
    ) -> Got | Busy | AlreadyDone | OutOfReach:
        ask = Ask(
            key=candidate.key,
            sender=sender,
            attempt_id=uuid4().hex,
            terms=candidate.terms,
            timeless=candidate.timeless,
            only_retry=candidate.only_retry,
        )
        known = self._still_known(candidate.key)
        return acquire(self.store, ask, self.clock, known, look_first=look_first)

    def _mine(self, candidate: Candidate, got: Got) -> Mine:
        if got.over is not None and got.over.state is State.WORKING:
            self.log(
                Severity.WARNING,
                "the attempt before this one was never settled: its worker was killed, "
                "or lost the store",
                entry=candidate.key.entry,
                window=str(candidate.key.window),
                attempt=got.over.attempt,
            )
        return Mine(candidate, Attempt(self.store, got, candidate.terms, self.clock))

    def occupy(self, mine: Mine) -> Attempt | Occupied:
        """Claim the entry itself, for tasks of which no two runs may overlap."""
        record, terms = mine.attempt.record, mine.candidate.terms
        key = RegisterKey(record.key.scope, record.key.entry, Occupancy())
        run_id: RunId = record.run_id
        ask = Ask(key, record.sender, uuid4().hex, terms, run_id=run_id)
        got = acquire(self.store, ask, self.clock, self._still_known(key))
        if not isinstance(got, Got):
            return Occupied(key, got.attempt if isinstance(got, Busy) else 0)
        return Attempt(self.store, got, terms, self.clock)

    def remember(self, attempt: Attempt) -> None:
        """Keep what a register of many runs holds: it saves the next claim a read."""
        key, over = attempt.record.key, attempt.over
        if not isinstance(key.window, Interval | Occupancy):
            return
        with self._lock:
            before = self._registers.get(key)
            alone = over is None or (
                before is not None and over.lease == before.stored.record.lease
            )
            self._registers[key] = _Known(attempt.stored, alone)
            self._registers.move_to_end(key)
            while len(self._registers) > _KNOWN_REGISTERS:
                self._registers.popitem(last=False)

    def _still_known(self, key: RegisterKey) -> Stored | None:
        """Give what a register most likely holds.

        Where instances take turns it would not be that, and cost a call in vain.
        """
        known = self._registers.get(key)
        return known.stored if known and known.alone else None
