"""What the tests of the host share: servers, a clock, stores that fail on demand."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from handlers import Settings, Tasks
from handlers.attempt import Got, acquire
from handlers.record import (
    Conflict,
    Record,
    RegisterKey,
    RunStore,
    Stored,
    StoreError,
    StoreUnreachableError,
    from_fields,
    to_fields,
)
from handlers.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from handlers.runs import Ask

_T = TypeVar("_T")

ROOT = Path(__file__).parents[2]

CRON = {"X-Appengine-Cron": "true", "X-Appengine-User-IP": "0.1.0.2"}
SCHEDULER = {
    "X-CloudScheduler": "true",
    "X-CloudScheduler-JobName": "job",
    "X-Appengine-User-IP": "0.1.0.2",
}
APP_ENGINE = {
    "GAE_ENV": "standard",
    "GAE_SERVICE": "default",
    "GAE_APPLICATION": "e~shop",
    "GOOGLE_CLOUD_PROJECT": "shop",
    "CRON_ALLOW_LOCAL_STORE": "1",
    "CRON_DEADLINE_SECONDS": "600",
}


ELSEWHERE = ("K_SERVICE", "K_REVISION", "FUNCTION_TARGET", "KUBERNETES_SERVICE_HOST")


def at_time(text: str) -> dict[str, str]:
    return {"X-CloudScheduler-ScheduleTime": text}


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class ManualClock:
    """A clock that stands until it is moved."""

    now: datetime = field(default_factory=lambda: utc("2026-11-30T08:00:00.400"))

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def settings(folder: Path, cron_yaml: str, **changes: str) -> Settings:
    """Settings of an App Engine service with this cron.yaml and a store of its own."""
    (folder / "cron.yaml").write_text(cron_yaml)
    environ = {
        **APP_ENGINE,
        "CRON_STORE": f"sqlite:///{folder / 'runs.db'}",
        "CRON_YAML": str(folder / "cron.yaml"),
        "CRON_BUSY_WAIT": "0",
        **changes,
    }
    return Settings.from_environ(environ)


class Recorder(Tasks):
    """Tasks that note their runs."""

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.runs: list[object] = []
        for url in urls:
            self.task(url)(self.runs.append)


# --- Stores -----------------------------------------------------------------------


class MemoryStore:
    """A store in this process's memory, for laws over thousands of runs."""

    def __init__(self) -> None:
        self.kept: dict[RegisterKey, tuple[dict[str, object], str]] = {}
        self._lock = threading.Lock()

    def check(self) -> None:
        pass

    def read(self, key: RegisterKey) -> Stored | None:
        with self._lock:
            found = self.kept.get(key)
        return None if found is None else Stored(from_fields(key, found[0]), found[1])

    def create(self, record: Record) -> Stored | Conflict:
        with self._lock:
            if record.key in self.kept:
                return Conflict()
            return self._keep(record)

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        with self._lock:
            if self.kept.get(record.key, ({}, ""))[1] != version:
                return Conflict()
            return self._keep(record)

    def _keep(self, record: Record) -> Stored:
        version = uuid4().hex
        self.kept[record.key] = dict(to_fields(record)), version
        return Stored(record, version)


@dataclass
class Unreliable:
    """A store whose next calls go wrong as `faults` say, first to last.

    "before": lost on the way there; "after": carried out, but the answer is lost;
    "": nothing goes wrong. `calls` counts by kind.
    """

    store: RunStore
    faults: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    before_call: Callable[[str], None] = lambda _: None

    def check(self) -> None:
        self._carry_out("check", self.store.check)

    def read(self, key: RegisterKey) -> Stored | None:
        return self._carry_out("read", lambda: self.store.read(key))

    def create(self, record: Record) -> Stored | Conflict:
        return self._carry_out("create", lambda: self.store.create(record))

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        return self._carry_out("replace", lambda: self.store.replace(record, version))

    def _carry_out(self, kind: str, call: Callable[[], _T]) -> _T:
        self.calls.append(kind)
        self.before_call(kind)
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "before":
            raise StoreUnreachableError("lost on the way there")
        if fault == "refused":
            raise StoreError("refused")
        result = call()
        if fault == "after":
            raise StoreUnreachableError("the answer was lost")
        return result


def claim_all(url: str, asked: list[Ask], now: datetime) -> list[str]:
    """Claim what can be claimed, in a process of its own; give the entries won."""
    store = open_store(url)
    rivals = [replace(one, attempt_id=uuid4().hex) for one in asked]
    return [
        one.key.entry
        for one in rivals
        if isinstance(acquire(store, one, lambda: now), Got)
    ]


# --- Servers ----------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(ready: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if ready():
            return
        time.sleep(0.05)
    raise TimeoutError(f"{what} within {seconds} s")


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - a loopback url
            return True
    except OSError:
        return False


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def emulator_jar() -> Path | None:
    """Find Google's Firestore emulator in the Cloud SDK."""
    gcloud = shutil.which("gcloud")
    roots = [Path("/usr/lib/google-cloud-sdk"), Path.home() / "google-cloud-sdk"]
    if gcloud:
        roots.insert(0, Path(gcloud).resolve().parent.parent)
    for root in roots:
        jar = root / "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"
        if jar.exists():
            return jar
    return None


@contextmanager
def firestore_emulator(jar: Path, *options: str) -> Iterator[str]:
    """Run Google's emulator, and give its host and port."""
    port = free_port()
    java = os.environ.get("JAVA", "java")
    main = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
    command = [java, "-Duser.language=en", "-cp", str(jar), main, "start"]
    with running([*command, "--host=127.0.0.1", f"--port={port}", *options]):
        wait_for(lambda: answers(f"http://127.0.0.1:{port}"), 60, "the emulator is up")
        yield f"127.0.0.1:{port}"


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[str]:
    """Run Debian's redis-server, and give its url."""
    port = free_port()
    own = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with running(["redis-server", *own, "--save", "", *options]):
        wait_for(lambda: accepts(port), 20, "redis-server is up")
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def running(
    command: list[str],
    environ: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a process group of its own, and end it with its children.

    What says where this process runs (a pod, say) is kept from it.
    """
    inherited = without(os.environ, *ELSEWHERE)
    output = log.open("ab") if log else None
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**inherited, **(environ or {})},
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                continue
        process.wait()
        if output:
            output.close()


@contextmanager
def gunicorn(
    application: str,
    environ: Mapping[str, str],
    *options: str,
    folder: Path = ROOT,
    log: Path | None = None,
) -> Iterator[int]:
    """Serve "module:app" of a folder under gunicorn, and give the port."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"]
    command += ["--timeout", "0", "--header-map", "refuse", "--forwarder-headers="]
    command += [*options, application]
    paths = f"{folder}{os.pathsep}{ROOT}"
    with running(command, {"PYTHONPATH": paths, **environ}, log):
        url = f"http://127.0.0.1:{port}/healthz"
        wait_for(lambda: answers(url), 30, "gunicorn is up")
        yield port


def without(environ: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in names}
