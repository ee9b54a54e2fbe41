"""A Cloud Scheduler job, in the API's own words, and its REST form (v1).

Source words of cron.yaml (`url`, `target`, `job_retry_limit`) never stand here.
Field meanings and limits: https://cloud.google.com/scheduler/docs/reference/rest/v1
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
"""A job as the REST API's JSON: keys in camelCase, zero values left out."""

MIN_DEADLINE: Final = timedelta(seconds=15)
MAX_APP_ENGINE_DEADLINE: Final = timedelta(hours=24)
MAX_HTTP_DEADLINE: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class AppEngineRouting:
    """The service, and perhaps the version, that a request is addressed to."""

    service: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class AppEngineHttpTarget:
    """A request to the App Engine app of the job's own project."""

    relative_uri: str
    routing: AppEngineRouting | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    http_method: str = "GET"


@dataclass(frozen=True, slots=True)
class OidcToken:
    """The identity that goes with a request to an HTTP target."""

    service_account_email: str
    audience: str


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """A request to any HTTP endpoint."""

    uri: str
    oidc_token: OidcToken | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    http_method: str = "GET"


@dataclass(frozen=True, slots=True)
class RetryConfig:
    """How a failed attempt is retried; backoffs are seconds, zero duration no limit."""

    retry_count: int
    max_retry_duration: timedelta
    min_backoff: float
    max_backoff: float
    max_doublings: int


