"""The cron host against the handler that Google's documentation prints.

CRONSHIFT_SEED_HANDLER names a text file that holds that handler (its page, "Dedupe
job requests", as text); without it, a plain transactional handler of the same design
stands in. Both talk to Google's Firestore emulator through a relay that counts calls
and adds distance.
"""

from __future__ import annotations

import contextlib
import http.client
import multiprocessing
import os
import re
import socket
import socketserver
import statistics
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from benchlib import against, header, heading, row

from handlers import Settings, Tasks, create_app
from tests.handlers.support import (
    APP_ENGINE,
    ROOT,
    SCHEDULER,
    emulator_jar,
    firestore_emulator,
    free_port,
    gunicorn,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask

ROUNDS = 40

PLAIN = """
import datetime, hashlib, uuid
import flask
from google.cloud import firestore

LEASE = datetime.timedelta(minutes=5)
db = firestore.Client()

@firestore.transactional
def claim(transaction, ref, attempt, now):
    found = ref.get(transaction=transaction)
    if found.exists:
        run = found.to_dict()
        if run["done"] or run["lease"] > now:
            return "done" if run["done"] else "busy"
    fields = {"done": False, "attempt": attempt, "lease": now + LEASE}
    transaction.set(ref, fields)
    return "claimed"

@firestore.transactional
def finish(transaction, ref, attempt):
    found = ref.get(transaction=transaction)
    if found.exists and found.to_dict()["attempt"] == attempt:
        transaction.update(ref, {"done": True})

def handle_scheduled_job(request):
    name = request.headers["X-CloudScheduler-JobName"]
    when = request.headers["X-CloudScheduler-ScheduleTime"]
    key = hashlib.sha256(f"{name}/{when}".encode()).hexdigest()
    ref = db.collection("plain").document(key)
    attempt = uuid.uuid4().hex
    now = datetime.datetime.now(datetime.timezone.utc)
    state = claim(db.transaction(), ref, attempt, now)
    if state != "claimed":
        return state, 200 if state == "done" else 409
    finish(db.transaction(), ref, attempt)
    return "ran", 200
"""


def rival() -> tuple[str, str]:
    """Give the rival's name and code."""
    named = os.environ.get("CRONSHIFT_SEED_HANDLER")
    if not named:
        return "a plain transactional handler", PLAIN
    text = Path(named).read_text(encoding="utf-8")
    found = re.search(
        r"^import datetime$.*?^    return \"Run processed\", 200$",
        text,
        re.MULTILINE | re.DOTALL,
    )
    if found is None:
        raise SystemExit(f"{named} does not hold the handler")
    return "the documentation's handler", found[0]


# --- Distance -----------------------------------------------------------------------


class Relay:
    """Carries bytes to the emulator and back, late, and counts the calls.

    A process of its own: its threads must not wait for those that are measured.
    """

    def __init__(self, target: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._port = context.Value("i", 0)
        self._calls = context.Value("i", 0)
        self._seconds = context.Value("d", 0.0)
        shared = (self._port, self._calls, self._seconds)
        self._process = context.Process(
            target=serve_relay, args=(target, *shared), daemon=True
        )
        self._process.start()
        while not self._port.value:
            time.sleep(0.01)
        self.address = f"127.0.0.1:{self._port.value}"

    @property
    def calls(self) -> int:
        """How many calls have been made."""
        return int(self._calls.value)

    def move(self, seconds: float) -> None:
        """Put the emulator so far away, there and back."""
        self._seconds.value = seconds

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()


def serve_relay(target: str, port: Any, calls: Any, seconds: Any) -> None:
    """Serve a relay; the last three are shared values."""
    host, _, far_port = target.partition(":")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            far = socket.create_connection((host, int(far_port)))
            for end in (self.request, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            out = threading.Thread(
                target=carry, args=(self.request, far, seconds, Frames(calls))
            )
            out.start()
            carry(far, self.request, seconds, None)
            out.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        port.value = server.server_address[1]
        server.serve_forever()


class Frames:
    """Counts the HTTP/2 streams that a client opens: one a call."""

    def __init__(self, calls: Any) -> None:
        self._calls = calls
        self._rest = b""
        self._preface = 24

    def feed(self, data: bytes) -> None:
        """Take what a client sent next."""
        self._rest += data
        if self._preface:
            if len(self._rest) < self._preface:
                return
            self._rest, self._preface = self._rest[self._preface :], 0
        while len(self._rest) >= 9:
            size = int.from_bytes(self._rest[:3], "big")
            if len(self._rest) < 9 + size:
                return
            if self._rest[3] == 1:  # HEADERS
                with self._calls.get_lock():
                    self._calls.value += 1
            self._rest = self._rest[9 + size :]


def carry(
    near: socket.socket, far: socket.socket, seconds: Any, count: Frames | None
) -> None:
    """Carry one direction; what comes is sent on after half the distance."""
    waiting: deque[tuple[float, bytes]] = deque()
    there = threading.Condition()

    def send() -> None:
        while True:
            with there:
                there.wait_for(lambda: bool(waiting))
                due, data = waiting.popleft()
            if not data:
                break
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                far.sendall(data)
            except OSError:
                break
        with contextlib.suppress(OSError):
            far.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    while True:
        try:
            data = near.recv(65536)
        except OSError:
            data = b""
        if count:
            count.feed(data)
        with there:
            waiting.append((time.monotonic() + seconds.value / 2, data))
            there.notify()
        if not data:
            break
    sender.join()


# --- One run --------------------------------------------------------------------------


_UNREAD = StringIO()


def ours(store: str) -> Callable[[str], int]:
    """Give a function that delivers one tick to the cron host."""
    tasks = Tasks()
    tasks.task("/tasks/rollup")(lambda _: None)
    environ = {**APP_ENGINE, "CRON_STORE": store, "CRON_YAML": str(ROOT / "cron.yaml")}
    with redirect_stdout(_UNREAD):  # the host's log lines are no figures
        client = create_app(Settings.from_environ(environ), tasks).test_client()

    def deliver(when: str) -> int:
        headers = {**SCHEDULER, "X-CloudScheduler-ScheduleTime": when}
        with redirect_stdout(_UNREAD):
            return client.get("/tasks/rollup", headers=headers).status_code

    return deliver


def theirs(code: str) -> Callable[[str], int]:
    """Give a function that delivers one tick to the rival."""
    client = rival_app(code).test_client()

    def deliver(when: str) -> int:
        headers = {**SCHEDULER, "X-CloudScheduler-ScheduleTime": when}
        return client.get("/tasks/rollup", headers=headers).status_code

    return deliver


def rival_app(code: str) -> Flask:
    """Serve the rival's handler, as its framework would."""
    namespace: dict[str, Flask] = {}
    exec(WRAPPED.format(code=code), namespace)  # noqa: S102 - the rival is a text
    return namespace["app"]


def times(
    rivals: list[Callable[[str], int]], relay: Relay
) -> list[tuple[float, float]]:
    """Give each one's calls and median seconds of a run; they take turns."""
    base = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=uuid4().int % 400_000)
    taken: list[list[float]] = [[] for _ in rivals]
    calls = [0 for _ in rivals]
    for number in range(-5, ROUNDS):
        when = (base + timedelta(minutes=number)).isoformat()
        for index, deliver in enumerate(rivals):
            before, start = relay.calls, time.perf_counter()
            if deliver(when) != 200:
                raise SystemExit("a run was not answered 200")
            if number >= 0:  # the rounds before warm up
                taken[index].append(time.perf_counter() - start)
                calls[index] += relay.calls - before
    return [
        (count / ROUNDS, statistics.median(seconds))
        for count, seconds in zip(calls, taken, strict=True)
    ]


def one_run(host: str) -> None:
    """Compare calls and time of a run, near and far."""
    name, code = rival()
    relay = Relay(host)
    os.environ["FIRESTORE_EMULATOR_HOST"] = relay.address
    os.environ.setdefault("GOOGLE_CLOUD_PROJECT", "demo-cron")
    host_run = ours("firestore://demo-cron/bench")
    rival_run = theirs(code)
    heading(f"A ticked run on the Firestore emulator, against {name}")
    header("distance added", "ours", "rival", "time against the rival's")
    for distance, goal in ((0, 1.0), (10, 0.45)):
        relay.move(distance / 1000)
        (our_calls, our_time), (their_calls, their_time) = times(
            [host_run, rival_run], relay
        )
        row(
            f"{distance} ms",
            f"{our_calls:g} calls, {our_time * 1000:.1f} ms",
            f"{their_calls:g} calls, {their_time * 1000:.1f} ms",
            against(our_time / their_time, goal, least=False),
        )
    relay.close()


# --- Under gunicorn ------------------------------------------------------------------


def rate(port: int, runs: int, each: int) -> float:
    """Give the requests a second that eight clients get answered."""
    base = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=300)

    def deliver(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        when = (base + timedelta(minutes=number)).isoformat()
        headers = {**SCHEDULER, "X-CloudScheduler-ScheduleTime": when}
        for _ in range(each):
            connection.request("GET", "/tasks/rollup", headers=headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"answered {answer.status}")
        connection.close()

    start = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(deliver, range(runs)))
    return runs * each / (time.perf_counter() - start)


def environ_of(store: str, host: str) -> dict[str, str]:
    """Give the variables of a service on this store."""
    return {**APP_ENGINE, "CRON_STORE": store, "FIRESTORE_EMULATOR_HOST": host}


def under_gunicorn(host: str, folder: Path) -> None:
    """Measure how much one instance answers: runs, and duplicates of them."""
    heading("One instance: gunicorn, 2 processes of 8 threads, 8 clients")
    header("store", "runs a second", "with 4 duplicates each: answers a second")
    stores = {
        "SQLite": f"sqlite:///{folder / 'rate.db'}",
        "Firestore emulator": f"firestore://demo-cron/rate-{uuid4().hex}",
    }
    for name, store in stores.items():
        workers = ("--workers", "2", "--threads", "8")
        with gunicorn("main:app", environ_of(store, host), *workers) as port:
            rate(port, 40, 1)
            runs = rate(port, 400, 1)
        with gunicorn("main:app", environ_of(store + "2", host), *workers) as port:
            rate(port, 40, 5)
            answers = rate(port, 300, 5)
        row(name, f"{runs:.0f}", f"{answers:.0f}")


WRAPPED = """
import sys, types
frame = types.ModuleType("functions_framework")
frame.http = lambda function: function
sys.modules["functions_framework"] = frame
code = {code!r}
exec(code)
import flask
app = flask.Flask("rival")
app.add_url_rule(
    "/tasks/rollup", view_func=lambda: handle_scheduled_job(flask.request)
)
"""


def cold_start(host: str, folder: Path) -> None:
    """Compare the time from the process's start to the first run's answer."""
    (folder / "rivalled.py").write_text(WRAPPED.format(code=rival()[1]))
    store = f"firestore://demo-cron/cold-{uuid4().hex}"
    environ = {**environ_of(store, host), "GOOGLE_CLOUD_PROJECT": "demo-cron"}
    heading("Cold start to the first run's answer (median of 5)")
    header("", "seconds")
    found = {}
    for name, application in (("ours", "main:app"), ("rival", "rivalled:app")):
        seconds = [first_answer(application, environ, folder) for _ in range(5)]
        found[name] = statistics.median(seconds)
        row(name, f"{found[name]:.2f}")
    row("against the rival's", f"{found['ours'] / found['rival']:.2f} ×")


def first_answer(application: str, environ: dict[str, str], folder: Path) -> float:
    """Give the seconds until a fresh process has answered a run."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"]
    environ = {**environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    when = datetime.fromtimestamp(uuid4().int % 10**9 + 10**9, UTC)
    when = when.replace(year=2026, second=0, day=1)
    headers = {**SCHEDULER, "X-CloudScheduler-ScheduleTime": when.isoformat()}
    start = time.perf_counter()
    with running([*command, "--threads", "8", application], environ):
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.request("GET", "/tasks/rollup", headers=headers)
                status = connection.getresponse().status
            except OSError:
                time.sleep(0.01)
                continue
            finally:
                connection.close()
            if status != 200:
                raise SystemExit(f"{application} answered {status}")
            return time.perf_counter() - start


def main() -> None:
    """Print every table that this machine can fill."""
    jar = emulator_jar()
    if jar is None:
        heading("The cron host: NOT MEASURED")
        print(
            "There is no Firestore emulator: gcloud components install "
            "cloud-firestore-emulator"
        )
        return
    with firestore_emulator(jar) as host, tempfile.TemporaryDirectory() as name:
        under_gunicorn(host, Path(name))
        cold_start(host, Path(name))
        one_run(host)


if __name__ == "__main__":
    main()
