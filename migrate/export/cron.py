"""Live jobs back to a cron.yaml, where they can be said in it. Pure.

cron.yaml knows GET requests to App Engine on a groc schedule. What a job has besides
is told in a comment; a job that cannot be said at all stands as a comment only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from cronspec import groc, retry, unixcron
from cronspec.config import load_cron
from cronspec.naming import PAUSED_HEADER, UNBORN_HEADER, Marks, read_marks
from cronspec.schedule import ScheduleError
from cronspec.twin import to_groc
from migrate.job import (
    AppEngineHttpTarget,
    HttpTarget,
    Job,
    RetryConfig,
    Unsayable,
    from_api,
)
from migrate.livejob import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.livejob import LiveJob

_MARKS: Final = {
    "x-cron-entry",
    "x-cron-schedule",
    "x-cron-scope",
    "x-cron-set",
    UNBORN_HEADER.lower(),
    PAUSED_HEADER.lower(),
}
_UTC: Final = frozenset(("UTC", "Etc/UTC"))


@dataclass(frozen=True, slots=True)
class Said:
    """One job in cron.yaml's words; no entry where it cannot be said."""

    job_id: str
    entry: dict[str, Any] | None
    notes: tuple[str, ...]


def said(live: LiveJob) -> Said:
    """Say one job in cron.yaml's words."""
    match from_api(live.resource):
        case Unsayable(fields):
            why = f"cron.yaml cannot say {', '.join(fields)}"
            return Said(live.job_id, None, (why,))
        case Job(target=HttpTarget(uri=uri)):
            why = f"cron.yaml cannot say a request to {uri}"
            return Said(live.job_id, None, (why,))
        case Job(target=AppEngineHttpTarget() as target) as job:
            return _app_engine(live, job, target)
    raise AssertionError(live)  # pragma: no cover - Job's targets are those two


def _app_engine(live: LiveJob, job: Job, target: AppEngineHttpTarget) -> Said:
    if target.http_method != "GET":
        why = f"cron.yaml sends GET, this job {target.http_method}"
        return Said(live.job_id, None, (why,))
    schedule, notes = _schedule(live, job)
    if schedule is None:
        return Said(live.job_id, None, tuple(notes))
    entry: dict[str, Any] = {"url": target.relative_uri}
    if job.description:
        entry["description"] = job.description
    if target.routing is not None:
        entry["target"] = target.routing.service or "default"
        if target.routing.version:
            entry["target"] += f":{target.routing.version}"
    entry["schedule"] = schedule
    if job.time_zone not in _UTC:
        entry["timezone"] = job.time_zone
    if job.retry_config is not None and not _unretried(job.retry_config):
        entry["retry_parameters"] = _retries(job.retry_config)
    notes += _losses(live, job, target)
    if faults := load_cron(yaml.safe_dump({"cron": [entry]}), "").faults:
        return Said(live.job_id, None, tuple(fault.text for fault in faults))
    return Said(live.job_id, entry, tuple(notes))


def _schedule(live: LiveJob, job: Job) -> tuple[str | None, list[str]]:
    """Give the schedule in groc, or why there is none."""
    text = job.schedule
    if live.unborn:  # a placeholder: the mark has the true one
        marks = read_marks({k.lower(): v for k, v in job.target.headers.items()})
        text = marks.schedule if isinstance(marks, Marks) else text
    try:
        groc.parse(text)
    except ScheduleError:
        try:
            twin = to_groc(unixcron.parse(text))
        except ScheduleError as error:
            return None, [str(error)]
        if twin is None:
            return None, [f"no groc schedule ticks as {text!r} does"]
        return groc.render(twin), [f"its schedule is {text!r}"]
    return text, []


def _losses(live: LiveJob, job: Job, target: AppEngineHttpTarget) -> Iterator[str]:
    if live.state is not State.ENABLED:
        yield f"it is {live.state.value}; cron.yaml cannot say so: deployed, it fires"
    if job.attempt_deadline is not None:
        yield f"its deadline of {job.attempt_deadline.total_seconds():g} s is lost"
    own = sorted(name for name in target.headers if name.lower() not in _MARKS)
    if own:
        yield f"its headers are lost: {', '.join(own)}"


def _unretried(config: RetryConfig) -> bool:
    """Tell whether a policy is what no block means; gcloud compares even idle waits."""
    none = retry.NO_RETRIES
    return config == RetryConfig(
        none.limit,
        none.age_limit,
        none.min_backoff,
        none.max_backoff,
        none.max_doublings,
    )


def _retries(config: RetryConfig) -> dict[str, Any]:
    block: dict[str, Any] = {"job_retry_limit": config.retry_count}
    if config.max_retry_duration:
        block["job_age_limit"] = f"{config.max_retry_duration.total_seconds():g}s"
    filled = retry.policy(retry.RetryParameters(config.retry_count))
    if config.min_backoff != filled.min_backoff:
        block["min_backoff_seconds"] = _number(config.min_backoff)
    if config.max_backoff != filled.max_backoff:
        block["max_backoff_seconds"] = _number(config.max_backoff)
    if config.max_doublings != filled.max_doublings:
        block["max_doublings"] = config.max_doublings
    return block


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def cron_yaml(jobs: Sequence[LiveJob]) -> str:
    """Give a cron.yaml of live jobs, with notes where it cannot say them whole."""
    found = [said(job) for job in jobs]
    lines = ["cron:" if any(one.entry for one in found) else "cron: []"]
    for one in found:
        lines += [f"# {one.job_id}: {' '.join(note.split())}" for note in one.notes]
        if one.entry is None:
            lines.append(f"# {one.job_id} is left out")
        else:
            text = yaml.safe_dump(
                [one.entry], sort_keys=False, allow_unicode=True, width=1000
            )
            lines += text.splitlines()
    return "\n".join(lines) + "\n"


def cron_json(jobs: Sequence[LiveJob]) -> dict[str, Any]:
    """Give the same for programs: each job's entry, None where it is left out."""
    return {
        "jobs": [
            {"job": one.job_id, "entry": one.entry, "notes": list(one.notes)}
            for one in map(said, jobs)
        ]
    }
