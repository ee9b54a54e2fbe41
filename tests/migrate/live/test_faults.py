"""Trouble at every single request of an apply: run again, the end is exact.

The requests of one apply are counted, and then each of them meets each trouble in a
world of its own. With patience an apply comes through by itself; without any it fails,
and the next one finishes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import server
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.faults import Cut, Fail, Fault, Slow, When
from emulator.quota import Limits
from emulator.store import MemoryStore
from emulator.world import World
from migrate.apply import Outcome, Run
from migrate.livejob import State
from migrate.pacing import Patience
from migrate.plan import Scope, diff
from migrate.problems import ApiError
from migrate.scheduler import GoogleApi
from tests.migrate.live.world import (
    NOW,
    PARENT,
    PATIENCE,
    WorldApi,
    job,
    ours,
    store_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from migrate.livejob import LiveJob

IMPATIENT = replace(PATIENCE, tries=1, quota_tries=1)
# Thirty changes: ten creates, ten updates of one kind or another, ten deletes.
DESIRED = [ours(f"new{n}", schedule="every 5 minutes") for n in range(10)] + [
    ours(f"edit{n}", schedule="0 10 * * *", description=f"of {n}") for n in range(10)
]
BEFORE = [ours(f"edit{n}") for n in range(10)] + [ours(f"old{n}") for n in range(10)]
STRANGERS = [job("report"), ours("neighbour", "other")]
SCOPE = Scope(PARENT, max_deletes=10)
PAUSED = Scope(PARENT, max_deletes=10, paused=True)
MADE_PAUSED = [ours(f"p{n}", schedule="*/5 * * * *") for n in range(10)]


class Killed(BaseException):
    """Our process is no more."""


@dataclass
class Mortal(WorldApi):
    """An API whose caller dies at one call, before or after its effect."""

    dies_at: int = -1
    after: bool = False
    count: int = 0
    dead: bool = field(default=False)

    def _ask(self, *arguments: Any) -> dict[str, Any]:
        if self.dead:
            raise Killed
        self.count += 1
        self.dead = self.count == self.dies_at
        if self.dead and not self.after:
            raise Killed
        answer = super()._ask(*arguments)
        if self.dead:
            raise Killed
        return answer


@cache
def furnished(count: int) -> MemoryStore:
    """Give a store with the strangers' jobs and so many of BEFORE, made but once."""
    world = World(app=App("shop", "europe-west"), clock=VirtualClock(NOW))
    for one in [*BEFORE[:count], *STRANGERS]:
        store_of(WorldApi(world)).create(one)
    assert isinstance(world.store, MemoryStore)
    return world.store


def copied(store: MemoryStore) -> MemoryStore:
    copy = MemoryStore()
    copy._jobs, copy._keys = dict(store._jobs), list(store._keys)
    return copy


class Scene:
    """A world with jobs of ours and of strangers, and a plan for it."""

    def __init__(self, before: list[Any], desired: list[Any], scope: Scope) -> None:
        self.world = World(
            app=App("shop", "europe-west"),
            clock=VirtualClock(NOW),
            store=copied(furnished(len(before))),
        )
        self.desired, self.scope = desired, scope
        self.strangers = self.theirs()
        self.world.journal.clear()

    def apply(self, api: WorldApi, patience: Any = PATIENCE) -> Outcome:
        store = store_of(api, patience)
        plan = diff(self.desired, store.jobs(PARENT), self.scope)
        return Run(store, lambda: NOW, lambda _: None, at_once=1).apply(plan)

    def theirs(self) -> list[Any]:
        names = {one["name"] for one in STRANGERS}
        found = store_of(WorldApi(self.world)).jobs(PARENT)
        return [one.resource for one in found if one.name in names]

    def assert_exact(self) -> None:
        store = store_of(WorldApi(self.world))
        assert not diff(self.desired, store.jobs(PARENT), self.scope)
        names = {one["name"] for one in [*self.desired, *STRANGERS]}
        assert [one.name for one in store.jobs(PARENT)] == sorted(names)
        assert self.theirs() == self.strangers
        strangers = {one["name"] for one in STRANGERS}
        for exchange in self.world.journal.exchanges():
            asked = exchange.request
            assert not (asked.writes and asked.path.removeprefix("/v1/") in strangers)


def changing() -> Scene:
    return Scene(BEFORE, DESIRED, SCOPE)


def making_paused() -> Scene:
    return Scene([], MADE_PAUSED, PAUSED)


def requests(make: Callable[[], Scene]) -> int:
    scene = make()
    assert scene.apply(WorldApi(scene.world)).complete
    return len(scene.world.journal.exchanges())


SCENES = pytest.mark.parametrize("make", [changing, making_paused])
TROUBLES = pytest.mark.parametrize(
    ("trouble", "when"),
    [
        (Fail(503), When.BEFORE),
        (Fail(503), When.AFTER),
        (Fail(500), When.AFTER),
        (Fail(429), When.BEFORE),
        (Cut(), When.BEFORE),
        (Cut(), When.AFTER),  # what a time-out looks like, too
    ],
    ids=lambda one: f"{one}",
)


