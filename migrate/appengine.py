"""The App Engine app of a project, by the Admin API: where it is, what it serves.

Asked with the application's default credentials, or without any at the host that
CLOUD_SCHEDULER_EMULATOR_HOST names. Reference:
https://cloud.google.com/appengine/docs/admin-api/reference/rest/v1/apps
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import google.auth
import requests
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport.requests import AuthorizedSession

from migrate.overlay import scheduler_location
from migrate.problems import (
    ApiError,
    Hopeless,
    Lost,
    Refused,
    Throttled,
    no_app,
    no_credentials,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

EMULATOR: Final = "CLOUD_SCHEDULER_EMULATOR_HOST"
_URL: Final = "https://appengine.googleapis.com"
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"


@dataclass(frozen=True, slots=True)
class App:
    """An app; `location` as Cloud Scheduler names it, `host` its own host name.

    `services` has each service's versions and their shares of its traffic.
    """

    location: str
    host: str
    serving: bool
    services: Mapping[str, Mapping[str, float]]


def app_of(project: str, timeout: float = 20.0) -> App:
    """Look the project's app up. Raises ApiError."""
    with ThreadPoolExecutor(1) as pool:
        services = pool.submit(_services, project, timeout)
        found = _get(project, "", timeout)
        return App(
            location=scheduler_location(found["locationId"]),
            host=found.get("defaultHostname", ""),
            serving=found.get("servingStatus", "SERVING") == "SERVING",
            services=services.result(),
        )


def _services(project: str, timeout: float) -> dict[str, Mapping[str, float]]:
    services: dict[str, Mapping[str, float]] = {}
    token = ""
    while True:
        query = f"?pageToken={token}" if token else ""
        page = _get(project, f"/services{query}", timeout)
        for one in page.get("services", ()):
            services[one["id"]] = one.get("split", {}).get("allocations", {})
        token = page.get("nextPageToken", "")
        if not token:
            return services


def _get(project: str, path: str, timeout: float) -> dict[str, Any]:
    """Read, and again where that may help; waits are in seconds."""
    for wait in (0.2, 0.6):
        try:
            return _asked(project, path, timeout)
        except (Lost, Throttled):
            time.sleep(wait)
    return _asked(project, path, timeout)


def _asked(project: str, path: str, timeout: float) -> dict[str, Any]:
    what = f"App Engine Admin API, apps/{project}{path.partition('?')[0]}"
    try:
        with _session() as session:
            url = f"{_base()}/v1/apps/{project}{path}"
            answer = session.get(url, timeout=timeout)
    except (requests.RequestException, TransportError) as error:
        raise Lost(f"{what}: no answer ({type(error).__name__})") from None
    except GoogleAuthError as error:
        raise Hopeless(no_credentials(str(error))) from None
    if answer.ok:
        return dict(answer.json())
    raise _problem(project, what, answer)


def _base() -> str:
    host = os.environ.get(EMULATOR)
    return f"http://{host}" if host else _URL


def _session() -> requests.Session:
    if os.environ.get(EMULATOR):
        session = requests.Session()
        session.trust_env = False  # no matter for proxies
        return session
    credentials, _ = google.auth.default(scopes=[_SCOPE])
    return AuthorizedSession(credentials)  # type: ignore[no-untyped-call]  # google-auth types it not


def _problem(project: str, what: str, answer: requests.Response) -> ApiError:
    match answer.status_code:
        case 404:
            return Hopeless(no_app(project))
        case 401:
            return Hopeless(no_credentials(answer.reason))
        case 403:
            return Hopeless(
                f"{what}: not allowed, or the API is off: roles/appengine.appViewer, "
                f"gcloud services enable appengine.googleapis.com --project {project}"
            )
        case 429:
            return Throttled(f"{what}: a quota is used up")
        case status if status < 500:
            return Refused(f"{what}: HTTP {status} {answer.reason}")
    return Lost(f"{what}: HTTP {answer.status_code} {answer.reason}")