@dataclass(frozen=True, slots=True)
class JobName:
    """A job's full name. `project` and `location` may be placeholders offline."""

    project: str
    location: str
    job_id: str

    def __str__(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/jobs/{self.job_id}"


@dataclass(frozen=True, slots=True)
class Job:
    """One job. An absent `retry_config` or `attempt_deadline` is not sent at all."""

    name: JobName
    schedule: str
    time_zone: str
    target: AppEngineHttpTarget | HttpTarget
    description: str = ""
    retry_config: RetryConfig | None = None
    attempt_deadline: timedelta | None = None


def seconds(value: timedelta | float) -> str:
    """Give a duration as the API writes it.

    >>> seconds(timedelta(minutes=3)), seconds(0.1), seconds(1e-08)
    ('180s', '0.1s', '0.00000001s')
    """
    number = value.total_seconds() if isinstance(value, timedelta) else value
    text = f"{number:.9f}".rstrip("0").rstrip(".")
    return f"{text}s"


def to_api(job: Job) -> dict[str, Any]:
    """Give a job as the REST API's v1 JSON; what is not said is left out."""
    api: dict[str, Any] = {"name": str(job.name)}
    if job.description:
        api["description"] = job.description
    match job.target:
        case AppEngineHttpTarget() as target:
            api["appEngineHttpTarget"] = _app_engine_target(target)
        case HttpTarget() as target:
            api["httpTarget"] = _http_target(target)
    api["schedule"] = job.schedule
    api["timeZone"] = job.time_zone
    if job.retry_config is not None:
        api["retryConfig"] = {
            "retryCount": job.retry_config.retry_count,
            "maxRetryDuration": seconds(job.retry_config.max_retry_duration),
            "minBackoffDuration": seconds(job.retry_config.min_backoff),
            "maxBackoffDuration": seconds(job.retry_config.max_backoff),
            "maxDoublings": job.retry_config.max_doublings,
        }
    if job.attempt_deadline is not None:
        api["attemptDeadline"] = seconds(job.attempt_deadline)
    return api


@dataclass(frozen=True, slots=True)
class Unsayable:
    """A job of the API that `Job` cannot say: these fields have no place in it."""

    fields: tuple[str, ...]


def from_api(api: Mapping[str, Any]) -> Job | Unsayable:
    """Read a job of the API's JSON; what the server alone sets is passed over.

    >>> from_api({"name": "projects/p/locations/l/jobs/j", "pubsubTarget": {}})
    Unsayable(fields=('pubsubTarget',))
    """
    if unsayable := _unsayable(api):
        return Unsayable(unsayable)
    target: AppEngineHttpTarget | HttpTarget
    if "appEngineHttpTarget" in api:
        target = _read_app_engine(api["appEngineHttpTarget"])
    else:
        target = _read_http(api.get("httpTarget", {}))
    _, project, _, location, _, job_id = api["name"].split("/")
    config, deadline = api.get("retryConfig"), _read(api.get("attemptDeadline", "0s"))
    return Job(
        name=JobName(project, location, job_id),
        schedule=api.get("schedule", ""),
        time_zone=api.get("timeZone") or "UTC",
        target=target,
        description=api.get("description", ""),
        retry_config=None if config is None else _read_retry(config),
        attempt_deadline=timedelta(seconds=deadline) if deadline else None,
    )


def _unsayable(api: Mapping[str, Any]) -> tuple[str, ...]:
    found = [name for name in ("pubsubTarget",) if name in api]
    app_engine = api.get("appEngineHttpTarget", {})
    http = api.get("httpTarget", {})
    places = (
        ("appEngineHttpTarget.body", app_engine.get("body")),
        (
            "appEngineHttpTarget.appEngineRouting.instance",
            app_engine.get("appEngineRouting", {}).get("instance"),
        ),
        ("httpTarget.body", http.get("body")),
        ("httpTarget.oauthToken", http.get("oauthToken")),
    )
    return (*found, *(path for path, value in places if value))


def _read_app_engine(api: Mapping[str, Any]) -> AppEngineHttpTarget:
    routing = api.get("appEngineRouting", {})
    service, version = routing.get("service", ""), routing.get("version", "")
    named = AppEngineRouting(service, version) if service or version else None
    return AppEngineHttpTarget(
        relative_uri=api.get("relativeUri") or "/",
        routing=named,
        headers=_own_headers(api),
        http_method=api.get("httpMethod", "POST"),
    )


def _read_http(api: Mapping[str, Any]) -> HttpTarget:
    token, uri = api.get("oidcToken"), api.get("uri", "")
    return HttpTarget(
        uri=uri,
        oidc_token=None
        if token is None
        else OidcToken(token["serviceAccountEmail"], token.get("audience") or uri),
        headers=_own_headers(api),
        http_method=api.get("httpMethod", "POST"),
    )


def _own_headers(api: Mapping[str, Any]) -> dict[str, str]:
    headers = api.get("headers", {})
    return {name: v for name, v in headers.items() if name.lower() != "user-agent"}


def _read_retry(api: Mapping[str, Any]) -> RetryConfig:
    return RetryConfig(
        retry_count=int(api.get("retryCount", 0)),
        max_retry_duration=timedelta(seconds=_read(api.get("maxRetryDuration", "0s"))),
        min_backoff=_read(api.get("minBackoffDuration", "5s")),
        max_backoff=_read(api.get("maxBackoffDuration", "3600s")),
        max_doublings=int(api.get("maxDoublings", 0)),
    )


def _read(duration: str) -> float:
    return float(duration.removesuffix("s"))


def _app_engine_target(target: AppEngineHttpTarget) -> dict[str, Any]:
    api: dict[str, Any] = {
        "httpMethod": target.http_method,
        "relativeUri": target.relative_uri,
    }
    if target.routing is not None:
        api["appEngineRouting"] = {"service": target.routing.service}
        if target.routing.version:
            api["appEngineRouting"]["version"] = target.routing.version
    if target.headers:
        api["headers"] = dict(target.headers)
    return api


def _http_target(target: HttpTarget) -> dict[str, Any]:
    api: dict[str, Any] = {"httpMethod": target.http_method, "uri": target.uri}
    if target.headers:
        api["headers"] = dict(target.headers)
    if target.oidc_token is not None:
        api["oidcToken"] = {
            "serviceAccountEmail": target.oidc_token.service_account_email,
            "audience": target.oidc_token.audience,
        }
    return api
