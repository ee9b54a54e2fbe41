"""What is answered, whatever becomes of a run; and what is logged of it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cronspec import config, naming
from handlers import Run, Tasks, create_app
from handlers.attempt import RunOver
from handlers.record import RegisterKey, State
from handlers.tasks import TaskError
from tests.handlers.support import (
    CRON,
    SCHEDULER,
    ManualClock,
    MemoryStore,
    Unreliable,
    at_time,
    settings,
    utc,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

CRON_YAML = """
cron:
- {url: /tick, schedule: every 5 minutes synchronized}
- {url: /interval, schedule: every 5 minutes}
- {url: /skip, schedule: every 5 minutes synchronized}
- {url: /daily, schedule: every day 06:00}
"""


class Service:
    """A service on a store that fails on demand, with tasks that do as told."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: str
    ) -> None:
        self.memory = MemoryStore()
        self.store = Unreliable(self.memory)
        monkeypatch.setattr("handlers.startup.open_store", lambda _: self.store)
        self.clock = ManualClock(utc("2026-11-30T08:00:00.400"))
        self.runs: list[Run] = []
        self.work: Callable[[Run], object] = self.runs.append
        tasks = Tasks()
        tasks.task("/tick")(self.do)
        tasks.task("/interval")(self.do)
        tasks.task("/skip", overlap="skip")(self.do)
        tasks.task("/daily")(self.do)
        app = create_app(settings(folder, CRON_YAML, **changes), tasks, self.clock)
        self.client: FlaskClient = app.test_client()
        self.new_client = app.test_client
        self.store.calls.clear()

    def do(self, run: Run) -> None:
        self.work(run)

    def get(self, url: str = "/tick", *headers: dict[str, str]) -> TestResponse:
        sent = {key: text for some in headers or (CRON,) for key, text in some.items()}
        return self.new_client().get(url, headers=sent)

    def outcome(self, url: str = "/tick", *headers: dict[str, str]) -> str:
        return outcome(self.get(url, *headers))


def outcome(answer: TestResponse) -> str:
    return f"{answer.status_code} {answer.headers.get('X-Cron-Outcome', '')}".strip()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(tmp_path, monkeypatch)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


# --- Doors ----------------------------------------------------------------------


@pytest.mark.parametrize("url", ["/tick", "/nothing", "/", "/healthz/x", "/_ah/start"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "OPTIONS", "FOO"])
def test_whoever_is_not_proven_is_told_nothing(
    service: Service, url: str, method: str
) -> None:
    answer = service.client.open(url, method=method)
    assert answer.status_code == 403
    assert answer.text in {"", "forbidden\n"}
    assert "X-Cron-Outcome" not in answer.headers
    assert service.store.calls == []


@pytest.mark.parametrize(
    ("method", "url", "expected"),
    [
        ("GET", "/tick", "200 ran"),
        ("POST", "/tick", "200 ran"),
        ("HEAD", "/tick", "405 failed"),
        ("PUT", "/tick", "405 failed"),
        ("DELETE", "/tick", "405 failed"),
        ("OPTIONS", "/tick", "405 failed"),
        ("FOO", "/tick", "405 failed"),
        ("GET", "/nothing", "404"),
        ("PUT", "/nothing", "404"),
        ("GET", "/tick/", "404"),
    ],
)
def test_the_proven_sender_learns_what_there_is(
    service: Service, method: str, url: str, expected: str
) -> None:
    assert outcome(service.client.open(url, method=method, headers=CRON)) == expected
    assert len(service.runs) == (1 if "ran" in expected else 0)


def test_health_tells_the_version_and_two_digests_to_anyone(service: Service) -> None:
    told = service.client.get("/healthz").json
    assert service.client.get("/healthz/").json == told
    entries = config.load_cron(CRON_YAML, "cron.yaml").entries
    known = [naming.identity(entry) for entry in entries]
    keys = naming.entry_keys(known)
    digest = naming.entries_digest(
        (key, one.schedule, one.timezone) for key, one in zip(keys, known, strict=True)
    )
    assert told is not None
    assert set(told) == {"version", "entries", "store"}
    assert told["entries"] == digest
    assert "sqlite" not in json.dumps(told)


