"""Who comes in: every combination of proof, environment and mode."""

from __future__ import annotations

import string
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers import Settings
from handlers.hosting import Platform, platform_of
from handlers.request import (
    Admitted,
    NotSent,
    Refusal,
    Sender,
    Sent,
    TokenOffered,
    identify,
    sent_time,
)
from tests.handlers.support import utc

OIDC = {
    "CRON_OIDC_AUDIENCE": "https://run.example.com",
    "CRON_OIDC_EMAILS": "cron@shop.iam.gserviceaccount.com",
}
STANDARD = {"GAE_ENV": "standard", "GAE_SERVICE": "default", "GAE_INSTANCE": "i"}
FLEXIBLE = {"GAE_SERVICE": "default", "GAE_INSTANCE": "i"}

# name: (variables, do App Engine's headers prove anything, are tokens looked at)
ENVIRONMENTS = {
    "standard": (STANDARD, True, False),
    "standard with tokens": ({**STANDARD, **OIDC}, True, True),
    "flexible, named": ({**FLEXIBLE, "CRON_FLEXIBLE": "1"}, True, False),
    "flexible, not named": (FLEXIBLE, False, False),
    "Cloud Run": ({"K_SERVICE": "cron", **OIDC}, False, True),
    "Cloud Run that claims to be App Engine": (
        {**STANDARD, "K_SERVICE": "cron", **OIDC},
        False,
        True,
    ),
    "Cloud Run's revision": ({**STANDARD, "K_REVISION": "1"}, False, False),
    "a function": ({**STANDARD, "FUNCTION_TARGET": "main"}, False, False),
    "Kubernetes": ({**STANDARD, "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, False, False),
    "a laptop": ({}, False, False),
    "a laptop with tokens": (OIDC, False, True),
    "another GAE_ENV": ({**STANDARD, "GAE_ENV": "localdev"}, False, False),
}
CRON_HEADER = (None, "true", "True", "true,true", "true ", "1", "")
SCHEDULER_HEADER = (None, "true", "TRUE", "false")
ORIGIN = (None, "0.1.0.2", "0.1.0.1", "0.1.0.3", "203.0.113.9", "0.1.0.2, 0.1.0.2")
QUEUE = (None, "__cron", "default", "")
TOKEN = (None, "Bearer abc.def.ghi", "Basic abc")
MODES = ("legacy", "scheduler", "both")


def door_of(variables: dict[str, str], mode: str, **more: str) -> Settings:
    local = {"CRON_ALLOW_LOCAL_STORE": "1", "CRON_DEADLINE_SECONDS": "600"}
    return Settings.from_environ({**local, **variables, "CRON_MODE": mode, **more})


@pytest.mark.parametrize("old_origin", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_only_the_stated_proofs_come_in(
    environment: str,
    mode: str,
    old_origin: bool,  # noqa: FBT001 - a table's column
) -> None:
    variables, headers_prove, tokens = ENVIRONMENTS[environment]
    more = {"CRON_OLD_ORIGIN": "1"} if old_origin else {}
    door = door_of(variables, mode, **more).door
    origins = {"0.1.0.2", "0.1.0.1"} if old_origin else {"0.1.0.2"}
    for cron, scheduler, origin, queue, token in product(
        CRON_HEADER, SCHEDULER_HEADER, ORIGIN, QUEUE, TOKEN
    ):
        sent = {
            "x-appengine-cron": cron,
            "x-cloudscheduler": scheduler,
            "x-appengine-user-ip": origin,
            "x-appengine-queuename": queue,
            "authorization": token,
            # What proves nothing, and looks as if it did.
            "x-forwarded-for": "0.1.0.2, 169.254.1.1",
            "user-agent": "AppEngine-Google; (+http://code.google.com/appengine)",
            "x-cron-local": "1",
        }
        headers = {name: value for name, value in sent.items() if value is not None}
        inside = headers_prove and origin in origins
        allowed: set[object] = set()
        if queue in {None, "__cron"}:
            if inside and cron == "true" and mode != "scheduler":
                allowed = {Admitted(Sender.CRON)}
            elif inside and scheduler == "true" and mode != "legacy":
                allowed = {Admitted(Sender.SCHEDULER)}
            elif (
                tokens
                and token == TOKEN[1]
                and scheduler == "true"
                and mode != "legacy"
            ):
                allowed = {TokenOffered("abc.def.ghi")}
        proof = identify(headers, "0.1.0.2", door)
        if allowed:
            assert {proof} == allowed, headers
        else:
            assert isinstance(proof, Refusal), headers
            assert proof.reason


@pytest.mark.parametrize("queue", ["projects/p/queues/q", ""])
def test_cloud_tasks_with_a_token_is_refused_too(queue: str) -> None:
    headers = {
        "x-cloudscheduler": "true",
        "authorization": "Bearer a.b.c",
        "x-cloudtasks-queuename": queue,
    }
    proof = identify(headers, "", door_of({"K_SERVICE": "x", **OIDC}, "both").door)
    assert isinstance(proof, Refusal)


def test_a_refusal_names_the_mode_that_would_admit() -> None:
    headers = {"x-cloudscheduler": "true", "x-appengine-user-ip": "0.1.0.2"}
    proof = identify(headers, "", door_of(STANDARD, "legacy").door)
    assert isinstance(proof, Refusal)
    assert "X-CloudScheduler" in proof.reason
    assert proof.fix == "CRON_MODE=scheduler or both does"


def test_a_refusal_of_the_old_origin_names_the_setting() -> None:
    headers = {"x-appengine-cron": "true", "x-appengine-user-ip": "0.1.0.1"}
    proof = identify(headers, "", door_of(STANDARD, "both").door)
    assert isinstance(proof, Refusal)
    assert "CRON_OLD_ORIGIN=1" in proof.fix


# --- Local mode ------------------------------------------------------------

LOCAL = {"x-cron-local": "1", "host": "localhost:8080"}


@pytest.mark.parametrize(
    ("headers", "address", "comes_in"),
    [
        (LOCAL, "127.0.0.1", True),
        ({**LOCAL, "host": "127.0.0.1:80"}, "127.0.0.1", True),
        ({**LOCAL, "host": "[::1]:80"}, "::1", True),
        ({**LOCAL, "host": "localhost"}, "127.0.0.1", True),
        ({**LOCAL, "host": "localhost.evil.example"}, "127.0.0.1", False),
        ({**LOCAL, "host": "10.0.0.1:8080"}, "127.0.0.1", False),
        ({**LOCAL, "host": "0.0.0.0"}, "127.0.0.1", False),  # noqa: S104 - a host header
        ({"x-cron-local": "1"}, "127.0.0.1", False),
        ({**LOCAL, "x-cron-local": "true"}, "127.0.0.1", False),
        ({**LOCAL, "x-cron-local": ""}, "127.0.0.1", False),
        ({"host": "localhost:8080"}, "127.0.0.1", False),
        (LOCAL, "192.0.2.7", False),
        (LOCAL, "", False),
        ({**LOCAL, "x-forwarded-for": "127.0.0.1"}, "127.0.0.1", False),
        ({**LOCAL, "x-forwarded-proto": "http"}, "127.0.0.1", False),
        ({**LOCAL, "forwarded": "for=127.0.0.1"}, "127.0.0.1", False),
        ({**LOCAL, "via": "1.1 proxy"}, "127.0.0.1", False),
        ({**LOCAL, "x-appengine-queuename": "default"}, "127.0.0.1", False),
    ],
)
def test_local_mode_admits_this_machine_alone(
    headers: dict[str, str],
    address: str,
    comes_in: bool,  # noqa: FBT001 - a table's column
) -> None:
    door = door_of({}, "both", CRON_LOCAL="1").door
    proof = identify(headers, address, door)
    assert isinstance(proof, Admitted if comes_in else Refusal)


def test_without_local_mode_its_header_is_nothing() -> None:
    proof = identify(LOCAL, "127.0.0.1", door_of({}, "both").door)
    assert isinstance(proof, Refusal)


# --- The platform ------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "flexible", "platform"),
    [
        (STANDARD, False, Platform.APP_ENGINE),
        (STANDARD, True, Platform.APP_ENGINE),
        (FLEXIBLE, True, Platform.FLEXIBLE),
        (FLEXIBLE, False, Platform.ELSEWHERE),
        ({"GAE_SERVICE": "default"}, True, Platform.ELSEWHERE),
        ({**STANDARD, "K_SERVICE": "cron"}, False, Platform.CLOUD_RUN),
        ({**FLEXIBLE, "KUBERNETES_SERVICE_HOST": "x"}, True, Platform.ELSEWHERE),
        ({**STANDARD, "K_SERVICE": ""}, False, Platform.APP_ENGINE),
        ({}, True, Platform.ELSEWHERE),
    ],
)
def test_the_platform_is_what_its_variables_prove(
    variables: dict[str, str],
    flexible: bool,  # noqa: FBT001 - a table's column
    platform: Platform,
) -> None:
    assert platform_of(variables, flexible=flexible) is platform


# --- The sent time ------------------------------------------------------------

NOW = utc("2026-11-30T08:00:00")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-01T05:30:00Z", "2026-11-01T05:30:00"),
        ("2026-10-31T22:30:00-07:00", "2026-11-01T05:30:00"),
        ("2026-11-01T05:30:00.000Z", "2026-11-01T05:30:00"),
        ("2026-11-01T05:30:00.5Z", "2026-11-01T05:30:00.500"),
        ("2026-11-01T05:30:00.510855123Z", "2026-11-01T05:30:00.510855"),
        ("2025-10-17T16:50:00.510855-07:00", "2025-10-17T23:50:00.510855"),
        ("2026-11-01t05:30:00z", "2026-11-01T05:30:00"),
        ("2026-11-01 05:30:00+00:00", "2026-11-01T05:30:00"),
        ("2026-11-01T11:15:00+05:45", "2026-11-01T05:30:00"),
    ],
)
def test_a_sent_time_is_brought_to_utc(text: str, at: str) -> None:
    headers = {"x-cloudscheduler-scheduletime": text}
    assert sent_time(headers, NOW) == Sent(utc(at))


