"""One contract, both stores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator.jobs import Job, Key
from emulator.store import MemoryStore, SqliteStore

HERE, THERE = "projects/p/locations/a", "projects/p/locations/b"


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    kept = (
        MemoryStore()
        if request.param == "memory"
        else SqliteStore(tmp_path / "jobs.db")
    )
    yield kept
    kept.close()


def a_job(name: str, parent: str = HERE, *, legacy: bool = False, n: int = 0) -> Job:
    key = Key(legacy, f"{parent}/jobs/{name}")
    return Job(key, {"name": key.name, "n": n, "deep": {"x": [1, "\u20ac"]}})


def test_a_job_comes_back_as_it_was_put(store):
    job = a_job("x")
    assert store.insert(job)
    assert store.get(job.key) == job
    assert store.get(a_job("y").key) is None


def test_a_key_is_taken_once_in_each_space_of_names(store):
    assert store.insert(a_job("x"))
    assert not store.insert(a_job("x", n=1))
    assert store.insert(a_job("x", legacy=True, n=2))
    assert store.get(a_job("x").key).resource["n"] == 0
    assert store.get(a_job("x", legacy=True).key).resource["n"] == 2


def test_pages_hold_one_place_and_one_space_in_order(store):
    for name in "cab":
        store.insert(a_job(name))
        store.insert(a_job(name, THERE))
        store.insert(a_job(name, legacy=True))
    found = store.page(HERE, Key(legacy=False, name=""), 10)
    assert found == [a_job(name) for name in "abc"]
    assert store.page(HERE, found[0].key, 1) == [a_job("b")]
    assert store.page(HERE, found[-1].key, 10) == []
    assert store.page(THERE, Key(legacy=True, name=""), 10) == []


def test_a_change_is_kept_and_given_back(store):
    store.insert(a_job("x"))
    changed = store.change(a_job("x").key, lambda job: job.with_fields({"n": 5}))
    assert changed == a_job("x", n=5)
    assert store.get(changed.key) == changed
    assert store.change(a_job("y").key, lambda job: job) is None


def test_a_change_that_fails_changes_nothing_and_leaves_the_store_usable(store):
    store.insert(a_job("x"))

    def fail(job: Job) -> Job:
        raise LookupError(job.key.name)

    with pytest.raises(LookupError):
        store.change(a_job("x").key, fail)
    assert store.get(a_job("x").key) == a_job("x")
    assert store.insert(a_job("y"))


def test_delete_tells_whether_there_was_one(store):
    store.insert(a_job("x"))
    assert not store.delete(a_job("x", legacy=True).key)
    assert store.delete(a_job("x").key)
    assert not store.delete(a_job("x").key)
    assert store.page(HERE, Key(legacy=False, name=""), 10) == []


def test_of_many_who_change_or_take_a_name_at_once_none_is_lost(store):
    store.insert(a_job("x"))

    def add(number: int) -> bool:
        store.change(
            a_job("x").key,
            lambda job: job.with_fields({"n": job.resource["n"] + 1}),
        )
        return store.insert(a_job(f"y{number % 10}"))

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(add, range(80)))
    assert store.get(a_job("x").key).resource["n"] == 80
    assert sum(taken) == 10


def test_a_file_outlives_its_emulator_and_serves_two(tmp_path):
    first = SqliteStore(tmp_path / "jobs.db")
    first.insert(a_job("x"))
    second = SqliteStore(tmp_path / "jobs.db")
    second.change(a_job("x").key, lambda job: job.with_fields({"n": 7}))
    assert first.get(a_job("x").key) == a_job("x", n=7)
    first.close()
    second.close()
    third = SqliteStore(tmp_path / "jobs.db")
    assert third.get(a_job("x").key) == a_job("x", n=7)
    third.close()
