"""A request and a reply, as everything behind the socket sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emulator.errors import Json


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked; `body` is its JSON, None where it sent none."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the client gets."""

    status: int
    body: Json


@dataclass(frozen=True, slots=True)
class CutOff:
    """The client gets no reply: its connection is closed."""
