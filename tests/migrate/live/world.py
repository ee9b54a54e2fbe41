"""Cloud Scheduler's API of an emulated world in this process, and jobs to put there."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from emulator.wire import CutOff, Request
from migrate.pacing import Bucket, Patience
from migrate.problems import Answer, Call, lost, problem
from migrate.store import JobStore, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulator.world import World

NOW = datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC)  # a Wednesday
PARENT = "projects/shop/locations/europe-west1"
PATIENCE = Patience(timeout=5, first_wait=0, longest_wait=0, quota_wait=0)


def no_sleep(_: float) -> None:
    """Wait for nothing."""


@dataclass
class WorldApi:
    """The API of an emulated world, without a socket or a client."""

    world: World
    page_size: int = 500
    calls: list[str] = field(default_factory=list)

    def page(self, parent: str, token: str, *, legacy: bool) -> Page:
        query = {"pageSize": str(self.page_size), "pageToken": token}
        query |= {"legacyAppEngineCron": "true"} if legacy else {}
        version = "v1beta1" if legacy else "v1"
        found = self._ask("list", "GET", f"/{version}/{parent}/jobs", query)
        return Page(found.get("jobs", []), found.get("nextPageToken", ""))

    def get(self, name: str) -> dict[str, Any]:
        return self._ask("get", "GET", f"/v1/{name}")

    def create(self, parent: str, job: dict[str, Any], *, legacy: bool) -> Any:
        if legacy:
            sent = {**job, "legacyAppEngineCron": True}
            return self._ask("create", "POST", f"/v1beta1/{parent}/jobs", {}, sent)
        return self._ask("create", "POST", f"/v1/{parent}/jobs", {}, job)

    def update(self, job: dict[str, Any], mask: Sequence[str]) -> Any:
        query = {"updateMask": ",".join(mask)}
        return self._ask("update", "PATCH", f"/v1/{job['name']}", query, job)

    def delete(self, name: str, *, legacy: bool) -> None:
        query = {"legacyAppEngineCron": "true"} if legacy else {}
        version = "v1beta1" if legacy else "v1"
        self._ask("delete", "DELETE", f"/{version}/{name}", query)

    def pause(self, name: str) -> Any:
        return self._ask("pause", "POST", f"/v1/{name}:pause")

    def resume(self, name: str) -> Any:
        return self._ask("resume", "POST", f"/v1/{name}:resume")

    def _ask(
        self, verb: str, method: str, path: str, query: Any = None, body: Any = None
    ) -> dict[str, Any]:
        self.calls.append(verb)
        path_name = path.removeprefix("/v1beta1/").removeprefix("/v1/")
        call = Call(verb, (body or {}).get("name", path_name))
        reply = self.world.reply(Request(method, path, query or {}, body))
        if isinstance(reply, CutOff):
            raise lost(call, "cut off")
        if reply.status != 200:
            told = reply.body["error"]
            info = next(iter(told.get("details", [])), {})
            raise problem(
                call,
                Answer(
                    told["status"],
                    told["message"],
                    info.get("reason", ""),
                    info.get("metadata", {}),
                ),
            )
        return reply.body


def store_of(api: Any, patience: Patience = PATIENCE) -> JobStore:
    """A job store that never waits."""
    return JobStore(
        api,
        Bucket(10_000_000, time.monotonic, no_sleep),
        Bucket(10_000_000, time.monotonic, no_sleep),
        no_sleep,
        patience,
    )


def job(id_: str, /, **fields: Any) -> dict[str, Any]:
    """A job without marks; a field that is None is left out."""
    whole = {
        "name": f"{PARENT}/jobs/{id_}",
        "schedule": "0 9 * * 1",
        "timeZone": "Europe/Rome",
        "appEngineHttpTarget": {"httpMethod": "GET", "relativeUri": f"/{id_}"},
    } | fields
    return {k: v for k, v in whole.items() if v is not None}


def ours(id_: str, /, job_set: str = "default", **fields: Any) -> dict[str, Any]:
    """A job with our marks."""
    made = job(id_, **fields)
    kind = "httpTarget" if "httpTarget" in made else "appEngineHttpTarget"
    marks = {
        "X-Cron-Entry": id_,
        "X-Cron-Schedule": f"{made['schedule']}; {made.get('timeZone', 'UTC')}",
        "X-Cron-Scope": "shop/europe-west1",
        "X-Cron-Set": job_set,
    }
    return {**made, kind: {**made[kind], "headers": marks}}
