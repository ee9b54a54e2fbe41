"""Jobs that are made paused, paused and resumed, each with its mark, step by step.

The API has no paused create. So a job is made with a placeholder schedule, which is
not due for most of a year, and the mark X-Cron-Unborn; it is paused; then, while it is
paused, one patch gives it its true schedule and the mark X-Cron-Paused in place of the
other. Whatever happens between two steps leaves a job that its mark tells: `apply`
goes on from there, and nothing turns it live by accident.

A pause of ours is marked before it is made, and unmarked right after the resume: only
what bears the mark is ever resumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cronspec.naming import PAUSED_HEADER, UNBORN_HEADER
from migrate.livejob import LiveJob, State
from migrate.normal import (
    FieldDiff,
    differences,
    explicit,
    mask,
    with_headers,
    writable,
)
from migrate.problems import Missing, Refused

if TYPE_CHECKING:
    from datetime import datetime

    from migrate.job import Json
    from migrate.store import JobStore


@dataclass(frozen=True, slots=True)
class Resumed:
    """The job fires again."""

    job: LiveJob


@dataclass(frozen=True, slots=True)
class NotAsWanted:
    """The job was left paused: these fields of it are not as wanted."""

    job: LiveJob
    fields: tuple[FieldDiff, ...]


@dataclass(frozen=True, slots=True)
class NotOurPause:
    """The job was left as it is: its pause, or its birth, is not marked as ours."""

    job: LiveJob


def placeholder(now: datetime) -> str:
    """Give a schedule that is not due for most of a year: the last month's first.

    >>> from datetime import UTC, datetime
    >>> placeholder(datetime(2026, 3, 8, tzinfo=UTC))
    '0 0 1 2 *'
    """
    last_month = now.replace(day=1) - timedelta(days=1)
    return f"0 0 1 {last_month.month} *"


def unborn(job: Json, now: datetime) -> Json:
    """Give the job as it is first made: with a placeholder, and marked."""
    marked = with_headers(job, {UNBORN_HEADER: _stamp(now)})
    return {**marked, "schedule": placeholder(now)}


def create_paused(store: JobStore, job: Json, now: datetime) -> LiveJob:
    """Make a job that cannot fire before it is resumed. Raises ApiError."""
    return finish(store, store.create(unborn(job, now)), job, now)


def finish(store: JobStore, live: LiveJob, job: Json, now: datetime) -> LiveJob:
    """Go on with a job marked as unborn, wherever that was broken off.

    Raises ApiError.
    """
    if live.state is not State.PAUSED:
        live = store.pause(live.name)
    wanted = with_headers(
        explicit({**job, "name": live.name}),
        {UNBORN_HEADER: None, PAUSED_HEADER: _stamp(now)},
    )
    fields = set(mask(differences(live.resource, wanted), wanted))
    return store.update(wanted, sorted(fields | {_headers(wanted)}))


def pause(store: JobStore, live: LiveJob, now: datetime) -> LiveJob:
    """Pause an enabled job of ours, marked first; one that is paused is left as it is.

    Raises ApiError.
    """
    if live.state is State.PAUSED:
        return live
    marked = with_headers(writable(live.resource), {PAUSED_HEADER: _stamp(now)})
    store.update(marked, [_headers(marked)])
    return store.pause(live.name)


def resume(store: JobStore, job: Json) -> Resumed | NotAsWanted | NotOurPause:
    """Resume what we paused, if what is there now is the wanted job. Raises ApiError.

    A job that fires already and still has the mark (a resume that was broken off) is
    unmarked.
    """
    live = store.get(job["name"])
    if live is None:
        raise Missing(f"resume {job['name'].rpartition('/')[2]}: the job is gone")
    if diffs := differences(live.resource, job):
        return NotAsWanted(live, tuple(diffs))
    if live.unborn or (live.state is not State.ENABLED and not live.pause_is_ours):
        return NotOurPause(live)
    if live.state is not State.ENABLED:
        live = store.resume(live.name)
    if live.pause_is_ours:
        live = unmark(store, live)
    return Resumed(live)


def unmark(store: JobStore, live: LiveJob) -> LiveJob:
    """Take the mark of a pause of ours away. Raises ApiError."""
    if live.state is State.PAUSED:
        raise Refused(f"unmark {live.job_id}: it is paused, and the mark says by whom")
    plain = with_headers(writable(live.resource), {PAUSED_HEADER: None})
    return store.update(plain, [_headers(plain)])


def _headers(job: Json) -> str:
    kind = "httpTarget" if "httpTarget" in job else "appEngineHttpTarget"
    return f"{kind}.headers"


def _stamp(now: datetime) -> str:
    return f"{now:%Y-%m-%dT%H:%M:%SZ}"
