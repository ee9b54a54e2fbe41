"""Under gunicorn, with real processes, real stores and real kills.

The suite plays a part of it; CRONSHIFT_TICKS=1000 and CRONSHIFT_KILLS=50 play all.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.handlers.support import APP_ENGINE, CRON, SCHEDULER, gunicorn, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

TICKS = int(os.environ.get("CRONSHIFT_TICKS", "60"))
KILLS = int(os.environ.get("CRONSHIFT_KILLS", "3"))
HERE = Path(__file__).parent

# Two hours ago: the latest tick of every entry, for as long as the tests take.
TICK = (datetime.now(UTC) - timedelta(hours=2)).replace(
    minute=0, second=0, microsecond=0
)
JOB = SCHEDULER | {"X-CloudScheduler-ScheduleTime": TICK.isoformat()}


@dataclass
class Served:
    """A service under gunicorn, and what its tasks have written down."""

    port: int
    log: Path

    def deliver(self, url: str, headers: dict[str, str], seconds: float = 60) -> int:
        """Deliver once; give the status, 0 if the connection broke."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", url, headers=headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def noted(self, what: str) -> list[tuple[str, str, int, int]]:
        """Give the lines so far as (url, run, attempt, process)."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        split = [line.split() for line in lines]
        return [
            (url, run, int(attempt), int(process))
            for word, url, run, attempt, process in split
            if word == what
        ]


@contextmanager
def served(
    folder: Path, store: str, entries: int, *options: str, **changes: str
) -> Iterator[Served]:
    hour = TICK.strftime("%H")
    listed = "".join(
        f"- {{url: /t/{number}, schedule: 'every day {hour}:00'}}\n"
        for number in range(entries)
    )
    (folder / "cron.yaml").write_text("cron:\n" + listed)
    environ = {
        **APP_ENGINE,
        "CRON_YAML": str(folder / "cron.yaml"),
        "CRON_STORE": store,
        "SERVED_LOG": str(folder / "runs.log"),
        "SERVED_ENTRIES": str(entries),
        **changes,
    }
    log = folder / "gunicorn.log"
    with gunicorn("served:app()", environ, *options, folder=HERE, log=log) as port:
        yield Served(port, folder / "runs.log")


# --- Many at once -----------------------------------------------------------------


def test_of_five_deliveries_at_once_of_each_tick_one_runs(
    store_url: str, tmp_path: Path
) -> None:
    workers = ("--workers", "4", "--threads", "8")
    senders = [CRON, JOB] * 2 + [CRON]
    with served(tmp_path, store_url, TICKS, *workers) as service:

        def deliver_all(number: int) -> list[int]:
            gate = threading.Barrier(len(senders))

            def deliver(headers: dict[str, str]) -> int:
                gate.wait()
                return service.deliver(f"/t/{number}", headers)

            with ThreadPoolExecutor(len(senders)) as pool:
                return list(pool.map(deliver, senders))

        with ThreadPoolExecutor(8) as pool:
            statuses = Counter(
                status
                for answers in pool.map(deliver_all, range(TICKS))
                for status in answers
            )
    runs = Counter(url for url, *_ in service.noted("end"))
    assert runs == {f"/t/{number}": 1 for number in range(TICKS)}
    assert set(statuses) <= {200, 409}
    assert statuses[200] >= TICKS


# --- Killed -----------------------------------------------------------------------


def test_a_killed_workers_runs_are_done_by_later_deliveries(tmp_path: Path) -> None:
    """Each kill hits several runs in mid-task; none is lost, none done twice."""
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    at_once = 3
    changes = {"CRON_LEASE_SECONDS": "1", "SERVED_SECONDS": "0.7"}
    workers = ("--workers", "2", "--threads", "8")
    with served(tmp_path, store, KILLS * at_once, *workers, **changes) as service:

        def until_done(number: int) -> int:
            for attempt in range(1, 30):
                headers = CRON if attempt % 2 else JOB
                if service.deliver(f"/t/{number}", headers) == 200:
                    return attempt
                time.sleep(0.1)
            raise AssertionError(f"/t/{number} is stuck")

        for kill in range(KILLS):
            numbers = range(kill * at_once, (kill + 1) * at_once)
            with ThreadPoolExecutor(at_once) as pool:
                deliveries = pool.map(until_done, numbers)
                urls = {f"/t/{number}" for number in numbers}

                def at_work(urls: set[str] = urls) -> set[int]:
                    return {
                        process
                        for url, _, _, process in service.noted("start")
                        if url in urls
                    }

                wait_for(lambda: bool(at_work()), 20, "a task is at work")
                time.sleep(0.2)
                for process in at_work():
                    os.kill(process, signal.SIGKILL)
                list(deliveries)
    ended = Counter(url for url, *_ in service.noted("end"))
    assert ended == {f"/t/{number}": 1 for number in range(KILLS * at_once)}
    again = [attempt for *_, attempt, _ in service.noted("end") if attempt > 1]
    assert len(again) >= KILLS
    ids = {(url, run) for url, run, *_ in service.noted("start")}
    assert len(ids) == KILLS * at_once


def test_a_worker_that_was_stopped_and_goes_on_cannot_settle(tmp_path: Path) -> None:
    """SIGSTOP is the long pause that fencing is for."""
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    changes = {"CRON_LEASE_SECONDS": "1", "SERVED_SECONDS": "0.7"}
    workers = ("--workers", "2", "--threads", "4")
    with served(tmp_path, store, 1, *workers, **changes) as service:
        answers: list[int] = []
        slow = threading.Thread(
            target=lambda: answers.append(service.deliver("/t/0", CRON))
        )
        slow.start()
        wait_for(lambda: bool(service.noted("start")), 10, "the task is at work")
        process = service.noted("start")[0][3]
        os.kill(process, signal.SIGSTOP)
        try:
            time.sleep(1.5)
            rival = until_ok(service, "/t/0", JOB)
            assert rival == 200
        finally:
            os.kill(process, signal.SIGCONT)
        slow.join()
        assert answers == [200]  # by the record: the rival's run is done
        assert service.deliver("/t/0", CRON) == 200
    assert [attempt for _, _, attempt, _ in service.noted("start")] == [1, 2]
    assert "has nothing to say" in (tmp_path / "gunicorn.log").read_text()


def until_ok(service: Served, url: str, headers: dict[str, str]) -> int:
    """Deliver until a process takes it that is not stopped."""
    for _ in range(20):
        status = service.deliver(url, headers, seconds=5)
        if status == 200:
            return status
    return 0


def test_app_engines_default_retries_outlast_a_killed_worker(tmp_path: Path) -> None:
    """Five waits of 3.1 s in all; a delivery waits where the lease outlives them."""
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    changes = {"CRON_LEASE_SECONDS": "5", "SERVED_SECONDS": "1"}
    workers = ("--workers", "2", "--threads", "4")
    with served(tmp_path, store, 1, *workers, **changes) as service:
        statuses = []

        def as_app_engine() -> None:
            for wait in (0, 0.1, 0.2, 0.4, 0.8, 1.6):
                time.sleep(wait)
                statuses.append(service.deliver("/t/0", CRON))
                if statuses[-1] == 200:
                    return

        sender = threading.Thread(target=as_app_engine)
        sender.start()
        wait_for(lambda: bool(service.noted("start")), 10, "the task is at work")
        os.kill(service.noted("start")[0][3], signal.SIGKILL)
        sender.join()
    assert statuses[0] == 0
    assert statuses[-1] == 200
    assert len(service.noted("end")) == 1


def test_a_worker_told_to_stop_lets_its_task_end(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    with served(tmp_path, store, 1, "--threads", "4", SERVED_SECONDS="1") as service:
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(service.deliver, "/t/0", CRON)
            wait_for(lambda: bool(service.noted("start")), 10, "the task is at work")
            os.kill(service.noted("start")[0][3], signal.SIGTERM)
            assert answer.result() == 200
        wait_for(lambda: service.deliver("/t/0", CRON) == 200, 10, "another worker")
    assert len(service.noted("end")) == 1


# --- On the wire --------------------------------------------------------------------


def raw(port: int, *lines: bytes) -> int:
    """Send a request byte by byte as given, and give the status."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        head = [b"GET /t/0 HTTP/1.1", b"Host: localhost", b"Connection: close", *lines]
        connection.sendall(b"\r\n".join(head) + b"\r\n\r\n")
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    # What is no HTTP at all gets no answer, or a second one to what follows it.
    return int(answer.split(b" ", 2)[1]) if answer else 400


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("wire")
    store = f"sqlite:///{folder / 'runs.db'}"
    with served(folder, store, 1, "--threads", "2") as service:
        yield service


