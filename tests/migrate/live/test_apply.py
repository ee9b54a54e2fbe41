"""Carrying out a plan: order, dependence, stopping, and what may not be applied."""

from __future__ import annotations

import pytest

from emulator.faults import Cut, Fault
from migrate.adoption import Misfit, adoptions
from migrate.apply import Failed, Made, NotTried, Run
from migrate.livejob import LiveJob
from migrate.normal import with_headers
from migrate.plan import Create, Finish, Plan, Scope, Update, diff
from migrate.planfile import PlanFileError, dump, load
from migrate.problems import Missing
from migrate.staging import unborn
from tests.migrate.live.world import NOW, PARENT, WorldApi, job, ours, store_of

SCOPE = Scope(PARENT, max_deletes=5)


def run_of(store, told=lambda _: None, at_once=1) -> Run:
    return Run(store, lambda: NOW, told, at_once=at_once)


def test_creates_come_before_updates_before_deletes(world):
    api = WorldApi(world)
    store = store_of(api)
    for id_ in ("a", "b"):
        store.create(ours(id_))
    api.calls.clear()
    desired = [ours("b", description="x"), ours("c")]
    plan = diff(desired, store.jobs(PARENT), SCOPE)
    assert run_of(store).apply(plan).complete
    assert api.calls == ["list", "create", "update", "get", "delete"]


@pytest.mark.parametrize(
    "plan",
    [
        Plan(Scope(PARENT), (), (Create(ours("a")),), conflicts=(LiveJob(job("a")),)),
        diff([], [LiveJob(ours("a"))], Scope(PARENT)),
    ],
)
def test_what_must_not_be_applied_is_not(memory, plan):
    with pytest.raises(ValueError, match=r"names that are needed|--max-deletes 1"):
        run_of(memory).apply(plan)


def test_a_job_that_became_another_s_meanwhile_is_not_deleted(memory):
    memory.create(ours("a"))
    memory.create(ours("b"))
    plan = diff([], memory.jobs(PARENT), SCOPE)
    memory.update(ours("a", "other"), ["appEngineHttpTarget.headers"])
    memory.delete(f"{PARENT}/jobs/b")
    taken, gone = run_of(memory).apply(plan).results
    assert isinstance(taken, Failed)
    assert "its marks were changed meanwhile: plan again" in str(taken.why)
    assert isinstance(gone, Made)
    assert [one.job_id for one in memory.jobs(PARENT)] == ["a"]


def test_a_stop_lets_nothing_more_begin(memory):
    plan = diff([ours(f"j{n}") for n in range(5)], [], SCOPE)
    run = run_of(memory)
    run.told = lambda _: run.stop.set()
    outcome = run.apply(plan)
    assert not outcome.complete
    kinds = [type(one) for one in outcome.results]
    assert kinds[0] is Made
    assert kinds[-1] is NotTried
    assert len(list(memory.jobs(PARENT))) == kinds.count(Made)


def test_every_result_is_told_once_and_stands_in_the_plan_s_order(memory):
    plan = diff([ours(f"j{n}") for n in range(40)], [], SCOPE)
    told = []
    outcome = run_of(memory, told.append, at_once=8).apply(plan)
    assert [one.change for one in outcome.results] == list(plan.changes)
    assert len(told) == 40


def test_an_update_of_what_is_deleted_meanwhile_says_so(memory, world):
    store = memory
    store.create(ours("a"))
    plan = diff([ours("a", description="x")], store.jobs(PARENT), SCOPE)
    world.faults.add(Fault(Cut(), method="PATCH"))
    store.delete(f"{PARENT}/jobs/a")
    (result,) = run_of(store).apply(plan).results
    assert isinstance(result, Failed)
    assert isinstance(result.why, Missing)
    assert "deleted meanwhile: plan again" in str(result.why)


def test_a_saved_plan_says_the_same_of_every_kind_of_change(memory):
    memory.create(ours("edit"))
    memory.create(ours("old"))
    memory.create(unborn(ours("begun"), NOW))
    desired = [ours("edit", description="x"), ours("begun"), ours("new")]
    plan = diff(desired, memory.jobs(PARENT), SCOPE)
    saved = load(dump(plan), "plan.json")
    assert saved.plan(memory.jobs(PARENT)) == plan
    memory.delete(f"{PARENT}/jobs/old")
    with pytest.raises(PlanFileError, match="stale: old changed"):
        saved.plan(memory.jobs(PARENT))


def test_many_stale_jobs_are_counted(memory):
    plan = diff([ours(f"j{n}") for n in range(9)], [], SCOPE)
    for n in range(9):
        memory.create(job(f"j{n}"))
    with pytest.raises(PlanFileError, match="j0, j1, j2, j3, j4 and 4 more"):
        load(dump(plan), "plan.json").plan(memory.jobs(PARENT))


def test_a_job_taken_over_keeps_its_name_in_later_plans():
    live = LiveJob({**ours("hand"), "name": f"{PARENT}/jobs/other-name"})
    plan = diff([ours("hand", description="x")], [live], SCOPE)
    (update,) = plan.changes
    assert isinstance(update, Update)
    assert update.after["name"] == live.name


def test_a_mark_of_a_pause_outlives_an_update_while_it_is_paused():
    marked = with_headers(ours("a"), {"X-Cron-Paused": "then"})
    live = LiveJob({**marked, "state": "PAUSED"})
    wanted = ours("a", schedule="0 1 * * *")
    (update,) = diff([wanted], [live], SCOPE).changes
    assert isinstance(update, Update)
    headers = update.after["appEngineHttpTarget"]["headers"]
    assert headers["X-Cron-Paused"] == "then"


def test_what_is_unborn_is_finished_even_where_nothing_else_differs():
    live = LiveJob(
        {**with_headers(ours("a"), {"X-Cron-Unborn": "x"}), "state": "PAUSED"}
    )
    (finish,) = diff([ours("a")], [live], SCOPE).changes
    assert isinstance(finish, Finish)


def named(id_: str, service: str) -> dict[str, object]:
    routing = {"service": service} if service else {}
    target = {"httpMethod": "GET", "relativeUri": "/t", "appEngineRouting": routing}
    return {"appEngineHttpTarget": target, "name": f"{PARENT}/jobs/{id_}"}


def test_of_entries_with_one_url_that_of_the_job_s_service_takes_it():
    desired = [ours("a", **named("a", "")), ours("b", **named("b", "worker"))]
    live = [LiveJob(job("x", **named("x", "worker")))]
    (update,) = adoptions(["x"], desired, live, "default")
    assert isinstance(update, Update)
    assert update.after["appEngineHttpTarget"]["headers"]["X-Cron-Entry"] == "b"
    again = adoptions(["x", "x"], desired[1:], live, "default")
    assert isinstance(again[1], Misfit)


def test_of_strangers_no_more_is_kept_than_is_told_of_them():
    body = "eA==" * 100_000
    target = {"relativeUri": "/x", "httpMethod": "POST", "body": body}
    theirs = job("x", appEngineHttpTarget=target, state="PAUSED")
    (foreign,) = diff([], [LiveJob(theirs)], SCOPE).foreign
    assert (foreign.job_id, foreign.url, foreign.state) == ("x", "/x", "PAUSED")
    assert len(str(foreign.resource)) < 1000
