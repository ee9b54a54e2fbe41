"""Every request to the emulated APIs, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.errors import Json
    from emulator.wire import Request

NO_REPLY: Final = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what became of it.

    `done`: its effect is there, whatever the client learned. `status`: what the client
    was told; NO_REPLY where it was cut off, or while the request is under way.
    """

    number: int  # from 1
    at: datetime
    request: Request
    done: bool = False
    status: int = NO_REPLY

    def to_json(self) -> Json:
        """Give the exchange for readers outside this process."""
        return {
            "number": self.number,
            "at": self.at.isoformat(),
            "method": self.request.method,
            "path": self.request.path,
            "query": dict(self.request.query),
            "body": self.request.body,
            "done": self.done,
            "status": self.status,
        }


@dataclass(slots=True)
class Journal:
    """The exchanges so far; safe to read while requests come in."""

    _exchanges: list[Exchange] = field(default_factory=list)
    _first: int = 1
    _lock: Lock = field(default_factory=Lock)

    def begin(self, request: Request, at: datetime) -> int:
        """Note a request and give its number."""
        with self._lock:
            number = self._first + len(self._exchanges)
            self._exchanges.append(Exchange(number, at, request))
            return number

    def end(self, number: int, *, done: bool, status: int) -> None:
        """Note what became of a request; nothing if it was cleared away since."""
        with self._lock:
            if (index := number - self._first) >= 0:
                begun = self._exchanges[index]
                self._exchanges[index] = replace(begun, done=done, status=status)

    def exchanges(self) -> list[Exchange]:
        """Give the exchanges so far."""
        with self._lock:
            return list(self._exchanges)

    def clear(self) -> None:
        """Forget them; the numbers go on."""
        with self._lock:
            self._first += len(self._exchanges)
            self._exchanges.clear()