def test_warmup_reaches_the_store_once_for_anyone(service: Service) -> None:
    for _ in range(3):
        assert service.client.get("/_ah/warmup").status_code == 200
    assert service.store.calls == ["check"]


def test_warmup_tells_a_store_that_is_not_there(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.store.faults = ["before"]
    assert service.client.get("/_ah/warmup").status_code == 500
    assert lines(capsys)[-1]["severity"] == "ERROR"


def test_app_engine_may_start_its_instances(service: Service) -> None:
    inside = {"X-Appengine-User-IP": "0.1.0.3"}
    assert service.client.get("/_ah/start", headers=inside).status_code == 200
    assert service.client.get("/tick", headers=inside).status_code == 403


@hypothesis_settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*CRON, *SCHEDULER, "Authorization", "X-Cron-Local"]),
            st.text(
                alphabet=st.characters(
                    min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"
                ),
                max_size=40,
            )
            | st.just("x" * 100_000),
        ),
        max_size=6,
    )
)
def test_headers_of_any_kind_are_refused_and_break_nothing(
    service: Service, headers: list[tuple[str, str]]
) -> None:
    answer = service.client.get("/tick", headers=headers)
    assert answer.status_code in {400, 403}


@hypothesis_settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "X-CloudScheduler-ScheduleTime",
                "X-CloudScheduler-JobName",
                "X-Cron-Entry",
                "X-Cron-Schedule",
                "X-Cron-Scope",
                "X-Cron-Set",
                "X-Cloud-Trace-Context",
                "Traceparent",
            ]
        ),
        st.text(
            alphabet=st.characters(min_codepoint=32, max_codepoint=255), max_size=40
        )
        | st.sampled_from(["every day 09:00; UTC", "0 9 * * *; Mars", "x" * 100_000]),
    )
)
def test_whatever_a_proven_sender_says_of_itself_the_run_takes_place(
    service: Service, headers: dict[str, str]
) -> None:
    service.clock.move(3600)
    assert service.outcome("/tick", SCHEDULER, headers) in {"200 ran", "200 duplicate"}


def test_a_url_in_absolute_form_is_the_same_url(service: Service) -> None:
    environ = {"REQUEST_URI": "http://host/tick?", "RAW_URI": "http://host/tick"}
    answer = service.client.get("/tick", headers=CRON, environ_overrides=environ)
    assert outcome(answer) == "200 ran"


def test_a_server_that_does_not_tell_the_raw_url_is_enough(service: Service) -> None:
    environ = {"REQUEST_URI": "", "RAW_URI": ""}
    answer = service.client.get("/tick", headers=CRON, environ_overrides=environ)
    assert outcome(answer) == "200 ran"


def test_a_clock_of_any_zone_names_the_same_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch)
    assert service.outcome("/daily") == "200 ran"
    service.clock.now = service.clock().astimezone(ZoneInfo("Asia/Kathmandu"))
    assert service.outcome("/daily", SCHEDULER) == "200 duplicate"
    service.clock.move(3600)
    assert service.outcome("/daily") == "200 ran"  # forced: a minute of its own
    service.clock.now = service.clock().astimezone(UTC)
    assert service.outcome("/daily") == "200 duplicate"


def test_a_door_for_tokens_without_settings_for_them_stays_shut(
    tmp_path: Path,
) -> None:
    known = settings(tmp_path, CRON_YAML)
    known = replace(known, door=replace(known.door, oidc=True))
    client = create_app(known, Tasks()).test_client()
    headers = {"Authorization": "Bearer a.b.c", "X-CloudScheduler": "true"}
    assert client.get("/tick", headers=headers).status_code == 403


