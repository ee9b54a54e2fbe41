"""Sending jobs' requests: the place for it. So far nothing is sent, only noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from emulator.timing import rfc3339

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.jobs import Job


class Dispatch(Protocol):
    """Carries a job's request to its target."""

    def force(self, job: Job, now: datetime) -> Job:
        """Begin an attempt at once, whatever the schedule says or is under way.

        Gives the job with its last attempt's fields as they stand then. The store
        waits meanwhile: the request itself goes out elsewhere, and what comes of it
        is written to the store when it ends.
        """


class Unsent:
    """Notes the attempt on the job and sends nothing."""

    def force(self, job: Job, now: datetime) -> Job:
        """Give the job, last attempted now."""
        return job.with_fields({"lastAttemptTime": rfc3339(now)})
