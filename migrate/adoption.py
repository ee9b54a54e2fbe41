"""Which entry a hand-made job serves, and what taking it over changes of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cronspec.naming import ENTRY_HEADER, Marks
from migrate.livejob import url_of
from migrate.normal import differences, explicit, header_of, mask, normal
from migrate.plan import Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from migrate.job import Json
    from migrate.livejob import LiveJob

_SERVICE = "appEngineHttpTarget.appEngineRouting.service"


@dataclass(frozen=True, slots=True)
class Misfit:
    """A job that cannot be taken over, and why."""

    name: str
    why: str


def adoptions(
    names: Iterable[str],
    desired: Sequence[Json],
    live: Sequence[LiveJob],
    job_set: str,
) -> list[Update | Misfit]:
    """Give what taking each of these jobs over changes.

    The wanted jobs that a live one of the set serves already are not to be had.
    """
    by_id = {job.job_id: job for job in live}
    ours = [job for job in live if job.belongs_to(job_set)]
    free = [job for job in desired if not _served(job, ours)]
    found: list[Update | Misfit] = []
    for name in names:
        job = by_id.get(name.rpartition("/")[2])
        if job is None:
            found.append(Misfit(name, "there is no job of that id in this location"))
        elif job in ours:
            found.append(Misfit(name, "it is ours already"))
        elif isinstance(job.marks, Marks):
            why = f"it is of the set {job.marks.set!r}, whose cron.yaml owns it"
            found.append(Misfit(name, why))
        else:
            found.append(_adoption(job, free))
    return found


def _served(wanted: Json, ours: Sequence[LiveJob]) -> bool:
    entry = header_of(wanted, ENTRY_HEADER)
    return any(
        job.name == wanted["name"]
        or (isinstance(job.marks, Marks) and job.marks.entry == entry)
        for job in ours
    )


def _adoption(job: LiveJob, free: list[Json]) -> Update | Misfit:
    """Take the entry with the job's url; of several, the one most like it."""
    fitting = [one for one in free if url_of(one) == job.url]
    if not fitting:
        why = f"no entry without a job asks for {job.url or 'what it does'}"
        return Misfit(job.job_id, why)
    services = {normal(one).get(_SERVICE, "") for one in fitting}
    own = normal(job.resource).get(_SERVICE, "")
    if own in services:
        fitting = [one for one in fitting if normal(one).get(_SERVICE, "") == own]
    best = min(fitting, key=lambda one: len(differences(job.resource, one)))
    free.remove(best)
    after = explicit({**best, "name": job.name})
    fields = tuple(differences(job.resource, after))
    return Update(job, after, mask(fields, after), fields)
