"""What holds for every job."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulator.app import App
from emulator.wire import Request
from emulator.world import World

PARENT = "/v1/projects/shop/locations/us-central1/jobs"


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


durations = st.sampled_from(["0.1s", "5s", "3600.0s", "7.25s"])
headers = st.dictionaries(
    st.sampled_from(["User-Agent", "X-Cron-Entry", "content-type", "X-A"]),
    st.text(max_size=5),
)
names = st.sampled_from(["", "worker", "v1"])
app_engine = some(
    httpMethod=st.sampled_from(["GET", "PUT", 1, "HTTP_METHOD_UNSPECIFIED"]),
    relativeUri=st.sampled_from(["/", "/a?x=1#y"]),
    headers=headers,
    appEngineRouting=some(service=names, version=names, instance=names),
)
http = st.fixed_dictionaries(
    {"uri": st.just("https://example.com/a")},
    optional={
        "httpMethod": st.sampled_from(["GET", "PATCH"]),
        "headers": headers,
        "oidcToken": some(serviceAccountEmail=st.just("a@b"), audience=names),
    },
)
targets = st.one_of(
    st.fixed_dictionaries({"appEngineHttpTarget": app_engine}),
    st.fixed_dictionaries({"httpTarget": http}),
)
rest = st.fixed_dictionaries(
    {"schedule": st.sampled_from(["0 9 * * 1", "every 5 minutes", "1 of jan 00:00"])},
    optional={
        "timeZone": st.sampled_from(["utc", "Europe/Rome"]),
        "description": st.text(max_size=5),
        "attemptDeadline": st.sampled_from(["15s", "180s", "0s"]),
        "retryConfig": some(
            retryCount=st.integers(0, 5),
            maxDoublings=st.integers(0, 9),
            minBackoffDuration=st.sampled_from(["0.1s", "5s"]),
            maxBackoffDuration=durations.filter(lambda d: d != "0.1s"),
            maxRetryDuration=durations,
        ),
    },
)
jobs = st.builds(lambda one, other: {**one, **other}, targets, rest)
OURS = ("name", "state", "scheduleTime", "userUpdateTime")


def ask(world: World, method: str, path: str, body: Any, **query: str) -> Any:
    reply = world.reply(Request(method, PARENT + path, query, body))
    assert reply.status == 200, reply.body
    return reply.body


def settings(job: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in job.items() if name not in OURS}


@given(jobs)
def test_what_the_server_gave_makes_the_same_job_again(job):
    world = World(app=App("shop"))
    first = ask(world, "POST", "", job)
    copy = ask(world, "POST", "", settings(first))
    assert settings(copy) == settings(first)


@given(jobs, jobs)
def test_a_patch_of_all_fields_brings_one_job_to_another(one, other):
    world = World(app=App("shop"))
    name = ask(world, "POST", "", one)["name"].rpartition("/")[2]
    wanted = settings(ask(world, "POST", "", other))
    mask = ",".join({*settings(ask(world, "GET", f"/{name}", None)), *wanted})
    assert settings(ask(world, "PATCH", f"/{name}", wanted, updateMask=mask)) == wanted
