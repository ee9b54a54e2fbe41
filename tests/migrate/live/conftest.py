"""Job stores over an emulated API: in this process, and through Google's client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emulator import server
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.world import World
from migrate.scheduler import GoogleApi
from tests.migrate.live.grpc_world import grpc_api
from tests.migrate.live.world import NOW, WorldApi, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.store import JobStore


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def world(clock: VirtualClock) -> World:
    return World(app=App("shop", "europe-west"), clock=clock)


@pytest.fixture
def memory(world: World) -> JobStore:
    return store_of(WorldApi(world))


@pytest.fixture(params=["in memory", "client by HTTP", "client by gRPC"])
def store(request: pytest.FixtureRequest, world: World) -> Iterator[JobStore]:
    """The same contract, over the world itself and through both kinds of client."""
    match request.param:
        case "in memory":
            yield store_of(WorldApi(world))
        case "client by gRPC":
            with grpc_api(world) as api:
                yield store_of(api)
        case _:
            with server.start(world) as running:
                api = GoogleApi(5, running.url.removeprefix("http://"))
                yield store_of(api)
                api.close()
