"""The contract of a job store, over the emulated world and through Google's client."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from emulator.app import App
from emulator.errors import error_info
from emulator.faults import Cut, Fail, Fault, Slow, When
from migrate.livejob import LiveJob, State
from migrate.normal import differences, normal
from migrate.pacing import Patience
from migrate.problems import ApiError, Hopeless, Lost, Missing, Refused
from migrate.store import Page
from tests.migrate.live.world import PARENT, WorldApi, job, ours, store_of

if TYPE_CHECKING:
    from emulator.world import World
    from migrate.store import JobStore

NAME = f"{PARENT}/jobs/a"
LEGACY = {
    "schedule": "every 5 minutes",
    "timeZone": "UTC",
    "appEngineHttpTarget": {"httpMethod": "GET", "relativeUri": "/old"},
}
LOSSES = [
    pytest.param(Fault(trouble, when, path=r"^/v1"), id=f"{name} {when.value}")
    for name, trouble in (("cut off", Cut()), ("503", Fail(503)), ("500", Fail(500)))
    for when in When
] + [
    pytest.param(Fault(Fail(429), path=r"^/v1"), id="429"),
    pytest.param(Fault(Fail(504), When.AFTER, path=r"^/v1"), id="504 after"),
]


class Detail(dict[str, Any]):
    """A detail of an error that a fault, which is kept in a dict, can hold."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none


def info(reason: str, **metadata: str) -> tuple[Detail]:
    return (Detail(error_info(reason, **metadata)),)


def live(store: JobStore, *, legacy: bool = False) -> list[LiveJob]:
    return list(store.legacy_jobs(PARENT) if legacy else store.jobs(PARENT))


@pytest.fixture(params=LOSSES)
def fault(request: pytest.FixtureRequest) -> Fault:
    return request.param


def befall(world: World, fault: Fault, path: str, method: str = "") -> None:
    """Put a fault in force for the next such request."""
    world.faults.add(Fault(fault.trouble, fault.when, method, path))


def test_a_created_job_comes_back_equal_and_enabled(store):
    made = store.create(ours("a", description="x"))
    assert made.name == NAME
    assert made.state is State.ENABLED
    assert not differences(made.resource, ours("a", description="x"))
    assert store.get(NAME) == made
    assert live(store) == [made]


def test_what_is_not_there_is_none_and_deletes_well(store):
    assert store.get(NAME) is None
    store.delete(NAME)
    assert live(store) == []


def test_pages_are_followed_to_the_end(world):
    store = store_of(WorldApi(world, page_size=7))
    for number in range(20):
        store.create(ours(f"j{number:02}"))
    assert [one.job_id for one in live(store)] == [f"j{n:02}" for n in range(20)]


def test_an_update_changes_the_masked_fields_only(store):
    store.create(ours("a", description="x"))
    wanted = ours("a", schedule="0 10 * * 1", description="y")
    store.update(wanted, ["schedule"])
    found = store.get(NAME)
    assert (found.schedule, found.resource["description"]) == ("0 10 * * 1", "x")


def test_an_update_of_what_is_gone_says_so(store):
    with pytest.raises(Missing, match="update a: there is no job of that name"):
        store.update(ours("a"), ["schedule"])


def test_pause_and_resume_bring_about_a_state_whatever_was_before(store):
    store.create(ours("a"))
    assert store.pause(NAME).state is State.PAUSED
    assert store.pause(NAME).state is State.PAUSED
    assert store.resume(NAME).state is State.ENABLED
    assert store.resume(NAME).state is State.ENABLED


def test_pause_of_what_is_gone_says_so(store):
    with pytest.raises(Missing):
        store.pause(NAME)


def test_legacy_jobs_are_apart_and_counted_one_by_one(store):
    store.create(ours("a"))
    store.create_legacy(PARENT, LEGACY)
    store.create_legacy(PARENT, LEGACY)
    first, second = live(store, legacy=True)
    assert first.legacy
    assert normal(first.resource) == normal(second.resource) == normal(LEGACY)
    assert len(live(store)) == 1
    store.delete(first.name, legacy=True)
    assert live(store, legacy=True) == [second]


def test_no_lost_reply_makes_a_create_fail_or_double(store, world, fault):
    befall(world, fault, r"/jobs(\?|$)", "POST")
    store.create(ours("a"))
    assert [one.job_id for one in live(store)] == ["a"]