def test_without_settings_given_they_are_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cron.yaml").write_text(CRON_YAML)
    monkeypatch.setenv("CRON_YAML", str(tmp_path / "cron.yaml"))
    monkeypatch.setenv("CRON_STORE", f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.setenv("CRON_LOCAL", "1")
    tasks = Tasks()
    runs: list[Run] = []
    tasks.task("/daily")(runs.append)
    client = create_app(tasks=tasks).test_client()
    answer = client.get("/daily", headers={"X-Cron-Local": "1"})
    assert outcome(answer) == "200 ran"
    assert abs((runs[0].deadline - datetime.now(UTC)).total_seconds() - 600) < 60


# --- Calls ----------------------------------------------------------------------


def test_a_run_costs_two_calls_a_duplicate_two_an_intervals_three_or_two(
    service: Service,
) -> None:
    service.get("/tick")  # an instance's first run of an entry looks back once more
    service.get("/interval")
    for url, expected in [
        ("/tick", ["create", "replace"]),
        ("/interval", ["replace", "replace"]),
    ]:
        service.clock.move(600)
        service.store.calls.clear()
        assert service.outcome(url) == "200 ran"
        assert service.store.calls == expected
    assert service.outcome("/tick") == "200 ran"
    service.store.calls.clear()
    assert service.outcome("/tick", SCHEDULER) == "200 duplicate"
    assert service.store.calls == ["create", "read"]


def test_an_instance_that_does_not_hold_the_version_reads_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Service(tmp_path, monkeypatch)
    assert one.outcome("/interval") == "200 ran"
    other = Service(tmp_path, monkeypatch)
    other.memory.kept.update(one.memory.kept)
    other.clock.move(600)
    assert other.outcome("/interval") == "200 ran"
    assert other.store.calls == ["read", "replace", "replace"]


def test_instances_that_take_turns_with_an_interval_make_three_calls_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = [Service(tmp_path, monkeypatch) for _ in range(2)]
    two[1].memory.kept = two[0].memory.kept
    for turn in range(8):
        service = two[turn % 2]
        service.clock.now = utc("2026-11-30T08:00:00") + timedelta(minutes=5 * turn)
        service.store.calls.clear()
        assert service.outcome("/interval") == "200 ran"
        # The first turn in vain (the version was another's by then) is the last.
        assert turn == 2 or len(service.store.calls) == 3


def test_a_version_that_another_instance_has_moved_is_no_leave_to_run(
    service: Service,
) -> None:
    assert service.outcome("/interval") == "200 ran"
    service.clock.move(300)
    # Another instance runs it meanwhile, and this one still holds the old version.
    key, (fields, _) = next(iter(service.memory.kept.items()))
    fields = {**fields, "ended": service.clock(), "attempt_id": "another"}
    service.memory.kept[key] = fields, "moved"
    assert service.outcome("/interval") == "200 duplicate"


def test_a_version_that_this_instance_remembers_is_no_reason_to_refuse(
    service: Service,
) -> None:
    assert service.outcome("/interval") == "200 ran"
    service.clock.move(5)
    # What it remembers says done; another instance has tried anew since, and failed.
    key, (fields, _) = next(iter(service.memory.kept.items()))
    fields = {**fields, "state": State.FAILED.value, "attempt_id": "another"}
    service.memory.kept[key] = fields, "moved"
    assert service.outcome("/interval") == "200 ran"


# --- Failure --------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(1), KeyError("x")])
def test_a_task_that_fails_frees_its_run_at_once(
    service: Service, error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Run) -> None:
        raise error

    service.work = fail
    assert service.outcome() == "500 failed"
    assert type(error).__name__ in lines(capsys)[-1]["message"]
    service.work = service.runs.append
    assert service.outcome() == "200 ran"
    assert service.runs[0].attempt == 2


def test_a_worker_that_is_interrupted_frees_its_run(service: Service) -> None:
    def interrupt(_: Run) -> None:
        raise KeyboardInterrupt

    service.work = interrupt
    with pytest.raises(KeyboardInterrupt):
        service.get()
    service.work = service.runs.append
    assert service.outcome() == "200 ran"


def test_a_service_told_to_stop_frees_runs_that_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        service = Service(tmp_path, monkeypatch)

        def be_stopped(run: Run) -> None:
            run.check()
            os.kill(os.getpid(), signal.SIGTERM)
            with pytest.raises(RunOver, match="told to stop"):
                run.check()
            run.check()

        service.work = be_stopped
        assert service.outcome() == "500 failed"
        assert heard == [signal.SIGTERM]  # whoever listened before still hears
        record = next(iter(service.memory.kept.values()))[0]
        assert record["state"] == State.FAILED.value
    finally:
        signal.signal(signal.SIGTERM, before)


# --- The store out of reach -----------------------------------------------------


@pytest.mark.parametrize(
    ("down", "headers", "expected", "retry_after"),
    [
        ("retry", CRON, "503 failed", "10"),
        ("retry", SCHEDULER, "503 failed", "10"),
        ("refuse", CRON, "500 failed", None),
        ("refuse", SCHEDULER, "500 failed", None),
    ],
)
def test_without_a_store_nothing_runs_and_app_engine_comes_again_for_free(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    down: str,
    headers: dict[str, str],
    expected: str,
    retry_after: str | None,
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_STORE_DOWN=down)
    service.store.faults = ["before"] * 4
    answer = service.get("/tick", headers)
    assert outcome(answer) == expected
    assert answer.headers.get("Retry-After") == retry_after
    assert service.runs == []
    service.store.faults = []
    assert service.outcome("/tick", headers) == "200 ran"


def test_a_store_that_refuses_is_answered_like_one_that_is_away(
    service: Service,
) -> None:
    service.store.faults = ["refused"]
    assert service.outcome() == "503 failed"
    assert service.runs == []


def test_work_that_cannot_be_written_down_is_not_ordered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_LEASE_SECONDS="1")

    def lose_the_store(run: Run) -> None:
        service.runs.append(run)
        service.store.faults = ["before"] * 1000

    service.work = lose_the_store
    started = time.monotonic()
    assert service.outcome() == "200 ran"
    assert 1 <= time.monotonic() - started < 3  # tried until the lease ends
    last = lines(capsys)[-1]
    assert (last["severity"], "no record" in last["message"]) == ("ERROR", True)


