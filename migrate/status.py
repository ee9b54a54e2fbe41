"""Who fires what today: each entry with its jobs of ours and of gcloud's. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cronspec.naming import Marks
from migrate.job import to_api
from migrate.legacy import pair
from migrate.livejob import State
from migrate.plan import Create, Delete, Finish, Update, diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from migrate.legacy import Paired
    from migrate.livejob import LiveJob
    from migrate.plan import Change, Plan, Scope
    from migrate.translate import Translation


class Trouble(StrEnum):
    """What is wrong with an entry or a job; any makes `status` end with 1."""

    DOUBLE = "fires-twice"
    NOBODY = "nobody-fires"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class EntryStatus:
    """One entry: who fires it, and what is wrong.

    `legacy` is the job that gcloud made of it, `stale` legacy jobs for its url that
    are as no entry asks, `strangers` foreign jobs for its url.
    """

    translation: Translation
    ours: tuple[LiveJob, ...]
    changes: tuple[Change, ...]
    legacy: LiveJob | None
    stale: tuple[LiveJob, ...]
    strangers: tuple[LiveJob, ...]

    @property
    def firing(self) -> tuple[str, ...]:
        """Who fires it: any of "legacy", "ours" and "foreign"."""
        legacy = [*self.stale, *([self.legacy] if self.legacy else [])]
        kinds = {"legacy": legacy, "ours": self.ours, "foreign": self.strangers}
        return tuple(kind for kind, jobs in kinds.items() if any(map(fires, jobs)))

    @property
    def troubles(self) -> tuple[tuple[Trouble, str], ...]:
        """What is wrong, with its words."""
        told = []
        if {"legacy", "ours"} <= set(self.firing):
            twice = "a legacy job and one of ours fire it: twice each tick"
            told.append((Trouble.DOUBLE, twice))
        if not self.firing:
            told.append((Trouble.NOBODY, self._why_nobody()))
        if any(not isinstance(one, Create) for one in self.changes):
            told.append((Trouble.DRIFT, "our job is not as the file wants it: plan"))
        elif self.ours and self.changes:
            told.append((Trouble.DRIFT, "not all of its jobs are there: plan"))
        for job in self.stale:
            found = f"legacy job {job.schedule} ({job.time_zone}) differs from the file"
            told.append((Trouble.DRIFT, f"{found}: edited since the last deploy"))
        return tuple(told)

    def _why_nobody(self) -> str:
        if self.ours:
            states = sorted({job.state.value for job in self.ours})
            return f"its job is {', '.join(states)}"
        if self.legacy is not None:
            return f"its legacy job is {self.legacy.state.value}"
        return "no job at all: cron.yaml not deployed since, and not applied"


@dataclass(frozen=True, slots=True)
class Status:
    """All entries, and the jobs that belong to none."""

    entries: tuple[EntryStatus, ...]
    unwanted: tuple[LiveJob, ...]
    legacy: tuple[LiveJob, ...]
    foreign: tuple[LiveJob, ...]

    @property
    def never_deployed(self) -> bool:
        """Whether there is neither a legacy job nor one of ours."""
        return (
            not self.legacy
            and not self.unwanted
            and not any(one.ours or one.legacy or one.stale for one in self.entries)
        )

    @property
    def others(self) -> tuple[tuple[LiveJob, str], ...]:
        """Jobs of ours and of gcloud's for no entry, each with its words."""
        gone = [(job, "ours, and no entry wants it: plan") for job in self.unwanted]
        left = [
            (job, "a legacy job whose entry is not in the file") for job in self.legacy
        ]
        return (*gone, *left)

    @property
    def well(self) -> bool:
        """Whether nothing is wrong."""
        return not self.others and not any(one.troubles for one in self.entries)


def fires(job: LiveJob) -> bool:
    """Tell whether a job fires as its schedule says."""
    return job.state is State.ENABLED and not job.unborn


def survey(
    translations: Sequence[Translation],
    live: Iterable[LiveJob],
    legacy: Sequence[LiveJob],
    scope: Scope,
    now: datetime,
) -> Status:
    """Put together who fires what."""
    desired = [to_api(job) for one in translations for job in one.jobs]
    plan = diff(desired, live, scope)
    paired = pair([one.entry for one in translations], legacy, now)
    ours = _ours(plan)
    entries = tuple(
        _entry(one, twin, plan, ours, paired)
        for one, twin in zip(translations, paired.of_entries, strict=True)
    )
    urls = {one.entry.url for one in translations}
    return Status(
        entries,
        tuple(change.before for change in plan.deletes),
        tuple(job for job in paired.others if job.url not in urls),
        plan.foreign,
    )


def _ours(plan: Plan) -> list[LiveJob]:
    changed = [
        change.before for change in plan.changes if isinstance(change, Update | Finish)
    ]
    return [*plan.kept, *changed]


def _entry(
    one: Translation,
    legacy: LiveJob | None,
    plan: Plan,
    ours: Sequence[LiveJob],
    paired: Paired,
) -> EntryStatus:
    names = {str(job.name) for job in one.jobs}
    mine = tuple(job for job in ours if _of_entry(job, one, names))
    changes = tuple(
        change
        for change in plan.changes
        if not isinstance(change, Delete) and _about(change, names, mine)
    )
    url = one.entry.url
    return EntryStatus(
        one,
        mine,
        changes,
        legacy,
        paired.like(one.entry),
        tuple(job for job in plan.foreign if job.url == url),
    )


def _of_entry(job: LiveJob, one: Translation, names: set[str]) -> bool:
    marks = job.marks
    return job.name in names or (isinstance(marks, Marks) and marks.entry == one.key)


def _about(change: Change, names: set[str], mine: Sequence[LiveJob]) -> bool:
    match change:
        case Create(after):
            return after["name"] in names
        case Update(before) | Finish(before) | Delete(before):
            return before in mine