def test_no_lost_reply_makes_an_update_fail(store, world, fault):
    store.create(ours("a"))
    befall(world, fault, "/jobs/a", "PATCH")
    wanted = ours("a", schedule="0 10 * * 1")
    store.update(wanted, ["schedule", "appEngineHttpTarget.headers"])
    assert not differences(store.get(NAME).resource, wanted)


def test_no_lost_reply_makes_a_delete_fail(store, world, fault):
    store.create(ours("a"))
    befall(world, fault, "/jobs/a", "DELETE")
    store.delete(NAME)
    assert live(store) == []


def test_no_lost_reply_makes_a_pause_or_resume_fail(store, world, fault):
    store.create(ours("a"))
    befall(world, fault, ":pause")
    assert store.pause(NAME).state is State.PAUSED
    befall(world, fault, ":resume")
    assert store.resume(NAME).state is State.ENABLED


def test_no_lost_reply_makes_two_legacy_jobs_or_none(store, world, fault):
    store.create_legacy(PARENT, LEGACY)
    befall(world, fault, r"/jobs(\?|$)", "POST")
    store.create_legacy(PARENT, LEGACY)
    assert len(live(store, legacy=True)) == 2


def test_no_lost_reply_makes_a_list_or_a_read_fail(store, world, fault):
    made = store.create(ours("a"))
    befall(world, fault, "", "GET")
    assert live(store) == [made]
    befall(world, fault, "", "GET")
    assert store.get(NAME) == made


def test_an_answer_that_comes_too_late_counts_as_none(world):
    from emulator import server  # noqa: PLC0415 - here alone a socket is a must
    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - as above

    world.faults.add(Fault(Slow(0.4), When.AFTER, "POST", r"/jobs(\?|$)"))
    with server.start(world) as running:
        api = GoogleApi(0.15, running.url.removeprefix("http://"))
        store_of(api).create(ours("a"))
        api.close()
    assert [e.request.method for e in world.journal.exchanges()] == ["POST", "GET"]


def test_a_legacy_create_that_lands_late_is_not_made_twice(world):
    from emulator import server  # noqa: PLC0415 - here alone a socket is a must
    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - as above

    world.faults.add(Fault(Slow(0.4), When.BEFORE, "POST", r"/jobs(\?|$)"))
    with server.start(world) as running:
        api = GoogleApi(0.15, running.url.removeprefix("http://"))
        store = store_of(api, Patience(first_wait=1))
        store.sleep = time.sleep
        store.create_legacy(PARENT, LEGACY)
        assert len(live(store, legacy=True)) == 1
        api.close()


def test_a_deadline_that_the_server_gives_does_not_hide_a_legacy_job(world):
    class WithDeadlines(WorldApi):
        def page(self, parent: str, token: str, *, legacy: bool) -> Page:
            found = super().page(parent, token, legacy=legacy)
            jobs = [one | {"attemptDeadline": "180s"} for one in found.jobs]
            return Page(jobs, found.next_token)

    store = store_of(WithDeadlines(world))
    world.faults.add(Fault(Cut(), When.AFTER, "POST"))
    store.create_legacy(PARENT, LEGACY)
    assert len(live(store, legacy=True)) == 1


def test_a_create_on_a_name_that_is_taken_stops_and_changes_nothing(store):
    theirs = store.create(job("a", description="theirs"))
    with pytest.raises(Refused, match=r"there already.*description.*plan again"):
        store.create(ours("a"))
    assert store.get(NAME) == theirs


def test_a_job_disabled_by_the_system_is_not_resumed(world):
    store = store_of(WorldApi(world))
    made = store.create(ours("a"))
    key = next(iter(world.store._jobs))
    world.store.change(key, lambda one: one.with_fields({"state": "DISABLED"}))
    with pytest.raises(Refused, match="DISABLED"):
        store.resume(made.name)


def test_patience_ends(store, world):
    world.faults.add(Fault(Fail(503), method="POST", times=None))
    with pytest.raises(Lost, match="may have been done or not: run again"):
        store.create(ours("a"))
    assert len(world.journal.exchanges()) == 2 * Patience().tries


def test_a_quota_that_stays_used_up_ends_it_too(store, world):
    world.faults.add(Fault(Fail(429, "Quota exceeded"), times=None))
    with pytest.raises(ApiError, match=r"a quota is used up.*Quota exceeded"):
        store.create(ours("a"))


