from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from handlers.stores import open_store
from tests.handlers.support import (
    MemoryStore,
    emulator_jar,
    firestore_emulator,
    redis_server,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from handlers.record import RunStore

collect_ignore = ["served.py"]  # an application for gunicorn, no tests

_GET_EMULATOR = (
    "NOT TESTED: Firestore. There is no emulator: gcloud components install "
    "cloud-firestore-emulator (on Debian: apt-get install "
    "google-cloud-cli-firestore-emulator), and Java 11 or newer; or name a running "
    "one: FIRESTORE_EMULATOR_HOST=localhost:8080"
)
_GET_REDIS = "NOT TESTED: Redis. There is no redis-server: apt-get install redis-server"


@pytest.fixture(scope="session")
def firestore_host() -> Iterator[str]:
    """The host of Google's emulator: a running one's, else that of one started here."""
    named = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if named:
        yield named
        return
    jar = emulator_jar()
    if jar is None or shutil.which(os.environ.get("JAVA", "java")) is None:
        pytest.skip(_GET_EMULATOR)
    with firestore_emulator(jar) as host:
        yield host


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip(_GET_REDIS)
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["sqlite", "firestore", "redis"])
def store_url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A CRON_STORE of each kind, empty."""
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path / 'runs.db'}"
        case "firestore":
            host: str = request.getfixturevalue("firestore_host")
            monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
            return f"firestore://demo-cron/runs-{uuid4().hex}"
        case _:
            url: str = request.getfixturevalue("redis_url")
            return url


@pytest.fixture
def store(store_url: str) -> RunStore:
    return open_store(store_url)


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore()
