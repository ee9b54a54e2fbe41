"""The next step of an entry, state by state, and the way it goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from cronspec import unixcron
from cronspec.config import load_cron, load_dispatch
from cronspec.naming import PAUSED_HEADER, UNBORN_HEADER
from cronspec.retry import NO_RETRIES
from migrate.choices import EntryChoices, Home, Intervals, ToHttp
from migrate.cutover import ways
from migrate.cutover.back import back
from migrate.cutover.backup import Saved
from migrate.cutover.observe import World, view
from migrate.cutover.onward import onward
from migrate.cutover.seen import Before, Chosen, Moving, OurJob, Pace, Stage, Way
from migrate.cutover.ways import Health, Service, Silent
from migrate.job import to_api
from migrate.livejob import LiveJob
from migrate.translate import Translation, translate
from migrate.verdict import RetryDivergent

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW = datetime(2026, 3, 4, 10, 2, 0, tzinfo=UTC)
PARENT = "projects/shop/locations/europe-west1"
CRON = "cron:\n- url: /t\n  schedule: every 5 minutes synchronized\n"
REST = "cron:\n- url: /t\n  schedule: every 5 minutes\n"
GOOD = {"lastAttemptTime": "2026-03-04T10:00:00Z", "status": {}}


def translated(cron: str = CRON, dispatch: str = "", **choices: Any) -> Translation:
    rules = load_dispatch(dispatch, "dispatch.yaml").rules if dispatch else ()
    chosen = EntryChoices(**choices)
    (one,) = translate(
        load_cron(cron, "cron.yaml").entries,
        rules,
        Home("shop", "europe-west1"),
        lambda _entry, _route: chosen,
        NOW,
    )
    return one


# --- States -------------------------------------------------------------------------

LEGACY = {"": None, "L": "ENABLED", "l": "PAUSED"}


def moving(
    state: str,
    way: Way = Way.GAP,
    *,
    before: Before = Before.ENABLED,
    theirs: bool = False,
    cron: str = CRON,
    fields: Mapping[str, Any] = GOOD,
) -> Moving:
    """An entry in a state: L or l, a legacy job that fires or not; O ours fires, h is
    held, s stopped by somebody, u unborn, d held and differs, D fires and differs, m
    fires with our mark of a pause.
    """
    one = translated(cron)
    world = World(PARENT, "default", [one], {}, NOW, theirs=theirs)
    legacy, live = [], []
    for letter in state:
        if letter in "Ll":
            sent = {
                **world.legacy[one.key],
                "name": f"{PARENT}/jobs/0001",
                "state": LEGACY[letter],
                "scheduleTime": "2026-03-04T10:05:00Z",
                "userUpdateTime": "2026-03-01T00:00:00Z",
                **fields,
            }
            legacy.append(LiveJob(sent, legacy=True))
        else:
            live.append(our_job(one, letter))
    (seen,) = view(world, live, legacy, Saved()).entries
    return replace(seen, chosen=Chosen(way, ""), before=before)


def our_job(one: Translation, letter: str) -> LiveJob:
    job = to_api(one.jobs[0])
    marks = {"h": PAUSED_HEADER, "d": PAUSED_HEADER, "m": PAUSED_HEADER}
    marks["u"] = UNBORN_HEADER
    target = job["appEngineHttpTarget"]
    headers = dict(target["headers"])
    if letter in marks:
        headers[marks[letter]] = "2026-03-04T00:00:00Z"
    return LiveJob(
        {
            **job,
            "appEngineHttpTarget": {**target, "headers": headers},
            "state": "ENABLED" if letter in "ODm" else "PAUSED",
            "description": "other" if letter in "dD" else "",
            "scheduleTime": "2026-03-04T10:05:00Z",
            "userUpdateTime": "2026-03-04T09:00:00Z",
            **GOOD,
        }
    )


def said(found: object) -> str:
    step = getattr(found, "step", None)
    return type(step).__name__ if step is not None else type(found).__name__


@pytest.mark.parametrize(
    ("state", "overlap", "hand_over", "gap", "rollback"),
    [
        ("", "Stop", "Stop", "Stop", "Restore"),
        ("L", "Make", "Make", "MakePaused", "Done"),
        ("l", "MakePaused", "MakePaused", "MakePaused", "Done"),
        ("Lu", "Complete", "Complete", "Complete", "Complete"),
        ("lu", "Complete", "Complete", "Complete", "Complete"),
        ("u", "Complete", "Complete", "Complete", "Restore"),
        ("Lh", "Resume", "Resume", "Swap", "Done"),
        ("lh", "Release", "Release", "Release", "Done"),
        ("h", "Resume", "Resume", "Resume", "Restore"),
        ("Ls", "Stop", "Stop", "Stop", "Done"),
        ("ls", "Remove", "Remove", "Remove", "Done"),
        ("s", "Done", "Done", "Done", "Stop"),
        ("LO", "Remove", "Remove", "Remove", "Hold"),
        ("lO", "Remove", "Remove", "Remove", "Stop"),
        ("O", "Done", "Done", "Done", "Restore"),
        ("Ld", "Mend", "Mend", "Mend", "Done"),
        ("d", "Mend", "Mend", "Mend", "Restore"),
        ("LD", "Stop", "Stop", "Stop", "Hold"),
        ("D", "Done", "Done", "Done", "Restore"),
        ("Lm", "Resume", "Resume", "Resume", "Hold"),
        ("m", "Resume", "Resume", "Resume", "Restore"),
    ],
)
def test_each_state_has_its_next_step(
    state: str, overlap: str, hand_over: str, gap: str, rollback: str
) -> None:
    found = [said(onward(moving(state, way), NOW)) for way in Way]
    assert found == [overlap, hand_over, gap]
    assert {said(back(moving(state, way), NOW)) for way in Way} == {rollback}


@pytest.mark.parametrize(
    ("state", "cutover", "rollback"),
    [
        ("", "Stop", "Restore"),
        ("L", "Stop", "Done"),
        ("l", "Stop", "Done"),
        ("Lu", "Stop", "Done"),
        ("Ls", "Remove", "Done"),
        ("s", "Stop", "Restore"),
        ("ls", "Remove", "Done"),
        ("LO", "Remove", "Stop"),
        ("O", "Done", "Restore"),
        ("LD", "Stop", "Stop"),
        ("Lh", "Stop", "Done"),
        ("lh", "Stop", "Done"),
    ],
)
def test_terraform_s_jobs_have_no_step_of_ours(
    state: str, cutover: str, rollback: str
) -> None:
    one = moving(state, theirs=True)
    assert said(onward(one, NOW)) == cutover
    assert said(back(one, NOW)) == rollback


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("before", Before)
def test_whatever_is_there_terraform_s_jobs_are_never_touched(
    way: Way, before: Before
) -> None:
    theirs_alone = {"Remove", "Restore", "Stop", "Wait", "Done"}
    for legacy in ("", "L", "l"):
        for our in ("", "u", "h", "s", "O", "d", "D", "m"):
            one = moving(legacy + our, way, before=before, theirs=True)
            assert said(onward(one, NOW)) in theirs_alone, (legacy, our)
            assert said(back(one, NOW)) in theirs_alone, (legacy, our)


def test_side_by_side_terraform_s_jobs_must_fire_first() -> None:
    found = onward(moving("Ls", Way.OVERLAP, theirs=True), NOW)
    assert "set paused = false" in found.why


def test_what_was_paused_before_stays_so_in_both_directions() -> None:
    held = moving("h", before=Before.STOPPED)
    assert said(onward(held, NOW)) == "Release"
    stopped = moving("s", before=Before.STOPPED)
    assert said(onward(stopped, NOW)) == "Done"
    assert said(back(stopped, NOW)) == "Done"
    theirs = moving("s", before=Before.STOPPED, theirs=True)
    assert said(onward(theirs, NOW)) == "Done"


def test_a_legacy_job_without_a_state_is_not_taken_for_a_paused_one() -> None:
    one = moving("L", fields={**GOOD, "state": "STATE_UNSPECIFIED"})
    assert "does not say" in getattr(onward(one, NOW), "why", "")


def test_what_nobody_knows_is_not_brought_back() -> None:
    assert said(back(moving("", before=Before.UNKNOWN), NOW)) == "Stop"


UNRESTED = {"lastAttemptTime": "2026-03-04T10:01:58Z"}


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("state", ["Lh", "LO", "L", "ls"])
def test_no_job_goes_while_a_run_is_under_way(state: str, way: Way) -> None:
    found = said(onward(moving(state, way, fields=UNRESTED), NOW))
    if (state, way) in {("Lh", Way.OVERLAP), ("L", Way.OVERLAP)}:
        assert found in ("Resume", "Make")  # both firing is what is wanted
    elif (state, way) == ("L", Way.GAP):
        assert found == "MakePaused"
    else:
        assert found == "Wait"


def delivery(**fields: Any) -> str:
    one = moving("LO", Way.OVERLAP)
    live = one.ours[0].live
    assert live is not None
    resource = {**live.resource, **fields}
    job = LiveJob({k: v for k, v in resource.items() if v is not None})
    return said(onward(replace(one, ours=(replace(one.ours[0], live=job),)), NOW))


@pytest.mark.parametrize(
    ("fields", "next_step"),
    [
        ({}, "Remove"),
        ({"status": {"code": 10}}, "Remove"),  # 409: the other sender has the run
        ({"status": {"code": 13}}, "Wait"),
        ({"status": {"code": 7}}, "Wait"),  # 403: it lets ours not in
        ({"status": None}, "Wait"),
        ({"lastAttemptTime": None, "status": None}, "Wait"),
        ({"userUpdateTime": "2026-03-04T10:01:00Z"}, "Wait"),
    ],
)
def test_ours_is_seen_to_deliver_by_an_answer_since_its_last_change(
    fields: dict[str, Any], next_step: str
) -> None:
    assert delivery(**fields) == next_step


def test_a_task_that_fails_for_both_is_delivered_all_the_same() -> None:
    failed = {**GOOD, "status": {"code": 13}}
    one = moving("LO", Way.OVERLAP, fields=failed)
    live = one.ours[0].live
    assert live is not None
    job = LiveJob({**live.resource, **failed})
    one = replace(one, ours=(replace(one.ours[0], live=job),))
    assert said(onward(one, NOW)) == "Remove"


def test_an_entry_that_never_fires_is_not_seen_to() -> None:
    one = moving("LO", Way.OVERLAP)
    never = Pace(
        unixcron.parse("0 0 30 2 *"), ZoneInfo("UTC"), NO_RETRIES, timedelta(0)
    )
    live = one.ours[0].live
    assert live is not None
    bare = LiveJob({k: v for k, v in live.resource.items() if k != "scheduleTime"})
    changed = {**bare.resource, "userUpdateTime": "2026-03-04T10:01:00Z"}
    ours = (replace(one.ours[0], live=LiveJob(changed)),)
    found = onward(replace(one, pace=never, ours=ours), NOW)
    assert "it never fires" in found.why


def test_a_blocked_entry_stops_and_its_legacy_job_stays() -> None:
    one = replace(moving("L"), ours=())
    assert said(onward(one, NOW)) == "Stop"
    assert said(back(one, NOW)) == "Done"


def test_a_job_that_is_not_there_is_missing() -> None:
    assert OurJob({}).stage is Stage.MISSING


# --- Ways ---------------------------------------------------------------------------

HTTP = ToHttp("https://x.example", "me@shop.iam.gserviceaccount.com", "https://x")
DISPATCH = "dispatch:\n- {url: '*/t*', service: worker}\n"
HEALTH = Health("", "ab" * 32)


def way_of(one: Translation, **service: Any) -> Chosen:
    digest = ways.digest_of([one])
    health = service.pop("health", HEALTH)
    if isinstance(health, Health) and not health.entries:
        health = replace(health, entries=digest)
    found = Service(service.pop("shares", {"v1": 1.0}), health)
    return ways.choose(one, {"default": found, "worker": found}, digest)


@pytest.mark.parametrize(
    ("one", "service", "way", "why"),
    [
        (translated(), {}, Way.OVERLAP, "the host makes one run"),
        (translated(dispatch=DISPATCH), {}, Way.OVERLAP, "the host makes one run"),
        (translated(), {"shares": {"v1": 1.0, "v0": 0.0}}, Way.OVERLAP, "the host"),
        (translated(), {"shares": {"v1": 0.9, "v2": 0.1}}, Way.GAP, "split (v1, v2)"),
        (translated(), {"shares": {}}, Way.GAP, "split (none)"),
        (translated(), {"health": Silent("no")}, Way.GAP, "no host of ours: no"),
        (translated(), {"health": Health("x", "ab" * 32)}, Way.GAP, "another list"),
        (translated(), {"health": Health("", "")}, Way.GAP, "which store"),
        (translated(destination=HTTP), {}, Way.GAP, "another address"),
        (translated(REST), {}, Way.HAND_OVER, "from the end of each run"),
        (translated(REST, intervals=Intervals.CLOCK), {}, Way.GAP, "clock times"),
        (translated(CRON + "  target: v1:default\n"), {}, Way.GAP, "pinned"),
        (translated(CRON + "  target: nowhere\n"), {}, Way.GAP, "no service nowhere"),
        (translated(REST, destination=HTTP), {}, Way.HAND_OVER, "from the end"),
    ],
)
def test_the_way_follows_from_entry_service_and_host(
    one: Translation, service: dict[str, Any], way: Way, why: str
) -> None:
    chosen = way_of(one, **service)
    assert chosen.way is way
    assert why in chosen.why


def test_ticks_retries_and_services_that_differ_are_no_ground_for_overlap() -> None:
    one = translated()
    unproven = replace(one, schedule=translated(REST).schedule)
    assert "not proven" in way_of(unproven).why
    assert "retries differ" in way_of(replace(one, retry=RetryDivergent((), ()))).why
    route = replace(one.route, after="worker")
    assert "by worker then" in way_of(replace(one, route=route)).why


def test_a_groc_schedule_that_stays_overlaps_as_well() -> None:
    cron = "cron:\n- {url: /t, schedule: 'first monday of month 09:00'}\n"
    assert way_of(translated(cron)).way is Way.OVERLAP
