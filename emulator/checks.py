"""What Cloud Scheduler refuses about a job, in its words where they are known.

The limits are those of the API's reference (v1 Job and its parts). Where the
reference gives a rule and nobody reports the server's words, ours stand.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from emulator.errors import ApiError, Json, invalid
from emulator.schema import TARGETS, seconds
from emulator.timing import read_schedule, read_zone

if TYPE_CHECKING:
    from emulator.app import App

_MAX_JOB_BYTES: Final = 1024 * 1024
_MAX_HEADER_BYTES: Final = 80 * 1024
_MAX_URI: Final = 2083
_DEADLINES: Final = {"httpTarget": 30 * 60, "appEngineHttpTarget": 24 * 3600 + 15}
_WITH_BODY: Final = {
    "httpTarget": ("POST", "PUT", "PATCH"),
    "appEngineHttpTarget": ("POST", "PUT"),
}
_RESERVED: Final = re.compile(
    r"x-google-.*|x-appengine-.*|content-length", re.IGNORECASE
)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def check_name(name: str, parent: str) -> None:
    """Raise ApiError unless `name` is a well-formed name of a job under `parent`."""
    found = re.fullmatch(r"(projects/[^/]+/locations/[^/]+)/jobs/([^/]*)", name)
    if found is None or found[1] != parent:
        raise invalid(
            'Job name must be formatted: "projects/<PROJECT_ID>/locations/'
            '<LOCATION_ID>/jobs/<JOB_ID>".'
        )
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,500}", found[2]):
        raise invalid(
            f'Job ID "{found[2]}" can contain only letters ([A-Za-z]), numbers '
            "([0-9]), hyphens (-), or underscores (_). Job ID must be between 1 and "
            "500 characters."
        )


def check(job: Json, location: str, app: App) -> None:
    """Raise ApiError for the first rule that a job, complete with defaults, breaks."""
    read_schedule(job.get("schedule", ""))
    read_zone(job["timeZone"])
    target = _target(job)
    _check_text(job)
    _check_retry(job.get("retryConfig", {}))
    _check_deadline(job, target)
    match target:
        case "appEngineHttpTarget":
            _check_location(location, app)
            _check_app_engine(job[target])
        case "httpTarget":
            _check_http(job[target])
        case _:
            _check_pubsub(job[target])


def _target(job: Json) -> str:
    targets = [target for target in TARGETS if target in job]
    if len(targets) > 1:
        raise invalid("Invalid value at 'job' (oneof), oneof field 'target' is set.")
    if not targets:
        raise invalid("Job.target must be set.")
    return targets[0]


def _check_text(job: Json) -> None:
    if len(job.get("description", "")) > 500:
        raise invalid("Job.description must not contain more than 500 characters.")
    if len(json.dumps(job)) > _MAX_JOB_BYTES:
        raise invalid("Job size must not exceed 1 MB.")


def _check_location(location: str, app: App) -> None:
    if not app.location:
        raise ApiError(
            "FAILED_PRECONDITION",
            f"Project {app.project} does not contain an App Engine application.",
        )
    if location != app.location:
        raise invalid(
            f"Location must equal {app.location} because the App Engine app that is "
            f"associated with this project is located in {app.location}"
        )


def _check_retry(retry: Json) -> None:
    if not 0 <= retry.get("retryCount", 0) <= 5:
        raise invalid("RetryConfig.retry_count must be between 0 and 5.")
    if retry.get("maxDoublings", 0) < 0:
        raise invalid("RetryConfig.max_doublings must not be negative.")
    for name, value in retry.items():
        if name.endswith("Duration") and seconds(value) < 0:
            raise invalid(f"RetryConfig.{name} must not be negative.")
    least = seconds(retry.get("minBackoffDuration", "0s"))
    most = seconds(retry.get("maxBackoffDuration", f"{least}s"))
    if most < least:
        raise invalid(
            "RetryConfig.max_backoff_duration must not be less than "
            "min_backoff_duration."
        )


def _check_deadline(job: Json, target: str) -> None:
    most = _DEADLINES.get(target)
    given = seconds(job.get("attemptDeadline", "0s"))
    if most is not None and given != 0 and not 15 <= given <= most:
        raise invalid(f"Job.attempt_deadline must be in the interval [15s, {most}s].")


def _check_app_engine(target: Json) -> None:
    uri = target["relativeUri"]
    if not uri.startswith("/") or re.search(r"\s", uri) or len(uri) > _MAX_URI:
        raise invalid(
            'AppEngineHttpTarget.relative_uri must begin with "/", hold no spaces '
            f"and have at most {_MAX_URI} characters."
        )
    if target["httpMethod"] in ("PATCH", "OPTIONS"):
        raise invalid("AppEngineHttpTarget.http_method: PATCH, OPTIONS not permitted.")
    for name in target.get("headers", {}):
        if _RESERVED.fullmatch(name):
            raise invalid(f"HTTP header {name!r} cannot be set.")
    _check_headers_and_body("appEngineHttpTarget", target)


def _check_http(target: Json) -> None:
    uri = target.get("uri", "")
    if not re.fullmatch(r"https?://[^/\s]+(/\S*)?", uri) or len(uri) > _MAX_URI:
        raise invalid(
            "HttpTarget.uri must be a valid HTTP or HTTPS URL of at most "
            f"{_MAX_URI} characters."
        )
    if "oauthToken" in target and "oidcToken" in target:
        raise invalid(
            "Invalid value at 'job.http_target' (oneof), oneof field "
            "'authorization_header' is already set."
        )
    _check_headers_and_body("httpTarget", target)


def _check_headers_and_body(kind: str, target: Json) -> None:
    headers = target.get("headers", {})
    for name in headers:
        if not _TOKEN.fullmatch(name):
            raise invalid(f"HTTP header name {name!r} is invalid.")
    if sum(len(name) + len(value) for name, value in headers.items()) > (
        _MAX_HEADER_BYTES
    ):
        raise invalid("The total size of headers must be less than 80KB.")
    if target.get("body") and target["httpMethod"] not in _WITH_BODY[kind]:
        raise invalid(
            "HTTP request body is allowed only if the HTTP method is "
            f"{' or '.join(_WITH_BODY[kind])}."
        )


def _check_pubsub(target: Json) -> None:
    if not re.fullmatch(r"projects/[^/]+/topics/[^/]+", target.get("topicName", "")):
        raise invalid(
            "PubsubTarget.topic_name must be formatted: "
            '"projects/<PROJECT_ID>/topics/<TOPIC_ID>".'
        )
    if not target.get("data") and not target.get("attributes"):
        raise invalid("Pubsub message must contain data or at least one attribute.")