@pytest.mark.parametrize("faults", [["after"], ["before"], ["after", "before"]])
def test_an_answer_of_the_store_that_is_lost_loses_nothing(
    service: Service, faults: list[str]
) -> None:
    service.store.faults = list(faults)
    assert service.outcome() in {"200 ran", "503 failed"}
    service.clock.move(31)  # a claim that nobody works on lapses
    assert service.outcome() in {"200 ran", "200 duplicate"}
    assert len(service.runs) == 1


# --- Rivals ---------------------------------------------------------------------


def hold(
    service: Service, url: str = "/tick"
) -> tuple[threading.Thread, threading.Event, list[str]]:
    """Start a delivery whose task waits until it is let go."""
    at_work, let_go, outcomes = threading.Event(), threading.Event(), list[str]()

    def wait(run: Run) -> None:
        service.runs.append(run)
        at_work.set()
        assert let_go.wait(20)

    service.work = wait
    thread = threading.Thread(target=lambda: outcomes.append(service.outcome(url)))
    thread.start()
    assert at_work.wait(10)
    return thread, let_go, outcomes


def test_a_rival_is_told_that_the_run_is_under_way_and_never_503(
    service: Service,
) -> None:
    thread, let_go, outcomes = hold(service)
    assert service.outcome("/tick", SCHEDULER) == "409 busy"
    let_go.set()
    thread.join()
    assert outcomes == ["200 ran"]
    assert service.outcome("/tick", SCHEDULER) == "200 duplicate"


def test_a_rival_waits_until_the_run_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_BUSY_WAIT="10")
    thread, let_go, _ = hold(service)
    threading.Timer(0.5, let_go.set).start()
    assert service.outcome("/tick", SCHEDULER) == "200 duplicate"
    thread.join()


def test_a_rival_that_waits_takes_over_what_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_BUSY_WAIT="10")
    at_work, let_go, outcomes = threading.Event(), threading.Event(), list[str]()

    def fail_once(run: Run) -> None:
        service.runs.append(run)
        if run.attempt == 1:
            at_work.set()
            assert let_go.wait(20)
            raise RuntimeError("as told")

    service.work = fail_once
    first = threading.Thread(target=lambda: outcomes.append(service.outcome()))
    first.start()
    assert at_work.wait(10)
    threading.Timer(0.5, let_go.set).start()
    assert service.outcome("/tick", SCHEDULER) == "200 ran"
    first.join()
    assert outcomes == ["500 failed"]
    assert [run.attempt for run in service.runs] == [1, 2]


