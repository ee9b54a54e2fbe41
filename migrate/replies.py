"""Lost replies, verb by verb: what is there now tells whether a call was done. Pure.

A call that got no answer may have taken effect, and so may one that is answered
"exists", "not found" or "wrong state" when it is sent again, or was by some client on
the way. So the job is read back, and one of these rules decides. The API has no etag:
what another operator does between our reading and our writing cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrate.livejob import LiveJob, State
from migrate.normal import differences, headers_of
from migrate.problems import ApiError, Lost, Missing, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from migrate.job import Json


@dataclass(frozen=True, slots=True)
class Done:
    """The call took effect; `job` is what is there now, None after a deletion."""

    job: LiveJob | None


@dataclass(frozen=True, slots=True)
class Again:
    """It did not take effect and may be sent again."""


@dataclass(frozen=True, slots=True)
class Stop:
    """It cannot be done."""

    problem: ApiError


Next = Done | Again | Stop


def after_create(sent: Json, found: LiveJob | None) -> Next:
    """Decide on a create without an answer, or answered "exists"."""
    if found is None:
        return Again()
    name = found.job_id
    diffs = differences(found.resource, sent)
    if not diffs and _own_marks(found.resource) == _own_marks(sent):
        return Done(found)
    fields = ", ".join(one.path for one in diffs) or "its marks"
    return Stop(
        Refused(
            f"create {name}: a job of that name is there already, and not as wanted "
            f"({fields}); nothing of it was changed: plan again"
        )
    )


def after_update(sent: Json, mask: Sequence[str], found: LiveJob | None) -> Next:
    """Decide on an update without an answer."""
    if found is None:
        name = sent["name"].rpartition("/")[2]
        return Stop(
            Missing(f"update {name}: the job was deleted meanwhile: plan again")
        )
    masked = tuple(mask)
    open_fields = [
        one for one in differences(found.resource, sent) if one.path.startswith(masked)
    ]
    if open_fields or _own_marks(found.resource) != _own_marks(sent):
        return Again()
    return Done(found)


def after_delete(problem: ApiError) -> Next:
    """Decide on a delete without an answer, or answered "not found"."""
    return Done(None) if isinstance(problem, Missing) else Again()


def after_switch(problem: ApiError, wanted: State, found: LiveJob | None) -> Next:
    """Decide on a pause or resume without an answer, or answered "wrong state"."""
    if found is None:
        return Stop(problem if isinstance(problem, Missing) else Missing(str(problem)))
    if found.state is wanted:
        return Done(found)
    between = {State.ENABLED, State.PAUSED}
    if isinstance(problem, Lost) and found.state in between:
        return Again()
    return Stop(Refused(f"{problem} (it is {found.state.value})"))


def after_legacy_create(before: int, now: int) -> bool:
    """Tell whether an unnamed legacy job was made: there is one more of its like."""
    return now > before


def _own_marks(job: Json) -> frozenset[tuple[str, str]]:
    """Give the marks of pauses and births, which normal forms pass over."""
    headers = headers_of(job)
    names = ("x-cron-unborn", "x-cron-paused")
    return frozenset((name, headers[name]) for name in names if name in headers)
