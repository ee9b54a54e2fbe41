"""Carry out a plan on a job store, change by change.

Creates come before updates before deletes, several at once within each. A change that
fails does not keep others from being made, unless they depend on it: a job is not
deleted while a job for the same url could not be made or changed. Nothing is written
down on the way: run again, a plan is made of what is there, and converges.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby
from threading import Event
from typing import TYPE_CHECKING, Final

from migrate import staging
from migrate.plan import Create, Delete, Finish, Update, url_of_change
from migrate.problems import ApiError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from migrate.livejob import LiveJob
    from migrate.plan import Change, Plan
    from migrate.store import JobStore

AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Made:
    """The change was made."""

    change: Change


@dataclass(frozen=True, slots=True)
class Failed:
    """The change was not made, or nobody can tell; `why` says so."""

    change: Change
    why: ApiError


@dataclass(frozen=True, slots=True)
class NotTried:
    """The change was not begun."""

    change: Change
    why: str


Result = Made | Failed | NotTried


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of every change of a plan, in the plan's order."""

    results: tuple[Result, ...]

    @property
    def complete(self) -> bool:
        """Whether every change was made."""
        return all(isinstance(one, Made) for one in self.results)


@dataclass(slots=True)
class Run:
    """One application of a plan; `stop` may be set by another thread at any time.

    `told` is called for each result as it comes, one at a time, in the caller's thread.
    """

    store: JobStore
    now: Callable[[], datetime]
    told: Callable[[Result], None]
    stop: Event = field(default_factory=Event)
    at_once: int = AT_ONCE
    _results: dict[int, Result] = field(default_factory=dict)
    _hopeless: str = ""

    def apply(self, plan: Plan) -> Outcome:
        """Make the changes; on `stop`, no more than those in flight.

        Raises ValueError for a plan that must not be applied.
        """
        if plan.conflicts or plan.refusal:
            raise ValueError(
                plan.refusal or "foreign jobs are on names that are needed"
            )
        numbered = list(enumerate(plan.changes))
        with ThreadPoolExecutor(self.at_once, "apply") as pool:
            for _, phase in groupby(numbered, key=lambda one: _phase(one[1])):
                self._make(pool, list(phase))
        return Outcome(tuple(self._results[number] for number, _ in numbered))

    def _make(
        self, pool: ThreadPoolExecutor, phase: Sequence[tuple[int, Change]]
    ) -> None:
        """Make changes that do not depend on each other."""
        failed = {
            url_of_change(one.change)
            for one in self._results.values()
            if not isinstance(one, Made)
        }
        waiting = {
            pool.submit(self._one, change, failed): number for number, change in phase
        }
        for future in as_completed(waiting):
            self._results[waiting[future]] = future.result()
            self.told(self._results[waiting[future]])

    def _one(self, change: Change, failed: set[str]) -> Result:
        if self.stop.is_set():
            return NotTried(change, "stopped before it")
        if self._hopeless:
            return NotTried(change, "it would meet the same")
        if isinstance(change, Delete) and url_of_change(change) in failed:
            return NotTried(
                change, "a job for the same url was not made or changed: this one stays"
            )
        try:
            self._carry_out(change)
        except ApiError as problem:
            if problem.hopeless:
                self._hopeless = str(problem)
            return Failed(change, problem)
        return Made(change)

    def _carry_out(self, change: Change) -> None:
        match change:
            case Create(after, paused=True):
                staging.create_paused(self.store, after, self.now())
            case Create(after):
                self.store.create(after)
            case Finish(before, after):
                staging.finish(self.store, before, after, self.now())
            case Update(_, after, mask):
                self.store.update(after, mask)
            case Delete(before):
                self._delete(before)

    def _delete(self, before: LiveJob) -> None:
        """Delete a job that is still whose it was: a long apply comes to it late."""
        live = self.store.get(before.name)
        if live is not None and live.marks != before.marks:
            raise Refused(
                f"delete {before.job_id}: its marks were changed meanwhile: plan again"
            )
        if live is not None:
            self.store.delete(before.name)


def _phase(change: Change) -> int:
    match change:
        case Create():
            return 0
        case Update() | Finish():
            return 1
        case Delete():
            return 2
