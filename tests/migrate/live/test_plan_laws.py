"""Laws of plan and apply: any set of jobs becomes any other, and nothing else moves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.app import App
from emulator.clock import VirtualClock
from emulator.world import World
from migrate.apply import Made, Run
from migrate.livejob import State
from migrate.normal import differences, normal
from migrate.plan import Create, Delete, Plan, Scope, Update, diff
from tests.migrate.live.world import NOW, PARENT, WorldApi, job, ours, store_of

SCHEDULES = ("0 9 * * 1", "*/5 * * * *", "every 5 minutes", "1st monday of month 09:00")
RETRIES = (
    None,
    {"retryCount": 3, "minBackoffDuration": "0.1s", "maxBackoffDuration": "3600s"},
    {"retryCount": 5, "maxRetryDuration": "3600s", "maxDoublings": 16},
    {"minBackoffDuration": "5s", "maxBackoffDuration": "3600s", "maxDoublings": 5},
)
APP_ENGINE = st.fixed_dictionaries(
    {
        "httpMethod": st.just("GET"),
        "relativeUri": st.sampled_from(("/", "/x", "/y?a=1")),
    },
    optional={
        "appEngineRouting": st.sampled_from(
            ({"service": "w"}, {"service": "w", "version": "2"}, {"version": "2"})
        )
    },
)
HTTP = st.fixed_dictionaries(
    {"httpMethod": st.just("GET"), "uri": st.sampled_from(("https://a.test/x",))},
    optional={
        "oidcToken": st.sampled_from(
            (
                {"serviceAccountEmail": "c@a.test"},
                {"serviceAccountEmail": "c@a.test", "audience": "https://a.test"},
            )
        )
    },
)
REST = st.fixed_dictionaries(
    {
        "schedule": st.sampled_from(SCHEDULES),
        "timeZone": st.sampled_from(("UTC", "Etc/UTC", "Europe/Rome")),
        "description": st.sampled_from(("", "x")),
        "retryConfig": st.sampled_from(RETRIES),
        "attemptDeadline": st.sampled_from((None, "600s", "180s")),
    }
)
TARGET = st.one_of(
    APP_ENGINE.map(lambda t: {"appEngineHttpTarget": t}),
    HTTP.map(lambda t: {"appEngineHttpTarget": None, "httpTarget": t}),
)
FIELDS = st.tuples(REST, TARGET).map(lambda both: both[0] | both[1])
SETS = st.dictionaries(st.sampled_from("abcdefgh"), FIELDS, max_size=6)
STRANGERS = st.dictionaries(st.sampled_from("stuv"), FIELDS, max_size=3)
SCOPE = Scope(PARENT, max_deletes=100)


def jobs(fields: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [ours(id_, **rest) for id_, rest in fields.items()]


class Place:
    """A world with strangers' jobs in it: unmarked, and of another set."""

    def __init__(self, strangers: dict[str, dict[str, Any]]) -> None:
        self.world = World(app=App("shop", "europe-west"), clock=VirtualClock(NOW))
        self.store = store_of(WorldApi(self.world))
        for number, (id_, fields) in enumerate(strangers.items()):
            made = job(id_, **fields) if number % 2 else ours(id_, "other", **fields)
            self.store.create(made)
        self.strangers = self.resources()

    def resources(self) -> dict[str, Any]:
        return {one.job_id: one.resource for one in self.store.jobs(PARENT)}

    def plan(self, desired: list[dict[str, Any]], scope: Scope = SCOPE) -> Plan:
        return diff(desired, self.store.jobs(PARENT), scope)

    def apply(self, plan: Plan) -> None:
        run = Run(self.store, lambda: datetime.now(UTC), lambda _: None, at_once=2)
        assert all(isinstance(one, Made) for one in run.apply(plan).results)

    def assert_is(self, desired: list[dict[str, Any]]) -> None:
        """Hold that exactly these are there, beside the strangers as they were."""
        there = self.resources()
        assert {k: there.pop(k) for k in self.strangers} == self.strangers
        wanted = {one["name"].rpartition("/")[2]: one for one in desired}
        assert there.keys() == wanted.keys()
        for id_, one in wanted.items():
            assert not differences(there[id_], one)


@given(STRANGERS, SETS, SETS)
@settings(max_examples=120, deadline=None)
def test_apply_brings_any_set_to_any_other_and_leaves_strangers_alone(
    strangers, before, after
):
    place = Place(strangers)
    place.apply(place.plan(jobs(before)))
    place.assert_is(jobs(before))
    plan = place.plan(jobs(after))
    place.apply(plan)
    place.assert_is(jobs(after))
    assert not place.plan(jobs(after))
    kinds = {id_: type(one) for one in plan.changes for id_ in [_id(one)]}
    for id_ in before.keys() | after.keys():
        expected = _expected(before.get(id_), after.get(id_), id_)
        assert kinds.get(id_) is expected


def _id(change: Any) -> str:
    name = change.after["name"] if isinstance(change, Create) else change.before.name
    return name.rpartition("/")[2]


def _expected(before: Any, after: Any, id_: str) -> type | None:
    if before is None or after is None:
        return Create if before is None else Delete
    same = normal(ours(id_, **before)) == normal(ours(id_, **after))
    return None if same else Update


@given(SETS, SETS, st.sets(st.sampled_from("abcdefgh")))
@settings(max_examples=120, deadline=None)
def test_a_pause_outlives_every_update(before, after, paused):
    place = Place({})
    place.apply(place.plan(jobs(before)))
    for id_ in paused & before.keys():
        place.store.pause(f"{PARENT}/jobs/{id_}")
    place.apply(place.plan(jobs(after)))
    place.assert_is(jobs(after))
    for one in place.store.jobs(PARENT):
        stays = one.job_id in paused & before.keys()
        assert one.state is (State.PAUSED if stays else State.ENABLED)


@given(SETS, SETS)
@settings(max_examples=120, deadline=None)
def test_what_was_made_paused_is_paused_and_finished(before, after):
    place = Place({})
    scope = Scope(PARENT, max_deletes=100, paused=True)
    place.apply(place.plan(jobs(before), scope))
    place.apply(place.plan(jobs(after), scope))
    place.assert_is(jobs(after))
    for one in place.store.jobs(PARENT):
        assert one.state is State.PAUSED
        assert one.pause_is_ours
        assert not one.unborn
    assert not place.plan(jobs(after), scope)
    assert not place.plan(jobs(after))


@given(SETS, SETS, st.sampled_from(("/", "/x", "/y?a=1")))
@settings(max_examples=120, deadline=None)
def test_what_only_does_not_name_stays_as_it_is(before, after, url):
    place = Place({})
    place.apply(place.plan(jobs(before)))
    was = {one.job_id: one for one in place.store.jobs(PARENT)}
    scope = Scope(PARENT, urls=frozenset((url,)), max_deletes=100)
    place.apply(place.plan(jobs(after), scope))
    now = {one.job_id: one for one in place.store.jobs(PARENT)}
    for id_ in was.keys() | now.keys():
        sides = (was.get(id_), now.get(id_))
        if all(side is None or side.url != url for side in sides):
            assert sides[0] == sides[1]
    assert not place.plan(jobs(after), scope)