def test_what_a_sender_has_waited_is_less_for_its_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_BUSY_WAIT="10")
    arrived = service.clock()

    def be_killed(_: Run) -> None:
        service.work = service.runs.append
        rival = threading.Timer(0.3, service.clock.move, (30,))
        rival.start()
        assert service.outcome("/tick", SCHEDULER) == "200 ran"

    service.work = be_killed
    assert service.outcome() == "200 duplicate"
    (run,) = service.runs
    assert run.attempt == 2
    assert (run.deadline - arrived).total_seconds() == 600


def test_at_most_half_of_the_threads_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_BUSY_WAIT="3", CRON_THREADS="4")
    thread, let_go, _ = hold(service)
    took: list[tuple[str, float]] = []

    def deliver() -> None:
        started = time.monotonic()
        took.append((service.outcome("/tick", SCHEDULER), time.monotonic() - started))

    rivals = [threading.Thread(target=deliver) for _ in range(5)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    let_go.set()
    thread.join()
    assert [answer for answer, _ in took] == 5 * ["409 busy"]
    assert sum(seconds > 2.5 for _, seconds in took) == 2


def test_an_attempt_that_was_taken_over_answers_by_the_record(
    service: Service,
) -> None:
    def lose_the_run(run: Run) -> None:
        service.runs.append(run)
        if run.attempt == 1:
            service.clock.move(31)
            service.work = service.runs.append
            assert service.outcome("/tick", SCHEDULER) == "200 ran"

    service.work = lose_the_run
    assert service.outcome() == "200 duplicate"
    assert [run.attempt for run in service.runs] == [1, 2]
    assert str(service.runs[0].id) == str(service.runs[1].id)


def test_an_attempt_that_was_taken_over_by_one_at_work_is_busy(
    service: Service,
) -> None:
    answers: list[str] = []

    def lose_the_run(_: Run) -> None:
        service.clock.move(31)
        thread, let_go, outcomes = hold(service)
        answers.append("first ends")
        service.work = service.runs.append
        threads.append((thread, let_go, outcomes))

    threads: list[tuple[threading.Thread, threading.Event, list[str]]] = []
    service.work = lose_the_run
    assert service.outcome() == "409 busy"
    thread, let_go, outcomes = threads[0]
    let_go.set()
    thread.join()
    assert outcomes == ["200 ran"]


def test_after_the_deadline_check_raises_and_the_run_is_free(service: Service) -> None:
    def take_too_long(run: Run) -> None:
        service.clock.move(601)
        with pytest.raises(RunOver, match="deadline"):
            run.check()
        run.check()

    service.work = take_too_long
    assert service.outcome() == "500 failed"
    record = next(iter(service.memory.kept.values()))[0]
    assert record["state"] == State.FAILED.value


def test_a_lease_is_renewed_while_the_task_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_LEASE_SECONDS="1")

    def work(run: Run) -> None:
        for _ in range(6):
            service.clock.move(0.4)
            time.sleep(0.4)
            run.check()
        service.runs.append(run)

    service.work = work
    assert service.outcome() == "200 ran"
    assert service.store.calls.count("replace") >= 4


def test_a_claim_that_took_long_is_renewed_before_the_task_starts(
    service: Service,
) -> None:
    def slow(kind: str) -> None:
        if kind == "create":
            service.clock.move(14)

    service.store.before_call = slow
    assert service.outcome() == "200 ran"
    assert service.store.calls == ["create", "read", "replace", "replace"]


def test_a_claim_that_took_longer_than_its_lease_starts_nothing_it_has_lost(
    service: Service,
) -> None:
    def slow(kind: str) -> None:
        if kind == "read":  # the look back; a rival takes the run over meanwhile
            service.store.before_call = lambda _: None
            service.clock.move(31)
            assert service.outcome("/tick", SCHEDULER) == "200 ran"

    service.store.before_call = slow
    assert service.outcome() == "200 duplicate"
    assert len(service.runs) == 1


# --- Overlap --------------------------------------------------------------------


