"""One contract, every store: real SQLite, Google's Firestore emulator, real Redis."""

from __future__ import annotations

import multiprocessing
import os
import re
import socket
import sqlite3
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from google.api_core import exceptions
from google.api_core.datetime_helpers import DatetimeWithNanoseconds
from google.auth.exceptions import DefaultCredentialsError, RefreshError
from google.cloud import firestore
from google.cloud.firestore_v1.services.firestore import FirestoreClient

from cronspec.retry import NO_RETRIES
from handlers import SettingsError, create_app
from handlers.attempt import Attempt, Got, acquire
from handlers.record import (
    At,
    Conflict,
    Record,
    RegisterKey,
    RunStore,
    State,
    Stored,
    StoreError,
    StoreUnreachableError,
    from_fields,
    from_text,
    to_fields,
)
from handlers.runs import AlreadyDone, Ask, Busy, Claimed, Settled, Terms, decide
from handlers.stores import StoreUrlError, check_url, digest, is_local, open_store
from tests.handlers.support import (
    CRON,
    SCHEDULER,
    ManualClock,
    Recorder,
    Unreliable,
    claim_all,
    emulator_jar,
    firestore_emulator,
    redis_server,
    settings,
    utc,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = utc("2026-11-30T08:00:00.400001")
UTC_NOW = DatetimeWithNanoseconds(2026, 11, 30, 8, tzinfo=UTC)
TERMS = Terms(
    lease=timedelta(seconds=30),
    deadline=timedelta(minutes=10),
    period=timedelta(0),
    reach=timedelta(minutes=10),
    policy=NO_RETRIES,
)


def ask(entry: str = "", attempt_id: str = "") -> Ask:
    key = RegisterKey("shop", entry or uuid4().hex, At(utc("2026-11-30T08:00:00")))
    return Ask(key, "app-engine-cron", attempt_id or uuid4().hex, TERMS)


def first(asked: Ask) -> Record:
    claim = decide(None, asked, NOW)
    assert isinstance(claim, Claimed)
    return claim.record


def written(result: Stored | Conflict) -> Stored:
    assert isinstance(result, Stored)
    return result


def test_a_store_that_works_says_nothing_when_checked(store: RunStore) -> None:
    store.check()


def test_what_was_created_is_read_back_equal(store: RunStore) -> None:
    record = first(ask())
    created = written(store.create(record))
    assert store.read(record.key) == created


def test_a_register_without_a_record_has_none(store: RunStore) -> None:
    assert store.read(ask().key) is None


def test_a_second_create_is_a_conflict_and_changes_nothing(store: RunStore) -> None:
    asked = ask()
    record = first(asked)
    created = store.create(record)
    assert store.create(first(replace(asked, attempt_id="other"))) == Conflict()
    assert store.read(record.key) == created


def test_a_replace_of_the_version_read_holds_and_makes_another(store: RunStore) -> None:
    record = first(ask())
    before = written(store.create(record))
    done = replace(record, state=State.DONE)
    after = written(store.replace(done, before.version))
    assert after.version != before.version
    assert store.read(record.key) == after


def test_a_replace_of_an_older_version_is_a_conflict(store: RunStore) -> None:
    record = first(ask())
    old = written(store.create(record))
    new = written(store.replace(replace(record, state=State.DONE), old.version))
    again = replace(record, state=State.FAILED)
    assert store.replace(again, old.version) == Conflict()
    assert store.read(record.key) == new


def test_a_replace_of_a_record_that_is_gone_is_a_conflict(store: RunStore) -> None:
    there = written(store.create(first(ask())))
    assert store.replace(first(ask()), there.version) == Conflict()


def test_registers_of_other_scopes_entries_and_windows_are_others(
    store: RunStore,
) -> None:
    key = ask().key
    others = [
        replace(key, scope="shop/europe-west1"),
        replace(key, entry="other"),
        replace(key, window=At(utc("2026-11-30T08:01:00"))),
    ]
    store.create(first(replace(ask(), key=key)))
    assert [store.read(other) for other in others] == [None, None, None]


def test_of_many_rivals_in_threads_one_creates(store: RunStore) -> None:
    asked = ask()
    results: list[Stored | Conflict] = []
    gate = threading.Barrier(16)

    def create() -> None:
        gate.wait()
        results.append(store.create(first(replace(asked, attempt_id=uuid4().hex))))

    rivals = [threading.Thread(target=create) for _ in range(16)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    assert sum(isinstance(result, Stored) for result in results) == 1
    assert len(results) == 16


def test_of_many_rivals_in_threads_one_replaces(store: RunStore) -> None:
    record = first(ask())
    version = written(store.create(record)).version
    results: list[Stored | Conflict] = []
    gate = threading.Barrier(16)

    def take_over() -> None:
        gate.wait()
        lease = replace(record.lease, attempt_id=uuid4().hex)
        results.append(store.replace(replace(record, lease=lease), version))

    rivals = [threading.Thread(target=take_over) for _ in range(16)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    assert sum(isinstance(result, Stored) for result in results) == 1
    assert len(results) == 16


def test_of_rivals_in_several_processes_one_claims_each_run(store_url: str) -> None:
    asked = [ask() for _ in range(40)]
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        rivals = [pool.submit(claim_all, store_url, asked, NOW) for _ in range(3)]
        won = [entry for rival in rivals for entry in rival.result(60)]
    assert sorted(won) == sorted(one.key.entry for one in asked)


# --- The deterministic race: the first claim starts its rival ---------------------


@pytest.mark.parametrize("kind", ["create", "replace", "read"])
def test_a_rival_that_comes_between_any_two_calls_cannot_run_too(
    store: RunStore, kind: str
) -> None:
    asked = ask()
    rival_won: list[object] = []

    def start_rival(call: str) -> None:
        if call == kind and not rival_won:
            rival_won.append(None)
            rival_won[0] = acquire(
                store, replace(asked, attempt_id=uuid4().hex), lambda: NOW
            )

    lapsed = NOW - timedelta(minutes=5)
    if kind != "create":  # there is a record to be taken over
        acquire(store, replace(asked, attempt_id=uuid4().hex), lambda: lapsed)
    raced = Unreliable(store, before_call=start_rival)
    mine = acquire(raced, asked, lambda: NOW)
    assert isinstance(rival_won[0], Got)
    assert isinstance(mine, Busy)


def test_a_rival_between_claim_and_settle_cannot_settle_nor_be_unsettled(
    store: RunStore,
) -> None:
    asked = ask()
    got = acquire(store, asked, lambda: NOW)
    assert isinstance(got, Got)
    slow = Attempt(store, got, TERMS, lambda: NOW + timedelta(minutes=2))
    rival = acquire(
        store,
        replace(asked, attempt_id=uuid4().hex),
        lambda: NOW + timedelta(minutes=1),
    )
    assert isinstance(rival, Got)
    assert slow.settle(State.DONE) != Settled()
    assert store.read(asked.key) == rival.stored
    quick = Attempt(store, rival, TERMS, lambda: NOW + timedelta(minutes=1))
    assert quick.settle(State.DONE) == Settled()
    assert slow.settle(State.FAILED) != Settled()
    assert acquire(store, ask(asked.key.entry), lambda: NOW) == AlreadyDone()


# --- Lost answers ------------------------------------------------------------


def test_a_claim_whose_answer_was_lost_is_recognised(store: RunStore) -> None:
    asked = ask()
    got = acquire(Unreliable(store, ["after"]), asked, lambda: NOW)
    assert isinstance(got, Got)
    assert store.read(asked.key) == got.stored


def test_a_claim_that_never_arrived_is_made_again(store: RunStore) -> None:
    got = acquire(Unreliable(store, ["before"]), ask(), lambda: NOW)
    assert isinstance(got, Got)


def test_a_store_out_of_reach_is_told_and_nothing_is_claimed(store: RunStore) -> None:
    asked = ask()
    with pytest.raises(StoreUnreachableError):
        acquire(Unreliable(store, ["before", "before"]), asked, lambda: NOW)
    assert store.read(asked.key) is None


# --- Records ------------------------------------------------------------


def test_a_record_of_a_format_that_is_not_known_is_no_leave_to_run() -> None:
    record = first(ask())
    fields = {**to_fields(record), "format": 2}
    with pytest.raises(StoreError, match="format 2, and this copy knows 1"):
        from_fields(record.key, fields)


@pytest.mark.parametrize("field", ["state", "lease_expires", "attempt"])
def test_a_record_that_cannot_be_read_is_no_leave_to_run(field: str) -> None:
    record = first(ask())
    with pytest.raises(StoreError, match="cannot be read"):
        from_fields(record.key, {**to_fields(record), field: "junk"})


def test_a_record_with_a_time_of_no_zone_cannot_be_read() -> None:
    record = first(ask())
    naive = NOW.replace(tzinfo=None)
    with pytest.raises(StoreError, match="has no zone"):
        from_fields(record.key, {**to_fields(record), "lease_expires": naive})


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_text_that_is_no_record_is_no_leave_to_run(text: str) -> None:
    with pytest.raises(StoreError, match="the format None"):
        from_text(ask().key, text)


# --- SQLite ------------------------------------------------------------


def test_sqlite_tells_a_folder_that_is_not_there(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/missing/runs.db")
    with pytest.raises(StoreError, match="folder must exist"):
        store.check()


def test_sqlite_refuses_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text(
        "no database, but long enough to be looked at" * 9
    )
    with pytest.raises(StoreError, match="not a database"):
        open_store(f"sqlite:///{tmp_path}/runs.db").check()


def test_sqlite_waits_for_a_locked_file_no_longer_than_its_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.sqlite.CALL_SECONDS", 0.1)
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    store.check()
    rival = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    rival.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnreachableError, match="locked"):
        store.create(first(ask()))
    rival.close()


def test_sqlite_is_opened_though_another_process_has_it_for_a_moment(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    rival = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    rival.execute("BEGIN EXCLUSIVE")
    threading.Timer(0.3, rival.close).start()
    open_store(f"sqlite:///{path}").check()


def test_sqlite_that_stays_locked_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.sqlite.CALL_SECONDS", 0.1)
    rival = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    rival.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnreachableError, match="locked"):
        open_store(f"sqlite:///{tmp_path}/runs.db").check()
    rival.close()


def test_sqlite_removes_what_has_expired(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    old = first(ask())
    store.create(old)
    later = old.expire_at + timedelta(seconds=1)
    for _ in range(256):
        store.create(replace(first(ask()), written_at=later))
    assert store.read(old.key) is None


def test_sqlite_opens_anew_after_a_fork(tmp_path: Path) -> None:
    """A connection of before must not be used on both sides of a fork."""
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    record = first(ask())
    store.create(record)
    child = os.fork()
    if child == 0:
        won = isinstance(store.create(first(ask(record.key.entry))), Stored)
        os._exit(1 if won else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.read(record.key) is not None


def test_sqlite_tells_what_it_cannot_use(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    store.check()
    with sqlite3.connect(tmp_path / "runs.db") as other:
        other.execute("DROP TABLE runs")
        other.execute("CREATE TABLE runs (id TEXT, record TEXT NOT NULL)")
    other.close()
    with pytest.raises(StoreError, match=r"no (such )?column"):
        store.create(first(ask()))


def test_sqlite_tells_a_file_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = open_store(f"sqlite:///{path}")
    for _ in range(50):
        store.create(first(ask()))
    del store  # its connections write everything to the file
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="SQLite") as caught:
        open_store(f"sqlite:///{path}").read(ask().key)
    assert not isinstance(caught.value, StoreUnreachableError)


# --- Firestore --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "unreachable", "told"),
    [
        (
            exceptions.FailedPrecondition(
                "The Cloud Firestore API is not available for Firestore in Datastore "
                "Mode database projects/shop/databases/(default)."
            ),
            False,
            "gcloud firestore databases create --project shop",
        ),
        (
            exceptions.NotFound(
                "The database (default) does not exist for project shop Please visit"
            ),
            False,
            "gcloud firestore databases create --project shop",
        ),
        (
            exceptions.NotFound(
                "The project shop does not exist or it does not contain an active "
                "Cloud Datastore or Cloud Firestore database."
            ),
            False,
            "The project shop does not exist",
        ),
        (exceptions.PermissionDenied("no"), False, "roles/datastore.user"),
        (exceptions.Unauthenticated("no"), False, "roles/datastore.user"),
        (exceptions.InvalidArgument("bad"), False, "see CRON_STORE"),
        (DefaultCredentialsError("none"), False, "application-default login"),
        (RefreshError("later"), True, "later"),
        (exceptions.DeadlineExceeded("slow"), True, "slow"),
        (exceptions.ServiceUnavailable("away"), True, "away"),
        (exceptions.InternalServerError("odd"), True, "odd"),
        (exceptions.ResourceExhausted("much"), True, "much"),
    ],
)
def test_firestore_tells_what_is_wrong_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    unreachable: bool,  # noqa: FBT001 - a table's column
    told: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    for name in ("get", "create", "update"):
        monkeypatch.setattr(firestore.DocumentReference, name, fail)
    store = open_store("firestore://shop/runs")
    record = first(ask())
    calls = [
        store.check,
        lambda: store.read(record.key),
        lambda: store.create(record),
        lambda: store.replace(record, UTC_NOW),
    ]
    for call in calls:
        with pytest.raises(StoreError, match=re.escape(told)) as caught:
            call()
        assert isinstance(caught.value, StoreUnreachableError) == unreachable


@pytest.mark.usefixtures("firestore_host")
def test_a_database_in_datastore_mode_stops_the_service_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = emulator_jar()
    if jar is None:
        pytest.skip("the emulator that runs elsewhere cannot be started in this mode")
    with firestore_emulator(jar, "--database-mode=datastore-mode") as host:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
        cron = "cron:\n- {url: /a, schedule: every day 09:00}\n"
        known = settings(tmp_path, cron, CRON_STORE="firestore://demo-cron/runs")
        with pytest.raises(SettingsError, match="gcloud firestore databases create"):
            create_app(known, Recorder("/a"))


@pytest.mark.parametrize(
    "error", [exceptions.Aborted("busy"), exceptions.FailedPrecondition("no index")]
)
def test_what_is_a_conflict_to_a_write_is_an_error_to_a_read(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    for name in ("get", "update"):
        monkeypatch.setattr(firestore.DocumentReference, name, fail)
    store = open_store("firestore://shop/runs")
    with pytest.raises(StoreError, match=r"Firestore, project 'shop'"):
        store.read(ask().key)
    assert store.replace(first(ask()), UTC_NOW) == Conflict()


def test_a_document_that_is_gone_is_a_conflict_though_its_path_names_a_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise exceptions.NotFound(
            "No document to update: projects/shop/databases/(default)/documents/runs/a"
        )

    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    monkeypatch.setattr(firestore.DocumentReference, "update", gone)
    store = open_store("firestore://shop/runs")
    assert store.replace(first(ask()), UTC_NOW) == Conflict()


def test_on_firestore_a_run_costs_two_calls_on_the_wire(
    tmp_path: Path, firestore_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_host)
    called: list[str] = []
    for name in ("commit", "batch_get_documents", "begin_transaction", "run_query"):
        monkeypatch.setattr(FirestoreClient, name, counted(called, name))
    cron = "cron:\n- {url: /a, schedule: every day 09:00}\n"
    place = f"firestore://demo-cron/runs-{uuid4().hex}"
    clock = ManualClock(utc("2026-11-30T09:00:00.2"))
    app = create_app(settings(tmp_path, cron, CRON_STORE=place), Recorder("/a"), clock)
    client = app.test_client()
    client.get("/a", headers=CRON)  # an instance's first run looks back once more
    clock.move(86_400)
    called.clear()
    assert client.get("/a", headers=CRON).headers["X-Cron-Outcome"] == "ran"
    assert called == ["commit", "commit"]
    called.clear()
    assert client.get("/a", headers=SCHEDULER).headers["X-Cron-Outcome"] == "duplicate"
    assert called == ["commit", "batch_get_documents"]


def counted(called: list[str], name: str) -> Callable[..., object]:
    """Give Google's own method, with a count of its calls."""
    real: Callable[..., object] = getattr(FirestoreClient, name)

    def count(*given: object, **more: object) -> object:
        called.append(name)
        return real(*given, **more)

    return count


# --- Redis ------------------------------------------------------------


@pytest.mark.usefixtures("redis_url")
def test_a_redis_that_may_evict_records_is_refused(tmp_path: Path) -> None:
    evicting = ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"]
    with (
        redis_server(tmp_path, *evicting) as url,
        pytest.raises(StoreError, match=r"volatile-lru.*noeviction"),
    ):
        open_store(url).check()


@pytest.mark.usefixtures("redis_url")
def test_a_redis_that_wants_a_password_is_told(tmp_path: Path) -> None:
    with (
        redis_server(tmp_path, "--requirepass", "secret") as url,
        pytest.raises(StoreError, match="USER:PASSWORD"),
    ):
        open_store(url).check()


@pytest.mark.usefixtures("redis_url")
def test_a_redis_that_is_full_but_evicts_nothing_is_used(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--maxmemory", "100mb") as url:
        open_store(url).check()


def test_a_redis_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        store = open_store(f"redis://127.0.0.1:{port}/0")
        with pytest.raises(StoreUnreachableError, match="Redis"):
            store.read(ask().key)


# --- Names of stores ------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "runs.db",
        "sqlite://",
        "sqlite://runs.db",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///runs.db?mode=ro",
        "firestore://",
        "firestore://shop",
        "firestore://shop/",
        "firestore://shop/runs/more",
        "firestore://SHOP/runs",
        "firestore://shop/runs?db=other",
        "firestore://shop/runs?database=",
        "redis:",
        "redis:///0",
        "spanner://shop/runs",
        "mysql://localhost/runs",
    ],
)
def test_a_url_that_names_no_store_is_refused_with_a_way_out(url: str) -> None:
    with pytest.raises(StoreUrlError, match=r"(say|name) "):
        check_url(url)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("sqlite:///runs.db", True),
        ("sqlite:////var/lib/runs.db", True),
        ("firestore://shop/runs", False),
        ("firestore://example.com:shop/runs?database=cron-runs", False),
        ("redis://10.0.0.3:6379/0", False),
        ("rediss://user:word@redis.example.com", False),
    ],
)
def test_a_url_names_a_store(url: str, local: bool) -> None:  # noqa: FBT001 - a table's column
    check_url(url)
    assert is_local(url) == local


def test_the_digest_of_a_store_hides_its_password() -> None:
    assert digest("redis://u:one@host/0") == digest("redis://u:two@host/0")
    assert digest("redis://u:one@host/0") != digest("redis://u:one@host/1")
