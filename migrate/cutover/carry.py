"""One step of a move, done on the job store. Lost replies are the store's to settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cronspec.naming import PAUSED_HEADER
from migrate import staging
from migrate.cutover.backup import to_send
from migrate.cutover.seen import (
    Complete,
    Hold,
    Make,
    MakePaused,
    Mend,
    Release,
    Remove,
    Restore,
    Resume,
    Swap,
)
from migrate.livejob import State
from migrate.normal import TARGETS, with_headers, writable
from migrate.problems import ApiError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from migrate.cutover.seen import OnOurs, Step
    from migrate.job import Json
    from migrate.livejob import LiveJob
    from migrate.store import JobStore


class Keeper(Protocol):
    """Where legacy jobs are saved."""

    def keep(self, jobs: Iterable[LiveJob], at: datetime) -> None:
        """Save those that are not saved yet; they are on the disk then."""


class NobodyFiresError(ApiError):
    """A legacy job is gone, ours does not fire, and it could not be made again."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """Does steps, in one location."""

    store: JobStore
    parent: str
    backup: Keeper
    now: Callable[[], datetime]

    def carry_out(self, step: Step) -> None:
        """Do a step; none of them is done twice. Raises ApiError."""
        match step:
            case Remove(legacy):
                self._remove(legacy)
            case Swap(legacy, jobs):
                self._swap(legacy, jobs)
            case Restore(as_legacy):
                self.store.create_legacy(self.parent, as_legacy)
            case _:
                self._on_ours(step)

    def _on_ours(self, step: OnOurs) -> None:
        match step:
            case Make(job):
                self.store.create(job)
            case MakePaused(job):
                staging.create_paused(self.store, job, self.now())
            case Complete(change):
                staging.finish(self.store, change.before, change.after, self.now())
            case Mend(change):
                self.store.update(change.after, change.mask)
            case Release(live):
                self._release(live)
            case Resume(jobs):
                self._resume(jobs)
            case Hold(live):
                staging.pause(self.store, live, self.now())

    def _release(self, live: LiveJob) -> None:
        plain = with_headers(writable(live.resource), {PAUSED_HEADER: None})
        kind = next(kind for kind in TARGETS if kind in plain)
        self.store.update(plain, [f"{kind}.headers"])

    def _resume(self, jobs: Iterable[Json]) -> None:
        for job in jobs:
            match staging.resume(self.store, job):
                case staging.Resumed():
                    pass
                case staging.NotAsWanted(live):
                    raise Refused(f"resume {live.job_id}: it was changed meanwhile")
                case staging.NotOurPause(live):
                    raise Refused(f"resume {live.job_id}: its pause is not ours")

    def _remove(self, legacy: LiveJob) -> None:
        self.backup.keep([legacy], self.now())
        self.store.delete(legacy.name, legacy=True)

    def _swap(self, legacy: LiveJob, jobs: tuple[Json, ...]) -> None:
        try:
            self._remove(legacy)
        except ApiError:
            # It may be gone all the same, and then nobody would fire.
            listed = self.store.legacy_jobs(self.parent)
            if any(job.name == legacy.name for job in listed):
                raise
        try:
            self._resume(jobs)
        except ApiError as problem:
            if not self._fire_all_the_same(jobs):
                self._undo(legacy, problem)
            raise

    def _fire_all_the_same(self, jobs: tuple[Json, ...]) -> bool:
        """Tell whether ours fire, though not all went well: their mark may have stayed.

        If only some of them do, they are paused again: the legacy job is to fire.
        """
        try:
            there = [self.store.get(job["name"]) for job in jobs]
            firing = [
                job for job in there if job is not None and job.state is State.ENABLED
            ]
            if len(firing) < len(jobs):
                for job in firing:
                    staging.pause(self.store, job, self.now())
        except ApiError:
            return False  # one run too many is better than none from now on
        return len(firing) == len(jobs)

    def _undo(self, legacy: LiveJob, problem: ApiError) -> None:
        """Make the legacy job again. Raises NobodyFiresError where that fails too."""
        try:
            self.store.create_legacy(self.parent, to_send(legacy.resource))
        except ApiError as second:
            raise NobodyFiresError(
                f"{problem}; and the legacy job could not be made again: {second}; "
                "NOBODY FIRES IT: run cutover or rollback again at once"
            ) from second