def test_a_tick_may_be_skipped_while_the_one_before_is_at_work(
    service: Service,
) -> None:
    outcomes: list[str] = []

    def overlap(run: Run) -> None:
        service.runs.append(run)
        service.work = service.runs.append
        service.clock.move(299)
        service.clock.move(1)
        keep_alive(service)
        outcomes.append(service.outcome("/skip"))
        outcomes.append(service.outcome("/skip", SCHEDULER))

    service.work = overlap
    assert service.outcome("/skip") == "200 ran"
    assert outcomes == ["200 skipped", "200 duplicate"]
    service.clock.move(300)
    assert service.outcome("/skip") == "200 ran"
    assert [run.scheduled_at.minute for run in service.runs] == [0, 10]


def keep_alive(service: Service) -> None:
    """Renew all leases to now, as their keepers would have while time passed."""
    for key, (fields, version) in service.memory.kept.items():
        if fields["state"] == State.WORKING.value:
            until = service.clock().replace(second=30)
            service.memory.kept[key] = {**fields, "lease_expires": until}, version


def test_ticks_overlap_where_nothing_else_is_said(service: Service) -> None:
    outcomes: list[str] = []

    def overlap(run: Run) -> None:
        service.runs.append(run)
        service.work = service.runs.append
        service.clock.move(300)
        outcomes.append(service.outcome())

    service.work = overlap
    service.get()
    assert outcomes == ["200 ran"]


def test_a_run_is_not_skipped_for_its_own_attempt_that_was_killed(
    service: Service,
) -> None:
    def die(run: Run) -> None:
        if run.attempt == 1:
            # Its worker is killed: the tick's lease ends, the entry's a little later.
            service.clock.move(29)
            for key, (fields, version) in service.memory.kept.items():
                if str(key.window) == "occupancy":
                    later = utc("2026-11-30T08:05:00")
                    changed = {**fields, "lease_expires": later}
                    service.memory.kept[key] = changed, version
            service.clock.move(2)
            service.runs.append(run)
            assert service.outcome("/skip", SCHEDULER) == "200 ran"
        else:
            service.runs.append(run)

    service.work = die
    assert service.outcome("/skip") == "200 duplicate"
    assert [run.attempt for run in service.runs] == [1, 2]


def test_a_killed_run_is_not_skipped_where_the_one_before_it_had_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "retry_parameters: {job_retry_limit: 5, min_backoff_seconds: 300}"
    yaml = f"cron: [{{url: /skip, schedule: every 5 minutes synchronized, {more}}}]"
    monkeypatch.setattr("tests.handlers.test_web.CRON_YAML", yaml)
    service = Service(tmp_path, monkeypatch)
    five = (SCHEDULER, at_time("2026-11-30T08:05:00Z"))
    killed: dict[RegisterKey, tuple[dict[str, object], str]] = {}

    def fail(_: Run) -> None:
        raise RuntimeError

    service.work = fail
    assert service.outcome("/skip", SCHEDULER, at_time("2026-11-30T08:00:00Z")) == (
        "500 failed"
    )
    service.clock.move(300)
    service.store.before_call = lambda _: service.clock.move(0.05)
    service.work = lambda _: killed.update(service.memory.kept)
    service.outcome("/skip", *five)
    service.memory.kept = killed  # as its worker left it
    service.store.before_call = lambda _: None
    leases = [fields["lease_expires"] for fields, _ in killed.values()]
    service.clock.now = sorted(at for at in leases if isinstance(at, datetime))[
        -2
    ]  # the run's is over, the entry's not yet
    service.work = service.runs.append
    assert service.outcome("/skip", *five) == "200 ran"


def test_without_a_store_to_say_whether_runs_overlap_nothing_runs(
    service: Service,
) -> None:
    service.store.faults = ["", "", "before", ""]  # create, look back, occupancy
    assert service.outcome("/skip") == "503 failed"
    assert service.runs == []
    assert service.outcome("/skip") == "200 ran"
    assert service.runs[0].attempt == 2


def test_where_even_letting_go_fails_the_lease_ends(service: Service) -> None:
    service.store.faults = ["", ""] + ["before"] * 9
    assert service.outcome("/skip") == "503 failed"
    service.store.faults = []
    assert service.outcome("/skip") == "409 busy"
    service.clock.move(31)
    assert service.outcome("/skip") == "200 ran"


