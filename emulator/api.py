"""Cloud Scheduler's REST API, v1 and v1beta1: which call a request is, and its answer.

v1beta1 alone knows `legacyAppEngineCron`, the jobs that `gcloud app deploy cron.yaml`
makes: with it, list, create, delete and run mean those *instead of* the others. There
are no etags: the last write wins.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emulator import jobs
from emulator.checks import check_name
from emulator.errors import ApiError, Json, invalid
from emulator.jobs import Key
from emulator.schema import JOB_V1, JOB_V1BETA1, Kind, Message, mask_paths, read

if TYPE_CHECKING:
    from emulator.app import App
    from emulator.clock import Clock
    from emulator.dispatch import Dispatch
    from emulator.store import Store
    from emulator.wire import Request

_PATH: Final = re.compile(
    r"/(?P<version>v1|v1beta1)/(?P<parent>projects/(?P<project>[^/]+)/"
    r"(?P<place>locations)(?:/(?P<location>[^/:]+)(?:/(?P<jobs>jobs)"
    r"(?:/(?P<job>[^/:]+)(?P<verb>:[a-z]+)?)?)?)?)"
)
_ANY_QUERY: Final = frozenset(
    "alt $alt key fields prettyPrint $prettyPrint quotaUser userProject callback "
    "access_token oauth_token uploadType upload_protocol $.xgafv".split()
)
_PAGING: Final = ("pageSize", "pageToken")
_LEGACY: Final = "legacyAppEngineCron"
_RUN: Final = {"v1": Message({}), "v1beta1": Message({_LEGACY: Kind.FLAG})}
_JOB: Final = {"v1": JOB_V1, "v1beta1": JOB_V1BETA1}
_MAX_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class _Call:
    """A request with what its path says; empty where it does not say it."""

    request: Request
    version: str
    project: str
    location: str
    job: str

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.location}"

    def key(self, *, legacy: bool = False) -> Key:
        return Key(legacy, f"{self.parent}/jobs/{self.job}")

    def legacy(self) -> bool:
        return self.request.query.get(_LEGACY, "false").lower() == "true"

    def allow(self, *names: str) -> None:
        """Raise ApiError for a query parameter that the method does not have."""
        beta = (_LEGACY,) if self.version == "v1beta1" else ()
        for name in self.request.query:
            if name not in _ANY_QUERY and name not in names:
                if name in beta and self.request.method in ("GET", "DELETE"):
                    continue
                raise invalid(
                    f'Invalid JSON payload received. Unknown name "{name}": Cannot '
                    "bind query parameter. Field could not be found in request message."
                )


@dataclass(frozen=True, slots=True)
class SchedulerApi:
    """Answers calls of the API out of a store."""

    store: Store
    app: App
    clock: Clock
    dispatch: Dispatch

    def answer(self, request: Request) -> Json | None:
        """Give the answer; None where the path is not of this API. Raises ApiError."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            return None
        part = {name: text or "" for name, text in found.groupdict().items()}
        call = _Call(
            request, part["version"], part["project"], part["location"], part["job"]
        )
        depth = next(p for p in ("job", "jobs", "location", "place") if part[p])
        route = _ROUTES.get((request.method, depth, part["verb"]))
        if route is None:
            raise ApiError("NOT_FOUND", "Method not found.")
        self.app.check_project(call.project)
        if call.location and call.location not in self.app.locations():
            raise ApiError("NOT_FOUND", f"Location {call.location!r} was not found.")
        return route(self, call)

    def list_locations(self, call: _Call) -> Json:
        """List every location, that of the project's app first, as gcloud expects."""
        call.allow("filter", "extraLocationTypes", *_PAGING)
        known = self.app.locations()
        last = _last_of_page(call)
        start = known.index(last) + 1 if last in known else 0
        size = _page_size(call)
        page = [self._location(name) for name in known[start : start + size]]
        token = {}
        if start + size < len(known):
            token["nextPageToken"] = _token(known[start + size - 1])
        return {"locations": page, **token}

    def get_location(self, call: _Call) -> Json:
        """Give one location."""
        call.allow()
        return self._location(call.location)

    def _location(self, name: str) -> Json:
        return {
            "name": f"projects/{self.app.project}/locations/{name}",
            "locationId": name,
            "labels": {"cloud.googleapis.com/region": name},
        }

    def list_jobs(self, call: _Call) -> Json:
        """List jobs by name, page by page."""
        call.allow("filter", *_PAGING)
        size = _page_size(call)
        after = Key(call.legacy(), _last_of_page(call))
        found = self.store.page(call.parent, after, size + 1)
        page: Json = {"jobs": [job.resource for job in found[:size]]} if found else {}
        if len(found) > size:
            page["nextPageToken"] = _token(found[size - 1].key.name)
        return page

    def get_job(self, call: _Call) -> Json:
        """Give one job."""
        call.allow()
        return self._found(self.store.get(call.key()))

    def create_job(self, call: _Call) -> Json:
        """Make a job, under a name of our choice where it has none."""
        call.allow()
        sent = read(_JOB[call.version], call.request.body, "job")
        name = sent.get("name") or f"{call.parent}/jobs/{secrets.randbits(63):020}"
        check_name(name, call.parent)
        key = Key(bool(sent.get(_LEGACY)), name)
        job = jobs.create(key, sent, self.app, self.clock.now())
        if not self.store.insert(job):
            raise ApiError("ALREADY_EXISTS", f"Job {name} already exists.")
        return job.resource

    def patch_job(self, call: _Call) -> Json:
        """Change the fields that the mask names."""
        call.allow("updateMask")
        message = _JOB[call.version]
        sent = read(message, call.request.body, "job")
        everything = ",".join(sent)  # without a mask, all that was sent
        mask = call.request.query.get("updateMask", everything)
        paths = mask_paths(mask, message)
        now = self.clock.now()
        return self._found(
            self.store.change(
                call.key(), lambda job: jobs.update(job, sent, paths, self.app, now)
            )
        )

    def delete_job(self, call: _Call) -> Json:
        """Delete a job."""
        call.allow()
        if not self.store.delete(call.key(legacy=call.legacy())):
            raise _not_found()
        return {}

    def pause_job(self, call: _Call) -> Json:
        """Stop a job from firing."""
        call.allow()
        read(Message({}), call.request.body or {}, "request")
        return self._found(self.store.change(call.key(), jobs.pause))

    def resume_job(self, call: _Call) -> Json:
        """Let a paused job fire again."""
        call.allow()
        read(Message({}), call.request.body or {}, "request")
        now = self.clock.now()
        return self._found(
            self.store.change(call.key(), lambda job: jobs.resume(job, now))
        )

    def run_job(self, call: _Call) -> Json:
        """Fire a job at once, paused or not."""
        call.allow()
        body = read(_RUN[call.version], call.request.body or {}, "request")
        key = call.key(legacy=bool(body.get(_LEGACY)))
        now = self.clock.now()
        return self._found(
            self.store.change(key, lambda job: self.dispatch.force(job, now))
        )

    @staticmethod
    def _found(job: jobs.Job | None) -> Json:
        if job is None:
            raise _not_found()
        return job.resource