@pytest.mark.parametrize(
    "text",
    [
        "now",
        "2026-11-01",
        "2026-11-01T05:30:00",  # no zone
        "2026-11-01T05:30Z",
        "2026-13-01T05:30:00Z",
        "2026-11-01T25:30:00Z",
        "2026-02-30T05:30:00Z",
        "2026-11-01T05:30:00+99:00",
        "2026-W45-1T05:30:00Z",
        "20261101T053000Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "1970-01-01T00:00:00Z",
        "2026-11-01T05:30:00Z,2026-11-01T05:30:00Z",
        "\u0662026-11-01T05:30:00Z",
    ],
)
def test_junk_for_a_sent_time_is_no_time_and_a_warning(text: str) -> None:
    found = sent_time({"x-cloudscheduler-scheduletime": text}, NOW)
    assert isinstance(found, NotSent)
    assert found.warning


def test_no_sent_time_is_no_warning() -> None:
    assert sent_time({}, NOW) == NotSent()


@given(st.text(max_size=60))
def test_any_text_for_a_sent_time_is_a_time_or_none(text: str) -> None:
    sent_time({"x-cloudscheduler-scheduletime": text}, NOW)


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants naive bounds
)
def test_every_time_is_read_back_from_its_own_text(at: datetime) -> None:
    headers = {"x-cloudscheduler-scheduletime": at.isoformat()}
    assert sent_time(headers, NOW) == Sent(at)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "x-appengine-cron",
                "x-cloudscheduler",
                "x-appengine-user-ip",
                "authorization",
                "x-cron-local",
                "host",
            ]
        ),
        st.text(alphabet=string.printable, max_size=30)
        | st.sampled_from(["true", "0.1.0.2", "1", "localhost", "Bearer x"]),
    )
)
def test_on_a_laptop_without_settings_nothing_whatever_comes_in(
    headers: dict[str, str],
) -> None:
    door = door_of({}, "both").door
    assert isinstance(identify(headers, "127.0.0.1", door), Refusal)
