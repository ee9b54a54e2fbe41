"""What gcloud and the migrator ask of other APIs than Cloud Scheduler.

The App Engine Admin API's reading calls, Service Usage (every API is enabled), and a
Cloud Storage without objects.

`gcloud app deploy cron.yaml` (528.0.0) asks Storage for an experiment list that need
not be there, then the app, then v1beta1's locations, then its legacy jobs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emulator.errors import ApiError, Json

if TYPE_CHECKING:
    from emulator.app import App
    from emulator.wire import Request

_APP_ENGINE_IDS = {"us-central1": "us-central", "europe-west1": "europe-west"}


def answer(request: Request, app: App) -> Json | None:
    """Give the answer; None where the path is none of these. Raises ApiError."""
    if request.method != "GET":
        return None
    if found := re.fullmatch(r"/v1(?:beta)?/apps/([^/]+)(/services.*)?", request.path):
        app.check_project(found[1])
        if not app.location:
            raise ApiError("NOT_FOUND", f"Could not find Application {app.project!r}.")
        return _app(app) if found[2] is None else _services(app, found[2])
    if found := re.fullmatch(r"/v1/projects/([^/]+)/services/([^/]+)", request.path):
        app.check_project(found[1])
        return {
            "name": request.path.removeprefix("/v1/"),
            "config": {"name": found[2]},
            "state": "ENABLED",
        }
    if request.path.startswith("/storage/v1/"):
        raise ApiError("NOT_FOUND", "No such object.")
    return None


def _app(app: App) -> Json:
    rules = {"dispatchRules": list(app.dispatch_rules)} if app.dispatch_rules else {}
    return {
        "name": f"apps/{app.project}",
        "id": app.project,
        "locationId": _APP_ENGINE_IDS.get(app.location, app.location),
        "servingStatus": "SERVING",
        "defaultHostname": app.domain,
        # gcloud has an app without buckets repaired before it deploys.
        "codeBucket": f"staging.{app.project}.appspot.com",
        "defaultBucket": f"{app.project}.appspot.com",
        **rules,
    }


def _services(app: App, path: str) -> Json:
    """Answer for the path's rest: /services[/S[/versions]]."""
    match path.strip("/").split("/"):
        case ["services"]:
            return {"services": [_service(app, name) for name in app.services]}
        case ["services", name] if name in app.services:
            return _service(app, name)
        case ["services", name, "versions"] if name in app.services:
            return {"versions": [_version(app, name, v) for v in app.services[name]]}
    raise ApiError("NOT_FOUND", f"Not found: apps/{app.project}{path}")


def _service(app: App, name: str) -> Json:
    split = {v: share for v, share in app.services[name].items() if share}
    return {
        "name": f"apps/{app.project}/services/{name}",
        "id": name,
        "split": {"allocations": split},
    }


def _version(app: App, service: str, version: str) -> Json:
    return {
        "name": f"apps/{app.project}/services/{service}/versions/{version}",
        "id": version,
        "env": "standard",
        "servingStatus": "SERVING",
    }
