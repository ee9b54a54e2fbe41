"""Claim, work, settle: the only place that calls a task.

request --> claim --> task --> settle --> answer
              |         '- the lease is renewed meanwhile
              '- done: no task; busy: look again for a while
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from handlers.attempt import Attempt, RunOver
from handlers.claims import Claims, Mine, NothingToDo, Occupied
from handlers.log import Log, Severity
from handlers.outcome import (
    Duplicate,
    Elsewhere,
    Failed,
    NoStore,
    Outcome,
    Ran,
    Skipped,
)
from handlers.record import (
    At,
    Forced,
    Record,
    State,
    StoreError,
)
from handlers.runs import (
    Settled,
    TakenOver,
    floor_minute,
)
from handlers.tasks import Overlap, Run, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from handlers.windows import Candidate


@dataclass(frozen=True, slots=True)
class _Unwritten:
    """The end of a run could not be written down."""


_Ended = Settled | TakenOver | _Unwritten
_SETTLE_PAUSE: Final = 0.5


class Once:
    """Makes each run happen once, on one store; one for a process.

    `lease` is seconds.
    """

    def __init__(self, claims: Claims, log: Log, lease: float) -> None:
        self._claims = claims
        self._log = log
        self._lease = lease
        self._noticed: set[str] = set()

    def run(
        self, candidates: Sequence[Candidate], sender: str, url: str, task: Task
    ) -> Outcome:
        """Let the task do the run that is meant, unless it is done or under way."""
        try:
            claimed = self._claims.first_free(candidates, sender)
        except StoreError as error:
            return NoStore(error)
        match claimed:
            case Mine():
                return self._start(claimed, url, task)
            case NothingToDo(key, attempt):
                return Duplicate(key, attempt)
            case Occupied(key, attempt):
                return Elsewhere(key, attempt)

    def _start(self, mine: Mine, url: str, task: Task) -> Outcome:
        """Make sure of the lease, and of the entry if no two runs may overlap."""
        attempt = mine.attempt
        held = [attempt]
        self._notice(mine.candidate)
        try:
            self._freshen(attempt)
            if attempt.taken_over:
                return _by_record(attempt.taken_over, attempt.record)
            if task.overlap is Overlap.SKIP:
                occupancy = self._claims.occupy(mine)
                if isinstance(occupancy, Occupied):
                    self._settle(attempt, State.SKIPPED)
                    return Skipped(attempt.record)
                held.append(occupancy)
        except StoreError as error:
            # Nothing has been done, so let it go; if that fails too, its lease ends.
            with suppress(StoreError):
                attempt.settle(State.FAILED)
            return NoStore(error)
        return self._work(held, url, task)

    def _freshen(self, attempt: Attempt) -> None:
        """Renew a lease that the claim took long to get, by the clock."""
        age = self._claims.clock() - attempt.record.written_at
        if age > timedelta(seconds=self._lease / 3):
            attempt.renew()

    def _work(self, held: list[Attempt], url: str, task: Task) -> Outcome:
        """Call the task, and say in the record how it ended."""
        attempt = held[0]
        run = _run_of(attempt, url, self._claims.stopping)
        state, error = State.DONE, None
        try:
            with self._kept(held):
                attempt.check()
                task.function(run)
        except BaseException as raised:  # noqa: BLE001 - a worker told to exit frees its run too
            state, error = State.FAILED, raised
        ends = [self._settle(one, state) for one in held]
        if error is not None and not isinstance(error, Exception | SystemExit):
            raise error
        if isinstance(ends[0], TakenOver):
            self._log_of(
                attempt,
                Severity.WARNING,
                "another attempt had taken the run over when this one ended: it has "
                "nothing to say",
            )
            return _by_record(ends[0], attempt.record)
        if error is not None:
            return Failed(attempt.record, error)
        return Ran(attempt.record, written=isinstance(ends[0], Settled))

    def _settle(self, attempt: Attempt, state: State) -> _Ended:
        """Write how the run ended, trying until the lease is over."""
        give_up = time.monotonic() + self._lease
        while True:
            try:
                ended = attempt.settle(state)
            except StoreError as error:
                over = self._claims.clock() >= attempt.lease.expires_at
                if over or time.monotonic() > give_up:
                    self._log_of(
                        attempt,
                        Severity.ERROR,
                        f"the run is {state.value}, but that could not be written "
                        f"down: {error}",
                    )
                    return _Unwritten()
                time.sleep(_SETTLE_PAUSE)
            else:
                self._claims.remember(attempt)
                return ended

    # --- The lease

    @contextmanager
    def _kept(self, attempts: list[Attempt]) -> Iterator[None]:
        """Renew the leases every third of one, in a thread, while the task works."""
        over = threading.Event()
        keeper = threading.Thread(
            target=self._keep, args=(attempts, over), name="lease", daemon=True
        )
        keeper.start()
        try:
            yield
        finally:
            over.set()

    def _keep(self, attempts: list[Attempt], over: threading.Event) -> None:
        pause = self._lease / 3
        while not over.wait(pause):
            pause = self._lease / 3
            for attempt in attempts:
                try:
                    attempt.renew()
                except StoreError as error:
                    pause = self._lease / 15
                    self._log_of(
                        attempt,
                        Severity.WARNING,
                        f"the lease could not be renewed yet: {error}",
                    )

    # --- What is told

    def _notice(self, candidate: Candidate) -> None:
        """Tell, once an instance and entry, that the run before was never settled.

        Where no retries are configured and no rival waits, nobody else would.
        """
        entry = candidate.key.entry
        if candidate.before is None or entry in self._noticed:
            return
        self._noticed.add(entry)
        try:
            found = self._claims.store.read(candidate.before)
        except StoreError:  # what matters is the claim, and that stands
            self._noticed.discard(entry)
            return
        if found is None or found.record.state is not State.WORKING:
            return
        if not found.record.is_held(self._claims.clock()):
            self._log(
                Severity.WARNING,
                "the run before was never settled: its worker was killed, or lost the "
                "store, and nobody has tried it again",
                entry=entry,
                window=str(candidate.before.window),
                attempt=found.record.attempt,
            )

    def _log_of(self, attempt: Attempt, severity: Severity, message: str) -> None:
        record = attempt.record
        self._log(
            severity,
            message,
            entry=record.key.entry,
            window=str(record.key.window),
            run=str(record.run_id),
            attempt=record.attempt,
        )


def _by_record(taken: TakenOver, mine: Record) -> Duplicate | Elsewhere:
    kind = Duplicate if taken.done else Elsewhere
    return kind(mine.key, mine.attempt)


def _run_of(attempt: Attempt, url: str, stopping: threading.Event) -> Run:
    record = attempt.record

    def check() -> None:
        attempt.check()
        if stopping.is_set():
            raise RunOver("the service is told to stop")

    match record.key.window:
        case At(at) | Forced(at):
            scheduled_at = at
        case _:
            scheduled_at = floor_minute(record.began)
    return Run(
        id=record.run_id,
        url=url,
        entry=record.key.entry,
        scheduled_at=scheduled_at,
        attempt=record.attempt,
        deadline=attempt.deadline,
        check=check,
    )
