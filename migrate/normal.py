"""The normal form of a job: what of it has an effect, and how two of them differ.

Two jobs with equal normal forms do the same, however they are spelt: the server's
defaults, zero values, spellings of schedules and durations, names of UTC, headers that
the server adds, output-only fields and our marks of a pause make no difference. Fields
are named by their paths in the API's JSON; a header stands as `….headers[X-Name]`.

Defaults: https://cloud.google.com/scheduler/docs/reference/rest/v1 (Job and its parts).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cronspec.naming import PAUSED_HEADER, SCHEDULE_HEADER, UNBORN_HEADER
from migrate.spelling import duration, schedule, zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from migrate.job import Json

Fields = dict[str, str]
"""A normal form: each field that is not as by default, by its path."""

TARGETS: Final = ("appEngineHttpTarget", "httpTarget", "pubsubTarget")
_RETRY: Final = {
    "retryCount": "0",
    "maxRetryDuration": "0s",
    "minBackoffDuration": "5s",
    "maxBackoffDuration": "3600s",
    "maxDoublings": "5",
}
_DEADLINE: Final = "180s"  # of an HTTP target
_BYTES: Final = "application/octet-stream"  # the content type of a body by default
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_SERVERS: Final = ("x-google-", "x-appengine-", "x-cloudscheduler")
_OUR_STATES: Final = frozenset((UNBORN_HEADER.lower(), PAUSED_HEADER.lower()))


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """A field that differs; "" stands for what is by default or not there."""

    path: str
    before: str
    after: str


def normal(job: Mapping[str, Any]) -> Fields:
    """Give the normal form of a job of the API's JSON, v1 or v1beta1."""
    fields: Fields = {
        "schedule": schedule(job.get("schedule", "")),
        "timeZone": zone(job.get("timeZone", "")),
        "description": job.get("description", ""),
        "attemptDeadline": duration(job.get("attemptDeadline", "0s")),
    }
    fields |= {f"retryConfig.{k}": v for k, v in _retry(job.get("retryConfig"))}
    if "appEngineHttpTarget" in job:
        fields |= _app_engine("appEngineHttpTarget", job["appEngineHttpTarget"])
    if "httpTarget" in job:
        if fields["attemptDeadline"] == "0s":
            fields["attemptDeadline"] = _DEADLINE
        fields |= _http("httpTarget", job["httpTarget"])
    if "pubsubTarget" in job:
        fields |= _pubsub("pubsubTarget", job["pubsubTarget"])
    if fields["attemptDeadline"] == "0s":
        fields["attemptDeadline"] = ""
    return {path: value for path, value in fields.items() if value}


