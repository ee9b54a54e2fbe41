"""The API's table: what it fills in, what it refuses, what each call does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from emulator.app import App
from emulator.quota import Limits
from emulator.wire import Request

PARENT = "projects/shop/locations/europe-west1"
AGENT = "AppEngine-Google; (+http://code.google.com/appengine)"
HTTP = {"uri": "https://example.com/a", "httpMethod": "GET"}
PUBSUB = {"topicName": "projects/shop/topics/t", "data": "eA=="}


def job(id_: str = "a", /, **fields: Any) -> dict[str, Any]:
    """A job that is accepted; a field that is None is left out."""
    whole = {
        "name": f"{PARENT}/jobs/{id_}",
        "schedule": "0 9 * * 1",
        "timeZone": "Europe/Rome",
        "appEngineHttpTarget": {"httpMethod": "GET", "relativeUri": "/a"},
    } | fields
    return {k: v for k, v in whole.items() if v is not None}


def app_engine(**fields: Any) -> dict[str, Any]:
    return job(appEngineHttpTarget={"httpMethod": "GET", "relativeUri": "/a"} | fields)


def http(**fields: Any) -> dict[str, Any]:
    return job(appEngineHttpTarget=None, httpTarget=HTTP | fields)


def test_a_bare_job_comes_back_with_the_servers_defaults(ask):
    sent = job(timeZone=None, appEngineHttpTarget={})
    created = {
        "name": f"{PARENT}/jobs/a",
        "schedule": "0 9 * * 1",
        "timeZone": "UTC",
        "appEngineHttpTarget": {
            "httpMethod": "POST",
            "relativeUri": "/",
            "appEngineRouting": {"host": "shop.ew.r.appspot.com"},
            "headers": {"User-Agent": AGENT},
        },
        "retryConfig": {
            "maxRetryDuration": "0s",
            "minBackoffDuration": "5s",
            "maxBackoffDuration": "3600s",
            "maxDoublings": 5,
        },
        "state": "ENABLED",
        "scheduleTime": "2026-03-09T09:00:00Z",
        "userUpdateTime": "2026-03-04T10:20:30Z",
    }
    assert ask.ok("POST", "", sent) == created
    assert ask.ok("GET", "/a") == created
    assert ask.ok("GET") == {"jobs": [created]}


@pytest.mark.parametrize(
    ("sent", "path", "value"),
    [
        (app_engine(body="eA==", httpMethod="PUT"), "headers.Content-Type", True),
        (app_engine(headers={"User-Agent": "me"}), "headers.User-Agent", f"me {AGENT}"),
        (app_engine(headers={"user-agent": AGENT}), "headers.user-agent", AGENT),
        (http(headers={"User-Agent": "me"}), "headers.User-Agent", "Google-Cloud-"),
        (http(httpMethod=None), "httpMethod", "POST"),
        (
            app_engine(appEngineRouting={"service": "s", "version": "v"}),
            "appEngineRouting.host",
            "v.s.shop.ew.r.appspot.com",
        ),
        (
            app_engine(appEngineRouting={"instance": "0", "host": "mine"}),
            "appEngineRouting.host",
            "0.shop.ew.r.appspot.com",
        ),
    ],
)
def test_a_target_gets_its_headers_method_and_host(ask, sent, path, value):
    created = ask.ok("POST", "", sent)
    found: Any = created.get("appEngineHttpTarget") or created["httpTarget"]
    for part in path.split("."):
        found = found[part]
    assert found == "application/octet-stream" if value is True else value in found


def test_deadlines_are_filled_in_for_http_and_left_out_for_app_engine(ask):
    assert ask.ok("POST", "", http())["attemptDeadline"] == "180s"
    zero = job("b", attemptDeadline="0s")
    assert "attemptDeadline" not in ask.ok("POST", "", zero)
    set_ = job("c", attemptDeadline="86415s")
    assert ask.ok("POST", "", set_)["attemptDeadline"] == "86415s"


def test_a_sent_retry_policy_keeps_its_numbers_and_gets_the_durations(ask):
    sent = job(retryConfig={"minBackoffDuration": "0.1s", "retryCount": 5})
    assert ask.ok("POST", "", sent)["retryConfig"] == {
        "retryCount": 5,
        "minBackoffDuration": "0.100s",
        "maxBackoffDuration": "3600s",
        "maxRetryDuration": "0s",
    }


def test_what_only_the_server_sets_is_passed_over(ask):
    sent = job(state="PAUSED", scheduleTime="2030-01-01T00:00:00Z", status={"code": 5})
    created = ask.ok("POST", "", sent)
    assert created["state"] == "ENABLED"
    assert created["scheduleTime"].startswith("2026")
    assert "status" not in created


SCHEDULE = "Schedule or time zone is invalid."


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (job(schedule="gibberish"), SCHEDULE),
        (job(schedule=None), SCHEDULE),
        (job(schedule="every 1 minute"), SCHEDULE),
        (job(schedule="0 0 9 * * 1"), SCHEDULE),
        (job(timeZone="Mars/Phobos"), SCHEDULE),
        (job(timeZone="+05:30"), SCHEDULE),
        (job(description="x" * 501), "500 characters"),
        (job(description="x" * 500 + "\u20ac"), "500 characters"),
        (job(attemptDeadline="14s"), "[15s, 86415s]"),
        (job(attemptDeadline="86416s"), "[15s, 86415s]"),
        (http() | {"attemptDeadline": "1801s"}, "[15s, 1800s]"),
        (job(retryConfig={"retryCount": 6}), "retry_count"),
        (job(retryConfig={"retryCount": -1}), "retry_count"),
        (job(retryConfig={"maxDoublings": -1}), "max_doublings"),
        (job(retryConfig={"minBackoffDuration": "-1s"}), "minBackoffDuration"),
        (job(retryConfig={"maxBackoffDuration": "1s"}), "max_backoff_duration"),
        (job(appEngineHttpTarget=None), "Job.target"),
        (job(httpTarget=HTTP), "oneof"),
        (app_engine(relativeUri="a"), "relative_uri"),
        (app_engine(relativeUri="/a b"), "relative_uri"),
        (app_engine(relativeUri="/" + "a" * 2083), "relative_uri"),
        (app_engine(httpMethod="PATCH"), "PATCH"),
        (app_engine(body="eA=="), "POST or PUT"),
        (app_engine(headers={"X-AppEngine-Cron": "true"}), "cannot be set"),
        (app_engine(headers={"X-Google-A": "1"}), "cannot be set"),
        (app_engine(headers={"a b": "1"}), "name 'a b' is invalid"),
        (app_engine(headers={"X-A": "1" * 81_920}), "80KB"),
        (http(uri="ftp://example.com"), "uri"),
        (http(uri=None), "uri"),
        (http(oidcToken={}, oauthToken={}), "authorization_header"),
        (job(appEngineHttpTarget=None, pubsubTarget=PUBSUB | {"data": ""}), "data or"),
        (job(appEngineHttpTarget=None, pubsubTarget={"topicName": "t"}), "topic_name"),
        (
            job(
                appEngineHttpTarget=None,
                pubsubTarget=PUBSUB | {"data": "AAAA" * 300_000},
            ),
            "1 MB",
        ),
        (job("a.b"), 'Job ID "a.b"'),
        (job("a" * 501), "500 characters"),
        (job(name="projects/shop/locations/us-east1/jobs/a"), "formatted"),
        (job(name="a"), "formatted"),
        (job(colour="red"), "Unknown name \"colour\" at 'job': Cannot find field."),
        (job(retryConfig={"retryCount": "x"}), "'job.retryConfig.retryCount'"),
        (job(legacyAppEngineCron=True), 'Unknown name "legacyAppEngineCron"'),
        ("a job", "Invalid value at 'job'"),
    ],
)
def test_a_job_that_breaks_a_rule_is_refused_and_not_kept(ask, sent, message):
    status, code, said = ask.refused("POST", "", sent)
    assert (status, code) == (400, "INVALID_ARGUMENT")
    assert message in said
    assert ask.ok("GET") == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"schedule": "every 5 minutes"},
        {"schedule": "every minute"},
        {"schedule": "1st,3rd mon of jan 9:00"},
        {"schedule": "*/15 9-17 * * MON-FRI", "timeZone": "utc"},
        {"schedule": "0 0 30 2 *"},
        {"timeZone": "US/Eastern"},
        {"description": "x" * 500},
        {"retryConfig": {"retryCount": 5, "maxBackoffDuration": "3600.0s"}},
    ],
)
def test_a_job_within_the_rules_is_taken(ask, fields):
    ask.ok("POST", "", job(**fields))


def test_a_schedule_with_no_day_has_no_next_time(ask):
    assert "scheduleTime" not in ask.ok("POST", "", job(schedule="0 0 30 2 *"))


def test_app_engine_jobs_must_be_where_the_app_is(world):
    there = "projects/shop/locations/us-east1"
    asked = world.reply(
        Request("POST", f"/v1/{there}/jobs", {}, job(name=f"{there}/jobs/a"))
    )
    assert (asked.status, asked.body["error"]["message"]) == (
        400,
        (
            "Location must equal europe-west1 because the App Engine app that is "
            "associated with this project is located in europe-west1"
        ),
    )
    elsewhere = http() | {"name": f"{there}/jobs/a"}
    asked = world.reply(Request("POST", f"/v1/{there}/jobs", {}, elsewhere))
    assert asked.status == 200


def test_app_engine_jobs_need_an_app(world, ask):
    world.app = App("shop", "")
    assert ask.refused("POST", "", job())[:2] == (400, "FAILED_PRECONDITION")
    ask.ok("POST", "", http())
    asked = world.reply(Request("GET", "/v1/apps/shop"))
    assert asked.status == 404


def test_a_taken_name_is_a_conflict_and_an_unknown_one_is_not_found(ask):
    ask.ok("POST", "", job())
    assert ask.refused("POST", "", job())[:2] == (409, "ALREADY_EXISTS")
    for method, path, body in (
        ("GET", "/b", None),
        ("PATCH", "/b", job("b")),
        ("DELETE", "/b", None),
        ("POST", "/b:pause", {}),
        ("POST", "/b:resume", {}),
        ("POST", "/b:run", {}),
    ):
        assert ask.refused(method, path, body)[:2] == (404, "NOT_FOUND")


def test_a_job_without_a_name_gets_one(ask):
    names = {ask.ok("POST", "", job(name=None))["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith(f"{PARENT}/jobs/") for name in names)


def test_pause_and_resume_need_the_other_state(ask, clock):
    ask.ok("POST", "", job(schedule="every 10 minutes"))
    assert ask.refused("POST", "/a:resume", {})[:2] == (400, "FAILED_PRECONDITION")
    assert ask.ok("POST", "/a:pause")["state"] == "PAUSED"
    assert ask.refused("POST", "/a:pause", {})[:2] == (400, "FAILED_PRECONDITION")
    clock.advance(timedelta(hours=1))
    resumed = ask.ok("POST", "/a:resume", {})
    assert resumed["state"] == "ENABLED"
    assert resumed["scheduleTime"] == "2026-03-04T11:30:00Z"


def test_a_forced_run_is_noted_on_the_job_even_while_it_is_paused(ask):
    ask.ok("POST", "", job())
    ask.ok("POST", "/a:pause", {})
    assert ask.ok("POST", "/a:run", {})["lastAttemptTime"] == "2026-03-04T10:20:30Z"


def test_delete_forgets_the_job(ask):
    ask.ok("POST", "", job())
    assert ask.ok("DELETE", "/a") == {}
    assert ask.ok("GET") == {}


@pytest.mark.parametrize(
    ("mask", "sent", "changed"),
    [
        ("schedule", {"schedule": "0 8 * * 1"}, {"schedule": "0 8 * * 1"}),
        ("time_zone", {"timeZone": "UTC"}, {"timeZone": "UTC"}),
        ("timeZone", {}, {"timeZone": "UTC"}),
        ("description", {"schedule": "gibberish"}, {}),
        (
            "state,description",
            {"state": "PAUSED", "description": "d"},
            {"description": "d"},
        ),
        (
            "retryConfig.retryCount,retry_config.min_backoff_duration",
            {"retryConfig": {"retryCount": 2, "maxDoublings": 9}},
            {
                "retryConfig": {
                    "retryCount": 2,
                    "maxRetryDuration": "0s",
                    "minBackoffDuration": "5s",
                    "maxBackoffDuration": "3600s",
                    "maxDoublings": 5,
                }
            },
        ),
        (
            "appEngineHttpTarget.relativeUri,appEngineHttpTarget.headers",
            {"appEngineHttpTarget": {"headers": {"X-B": "2"}, "httpMethod": "PUT"}},
            {
                "appEngineHttpTarget": {
                    "httpMethod": "GET",
                    "relativeUri": "/",
                    "headers": {"X-B": "2", "User-Agent": AGENT},
                    "appEngineRouting": {"host": "shop.ew.r.appspot.com"},
                }
            },
        ),
        (
            "appEngineHttpTarget.appEngineRouting.service",
            {"appEngineHttpTarget": {"appEngineRouting": {"service": "w"}}},
            {
                "appEngineHttpTarget": {
                    "httpMethod": "GET",
                    "relativeUri": "/a",
                    "headers": {"User-Agent": AGENT},
                    "appEngineRouting": {
                        "service": "w",
                        "host": "w.shop.ew.r.appspot.com",
                    },
                }
            },
        ),
    ],
)
def test_a_patch_changes_exactly_what_its_mask_names(ask, mask, sent, changed):
    before = ask.ok("POST", "", job())
    after = ask.ok("PATCH", "/a", sent, updateMask=mask)
    moving = ("scheduleTime", "userUpdateTime")
    assert {k: v for k, v in after.items() if k not in moving} == {
        k: v for k, v in (before | changed).items() if k not in moving
    }


def test_a_patch_without_a_mask_changes_what_was_sent(ask):
    ask.ok("POST", "", job(description="d"))
    after = ask.ok("PATCH", "/a", job(schedule="0 7 * * *"))
    assert (after["schedule"], after["description"]) == ("0 7 * * *", "d")


def test_a_patch_that_breaks_a_rule_changes_nothing(ask):
    before = ask.ok("POST", "", job())
    assert (
        ask.refused("PATCH", "/a", job(schedule="x"), updateMask="schedule")[0] == 400
    )
    for mask in ("colour", "schedule.x", "appEngineHttpTarget.headers.X-A"):
        assert (
            "Invalid field mask"
            in ask.refused("PATCH", "/a", job(), updateMask=mask)[2]
        )
    assert ask.ok("GET", "/a") == before


def test_a_new_kind_of_target_displaces_the_old(ask):
    ask.ok("POST", "", job())
    after = ask.ok("PATCH", "/a", {"httpTarget": HTTP}, updateMask="httpTarget")
    assert after["httpTarget"]["uri"] == HTTP["uri"]
    assert "appEngineHttpTarget" not in after


def test_a_patch_leaves_a_pause_and_counts_an_interval_anew(ask, clock):
    ask.ok("POST", "", job(schedule="every 10 minutes"))
    ask.ok("POST", "/a:pause", {})
    clock.advance(timedelta(minutes=7))
    after = ask.ok("PATCH", "/a", {"description": "d"}, updateMask="description")
    assert after["state"] == "PAUSED"
    assert after["userUpdateTime"] == "2026-03-04T10:27:30Z"
    assert after["scheduleTime"] == "2026-03-04T10:37:00Z"


def test_lists_go_page_by_page_in_one_order(ask):
    for number in range(7):
        ask.ok("POST", "", job(f"j{number}"))
    seen, token = [], ""
    sizes = []
    while True:
        page = ask.ok("GET", "", pageSize="3", pageToken=token)
        sizes.append(len(page["jobs"]))
        seen += [found["name"][-2:] for found in page["jobs"]]
        if not (token := page.get("nextPageToken", "")):
            break
    assert sizes == [3, 3, 1]
    assert seen == [f"j{number}" for number in range(7)]
    assert ask.refused("GET", pageSize="-1")[0] == 400
    assert ask.refused("GET", pageToken="%")[0] == 400


def test_a_page_holds_at_most_500_jobs(ask):
    for number in range(501):
        ask.ok("POST", "", job(f"j{number}"))
    for query in ({}, {"pageSize": "1000"}):
        page = ask.ok("GET", "", None, **query)
        assert len(page["jobs"]) == 500
        assert len(ask.ok("GET", pageToken=page["nextPageToken"])["jobs"]) == 1


# --- the jobs of cron.yaml -------------------------------------------------------

LEGACY = {"version": "v1beta1", "legacyAppEngineCron": "true"}


def legacy(**fields: Any) -> dict[str, Any]:
    return job(name=None, legacyAppEngineCron=True, **fields)


def test_legacy_jobs_have_a_space_of_their_own(ask):
    theirs = ask.ok("POST", "", legacy(), version="v1beta1")
    ours = ask.ok("POST", "", job())
    assert ask.ok("GET") == {"jobs": [ours]}
    assert ask.ok("GET", version="v1beta1") == {"jobs": [ours]}
    assert ask.ok("GET", **LEGACY) == {"jobs": [theirs]}
    assert theirs["legacyAppEngineCron"] is True


def test_legacy_jobs_are_deleted_and_run_only_as_such(ask):
    path = "/" + ask.ok("POST", "", legacy(), version="v1beta1")["name"].split("/")[-1]
    assert ask.refused("DELETE", path, version="v1beta1")[0] == 404
    assert ask.refused("POST", f"{path}:run", {}, version="v1beta1")[0] == 404
    run = {"legacyAppEngineCron": True}
    assert "lastAttemptTime" in ask.ok("POST", f"{path}:run", run, version="v1beta1")
    assert ask.refused("POST", f"{path}:run", run)[0] == 400  # v1 has no such field
    ask.ok("DELETE", path, **LEGACY)
    assert ask.ok("GET", **LEGACY) == {}


def test_legacy_jobs_keep_what_was_sent_without_defaults(ask):
    created = ask.ok("POST", "", legacy(), version="v1beta1")
    assert "retryConfig" not in created
    assert "headers" not in created["appEngineHttpTarget"]


def test_v1_knows_nothing_of_them(ask):
    assert "Unknown name" in ask.refused("GET", legacyAppEngineCron="true")[2]
    assert "Unknown name" in ask.refused("DELETE", "/a", legacyAppEngineCron="true")[2]


# --- around the jobs -------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/projects/shop/locations/europe-west1", 200),
        ("/v1/projects/shop/locations/europe-west", 404),
        ("/v1/projects/shop/locations/mars/jobs", 404),
        ("/v1/projects/else/locations", 403),
        ("/v1/projects/else/locations/europe-west1/jobs", 403),
        ("/v1/projects/shop/locations/europe-west1/jobs/a:fly", 404),
        ("/v2/projects/shop/locations", 404),
        ("/v1/apps/shop", 200),
        ("/v1/apps/else", 403),
        ("/v1/apps/shop/services", 200),
        ("/v1/apps/shop/services/default", 200),
        ("/v1/apps/shop/services/default/versions", 200),
        ("/v1/apps/shop/services/worker", 404),
        ("/v1/projects/shop/services/cloudscheduler.googleapis.com", 200),
        ("/storage/v1/b/runtime-builders/o/experiments.yaml", 404),
    ],
)
def test_reading_calls_answer(world, path, status):
    asked = world.reply(Request("GET", path))
    assert asked.status == status
    assert ("error" in asked.body) == (status != 200)


def test_the_apps_location_comes_first_and_names_its_region(world):
    request = Request("GET", "/v1/projects/shop/locations", {"pageSize": "2"})
    page = world.reply(request).body
    assert [found["locationId"] for found in page["locations"]] == [
        "europe-west1",
        "asia-east1",
    ]
    assert page["locations"][0]["labels"] == {
        "cloud.googleapis.com/region": "europe-west1"
    }
    names = set()
    token = ""
    while True:
        query = {"pageSize": "5", "pageToken": token}
        page = world.reply(Request("GET", "/v1/projects/shop/locations", query)).body
        names |= {found["locationId"] for found in page["locations"]}
        if not (token := page.get("nextPageToken", "")):
            break
    assert names == set(world.app.locations())


def test_the_app_says_where_it_is_what_it_serves_and_its_rules(world):
    rules = [{"domain": "*", "path": "/work/*", "service": "worker"}]
    world.app = App(
        "shop", "us-central", {"worker": {"a": 0.5, "b": 0.5, "c": 0}}, rules
    )
    app = world.reply(Request("GET", "/v1/apps/shop")).body
    assert app["locationId"] == "us-central"
    assert app["defaultHostname"] == "shop.uc.r.appspot.com"
    assert app["dispatchRules"] == rules
    services = world.reply(Request("GET", "/v1/apps/shop/services")).body["services"]
    assert services[0]["split"] == {"allocations": {"a": 0.5, "b": 0.5}}


def test_an_app_somewhere_unknown_is_refused_by_its_name():
    with pytest.raises(ValueError, match="'mars'"):
        App("shop", "mars")


def test_quotas_count_by_the_minute_reads_and_writes_apart(world, ask, clock):
    world.quota.limits = Limits(reads=2, writes=1)
    ask.ok("POST", "", job())
    status, code, message = ask.refused("POST", "", job("b"))
    assert (status, code) == (429, "RESOURCE_EXHAUSTED")
    assert "Write requests per minute" in message
    ask.ok("GET")
    ask.ok("GET")
    assert ask.refused("GET")[0] == 429
    clock.advance(timedelta(seconds=30))
    ask.ok("POST", "", job("b"))


def test_every_request_is_in_the_journal_with_what_became_of_it(world, ask):
    ask.ok("POST", "", job())
    ask.refused("POST", "", job())
    first, second = world.journal.exchanges()
    assert (first.number, first.done, first.status) == (1, True, 200)
    assert (second.number, second.done, second.status) == (2, False, 409)
    assert first.request.body == job()


def test_a_request_under_way_when_the_journal_is_cleared_leaves_nothing(world, clock):
    number = world.journal.begin(Request("GET", "/v1/apps/shop"), clock.now())
    world.journal.clear()
    world.journal.end(number, done=True, status=200)
    assert world.journal.exchanges() == []


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_calls_that_change_an_app_are_not_there(world, method):
    assert world.reply(Request(method, "/v1/apps/shop")).status == 404
