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
    """All that the request may mean is settled."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """What the request means is another's, and waiting was in vain."""


_Waiting = list[tuple["Candidate", datetime]]


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
        self._registers: OrderedDict[RegisterKey, Stored] = OrderedDict()
        self._lock = threading.Lock()

    def first_free(
        self, candidates: Sequence[Candidate], sender: str
    ) -> Mine | NothingToDo | Occupied:
        """Claim the first candidate that is free. Raises StoreError."""
        pause, end = 1.0, time.monotonic() + self.busy_wait
        waiting = self._look(candidates, sender)
        if isinstance(waiting, list) and waiting:
            with self._place() as has_place:
                while has_place and isinstance(waiting, list) and waiting:
                    before = self.clock()
                    if not self._wait(min(until for _, until in waiting), pause, end):
                        break
                    pause *= 2
                    waited = self.clock() - before
                    busy = [candidate.after(waited) for candidate, _ in waiting]
                    waiting = self._look(busy, sender, again=True)
        if isinstance(waiting, Mine):
            return waiting
        return Occupied() if waiting else NothingToDo()

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
    ) -> Mine | _Waiting:
        """Claim the first free candidate; else say which are busy, and until when."""
        busy: _Waiting = []
        beyond: Candidate | None = None
        may_repeat = False
        for candidate in candidates:
            match self._ask(candidate, sender, look_first=again):
                case Got() as got:
                    return self._mine(candidate, got)
                case Busy(until):
                    busy.append((candidate, until))
                case OutOfReach():
                    beyond = beyond or candidate
                case AlreadyDone():
                    may_repeat = may_repeat or not candidate.only_retry
        if beyond is not None and not busy and not may_repeat:
            return self._apart(beyond, sender)
        return busy

    def _apart(self, candidate: Candidate, sender: str) -> Mine | _Waiting:
        """Claim a run of its own: the sender cannot mean the one that it ran."""
        own = candidate.apart(self.clock())
        got = self._ask(own, sender, look_first=False)
        if isinstance(got, Busy):
            return [(own, got.until)]
        if not isinstance(got, Got):
            return []
        self.log(
            Severity.WARNING,
            "this sender's last run was settled longer ago than it would repeat it: "
            "somebody forced a run, or this copy of cron.yaml is older than the "
            "deployed one; it runs in a window of its own",
            entry=own.key.entry,
            window=str(own.key.window),
        )
        return self._mine(own, got)

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
        known = self._registers.get(candidate.key)
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
        got = acquire(self.store, ask, self.clock, self._registers.get(key))
        if not isinstance(got, Got):
            return Occupied()
        return Attempt(self.store, got, terms, self.clock)

    def remember(self, attempt: Attempt) -> None:
        """Keep what a register of many runs holds: it saves the next claim a read."""
        key = attempt.record.key
        if isinstance(key.window, Interval | Occupancy):
            with self._lock:
                self._registers[key] = attempt.stored
                self._registers.move_to_end(key)
                while len(self._registers) > _KNOWN_REGISTERS:
                    self._registers.popitem(last=False)