def differences(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[FieldDiff]:
    """Give what of `live` is not as wanted.

    Where an App Engine target is wanted without a deadline, a live one of 180 s is
    taken for the server's own: some clients and servers give it for none.
    """
    before, after = normal(live), normal(wanted)
    servers = before.get("attemptDeadline") == _DEADLINE and "httpTarget" not in live
    if servers and "attemptDeadline" not in after:
        del before["attemptDeadline"]
    paths = [
        path
        for path in sorted(before.keys() | after.keys())
        if before.get(path, "") != after.get(path, "")
    ]
    # It is told as it is written, not as it is compared.
    before["schedule"], after["schedule"] = _written(live), _written(wanted)
    return [
        FieldDiff(path, before.get(path, ""), after.get(path, "")) for path in paths
    ]


def _written(job: Mapping[str, Any]) -> str:
    return " ".join(job.get("schedule", "").split())


def mask(diffs: Iterable[FieldDiff], wanted: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the update mask that changes these fields and no others.

    Headers are one field to the API. A target of another kind is set as a whole, and
    displaces the one before.
    """
    diffs = list(diffs)
    kind = next(kind for kind in TARGETS if kind in wanted)
    displaced = any(
        one.path.startswith(other)
        for one in diffs
        for other in TARGETS
        if other != kind
    )
    paths = set()
    for one in diffs:
        path = one.path.partition("[")[0]
        if not displaced or not path.startswith(TARGETS):
            paths.add(path)
    return tuple(sorted(paths | ({kind} if displaced else set())))


def form_of(job: Mapping[str, Any]) -> Fields:
    """Give what gcloud tells legacy jobs by: a deadline is no part of its tuple."""
    return {k: v for k, v in normal(job).items() if k != "attemptDeadline"}


def explicit(job: Json) -> Json:
    """Give the job with the defaults written out that an update has to send.

    A masked field that is not sent becomes zero, which is not its default.
    """
    config = {
        name: int(value) if value.isdigit() else value
        for name, value in _retry(job.get("retryConfig"))
    }
    filled = {**job, "timeZone": job.get("timeZone") or "UTC", "retryConfig": config}
    if "httpTarget" in job:
        filled["attemptDeadline"] = job.get("attemptDeadline", _DEADLINE)
    return filled


_OUTPUT: Final = frozenset(
    ("state", "status", "scheduleTime", "lastAttemptTime", "userUpdateTime")
)


def writable(job: Json) -> Json:
    """Give a live job as it may be sent: without what only the server sets."""
    sent = {name: value for name, value in job.items() if name not in _OUTPUT}
    names = {
        name: None
        for kind in TARGETS
        for name in sent.get(kind, {}).get("headers", {})
        if _is_servers(name.lower())
    }
    return with_headers(sent, names)


def _is_servers(name: str) -> bool:
    return name in {"user-agent", "content-length"} or name.startswith(_SERVERS)


def _retry(config: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    if config is None:
        return _RETRY.items()
    found = []
    for name, default in _RETRY.items():
        if name.endswith("Duration"):
            found.append((name, duration(config.get(name, default))))
        else:  # zeros are not sent: a policy that is there has its numbers, if zero
            found.append((name, str(config.get(name, 0))))
    return found


def _app_engine(at: str, target: Mapping[str, Any]) -> Fields:
    routing = target.get("appEngineRouting", {})
    parts = ("service", "version", "instance")
    fields = {
        f"{at}.httpMethod": _method(target),
        f"{at}.relativeUri": target.get("relativeUri") or "/",
        f"{at}.body": _body(target.get("body", "")),
    }
    fields |= {f"{at}.appEngineRouting.{k}": routing.get(k, "") for k in parts}
    return fields | _headers(at, target)


def _http(at: str, target: Mapping[str, Any]) -> Fields:
    fields = {
        f"{at}.httpMethod": _method(target),
        f"{at}.uri": target.get("uri", ""),
        f"{at}.body": _body(target.get("body", "")),
    }
    if token := target.get("oidcToken"):
        audience = token.get("audience") or target.get("uri", "")
        fields[f"{at}.oidcToken.serviceAccountEmail"] = token["serviceAccountEmail"]
        fields[f"{at}.oidcToken.audience"] = audience
    if token := target.get("oauthToken"):
        fields[f"{at}.oauthToken.serviceAccountEmail"] = token["serviceAccountEmail"]
        fields[f"{at}.oauthToken.scope"] = token.get("scope") or _SCOPE
    return fields | _headers(at, target)


def _pubsub(at: str, target: Mapping[str, Any]) -> Fields:
    attributes = target.get("attributes", {})
    fields = {f"{at}.attributes[{name}]": value for name, value in attributes.items()}
    fields[f"{at}.topicName"] = target.get("topicName", "")
    fields[f"{at}.data"] = _body(target.get("data", ""))
    return fields


def _method(target: Mapping[str, Any]) -> str:
    named = target.get("httpMethod", "HTTP_METHOD_UNSPECIFIED")
    return "POST" if named == "HTTP_METHOD_UNSPECIFIED" else str(named)


def _body(text: str) -> str:
    """Give base64 in its canonical spelling."""
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    try:
        return base64.b64encode(base64.b64decode(padded, validate=True)).decode()
    except binascii.Error:
        return text


def _headers(at: str, target: Mapping[str, Any]) -> Fields:
    fields = {}
    for name, value in target.get("headers", {}).items():
        low = name.lower()
        if low in _OUR_STATES or _is_servers(low):
            continue
        if low == "content-type" and value == _BYTES:
            continue
        shown = _schedule_mark(value) if low == SCHEDULE_HEADER.lower() else value
        fields[f"{at}.headers[{low.title()}]"] = shown
    return fields


def _schedule_mark(value: str) -> str:
    text, _, named = value.rpartition(";")
    return f"{schedule(text.strip())}; {zone(named.strip())}"


def header_of(job: Json, name: str) -> str:
    """Give a header of a job's target; "" where it has none of that name."""
    return headers_of(job).get(name.lower(), "")


def headers_of(job: Mapping[str, Any]) -> dict[str, str]:
    """Give the headers of a job's target, their names in lower case."""
    for kind in TARGETS:
        if kind in job:
            found = job[kind].get("headers", {})
            return {name.lower(): value for name, value in found.items()}
    return {}


def with_headers(job: Json, headers: Mapping[str, str | None]) -> Json:
    """Give the job with these headers set on its target; None takes one away."""
    kind = next(kind for kind in TARGETS if kind in job)
    gone = {name.lower() for name in headers}
    kept = {
        name: value
        for name, value in job[kind].get("headers", {}).items()
        if name.lower() not in gone
    }
    added = {name: value for name, value in headers.items() if value is not None}
    return {**job, kind: {**job[kind], "headers": kept | added}}
