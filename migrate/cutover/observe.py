"""From lists of live jobs to what is seen of each entry. Pure.

A legacy job has a name that nobody chose and no marks: which entry it is of, its full
tuple says, as `gcloud app deploy` compares it. Where several entries have one tuple,
those that nobody else fires come first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cronspec import retry, zones
from cronspec.naming import Marks
from migrate.choices import APP_ENGINE_DEADLINE
from migrate.cutover import ways
from migrate.cutover.backup import Saved, fired, form_key
from migrate.cutover.seen import Before, Moving, OurJob, Pace, Stage
from migrate.job import to_api
from migrate.legacy import legacy_job
from migrate.livejob import State
from migrate.normal import differences
from migrate.plan import Create, Finish, Scope, Update, diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, timedelta

    from migrate.cutover.ways import Service
    from migrate.livejob import Json, LiveJob
    from migrate.plan import Plan
    from migrate.translate import Translation


@dataclass(frozen=True, slots=True)
class World:
    """What does not change from step to step.

    `at` is when it was found out. `limits` says how long an attempt may take, by
    service; `urls` are the only ones to be moved, all where it is empty; `theirs`:
    another tool has our jobs.
    """

    parent: str
    job_set: str
    translations: Sequence[Translation]
    services: Mapping[str, Service]
    at: datetime
    limits: Mapping[str, timedelta] = field(default_factory=dict)
    urls: frozenset[str] = frozenset()
    theirs: bool = False
    legacy: Mapping[str, Json] = field(init=False)  # what gcloud sends, by entry key
    forms: Mapping[str, str] = field(init=False)  # the same, as it is compared
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Say once what gcloud would send for each entry, and what a host would say."""
        sent = {one.key: legacy_job(one.entry, self.at) for one in self.translations}
        object.__setattr__(self, "legacy", sent)
        forms = {key: form_key(job) for key, job in sent.items()}
        object.__setattr__(self, "forms", forms)
        object.__setattr__(self, "digest", ways.digest_of(self.translations))

    @property
    def entries(self) -> list[Translation]:
        """The entries that are to be moved."""
        return [
            one
            for one in self.translations
            if not self.urls or one.entry.url in self.urls
        ]


@dataclass(frozen=True, slots=True)
class View:
    """What is seen of all entries, and the jobs that no entry says.

    `strays` are legacy jobs, `orphans` ours of this set that fire.
    """

    entries: tuple[Moving, ...]
    strays: tuple[LiveJob, ...] = ()
    orphans: tuple[LiveJob, ...] = ()

    def of(self, key: str) -> Moving:
        """Give what is seen of the entry with this key."""
        return next(one for one in self.entries if one.key == key)


def view(
    world: World, live: Iterable[LiveJob], legacy: Sequence[LiveJob], saved: Saved
) -> View:
    """Give what is seen of the entries that are to be moved."""
    by_entry, foreign = _by_entry(world, live)
    ours, former = _ours(world, by_entry)
    owners = _owners(world, legacy, ours)
    matched = {job.name for job in owners.values()}
    left: dict[str, list[LiveJob]] = {}  # by url: whatever else of them differs
    for job in legacy:
        if job.name not in matched:
            left.setdefault(job.url, []).append(job)
    entries = []
    for one in world.entries:
        as_legacy = world.legacy[one.key]
        entries.append(
            Moving(
                key=one.key,
                url=one.entry.url,
                place=str(one.entry.place),
                pace=_pace(world, one),
                chosen=ways.choose(one, world.services, world.digest),
                ours=ours[one.key],
                as_legacy=as_legacy,
                legacy=owners.get(one.key),
                differing=tuple(left.get(one.entry.url, ())),
                taken=_taken(one, foreign),
                former=former[one.key],
                before=_before(saved, world.forms[one.key]),
                theirs=world.theirs,
            )
        )
    if world.urls:
        return View(tuple(entries))
    said = {one.url for one in entries}
    strays = (job for url, jobs in left.items() if url not in said for job in jobs)
    return View(tuple(entries), tuple(strays), _orphans(world, by_entry))


