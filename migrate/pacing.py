"""How fast and how patiently the API is called: quotas, and waits between tries."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# Google gives 500 writes and 1,250 reads a minute; some are left to others.
WRITES_A_MINUTE: Final = 480
READS_A_MINUTE: Final = 1200


@dataclass(slots=True)
class Bucket:
    """Tokens that come back a minute after they were taken.

    So a burst may be a whole minute's, and yet no minute, wherever it begins, sees
    more calls than the quota has.
    """

    per_minute: int
    now: Callable[[], float]  # seconds that only go forward
    sleep: Callable[[float], None]
    _taken: deque[float] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)

    def take(self) -> None:
        """Take a token, waiting for one if need be."""
        with self._lock:
            at = self.now()
            if len(self._taken) == self.per_minute:
                at = max(at, self._taken.popleft() + 60)
            self._taken.append(at)
            wait = at - self.now()
        if wait > 0:
            self.sleep(wait)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take and how often it is tried; all times in seconds.

    The client's own time-out is ten minutes, and it repeats some calls by itself;
    both are switched off in favour of these.
    """

    timeout: float = 20.0
    tries: int = 6
    first_wait: float = 0.25
    longest_wait: float = 8.0
    quota_tries: int = 9
    quota_wait: float = 20.0

    def wait(self, tried: int, share: float) -> float:
        """Give the wait after so many tries without an answer; `share`: 0 to 1."""
        most = min(self.longest_wait, self.first_wait * 2.0 ** (tried - 1))
        return most * (0.5 + share / 2)

    def wait_for_quota(self, tried: int, share: float) -> float:
        """Give the wait after so many refusals for the quota; in all over a minute."""
        most = min(self.quota_wait, 4 * self.first_wait * 2.0 ** (tried - 1))
        return most * (0.5 + share / 2)
