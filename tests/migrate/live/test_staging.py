"""Paused creation, pause and resume: their marks, and what each leaves when broken."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cronspec import zones
from cronspec.schedule import ticks
from cronspec.unixcron import parse
from migrate import staging
from migrate.livejob import LiveJob, State
from migrate.normal import differences
from migrate.plan import Scope, Update, diff
from migrate.problems import Missing, Refused
from migrate.staging import NotAsWanted, NotOurPause, Resumed
from tests.migrate.live.world import NOW, PARENT, WorldApi, ours, store_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.world import World
    from migrate.store import JobStore

NAME = f"{PARENT}/jobs/a"
WANTED = ours("a", schedule="every 5 minutes")


def there(store: JobStore) -> LiveJob:
    found = store.get(NAME)
    assert found is not None
    return found


def plan(store: JobStore, *desired: dict[str, Any]) -> list[Any]:
    return list(diff(desired, store.jobs(PARENT), Scope(PARENT)).changes)


@given(st.datetimes(datetime(2024, 1, 1), datetime(2032, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - the zone comes after
def test_a_placeholder_is_not_due_for_most_of_a_year(now):
    schedule = parse(staging.placeholder(now))
    due = next(ticks(schedule, zones.load("UTC"), now))
    assert timedelta(days=300) < due - now < timedelta(days=366)


def test_what_is_made_paused_has_its_schedule_and_mark(store):
    made = staging.create_paused(store, WANTED, NOW)
    assert made.state is State.PAUSED
    assert made.pause_is_ours
    assert not made.unborn
    assert not differences(made.resource, WANTED)
    assert plan(store, WANTED) == []


def test_resume_fires_again_and_takes_the_mark_away(store):
    staging.create_paused(store, WANTED, NOW)
    match staging.resume(store, WANTED):
        case Resumed(job):
            assert job.state is State.ENABLED
            assert not job.pause_is_ours
        case other:
            pytest.fail(f"{other}")
    assert plan(store, WANTED) == []


def test_pause_marks_and_resume_unmarks(store):
    live = store.create(WANTED)
    paused = staging.pause(store, live, NOW)
    assert paused.state is State.PAUSED
    assert paused.pause_is_ours
    assert isinstance(staging.resume(store, WANTED), Resumed)
    assert not there(store).pause_is_ours


def test_a_pause_of_somebody_else_is_neither_marked_nor_resumed(store):
    store.create(WANTED)
    theirs = store.pause(NAME)
    assert staging.pause(store, theirs, NOW) == theirs
    assert staging.resume(store, WANTED) == NotOurPause(theirs)
    assert there(store) == theirs


def test_what_is_not_as_wanted_stays_paused(store):
    staging.create_paused(store, WANTED, NOW)
    store.update({**WANTED, "description": "x"}, ["description"])
    match staging.resume(store, WANTED):
        case NotAsWanted(job, (field,)):
            assert (field.path, field.before) == ("description", "x")
            assert job.state is State.PAUSED
        case other:
            pytest.fail(f"{other}")
    assert there(store).state is State.PAUSED


def test_what_is_unborn_is_not_resumed(store):
    store.create(staging.unborn(WANTED, NOW))
    store.pause(NAME)
    assert isinstance(staging.resume(store, WANTED), NotAsWanted)
    assert there(store).state is State.PAUSED


def test_what_is_gone_is_not_resumed(store):
    with pytest.raises(Missing, match="resume a: the job is gone"):
        staging.resume(store, WANTED)


def test_the_mark_of_a_paused_job_stays(store):
    made = staging.create_paused(store, WANTED, NOW)
    with pytest.raises(Refused, match="the mark says by whom"):
        staging.unmark(store, made)


class BrokenOff(BaseException):
    """Our process ends here."""


class Ending(WorldApi):
    """An API that is called so often, and then no more."""

    left = 0

    def _ask(self, *arguments: Any) -> dict[str, Any]:
        if self.left == 0:
            raise BrokenOff
        self.left -= 1
        return super()._ask(*arguments)


def broken_off(world: World, after: int, step: Callable[[JobStore], Any]) -> None:
    api = Ending(world)
    api.left = after
    with pytest.raises(BrokenOff):
        step(store_of(api))


@pytest.mark.parametrize("calls", range(3))
def test_a_paused_creation_broken_off_is_finished_by_the_next_apply(
    memory, world, calls
):
    broken_off(world, calls, lambda store: staging.create_paused(store, WANTED, NOW))
    found = memory.get(NAME)
    if found is not None:
        assert found.unborn
        (finish,) = plan(memory, WANTED)
        staging.finish(memory, finish.before, finish.after, NOW)
        assert plan(memory, WANTED) == []
        assert there(memory).state is State.PAUSED


@pytest.mark.parametrize("calls", [0, 1])
def test_a_pause_broken_off_leaves_it_firing_and_is_told(memory, world, calls):
    live = memory.create(WANTED)
    broken_off(world, calls, lambda store: staging.pause(store, live, NOW))
    assert there(memory).state is State.ENABLED
    changes = plan(memory, WANTED)
    assert len(changes) == calls  # a mark without its pause is taken away
    for change in changes:
        assert isinstance(change, Update)
        memory.update(change.after, change.mask)
    assert plan(memory, WANTED) == []
    assert not there(memory).pause_is_ours


@pytest.mark.parametrize("calls", [1, 2])
def test_a_resume_broken_off_is_gone_on_with(memory, world, calls):
    staging.create_paused(memory, WANTED, NOW)
    broken_off(world, calls, lambda store: staging.resume(store, WANTED))
    assert isinstance(staging.resume(memory, WANTED), Resumed)
    assert there(memory).state is State.ENABLED
    assert not there(memory).pause_is_ours


def test_what_servers_add_is_not_sent_back(memory, world):
    live = memory.create(WANTED)
    key = next(iter(world.store._jobs))
    target = live.resource["appEngineHttpTarget"]
    added = target["headers"] | {"X-AppEngine-Country": "IT"}  # which none may set
    world.store.change(
        key,
        lambda j: j.with_fields({"appEngineHttpTarget": target | {"headers": added}}),
    )
    staging.pause(memory, there(memory), NOW)
    headers = there(memory).resource["appEngineHttpTarget"]["headers"]
    assert "X-AppEngine-Country" not in headers
    assert headers["User-Agent"].count("AppEngine-Google") == 1
