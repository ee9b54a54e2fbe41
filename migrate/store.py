"""The job store: Cloud Scheduler's jobs of a project, called with care.

What `Api` does call by call (`migrate.scheduler` has Google's), `JobStore` makes
dependable: within the quotas, tried again where that is safe, and with each lost reply
settled by `migrate.replies`. Its methods are safe to call from several threads.

There is no etag in the API: two operators at once can still cross each other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from migrate import replies
from migrate.livejob import LiveJob, State
from migrate.normal import form_of
from migrate.pacing import Bucket, Patience
from migrate.problems import (
    ApiError,
    Exists,
    Lost,
    Missing,
    Refused,
    Throttled,
    WrongState,
)
from migrate.replies import Again, Done, Next, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from migrate.job import Json


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list; an empty `next_token` says that it is the last."""

    jobs: Sequence[Json]
    next_token: str = ""


class Api(Protocol):
    """Cloud Scheduler's API, one try a call; every method raises ApiError.

    `name` is a full name, `parent` a location's. `legacy` is for the jobs that `gcloud
    app deploy cron.yaml` made, which only v1beta1 knows. Answers may be fields short of
    output-only ones.
    """

    def page(self, parent: str, token: str, *, legacy: bool) -> Page:
        """Give a page of the jobs of one kind."""

    def get(self, name: str) -> Json:
        """Give one job that is not legacy."""

    def create(self, parent: str, job: Json, *, legacy: bool) -> Json:
        """Make a job; the server names one that has no name."""

    def update(self, job: Json, mask: Sequence[str]) -> Json:
        """Set the masked fields (paths in camelCase) as `job` has them."""

    def delete(self, name: str, *, legacy: bool) -> None:
        """Delete a job."""

    def pause(self, name: str) -> Json:
        """Stop an enabled job from firing."""

    def resume(self, name: str) -> Json:
        """Let a paused job fire again."""


@dataclass(slots=True)
class JobStore:
    """The jobs of one project, in any of its locations."""

    api: Api
    writes: Bucket
    reads: Bucket
    sleep: Callable[[float], None]
    patience: Patience = field(default_factory=Patience)
    share: Callable[[], float] = random.random  # 0 to 1: spreads the waits
    _legacy_lock: Lock = field(default_factory=Lock)

    # Reading

    def jobs(self, *parents: str) -> Iterator[LiveJob]:
        """Yield the jobs of locations, legacy ones apart, page by page.

        Raises ApiError.
        """
        for parent in parents:
            yield from self._list(parent, legacy=False)

    def legacy_jobs(self, parent: str) -> Iterator[LiveJob]:
        """Yield the jobs that `gcloud app deploy cron.yaml` made. Raises ApiError."""
        return self._list(parent, legacy=True)

    def get(self, name: str) -> LiveJob | None:
        """Give the job of that name, not a legacy one. Raises ApiError."""

        def settle(problem: ApiError) -> Next:
            return Done(None) if isinstance(problem, Missing) else Again()

        return self._persist(self.reads, lambda: LiveJob(self.api.get(name)), settle)

    def _list(self, parent: str, *, legacy: bool) -> Iterator[LiveJob]:
        token = ""
        while True:
            page = self._page(parent, token, legacy=legacy)
            yield from (LiveJob(job, legacy) for job in page.jobs)
            token = page.next_token
            if not token:
                return

    def _page(self, parent: str, token: str, *, legacy: bool) -> Page:
        found: list[Page] = []

        def call() -> None:
            found.append(self.api.page(parent, token, legacy=legacy))

        self._persist(self.reads, call, _again)
        return found[-1]

    # Writing

    def create(self, job: Json) -> LiveJob:
        """Make a job under its name; one that is there and equal will do.

        Raises ApiError.
        """
        name = job["name"]
        parent = name.rpartition("/jobs/")[0]
        made = self._persist(
            self.writes,
            lambda: LiveJob(self.api.create(parent, job, legacy=False)),
            lambda _: replies.after_create(job, self.get(name)),
        )
        return _there(made)

    def update(self, job: Json, mask: Sequence[str]) -> LiveJob:
        """Set the masked fields as `job` has them. Raises ApiError."""

        def settle(problem: ApiError) -> Next:
            if isinstance(problem, Lost):
                return replies.after_update(job, mask, self.get(job["name"]))
            return Stop(problem)

        changed = self._persist(
            self.writes, lambda: LiveJob(self.api.update(job, mask)), settle
        )
        return _there(changed)

    def delete(self, name: str, *, legacy: bool = False) -> None:
        """Delete a job; one that is gone will do. Raises ApiError."""
        self._persist(
            self.writes,
            lambda: self.api.delete(name, legacy=legacy),
            replies.after_delete,
        )

    def pause(self, name: str) -> LiveJob:
        """Stop a job from firing; one that is paused will do. Raises ApiError."""
        return self._switch(self.api.pause, name, State.PAUSED)

    def resume(self, name: str) -> LiveJob:
        """Let a job fire again; one that is enabled will do. Raises ApiError."""
        return self._switch(self.api.resume, name, State.ENABLED)

    def _switch(self, verb: Callable[[str], Json], name: str, to: State) -> LiveJob:
        switched = self._persist(
            self.writes,
            lambda: LiveJob(verb(name)),
            lambda problem: replies.after_switch(problem, to, self.get(name)),
        )
        return _there(switched)

    def create_legacy(self, parent: str, job: Json) -> None:
        """Make one more legacy job like this one, which has no name.

        Its like are counted before and, where the reply is lost, after: one at a time,
        so that none counts for two. Raises ApiError.
        """
        with self._legacy_lock:
            before = self._count_legacy(parent, job)
            sent = False

            def call() -> LiveJob | None:
                nonlocal sent
                # A call that was given up may have come through since it was judged.
                if sent and self._more_legacy(parent, job, before):
                    return None
                sent = True
                return LiveJob(self.api.create(parent, job, legacy=True))

            def settle(problem: ApiError) -> Next:
                if not isinstance(problem, Lost):
                    return Stop(problem)
                there = self._more_legacy(parent, job, before)
                return Done(None) if there else Again()

            self._persist(self.writes, call, settle)

    def _more_legacy(self, parent: str, job: Json, before: int) -> bool:
        return replies.after_legacy_create(before, self._count_legacy(parent, job))

    def _count_legacy(self, parent: str, job: Json) -> int:
        wanted = form_of(job)
        return sum(form_of(one.resource) == wanted for one in self.legacy_jobs(parent))

    # Patience

    def _persist(
        self,
        bucket: Bucket,
        call: Callable[[], LiveJob | None],
        settle: Callable[[ApiError], Next],
    ) -> LiveJob | None:
        """Call until it is settled what came of it. Raises ApiError."""
        throttled = 0
        tries = count(1)
        while True:
            bucket.take()
            try:
                return call()
            except Throttled:
                throttled += 1
                if throttled == self.patience.quota_tries:
                    raise
                wait = self.patience.wait_for_quota(throttled, self.share())
            except (Lost, Exists, Missing, WrongState) as problem:
                match settle(problem):
                    case Done(job):
                        return job
                    case Stop(why):
                        raise why from None
                    case Again():
                        tried = next(tries)
                        if tried == self.patience.tries:
                            raise
                wait = self.patience.wait(tried, self.share())
            self.sleep(wait)


def _again(_: ApiError) -> Next:
    return Again()


def _there(job: LiveJob | None) -> LiveJob:
    """Give the job that a call left there. Raises Refused where it left none."""
    if job is None:
        raise Refused("the API gave no job where there must be one")
    return job