@pytest.mark.parametrize(
    ("fault", "words", "hopeless"),
    [
        (
            Fail(403, "x", info("SERVICE_DISABLED")),
            "gcloud services enable cloudscheduler.googleapis.com --project shop",
            True,
        ),
        (
            Fail(
                403,
                "x",
                info("IAM_PERMISSION_DENIED", permission="cloudscheduler.jobs.create"),
            ),
            "jobs.create is missing in project shop: roles/cloudscheduler.admin",
            True,
        ),
        (
            Fail(403, "The API requires a quota project.", info("SERVICE_DISABLED")),
            "gcloud auth application-default set-quota-project shop",
            True,
        ),
        (Fail(403, "no"), "permission cloudscheduler.jobs.create is missing", True),
        (
            Fail(403, "x", info("CONSUMER_INVALID")),
            "project shop: there is none of that id",
            True,
        ),
        (
            Fail(403, "x", info("ACCESS_TOKEN_SCOPE_INSUFFICIENT")),
            "application-default login",
            True,
        ),
        (
            Fail(403, "The principal lacks iam.serviceAccounts.actAs"),
            "roles/iam.serviceAccountUser",
            True,
        ),
        (Fail(401, "who"), "gcloud auth application-default login", True),
        (Fail(400, "Job.x is bad"), "create a: refused: Job.x is bad", False),
    ],
)
def test_a_refusal_is_told_in_our_words(store, world, fault, words, hopeless):
    world.faults.add(Fault(fault))
    with pytest.raises(Refused) as told:
        store.create(ours("a"))
    assert words in str(told.value)
    assert told.value.hopeless is hopeless
    assert len(world.journal.exchanges()) == 1


@pytest.mark.parametrize(
    ("app", "name", "words"),
    [
        (App("shop", ""), NAME, "gcloud app create --project shop"),
        (App("shop", "us-central"), NAME, "is in us-central1.*--location us-central1"),
        (
            App("shop"),
            NAME.replace("europe-west1", "atlantis"),
            "no location 'atlantis'",
        ),
    ],
)
def test_a_place_that_cannot_be_is_told_with_the_one_that_can(
    store, world, app, name, words
):
    world.app = app
    with pytest.raises(Refused, match=words):
        store.create({**ours("a"), "name": name})


def test_without_credentials_google_is_not_asked(monkeypatch: Any, tmp_path: Any):
    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - here alone

    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Hopeless, match="application-default login"):
        GoogleApi(5).get(NAME)


def test_without_an_emulator_google_is_spoken_to_by_grpc(monkeypatch: Any):
    import google.auth  # noqa: PLC0415 - here alone
    from google.auth.credentials import AnonymousCredentials  # noqa: PLC0415 - as above

    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - as above

    anonymous = AnonymousCredentials()
    monkeypatch.setattr(google.auth, "default", lambda **_: (anonymous, None))
    api = GoogleApi(5)
    for client in (api._client, api._beta):  # made, and nothing called yet
        assert client.transport.kind == "grpc"
        assert client.transport.host == "cloudscheduler.googleapis.com:443"
    api.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("requests.exceptions.ReadTimeout", Lost),
        ("requests.exceptions.ChunkedEncodingError", Lost),
        ("google.auth.exceptions.RefreshError", Hopeless),
    ],
)
def test_what_the_libraries_raise_is_told_in_our_words(monkeypatch: Any, error, kind):
    from importlib import import_module  # noqa: PLC0415 - here alone

    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - as above

    module, _, name = error.rpartition(".")
    api = GoogleApi(5, "127.0.0.1:1")

    def fails(**_: Any) -> None:
        raise getattr(import_module(module), name)("x")

    monkeypatch.setattr(api._client, "get_job", fails)
    with pytest.raises(kind):
        api.get(NAME)
    api.close()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (502, "<html>Bad gateway</html>", Lost),
        (404, "<html>Not found</html>", Refused),
        (500, '{"error": {}}', Lost),
        (200, "<html>Log in to the hotel's network</html>", Lost),
    ],
)
def test_an_answer_that_is_none_of_google_s_is_judged_by_its_status(
    monkeypatch: Any, status, body, kind
):
    import requests  # noqa: PLC0415 - here alone

    from migrate.scheduler import GoogleApi  # noqa: PLC0415 - as above

    response = requests.Response()
    response.status_code, response._content = status, body.encode()
    response.request = requests.Request("GET", "http://127.0.0.1:1/").prepare()
    api = GoogleApi(5, "127.0.0.1:1")
    session = api._client.transport._session
    monkeypatch.setattr(session, "get", lambda *_a, **_k: response)
    with pytest.raises(kind):
        api.get(NAME)
    api.close()
