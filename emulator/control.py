"""The emulator's own calls, under /_emulator/, for tests in other processes.

GET, DELETE        journal     every request so far; forget them
GET, POST, DELETE  faults      those in force; add one (faults.fault_from_json); lift
GET, PATCH         jobs        both kinds; set fields of one that clients may not
                               set: {"name": …, "legacy": false, "fields": {…}}
PUT                quota       {"reads": 1250, "writes": 500}; null: no limit
PUT                app         {"location": …, "services": {"default": {"v1": 1}},
                               "dispatch_rules": [ … ]}
POST               clock       {"advance": seconds}; a virtual clock only
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from emulator.clock import VirtualClock
from emulator.errors import ApiError, Json, invalid
from emulator.faults import fault_from_json
from emulator.jobs import Job, Key
from emulator.quota import Limits
from emulator.timing import rfc3339
from emulator.wire import Reply, Request

if TYPE_CHECKING:
    from emulator.world import World

PREFIX: Final = "/_emulator/"


def reply(world: World, request: Request) -> Reply:
    """Carry out a call to the emulator itself."""
    what = request.path.removeprefix(PREFIX)
    try:
        route = _ROUTES.get((request.method, what), _no_such_call)
        body = request.body if isinstance(request.body, dict) else {}
        return Reply(200, route(world, body))
    except ApiError as error:
        return Reply(error.status, error.to_json())
    except (KeyError, TypeError, ValueError) as error:
        refusal = invalid(f"{request.method} {what}: {error!r}")
        return Reply(refusal.status, refusal.to_json())


def all_jobs(world: World) -> list[Job]:
    """Give every job of the project's app location, the legacy ones last."""
    found = []
    for legacy in (False, True):
        for location in world.app.locations():
            parent = f"projects/{world.app.project}/locations/{location}"
            found += world.store.page(parent, Key(legacy, ""), 1_000_000)
    return found


def _no_such_call(_: World, __: Json) -> Json:
    raise ApiError("NOT_FOUND", "no such call; emulator/control.py lists them")


def _journal(world: World, _: Json) -> Json:
    return {"exchanges": [found.to_json() for found in world.journal.exchanges()]}


def _clear_journal(world: World, _: Json) -> Json:
    world.journal.clear()
    return {}


def _faults(world: World, _: Json) -> Json:
    return {"faults": world.faults.to_json()}


def _add_fault(world: World, body: Json) -> Json:
    world.faults.add(fault_from_json(body))
    return _faults(world, {})


def _clear_faults(world: World, _: Json) -> Json:
    world.faults.clear()
    return {}


def _jobs(world: World, _: Json) -> Json:
    return {"jobs": [job.resource for job in all_jobs(world)]}


def _set_fields(world: World, body: Json) -> Json:
    key = Key(bool(body.get("legacy", False)), body["name"])
    job = world.store.change(key, lambda job: job.with_fields(body["fields"]))
    if job is None:
        raise ApiError("NOT_FOUND", f"no such job: {key}")
    return job.resource


def _set_quota(world: World, body: Json) -> Json:
    world.quota.limits = Limits(**body)
    return {}


def _set_app(world: World, body: Json) -> Json:
    world.app = replace(world.app, **body)
    return {}


def _advance(world: World, body: Json) -> Json:
    if not isinstance(world.clock, VirtualClock):
        raise ApiError("FAILED_PRECONDITION", "the machine's clock is not ours to move")
    return {"now": rfc3339(world.clock.advance(timedelta(seconds=body["advance"])))}


_ROUTES: Final = {
    ("GET", "journal"): _journal,
    ("DELETE", "journal"): _clear_journal,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _add_fault,
    ("DELETE", "faults"): _clear_faults,
    ("GET", "jobs"): _jobs,
    ("PATCH", "jobs"): _set_fields,
    ("PUT", "quota"): _set_quota,
    ("PUT", "app"): _set_app,
    ("POST", "clock"): _advance,
}
