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
from cronspec.routing import parse_target
from migrate.choices import APP_ENGINE_DEADLINE
from migrate.cutover import ways
from migrate.cutover.backup import Saved, fired, form_key
from migrate.cutover.seen import Before, Moving, OurJob, Pace, Stage
from migrate.job import to_api
from migrate.legacy import legacy_job
from migrate.normal import differences
from migrate.plan import Create, Finish, Scope, Update, diff

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from cronspec.config import CronEntry
    from migrate.cutover.ways import Service
    from migrate.livejob import Json, LiveJob
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
    """What is seen of all entries, and jobs of none.

    `strays` are legacy jobs that no entry says, `orphans` jobs of ours.
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
    live = list(live)
    ours, names = _ours(world, live)
    owners = _owners(world, legacy, ours)
    matched = {job.name for job in owners.values()}
    left = [job for job in legacy if job.name not in matched]
    entries = []
    for one in world.entries:
        as_legacy = world.legacy[one.key]
        differing = tuple(job for job in left if _is_about(job, one.entry))
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
                differing=differing,
                taken=names[one.key],
                before=_before(saved, world.forms[one.key]),
                theirs=world.theirs,
            )
        )
    about = {job.name for one in entries for job in one.differing}
    strays = tuple(job for job in left if job.name not in about)
    if world.urls:
        return View(tuple(entries))
    keys = {one.key for one in world.translations}
    return View(tuple(entries), strays, tuple(_orphans(world, live, keys)))


def _orphans(
    world: World, live: Iterable[LiveJob], keys: Collection[str]
) -> Iterator[LiveJob]:
    for job in live:
        match job.marks:
            case Marks(entry=key) if job.belongs_to(world.job_set) and key not in keys:
                yield job


# --- Ours ---------------------------------------------------------------------------


def _ours(
    world: World, live: Iterable[LiveJob]
) -> tuple[dict[str, tuple[OurJob, ...]], dict[str, tuple[LiveJob, ...]]]:
    """Give each entry's jobs, and the foreign jobs on names that it needs."""
    by_entry: dict[str, list[LiveJob]] = {}
    foreign: dict[str, LiveJob] = {}
    for job in live:
        if job.belongs_to(world.job_set) and isinstance(job.marks, Marks):
            by_entry.setdefault(job.marks.entry, []).append(job)
        else:
            foreign[job.name] = job
    scope = Scope(world.parent, world.job_set)
    ours, taken = {}, {}
    for one in world.entries:
        wanted = [to_api(job) for job in one.jobs]
        there = by_entry.get(one.key, [])
        ours[one.key] = tuple(_our_jobs(wanted, there, scope))
        names = {job["name"] for job in wanted} & foreign.keys()
        taken[one.key] = tuple(foreign[name] for name in sorted(names))
    return ours, taken


def _our_jobs(
    wanted: Sequence[Json], there: Sequence[LiveJob], scope: Scope
) -> Iterable[OurJob]:
    """Pair as a plan does, and take what it would change."""
    plan = diff(wanted, there, scope)
    for change in plan.changes:
        match change:
            case Create(after):
                yield OurJob(after)
            case Finish(before, after, fields) | Update(before, after, _, fields):
                yield OurJob(after, before, change, fields)
            case _:
                pass  # a job of a form that the entry had before: plan's to delete
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


def _is_about(job: LiveJob, entry: CronEntry) -> bool:
    routing = job.resource.get("appEngineHttpTarget", {}).get("appEngineRouting", {})
    service = parse_target(routing.get("service") or None).service
    return job.url == entry.url and service == parse_target(entry.target).service


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
