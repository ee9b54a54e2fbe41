"""What has to change, so that the live jobs of one set are as wanted. Pure.

A job is ours by its marks, of this set and no other; whatever else is there is
foreign and left alone. A wanted job and a live one belong together by name, or by the
mark of their entry (a job that was taken over keeps the name it had). They are
compared by their normal forms, so what has no effect is no change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.naming import ENTRY_HEADER, PAUSED_HEADER, Marks
from migrate.livejob import State, url_of
from migrate.normal import (
    FieldDiff,
    differences,
    explicit,
    header_of,
    mask,
    with_headers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from migrate.job import Json
    from migrate.livejob import LiveJob

MAX_DELETED_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Create:
    """Make a job; `paused`: so that it cannot fire before it is resumed."""

    after: Json
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """Change these fields of a job in place; its name, history and pause stay."""

    before: LiveJob
    after: Json
    mask: tuple[str, ...]
    fields: tuple[FieldDiff, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Finish a job whose paused creation was broken off; it stays paused."""

    before: LiveJob
    after: Json
    fields: tuple[FieldDiff, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a job of ours that nothing wants any more."""

    before: LiveJob


Change = Create | Update | Finish | Delete


@dataclass(frozen=True, slots=True)
class Scope:
    """What a plan is about.

    `parent` is the location's name, `former` those of locations whose jobs of the set
    are to be in it now. `urls`: the only ones that may change, all where it is empty.
    `paused`: new jobs are made paused.
    """

    parent: str
    job_set: str = "default"
    former: tuple[str, ...] = ()
    urls: frozenset[str] = frozenset()
    paused: bool = False
    max_deletes: int | None = None

    def covers(self, url: str) -> bool:
        """Tell whether jobs for `url` may change."""
        return not self.urls or url in self.urls


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes, in the order in which they are made; false where there are none.

    `conflicts` are foreign jobs on names that are needed: nothing may be applied.
    `kept` are ours that stay as they are; `desired` is what was wanted. `doubled` are
    the legacy jobs that fire beside what is made.
    """

    scope: Scope
    desired: tuple[Json, ...]
    changes: tuple[Change, ...]
    kept: tuple[LiveJob, ...] = ()
    foreign: tuple[LiveJob, ...] = ()
    conflicts: tuple[LiveJob, ...] = ()
    doubled: tuple[LiveJob, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def deletes(self) -> tuple[Delete, ...]:
        """The deletions."""
        return tuple(one for one in self.changes if isinstance(one, Delete))

    @property
    def live(self) -> int:
        """How many jobs of the set are there now."""
        gone = sum(not isinstance(one, Create) for one in self.changes)
        return len(self.kept) + gone

    @property
    def then(self) -> int:
        """How many jobs of the set will be there."""
        made = sum(isinstance(one, Create) for one in self.changes)
        return self.live + made - len(self.deletes)

    def knows(self, url: str) -> bool:
        """Tell whether a live job of the set asks for `url`."""
        changed = [one.before for one in self.changes if not isinstance(one, Create)]
        return any(job.url == url for job in (*self.kept, *changed))

    @property
    def refusal(self) -> str:
        """Why the deletions are too many to be made unasked; "" where they are not."""
        count, limit = len(self.deletes), self.scope.max_deletes
        if limit is not None:
            over = count > limit
        else:
            emptied = count > 0 and not self.desired
            over = emptied or (count > 1 and count > MAX_DELETED_SHARE * self.live)
        if not over:
            return ""
        emptied_file = "" if self.desired else " (no entry is left)"
        return (
            f"{count} of {self.live} jobs would be deleted{emptied_file}; if that is "
            f"meant: --max-deletes {count}"
        )


def diff(desired: Sequence[Json], actual: Iterable[LiveJob], scope: Scope) -> Plan:
    """Give what makes the live jobs as desired.

    `desired` are all jobs of the set, whatever `scope` covers. Of live jobs, only
    those of the set and on names that are needed are looked into.
    """
    ours, foreign = _parted(actual, scope)
    pairs, unwanted = _paired(desired, ours)
    taken = {job.name: job for job in foreign}
    conflicts, kept = [], []
    changes: list[Change] = []
    for wanted, live in pairs:
        if not scope.covers(url_of(wanted)) and not (live and scope.covers(live.url)):
            kept.extend([live] if live else [])
        elif live is None:
            if wanted["name"] in taken:
                conflicts.append(taken[wanted["name"]])
            changes.append(Create(wanted, scope.paused))
        elif (change := _change(live, wanted)) is None:
            kept.append(live)
        else:
            changes.append(change)
    for live in unwanted:
        if scope.covers(live.url):
            changes.append(Delete(live))
        else:
            kept.append(live)
    return Plan(
        scope,
        tuple(desired),
        tuple(sorted(changes, key=_order)),
        tuple(kept),
        tuple(foreign),
        tuple(conflicts),
    )


def fired_twice(plan: Plan, legacy: Iterable[LiveJob]) -> tuple[LiveJob, ...]:
    """Give the legacy jobs that go on firing beside jobs that the plan makes."""
    made = {
        url_of(change.after)
        for change in plan.changes
        if isinstance(change, Create) and not change.paused
    }
    return tuple(
        job for job in legacy if job.url in made and job.state is State.ENABLED
    )


def _parted(
    actual: Iterable[LiveJob], scope: Scope
) -> tuple[list[LiveJob], list[LiveJob]]:
    ours: list[LiveJob] = []
    foreign: list[LiveJob] = []
    for job in actual:
        if job.belongs_to(scope.job_set):
            ours.append(job)
        elif job.parent == scope.parent:
            foreign.append(job.slim())
    return ours, foreign


def _paired(
    desired: Sequence[Json], ours: Sequence[LiveJob]
) -> tuple[list[tuple[Json, LiveJob | None]], list[LiveJob]]:
    """Pair what is wanted with what is there: by name, then by the entry's mark."""
    by_name = {job.name: job for job in ours}
    found = {job["name"]: by_name.pop(job["name"], None) for job in desired}
    by_entry: dict[tuple[str, str], list[LiveJob]] = {}
    for job in by_name.values():
        if isinstance(job.marks, Marks):
            by_entry.setdefault((job.parent, job.marks.entry), []).append(job)
    for wanted in desired:
        parent = wanted["name"].rpartition("/jobs/")[0]
        same = by_entry.get((parent, header_of(wanted, ENTRY_HEADER)))
        if found[wanted["name"]] is None and same:
            found[wanted["name"]] = same.pop(0)
    unwanted = [job for left in by_entry.values() for job in left]
    return [(job, found[job["name"]]) for job in desired], unwanted


def _change(live: LiveJob, wanted: Json) -> Change | None:
    """Give the change that makes one live job as wanted; None where it is."""
    after = explicit({**wanted, "name": live.name})
    diffs = differences(live.resource, after)
    if live.unborn:
        return Finish(live, after, tuple(diffs))
    if live.pause_is_ours and live.state is not State.PAUSED:
        # Broken off between a mark and its pause, or a resume and its unmarking. A
        # mark that stays would have us resume what somebody else pauses later.
        path = f"{_kind(after)}.headers[{PAUSED_HEADER}]"
        diffs.append(FieldDiff(path, header_of(live.resource, PAUSED_HEADER), ""))
    elif live.pause_is_ours:
        mark = {PAUSED_HEADER: header_of(live.resource, PAUSED_HEADER)}
        after = with_headers(after, mark)
    if not diffs and live.state is State.UPDATE_FAILED:
        same = live.schedule
        diffs.append(FieldDiff("schedule", f"{same} (its last update failed)", same))
    if not diffs:
        return None
    return Update(live, after, mask(diffs, after), tuple(diffs))


def _kind(job: Json) -> str:
    return "httpTarget" if "httpTarget" in job else "appEngineHttpTarget"


def _order(change: Change) -> tuple[int, str]:
    """Give where a change stands: creates, updates, deletes, each by name."""
    match change:
        case Create(after):
            return 0, after["name"]
        case Finish(before) | Update(before):
            return 1, before.name
        case Delete(before):
            return 2, before.name


def name_of(change: Change) -> str:
    """Give the full name of the job that a change is about."""
    match change:
        case Create(after):
            return str(after["name"])
        case Finish(before) | Update(before) | Delete(before):
            return before.name


def url_of_change(change: Change) -> str:
    """Give the url that the job of a change asks for, that of now for a deletion."""
    match change:
        case Create(after) | Finish(after=after) | Update(after=after):
            return url_of(after)
        case Delete(before):
            return before.url
