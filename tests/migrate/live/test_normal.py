"""The normal form's table: what makes no difference, and what does."""

from __future__ import annotations

from typing import Any

import pytest

from migrate.normal import differences, explicit, mask, normal
from tests.migrate.live.world import job

GET = {"httpMethod": "GET", "relativeUri": "/a"}
RETRY = {
    "maxRetryDuration": "0s",
    "minBackoffDuration": "5s",
    "maxBackoffDuration": "3600s",
    "maxDoublings": 5,
}


def app_engine(**fields: Any) -> dict[str, Any]:
    return job("a", appEngineHttpTarget=GET | fields)


def http(**fields: Any) -> dict[str, Any]:
    target = {"uri": "https://a.test/x", "httpMethod": "GET"}
    deadline = fields.pop("attemptDeadline", None)
    return job(
        "a",
        appEngineHttpTarget=None,
        httpTarget=target | fields,
        attemptDeadline=deadline,
    )


def headers(**named: str) -> dict[str, Any]:
    return app_engine(headers={k.replace("_", "-"): v for k, v in named.items()})


SAME = [
    ("UTC by its names", job("a", timeZone="Etc/UTC"), job("a", timeZone="UTC")),
    ("UTC by none", job("a", timeZone=None), job("a", timeZone="Zulu")),
    ("a zone's case", job("a", timeZone="europe/rome"), job("a")),
    ("white space", job("a", schedule=" 0  9 * * 1 "), job("a")),
    (
        "an interval's spelling",
        job("a", schedule="Every 05 mins"),
        job("a", schedule="every 5 minutes"),
    ),
    ("an hour", job("a", schedule="every 60 mins"), job("a", schedule="every 1 hours")),
    (
        "the schedule of a mark",
        headers(X_Cron_Schedule="every 5 mins; UTC"),
        headers(X_Cron_Schedule="every 5 minutes; UTC"),
    ),
    ("the server's retries", job("a", retryConfig=RETRY), job("a")),
    ("retries of zero", job("a", retryConfig=RETRY | {"retryCount": 0}), job("a")),
    (
        "durations",
        job("a", retryConfig=RETRY | {"minBackoffDuration": "0.100s"}),
        job("a", retryConfig=RETRY | {"minBackoffDuration": "0.1s"}),
    ),
    ("no deadline", job("a", attemptDeadline="0s"), job("a")),
    ("a deadline that servers give", job("a", attemptDeadline="180s"), job("a")),
    ("an HTTP deadline", http(attemptDeadline="180s"), http()),
    ("an empty description", job("a", description=""), job("a")),
    ("the host", app_engine(appEngineRouting={"host": "x.test"}), app_engine()),
    ("the user agent", headers(User_Agent="AppEngine-Google"), app_engine()),
    (
        "headers of Google's",
        headers(X_Google_A="1", X_CloudScheduler="t"),
        app_engine(),
    ),
    (
        "the content type of bytes",
        headers(Content_Type="application/octet-stream"),
        app_engine(),
    ),
    ("a header's case", headers(x_cron_set="s"), headers(X_Cron_Set="s")),
    (
        "the zone of a mark",
        headers(X_Cron_Schedule="every day 09:00; Etc/UTC"),
        headers(X_Cron_Schedule="every day  09:00; UTC"),
    ),
    ("marks of a pause", headers(X_Cron_Paused="x", X_Cron_Unborn="y"), app_engine()),
    (
        "the state",
        job("a", state="PAUSED", scheduleTime="2026-01-01T00:00:00Z"),
        job("a"),
    ),
    (
        "a token's audience",
        http(oidcToken={"serviceAccountEmail": "c", "audience": "https://a.test/x"}),
        http(oidcToken={"serviceAccountEmail": "c"}),
    ),
    (
        "a method not said",
        app_engine(httpMethod="POST"),
        job("a", appEngineHttpTarget={"relativeUri": "/a"}),
    ),
    ("base64", app_engine(body="eA"), app_engine(body="eA==")),
]
DIFFERENT = [
    ("schedule", job("a", schedule="0 8 * * 1"), ("schedule",)),
    ("zone", job("a", timeZone="Europe/Paris"), ("timeZone",)),
    ("a deadline", job("a", attemptDeadline="600s"), ("attemptDeadline",)),
    (
        "retries",
        job("a", retryConfig=RETRY | {"retryCount": 2}),
        ("retryConfig.retryCount",),
    ),
    (
        "doublings of zero",
        job("a", retryConfig={k: v for k, v in RETRY.items() if k != "maxDoublings"}),
        ("retryConfig.maxDoublings",),
    ),
    ("a header", headers(X_Mine="1"), ("appEngineHttpTarget.headers",)),
    (
        "the default service, said",
        app_engine(appEngineRouting={"service": "default"}),
        ("appEngineHttpTarget.appEngineRouting.service",),
    ),
    (
        "an instance",
        app_engine(appEngineRouting={"instance": "0"}),
        ("appEngineHttpTarget.appEngineRouting.instance",),
    ),
    (
        "method and path",
        app_engine(httpMethod="PUT", relativeUri="/b"),
        ("appEngineHttpTarget.httpMethod", "appEngineHttpTarget.relativeUri"),
    ),
    ("another kind of target", http(), ("appEngineHttpTarget", "attemptDeadline")),
    (
        "Pub/Sub",
        job("a", appEngineHttpTarget=None, pubsubTarget={"topicName": "t"}),
        ("appEngineHttpTarget",),
    ),
]


@pytest.mark.parametrize(
    ("live", "wanted"), [row[1:] for row in SAME], ids=[row[0] for row in SAME]
)
def test_what_makes_no_difference(live, wanted):
    assert differences(live, wanted) == []


@pytest.mark.parametrize(
    ("live", "masked"),
    [row[1:] for row in DIFFERENT],
    ids=[row[0] for row in DIFFERENT],
)
def test_what_differs_is_masked_and_nothing_else(live, masked):
    wanted = job("a")
    assert mask(differences(live, wanted), wanted) == masked


def test_a_deadline_asked_for_is_not_taken_for_the_server_s():
    (field,) = differences(job("a"), job("a", attemptDeadline="180s"))
    assert (field.before, field.after) == ("", "180s")


def test_writing_defaults_out_changes_nothing():
    for one in (job("a"), http(), app_engine(httpMethod="PUT")):
        assert normal(explicit(one)) == normal(one)


def test_a_schedule_that_differs_is_told_as_it_is_written():
    live, wanted = (job("a", schedule=f"every monday {at}") for at in ("9:00", "10:00"))
    (diff,) = differences(live, wanted)
    assert (diff.before, diff.after) == ("every monday 9:00", "every monday 10:00")
