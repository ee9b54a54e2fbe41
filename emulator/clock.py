"""What time it is for the emulator: the machine's time, or one that tests move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Protocol


class Clock(Protocol):
    """Says what time it is, in UTC."""

    def now(self) -> datetime:
        """Give the present instant."""


class RealClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Give the machine's time."""
        return datetime.now(UTC)


class VirtualClock:
    """A time that stands still until it is moved, and never moves back."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self._lock = Lock()

    def now(self) -> datetime:
        """Give the time that the clock was last moved to."""
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move the clock on and give its new time. Raises ValueError for a way back."""
        if by < timedelta(0):
            raise ValueError(f"a clock does not go back: {by}")
        with self._lock:
            self._now += by
            return self._now
