"""A world without a socket, and short ways to ask it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from emulator import server
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.wire import Reply, Request
from emulator.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.server import Running

NOW = datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC)  # a Wednesday
PARENT = "projects/shop/locations/europe-west1"


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a world, and knows the names of one location."""

    world: World
    parent: str = PARENT

    def __call__(
        self,
        method: str,
        path: str = "",
        body: object = None,
        version: str = "v1",
        **query: str,
    ) -> tuple[int, dict[str, Any]]:
        request = Request(method, f"/{version}/{self.parent}/jobs{path}", query, body)
        reply = self.world.reply(request)
        assert isinstance(reply, Reply)
        return reply.status, reply.body

    def ok(
        self, method: str, path: str = "", body: object = None, **more: str
    ) -> dict[str, Any]:
        status, answer = self(method, path, body, **more)
        assert status == 200, answer
        return answer

    def refused(
        self, method: str, path: str = "", body: object = None, **more: str
    ) -> tuple[int, str, str]:
        status, answer = self(method, path, body, **more)
        assert answer["error"]["code"] == status
        return status, answer["error"]["status"], answer["error"]["message"]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def world(clock: VirtualClock) -> World:
    return World(app=App("shop", "europe-west"), clock=clock)


@pytest.fixture
def ask(world: World) -> Asker:
    return Asker(world)


@pytest.fixture
def running(world: World) -> Iterator[Running]:
    with server.start(world) as running:
        yield running
