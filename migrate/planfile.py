"""A plan as a file: saved by `plan --out`, carried out by `apply` exactly, or not.

The file holds what was wanted and what was going to change, each change with the
normal form and the state of the job before it. Applied, the plan is made again of the
jobs as they are then: where it is not the same, the file is stale. Pure.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from migrate.normal import normal
from migrate.plan import Create, Delete, Finish, Scope, Update, diff, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from migrate.job import Json
    from migrate.livejob import LiveJob
    from migrate.plan import Change, Plan

FORMAT: Final = "cronshift-plan"
_VERSION: Final = 1


class PlanFileError(Exception):
    """A saved plan that cannot be used; the message says why, and the way out."""


def dump(plan: Plan) -> str:
    """Give a plan as the text of a file."""
    scope = plan.scope
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": _VERSION,
        "scope": {
            "parent": scope.parent,
            "set": scope.job_set,
            "former": list(scope.former),
            "urls": sorted(scope.urls),
            "paused": scope.paused,
            "max_deletes": scope.max_deletes,
        },
        "desired": list(plan.desired),
        "changes": [said(change) for change in plan.changes],
    }
    document["fingerprint"] = _digest(document)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def looks_like_one(text: str) -> bool:
    """Tell whether a file's text is a saved plan's, whole or not."""
    return text.lstrip().startswith("{") and f'"{FORMAT}"' in text


@dataclass(frozen=True, slots=True)
class Saved:
    """A plan as it was saved; `changes` are as `said` gives them."""

    file: str
    scope: Scope
    desired: tuple[Json, ...]
    changes: tuple[Json, ...]

    def plan(self, actual: Iterable[LiveJob]) -> Plan:
        """Give the plan for the jobs as they are now. Raises PlanFileError if stale."""
        plan = diff(self.desired, actual, self.scope)
        then = {change["name"]: change for change in self.changes}
        now = {name_of(change): said(change) for change in plan.changes}
        moved = {
            name for name in then.keys() | now.keys() if then.get(name) != now.get(name)
        }
        names = sorted(moved | {job.name for job in plan.conflicts})
        if not names:
            return plan
        shown = ", ".join(name.rpartition("/")[2] for name in names[:5])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise PlanFileError(
            f"{self.file}: stale: {shown}{more} changed since the plan was made; "
            "nothing was done: plan again"
        )


def load(text: str, file: str) -> Saved:
    """Read a saved plan. Raises PlanFileError for a text that is none, or changed."""
    try:
        document = json.loads(text)
        fingerprint = document.pop("fingerprint")
        version, scope = document["version"], document["scope"]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise PlanFileError(
            f"{file}: not a whole plan of `cronshift plan --out`: plan again"
        ) from None
    if version != _VERSION:
        raise PlanFileError(
            f"{file}: a plan of format {version}, this version reads {_VERSION}: "
            "plan again"
        )
    if fingerprint != _digest(document):
        raise PlanFileError(f"{file}: changed since it was saved: plan again")
    return Saved(
        file,
        Scope(
            parent=scope["parent"],
            job_set=scope["set"],
            former=tuple(scope["former"]),
            urls=frozenset(scope["urls"]),
            paused=scope["paused"],
            max_deletes=scope["max_deletes"],
        ),
        tuple(document["desired"]),
        tuple(document["changes"]),
    )


def said(change: Change) -> dict[str, Any]:
    """Give a change without what moves by itself, such as times of runs."""
    match change:
        case Create(after, paused):
            how = "create paused" if paused else "create"
            return {"do": how, "name": name_of(change), "after": normal(after)}
        case Update(before, after, mask):
            return {
                "do": "update",
                "name": before.name,
                "before": _known(before),
                "after": normal(after),
                "mask": list(mask),
            }
        case Finish(before, after):
            return {
                "do": "finish",
                "name": before.name,
                "before": _known(before),
                "after": normal(after),
            }
        case Delete(before):
            return {"do": "delete", "name": before.name, "before": _known(before)}


def _known(job: LiveJob) -> dict[str, Any]:
    return {
        "state": job.state.value,
        "unborn": job.unborn,
        "pause_is_ours": job.pause_is_ours,
        "fields": normal(job.resource),
    }


def _digest(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