def test_a_lease_that_cannot_be_renewed_yet_is_tried_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_LEASE_SECONDS="1")

    def work(run: Run) -> None:
        service.store.faults = ["before", "before"]
        service.clock.move(0.5)
        time.sleep(0.7)
        run.check()

    service.work = work
    assert service.outcome() == "200 ran"
    told = [line["message"] for line in lines(capsys)]
    assert sum("could not be renewed yet" in message for message in told) == 2


def test_a_look_back_that_fails_is_made_again_and_stops_no_run(
    service: Service,
) -> None:
    service.store.faults = ["", "before"]
    assert service.outcome() == "200 ran"
    service.clock.move(300)
    service.store.calls.clear()
    assert service.outcome() == "200 ran"
    assert service.store.calls == ["create", "read", "replace"]


def test_a_run_apart_is_claimed_once_too(service: Service) -> None:
    assert service.outcome("/tick") == "200 ran"
    service.clock.now = utc("2026-11-30T08:04:30")
    thread, let_go, _ = hold_at(service, "2026-11-30T09:14:30", "/daily")
    assert service.outcome("/daily") == "409 busy"
    let_go.set()
    thread.join()
    assert service.outcome("/daily") == "200 duplicate"


def hold_at(
    service: Service, when: str, url: str
) -> tuple[threading.Thread, threading.Event, list[str]]:
    """Let a forced run of an entry be at work: its tick was done long ago."""
    service.clock.now = utc("2026-11-30T06:00:00.400")
    assert service.outcome(url) == "200 ran"
    service.clock.now = utc(when)
    return hold(service, url)


def test_no_more_registers_are_remembered_than_there_is_room_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.claims._KNOWN_REGISTERS", 1)
    assert service.outcome("/interval") == "200 ran"
    assert service.outcome("/skip") == "200 ran"  # remembers the entry's occupancy
    service.clock.move(300)
    service.store.calls.clear()
    assert service.outcome("/interval") == "200 ran"
    assert service.store.calls == ["read", "replace", "replace"]


# --- What is logged -------------------------------------------------------------