# --- Ours ---------------------------------------------------------------------------


def _by_entry(
    world: World, live: Iterable[LiveJob]
) -> tuple[dict[str, list[LiveJob]], dict[str, LiveJob]]:
    """Give our jobs by their entries' keys, and the foreign jobs by their names."""
    by_entry: dict[str, list[LiveJob]] = {}
    foreign: dict[str, LiveJob] = {}
    for job in live:
        if job.belongs_to(world.job_set) and isinstance(job.marks, Marks):
            by_entry.setdefault(job.marks.entry, []).append(job)
        else:
            foreign[job.name] = job
    return by_entry, foreign


def _ours(
    world: World, by_entry: Mapping[str, list[LiveJob]]
) -> tuple[dict[str, tuple[OurJob, ...]], dict[str, tuple[LiveJob, ...]]]:
    """Give each entry's jobs, and those of forms that it had before.

    They are paired as a plan does, with what it would change.
    """
    scope = Scope(world.parent, world.job_set)
    ours, former = {}, {}
    for one in world.entries:
        wanted = [to_api(job) for job in one.jobs]
        plan = diff(wanted, by_entry.get(one.key, []), scope)
        ours[one.key] = tuple(_our_jobs(wanted, plan))
        former[one.key] = tuple(change.before for change in plan.deletes)
    return ours, former


def _taken(one: Translation, foreign: Mapping[str, LiveJob]) -> tuple[LiveJob, ...]:
    names = {str(to_api(job)["name"]) for job in one.jobs} & foreign.keys()
    return tuple(foreign[name] for name in sorted(names))


def _orphans(
    world: World, by_entry: Mapping[str, list[LiveJob]]
) -> tuple[LiveJob, ...]:
    known = {one.key for one in world.translations}
    return tuple(
        job
        for key, jobs in by_entry.items()
        if key not in known
        for job in jobs
        if job.state is State.ENABLED and not job.unborn
    )


def _our_jobs(wanted: Sequence[Json], plan: Plan) -> Iterable[OurJob]:
    for change in plan.changes:
        match change:
            case Create(after):
                yield OurJob(after)
            case Finish(before, after, fields) | Update(before, after, _, fields):
                yield OurJob(after, before, change, fields)
            case _:
                pass  # of a form that the entry had before
    kept = {job.name: job for job in plan.kept}
    for job in kept.values():
        yield OurJob({**_as_wanted(wanted, job), "name": job.name}, job)


def _as_wanted(wanted: Sequence[Json], live: LiveJob) -> Json:
    return next(
        (job for job in wanted if job["name"] == live.name),
        next(job for job in wanted if not differences(live.resource, job)),
    )


# --- Theirs -------------------------------------------------------------------------


def _owners(
    world: World,
    legacy: Sequence[LiveJob],
    ours: Mapping[str, Sequence[OurJob]],
) -> dict[str, LiveJob]:
    """Give each entry the legacy job that does what it says."""
    free: dict[str, list[LiveJob]] = {}
    for job in sorted(legacy, key=lambda one: one.name, reverse=True):
        free.setdefault(form_key(job.resource), []).append(job)
    # Entries that are not moved now have theirs too: copies of one may be among both.
    unfired = sorted(
        world.translations,
        key=lambda one: any(job.stage is Stage.FIRING for job in ours.get(one.key, ())),
    )
    owners = {}
    for one in unfired:
        there = free.get(world.forms[one.key])
        if there:
            owners[one.key] = there.pop()
    return owners


def _before(saved: Saved, form: str) -> Before:
    job = saved.like(form)
    if job is None:
        return Before.UNKNOWN
    return Before.ENABLED if fired(job) else Before.STOPPED


def _pace(world: World, one: Translation) -> Pace:
    return Pace(
        schedule=one.entry.schedule,
        zone=zones.load(one.entry.timezone or "UTC"),
        policy=retry.policy(one.entry.retry, retry.MAX_RETRIES),
        deadline=world.limits.get(one.route.before, APP_ENGINE_DEADLINE),
    )
