"""Cloud Scheduler's quotas: so many reads and so many writes a minute."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from emulator.errors import ApiError, error_info

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls a minute; None for as many as you like."""

    reads: int | None = None
    writes: int | None = None


GOOGLES: Final = Limits(reads=1250, writes=500)
"""The limits that a project has unless it asks for more."""


@dataclass(slots=True)
class Quota:
    """Counts calls by the minute of the clock, a whole minute's at once if need be."""

    limits: Limits = field(default_factory=Limits)
    _minute: datetime | None = None
    _used: dict[bool, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def spend(self, now: datetime, *, write: bool) -> None:
        """Count a call. Raises ApiError where its minute's are used up."""
        minute = now.replace(second=0, microsecond=0)
        limit = self.limits.writes if write else self.limits.reads
        with self._lock:
            if minute != self._minute:
                self._minute, self._used = minute, {}
            used = self._used.get(write, 0)
            if limit is None or used < limit:
                self._used[write] = used + 1
                return
        kind = "Write requests" if write else "Read requests"
        raise ApiError(
            "RESOURCE_EXHAUSTED",
            f"Quota exceeded for quota metric '{kind}' and limit '{kind} per minute' "
            "of service 'cloudscheduler.googleapis.com'.",
            [error_info("RATE_LIMIT_EXCEEDED", quota_limit_value=str(limit))],
        )