IP = b"X-Appengine-User-IP: 0.1.0.2"


@pytest.mark.parametrize(
    "lines",
    [
        (b"X_Appengine_Cron: true", IP),
        (b"X-Appengine_Cron: true", IP),
        (b"X_CloudScheduler: true", IP),
        (b"X-Appengine-Cron: true", b"X_Appengine_User_IP: 0.1.0.2"),
        (b"SCRIPT_NAME: /x",),
        (b"X-Appengine-Cron: true", b"SCRIPT_NAME: /t", IP),
        (b"X-Appengine-Cron: true", b"X-Appengine-Cron: true", IP),
        (b"X-Appengine-Cron: true", IP, IP),
        (b"X-Appengine-Cron: true\x00", IP),
        (b"X-Appengine-Cron : true", IP),
        (b"X-Appengine-Cron: tr\xc3\xbce", IP),
        (b"X-Appengine-Cron:", b" true", IP),
        (b"X-Appengine-Cron: " + b"true" * 25_000, IP),
        (b"X-Appengine-Cron: true", IP, b"X-Appengine-QueueName: default"),
        *[
            (b"X-Appengine-Cron: true", b"X-Appengine-User-IP: " + origin)
            for origin in (b"", b"0.1.0.2, 0.1.0.2", b"0.1.0.20", b"[0.1.0.2]")
        ],
    ],
)
def test_what_only_resembles_a_proof_is_refused_on_the_wire(
    wire: Served, lines: tuple[bytes, ...]
) -> None:
    # 431 is gunicorn's own answer to headers that are too long.
    assert raw(wire.port, *lines) in {400, 403, 431}
    assert wire.noted("start") == []


@hypothesis_settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    b"X-Appengine-Cron",
                    b"X-CloudScheduler",
                    b"Authorization",
                    b"",
                    b"\xff",
                ]
            )
            | st.binary(max_size=12),
            st.sampled_from([b": ", b":", b" : ", b""]),
            st.binary(max_size=40) | st.just(b"true") | st.just(b"Bearer a.b.c"),
        ),
        max_size=8,
    )
)
def test_bytes_of_any_kind_are_refused_on_the_wire_and_break_nothing(
    wire: Served, headers: list[tuple[bytes, bytes, bytes]]
) -> None:
    lines = [name + colon + value for name, colon, value in headers]
    assert 400 <= raw(wire.port, *lines) < 500


def test_a_header_in_any_case_proves_as_much(wire: Served) -> None:
    lines = (b"x-aPPengine-CRON: true", b"x-appengine-user-ip: 0.1.0.2")
    assert raw(wire.port, *lines) == 200
    wire.log.unlink()