_ROUTES: Final = {
    ("GET", "place", ""): SchedulerApi.list_locations,
    ("GET", "location", ""): SchedulerApi.get_location,
    ("GET", "jobs", ""): SchedulerApi.list_jobs,
    ("POST", "jobs", ""): SchedulerApi.create_job,
    ("GET", "job", ""): SchedulerApi.get_job,
    ("PATCH", "job", ""): SchedulerApi.patch_job,
    ("DELETE", "job", ""): SchedulerApi.delete_job,
    ("POST", "job", ":pause"): SchedulerApi.pause_job,
    ("POST", "job", ":resume"): SchedulerApi.resume_job,
    ("POST", "job", ":run"): SchedulerApi.run_job,
}


def _not_found() -> ApiError:
    return ApiError("NOT_FOUND", "Job not found.")


def _page_size(call: _Call) -> int:
    """Give the size of page asked for; 500 where none is, or a larger one."""
    text = call.request.query.get("pageSize", "0")
    if not re.fullmatch(r"\d{1,10}", text):
        raise invalid(f"Invalid value at 'page_size' (TYPE_INT32), \"{text}\"")
    return min(int(text) or _MAX_PAGE, _MAX_PAGE)


def _token(last: str) -> str:
    return base64.urlsafe_b64encode(last.encode()).decode()


def _last_of_page(call: _Call) -> str:
    """Give what stood last on the page before; "" for the first page."""
    try:
        return base64.b64decode(
            call.request.query.get("pageToken", ""), altchars=b"-_", validate=True
        ).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise invalid("The page token is invalid.") from None