def test_thirty_changes_are_a_list_and_a_call_each_or_three_and_a_look_a_delete():
    assert requests(changing) == 1 + 30 + 10
    assert requests(making_paused) == 1 + 10 * 3


@SCENES
@TROUBLES
def test_with_patience_one_trouble_anywhere_is_come_through(make, trouble, when):
    for number in range(requests(make)):
        scene = make()
        scene.world.faults.add(Fault(trouble, when, skip=number))
        assert scene.apply(WorldApi(scene.world)).complete, number
        scene.assert_exact()


@SCENES
@TROUBLES
def test_without_patience_the_next_run_finishes(make, trouble, when):
    for number in range(1, requests(make)):
        scene = make()
        scene.world.faults.add(Fault(trouble, when, skip=number))
        complete = scene.apply(WorldApi(scene.world), IMPATIENT).complete
        assert not (complete and when is When.BEFORE), number
        assert scene.apply(WorldApi(scene.world), IMPATIENT).complete, number
        scene.assert_exact()


@SCENES
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_request_the_next_run_finishes(make, after):
    for number in range(1, requests(make) + 1):
        scene = make()
        with pytest.raises(Killed):
            scene.apply(Mortal(scene.world, dies_at=number, after=after))
        assert scene.apply(WorldApi(scene.world)).complete, number
        scene.assert_exact()


@pytest.mark.parametrize("after", [False, True])
def test_killed_while_making_paused_nothing_is_ever_due_soon(after):
    for number in range(1, requests(making_paused) + 1):
        scene = making_paused()
        with pytest.raises(Killed):
            scene.apply(Mortal(scene.world, dies_at=number, after=after))
        for one in store_of(WorldApi(scene.world)).jobs(PARENT):
            if one.belongs_to("default") and one.state is State.ENABLED:
                assert one.unborn
                assert (one.next_at - NOW).days > 300
        scene.scope = Scope(PARENT)  # the next apply does not ask for paused jobs
        begun = [one.job_id for one in _unborn(scene)]
        assert scene.apply(WorldApi(scene.world)).complete
        scene.assert_exact()
        assert not _unborn(scene)
        for id_ in begun:
            one = store_of(WorldApi(scene.world)).get(f"{PARENT}/jobs/{id_}")
            assert one.state is State.PAUSED
            assert one.pause_is_ours


def _unborn(scene: Scene) -> list[LiveJob]:
    jobs = store_of(WorldApi(scene.world)).jobs(PARENT)
    return [one for one in jobs if one.unborn]


# --- Many troubles at once, several changes at a time --------------------------------


def through_http(scene: Scene, timeout: float) -> tuple[bool, int]:
    """Apply through Google's client; give whether it came through, and its requests."""
    with server.start(scene.world) as running:
        api = GoogleApi(timeout, running.url.removeprefix("http://"))
        store = store_of(api)
        plan = diff(scene.desired, store.jobs(PARENT), scene.scope)
        outcome = Run(store, lambda: NOW, lambda _: None).apply(plan)
        api.close()
    return outcome.complete, len(scene.world.journal.exchanges())


@pytest.mark.parametrize("when", list(When))
def test_every_change_s_first_call_may_time_out(when):
    scene = changing()
    scene.world.faults.add(Fault(Slow(0.6), when, path="/jobs/", times=20))
    scene.world.faults.add(Fault(Slow(0.6), when, method="POST", times=10))
    complete, count = through_http(scene, 0.3)
    assert complete
    assert count >= 1 + 2 * 30
    scene.assert_exact()


@given(
    st.lists(
        st.builds(
            Fault,
            st.sampled_from((Fail(503), Fail(500), Fail(429), Cut())),
            st.sampled_from(When),
            skip=st.integers(0, 60),
        ),
        max_size=25,
        unique=True,
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_troubles_at_any_requests_are_come_through_in_the_end(faults, paused):
    scene = making_paused() if paused else changing()
    for fault in faults:
        scene.world.faults.add(fault)
    for _ in range(3):  # patience may end; then it is run again
        store = store_of(WorldApi(scene.world))
        try:
            plan = diff(scene.desired, store.jobs(PARENT), scene.scope)
        except ApiError:
            continue
        Run(store, lambda: NOW, lambda _: None, at_once=8).apply(plan)
    scene.world.faults.clear()
    assert scene.apply(WorldApi(scene.world)).complete
    scene.assert_exact()


def test_a_quota_is_waited_out():
    clock = VirtualClock(NOW)
    scene = changing()
    scene.world.clock = clock
    scene.world.quota.limits = Limits(writes=12)

    def sleep(seconds: float) -> None:
        clock.advance(timedelta(seconds=seconds))

    store = store_of(WorldApi(scene.world), Patience())
    store.sleep = sleep
    plan = diff(scene.desired, store.jobs(PARENT), scene.scope)
    assert Run(store, clock.now, lambda _: None, at_once=4).apply(plan).complete
    scene.assert_exact()
    assert clock.now() - NOW < timedelta(minutes=10)
