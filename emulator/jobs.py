"""A job's life: made, changed, paused, resumed; the server's defaults. Pure.

A job is kept as the API's JSON in v1beta1's words; the state, times and host that
clients may not set are filled in here. A job of cron.yaml (`legacy`) lives in a
space of names of its own, and keeps what `gcloud app deploy` sent, without defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from emulator.checks import check
from emulator.errors import ApiError, Json
from emulator.schema import masked
from emulator.timing import next_time, read_schedule, read_zone, rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from emulator.app import App

_RETRY: Final = {
    "maxRetryDuration": "0s",
    "minBackoffDuration": "5s",
    "maxBackoffDuration": "3600s",
}
_DOUBLINGS: Final = {"maxDoublings": 5}
_AGENTS: Final = {
    "appEngineHttpTarget": "AppEngine-Google; (+http://code.google.com/appengine)",
    "httpTarget": "Google-Cloud-Scheduler",
}
_HTTP_DEADLINE: Final = "180s"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where a job is kept: one of the two spaces of names, and its full name."""

    legacy: bool
    name: str

    @property
    def parent(self) -> str:
        """The name of the job's location, `projects/P/locations/L`."""
        return self.name.rpartition("/jobs/")[0]

    @property
    def location(self) -> str:
        """The id of the job's location."""
        return self.parent.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is kept; `resource` is never changed in place."""

    key: Key
    resource: Json

    @property
    def state(self) -> str:
        """ENABLED, PAUSED, DISABLED or UPDATE_FAILED."""
        return str(self.resource["state"])

    def with_fields(self, fields: Mapping[str, object]) -> Job:
        """Give the job with these fields, those that are None taken away."""
        merged = {**self.resource, **fields}
        return replace(
            self,
            resource={name: v for name, v in merged.items() if v is not None},
        )

    def rescheduled(self, after: datetime) -> Job:
        """Give the job with its next time counted from `after`."""
        schedule = read_schedule(self.resource["schedule"])
        at = next_time(schedule, read_zone(self.resource["timeZone"]), after)
        return self.with_fields({"scheduleTime": at and rfc3339(at)})


def create(key: Key, sent: Json, app: App, now: datetime) -> Job:
    """Make a job of what a client sent. Raises ApiError."""
    return _settled(Job(key, {**sent, "name": key.name}), app, now).with_fields(
        {"state": "ENABLED"}
    )


def update(
    job: Job, sent: Json, paths: Sequence[tuple[str, ...]], app: App, now: datetime
) -> Job:
    """Give the job with the fields that `paths` name; a pause stays. Raises ApiError.

    Any update counts an end-time interval anew from `now`, and an update that comes
    through mends what one before it left.
    """
    changed = Job(job.key, masked(job.resource, sent, paths))
    if job.state == "UPDATE_FAILED":
        changed = changed.with_fields({"state": "ENABLED"})
    return _settled(changed, app, now)


def pause(job: Job) -> Job:
    """Give the job paused. Raises ApiError: only an enabled job can be."""
    if job.state != "ENABLED":
        raise _precondition("ENABLED", "paused", job)
    return job.with_fields({"state": "PAUSED"})


def resume(job: Job, now: datetime) -> Job:
    """Give the job enabled again, from `now` on. Raises ApiError: only if paused."""
    if job.state != "PAUSED":
        raise _precondition("PAUSED", "resumed", job)
    return job.with_fields({"state": "ENABLED"}).rescheduled(now)


def _precondition(needed: str, verb: str, job: Job) -> ApiError:
    return ApiError(
        "FAILED_PRECONDITION",
        f"A job must be in the {needed} state to be {verb}; {job.key.name} is "
        f"{job.state}.",
    )


def _settled(job: Job, app: App, now: datetime) -> Job:
    """Fill in the defaults, check the whole, and set the times."""
    resource = {"timeZone": "UTC", **job.resource}
    if not job.key.legacy:
        resource["retryConfig"] = _retry(resource.get("retryConfig"))
    if "httpTarget" in resource:
        resource.setdefault("attemptDeadline", _HTTP_DEADLINE)
    elif resource.get("attemptDeadline") == "0s":  # means: not set
        del resource["attemptDeadline"]
    for kind in _AGENTS:
        if kind in resource:
            resource[kind] = _target(kind, resource[kind], legacy=job.key.legacy)
    check(resource, job.key.location, app)
    if "appEngineHttpTarget" in resource:
        target = resource["appEngineHttpTarget"]
        routing = target.get("appEngineRouting", {})
        routed = {**routing, "host": app.host(routing)}
        resource["appEngineHttpTarget"] = {**target, "appEngineRouting": routed}
    resource["userUpdateTime"] = rfc3339(now)
    return Job(job.key, resource).rescheduled(now)


def _retry(sent: Json | None) -> Json:
    """Fill a retry policy: durations one by one, the doublings only where none is.

    A policy that was sent has its number of doublings, if only zero (which the API's
    JSON leaves out).
    """
    if sent is None:
        return {**_RETRY, **_DOUBLINGS}
    return {**_RETRY, **sent}


def _target(kind: str, sent: Json, *, legacy: bool) -> Json:
    target: Json = {"httpMethod": "POST", **sent}
    if kind == "appEngineHttpTarget":
        target = {"relativeUri": "/", **target}
    if legacy:
        return target
    headers = dict(target.get("headers", {}))
    name = next((n for n in headers if n.lower() == "user-agent"), "User-Agent")
    given, agent = headers.get(name, ""), _AGENTS[kind]
    if kind == "httpTarget":
        headers[name] = agent
    elif not given.endswith(agent):
        headers[name] = f"{given} {agent}".strip()
    if target.get("body") and "content-type" not in map(str.lower, headers):
        headers["Content-Type"] = "application/octet-stream"
    return {**target, "headers": headers}
