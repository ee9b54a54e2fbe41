"""Faults on demand: which requests they befall, what happens to these, and when.

>>> fault = Fault(Fail(503), When.AFTER, method="POST", path="/jobs$", skip=3)

The fourth request to make a job is carried out and answered with 503.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING, assert_never

from emulator.errors import ApiError, Json, invalid

if TYPE_CHECKING:
    from emulator.wire import Request


@dataclass(frozen=True, slots=True)
class Fail:
    """An error answer with this HTTP status, message and details."""

    status: int
    message: str = "An injected fault."
    details: Sequence[Json] = ()

    def __post_init__(self) -> None:
        """Refuse a status that the API never answers with. Raises ValueError."""
        self.error()

    def error(self) -> ApiError:
        """Give the answer."""
        return ApiError.of_status(self.status, self.message, self.details)


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed without an answer."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Everything takes this many of the machine's seconds longer."""

    seconds: float


Trouble = Fail | Cut | Slow


class When(Enum):
    """On which side of a request's effect its trouble comes."""

    BEFORE = "before"  # nothing has happened yet; a Fail or a Cut keeps it from it
    AFTER = "after"  # the effect is there, and the client may not learn of it


@dataclass(frozen=True, slots=True)
class Fault:
    """Trouble for `times` of the requests that match (None: all), after `skip` of them.

    `method` is empty for any; `path` is a regular expression to be found in the path,
    which goes without its query.
    """

    trouble: Trouble
    when: When = When.BEFORE
    method: str = ""
    path: str = ""
    skip: int = 0
    times: int | None = 1

    def matches(self, request: Request) -> bool:
        """Tell whether this request is one of those meant."""
        return self.method in ("", request.method) and (
            re.search(self.path, request.path) is not None
        )


@dataclass(slots=True)
class _Count:
    """A fault in force, and how many requests it has met."""

    fault: Fault
    met: int = 0


@dataclass(slots=True)
class Faults:
    """The faults in force; in the order in which they were added, they befall."""

    _counts: list[_Count] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def add(self, fault: Fault) -> None:
        """Put a fault in force, counting from now."""
        with self._lock:
            self._counts.append(_Count(fault))

    def clear(self) -> None:
        """Lift all faults."""
        with self._lock:
            self._counts.clear()

    def befalling(self, request: Request) -> list[Fault]:
        """Give the faults that this request meets, and count it."""
        found = []
        with self._lock:
            for count in self._counts:
                fault = count.fault
                if fault.matches(request):
                    if count.met >= fault.skip and (
                        fault.times is None or count.met < fault.skip + fault.times
                    ):
                        found.append(fault)
                    count.met += 1
        return found

    def to_json(self) -> list[Json]:
        """Give the faults in force and how many requests each has met."""
        with self._lock:
            return [
                {**fault_to_json(count.fault), "met": count.met}
                for count in self._counts
            ]


def fault_to_json(fault: Fault) -> Json:
    """Give a fault as `fault_from_json` reads it."""
    match fault.trouble:
        case Fail(status, message, details):
            does: Json = {"do": "fail", "status": status, "message": message}
            does |= {"details": list(details)} if details else {}
        case Cut():
            does = {"do": "cut"}
        case Slow(seconds):
            does = {"do": "slow", "seconds": seconds}
        case _:
            assert_never(fault.trouble)
    return {
        **does,
        "when": fault.when.value,
        "method": fault.method,
        "path": fault.path,
        "skip": fault.skip,
        "times": fault.times,
    }


def fault_from_json(value: object) -> Fault:
    """Read a fault. Raises ApiError."""
    if not isinstance(value, Mapping):
        raise invalid(f"a fault is an object, not {value!r}")
    given = dict(value)
    try:
        does = given.pop("do")
        troubles = {"fail": Fail, "cut": Cut, "slow": Slow}
        of_trouble = {
            name: given.pop(name)
            for name in ("status", "message", "details", "seconds")
            if name in given
        }
        trouble: Trouble = troubles[does](**of_trouble)
        when = When(given.pop("when", "before"))
        re.compile(given.get("path", ""))
        return Fault(trouble, when, **given)
    except (KeyError, TypeError, ValueError, re.error) as error:
        raise invalid(f"not a fault: {value!r}: {error!r}") from None