def test_a_decision_is_one_line_with_its_facts(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = {"X-Cloud-Trace-Context": "105445aa7843bc8bf206b12000100000/1;o=1"}
    service.get("/tick", SCHEDULER, at_time("2026-11-30T08:00:00Z"), trace)
    (line,) = lines(capsys)
    assert line["severity"] == "INFO"
    assert line["entry"].startswith("tick-")
    assert line["sender"] == "scheduler-app-engine"
    assert line["window"] == "at 2026-11-30T08:00:00+00:00"
    assert line["attempt"] == 1
    assert line["outcome"] == "ran"
    assert line["duration"] >= 0
    assert line["logging.googleapis.com/trace"] == (
        "projects/shop/traces/105445aa7843bc8bf206b12000100000"
    )


def test_a_duplicate_and_a_busy_run_are_logged_by_the_run_that_they_meant(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    def rival(run: Run) -> None:
        service.runs.append(run)
        if run.attempt == 1:
            raise RuntimeError
        service.outcome("/tick", SCHEDULER)

    service.work = rival
    service.get("/tick")
    service.get("/tick")
    service.get("/tick")
    told = [
        (line["outcome"], line["entry"][:5], line["window"], line["attempt"])
        for line in lines(capsys)
    ]
    tick = "at 2026-11-30T08:00:00+00:00"
    assert told == [
        (outcome, "tick-", tick, attempt)
        for outcome, attempt in [
            ("failed", 1),
            ("busy", 2),
            ("ran", 2),
            ("duplicate", 2),
        ]
    ]


def test_a_task_that_fails_is_logged_with_its_stack(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail_deep(_: Run) -> None:
        raise KeyError("x")

    service.work = fail_deep
    service.get()
    (line,) = lines(capsys)
    assert line["message"] == "the task failed: KeyError: 'x'"
    assert "in fail_deep" in line["stack_trace"]


@pytest.mark.parametrize(("method", "url"), [("HEAD", "/tick"), ("GET", "/nothing")])
def test_a_job_that_runs_nothing_is_told(
    service: Service, capsys: pytest.CaptureFixture[str], method: str, url: str
) -> None:
    answer = service.client.open(url, method=method, headers=CRON)
    (line,) = lines(capsys)
    assert (line["severity"], line["status"]) == ("ERROR", answer.status_code)


def test_what_app_engines_queue_tells_is_logged(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = {
        "X-Appengine-QueueName": "__cron",
        "X-Appengine-TaskName": "0a1b",
        "X-Appengine-TaskRetryCount": "2",
    }
    assert service.outcome("/tick", CRON, queue) == "200 ran"
    (line,) = lines(capsys)
    assert (line["task_name"], line["task_retries"]) == ("0a1b", "2")


def test_a_refusal_says_what_was_missing_and_what_would_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = Service(tmp_path, monkeypatch, CRON_MODE="legacy")
    assert service.outcome("/tick", SCHEDULER) == "403"
    line = lines(capsys)[-1]
    assert line["severity"] == "WARNING"
    assert "CRON_MODE=legacy does not admit X-CloudScheduler" in line["message"]
    assert "CRON_MODE=scheduler or both does" in line["message"]


def test_an_instance_tells_once_that_the_run_before_was_never_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Service(tmp_path, monkeypatch)

    def be_killed(_: Run) -> None:
        one.store.faults = ["before"] * 1000
        one.clock.move(31)

    one.work = be_killed
    one.get()
    other = Service(tmp_path, monkeypatch)
    other.memory.kept.update(one.memory.kept)
    other.clock.now = utc("2026-11-30T08:05:00.400")
    capsys.readouterr()
    assert other.outcome() == "200 ran"
    told = [line for line in lines(capsys) if line["severity"] == "WARNING"]
    assert len(told) == 1
    assert "the run before was never settled" in told[0]["message"]
    assert told[0]["window"] == "at 2026-11-30T08:00:00+00:00"
    other.clock.move(300)
    assert other.outcome() == "200 ran"
    assert "never settled" not in capsys.readouterr().out


def test_a_take_over_is_told(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    def lose_the_store(_: Run) -> None:
        service.store.faults = ["before"] * 2
        service.clock.move(31)

    service.work = lose_the_store
    service.get()
    service.work = service.runs.append
    assert service.outcome() == "200 ran"
    assert "the attempt before this one was never settled" in capsys.readouterr().out


# --- Tasks ----------------------------------------------------------------------


def test_the_task_is_told_its_run(service: Service) -> None:
    service.get("/tick", SCHEDULER, at_time("2026-11-30T08:00:00Z"))
    (run,) = service.runs
    assert run.url == "/tick"
    assert run.scheduled_at == utc("2026-11-30T08:00:00")
    assert run.attempt == 1
    assert run.deadline == utc("2026-11-30T08:10:00.400")
    assert len(str(run.id)) == 32
    assert str(run.id).isalnum()


def test_one_url_has_one_task() -> None:
    tasks = Tasks()
    tasks.task("/a b")(lambda _: None)
    with pytest.raises(TaskError, match="one url, one task"):
        tasks.task("/a%20b")(lambda _: None)


def test_a_task_of_no_url_is_refused() -> None:
    with pytest.raises(TaskError, match="begin it with '/'"):
        Tasks().task("a")(lambda _: None)


@pytest.mark.parametrize("url", ["/healthz", "/healthz?x=1", "/_ah/warmup"])
def test_no_task_can_have_a_url_that_the_host_itself_answers(url: str) -> None:
    with pytest.raises(TaskError, match="the host itself answers"):
        Tasks().task(url)(lambda _: None)


async def _asynchronous(_: Run) -> None:
    pass


def _generator(_: Run) -> Iterator[None]:
    yield


@pytest.mark.parametrize("function", [_asynchronous, _generator])
def test_a_function_that_a_call_does_not_run_is_no_task(
    function: Callable[[Run], object],
) -> None:
    with pytest.raises(TaskError, match="would count as done"):
        Tasks().task("/a")(function)


def test_a_wrong_overlap_is_refused() -> None:
    with pytest.raises(TaskError, match="'allow' or 'skip'"):
        Tasks().task("/a", overlap="never")(lambda _: None)  # type: ignore[arg-type]  # as told
