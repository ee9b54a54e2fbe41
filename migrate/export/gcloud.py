"""Jobs as a bash script of gcloud commands, one command a job.

Every value is bash-quoted and glued to its flag with `=`, so that neither bash nor
gcloud takes a part of it for syntax. What gcloud 528 was seen not to carry is
refused: NUL, a description of two dashes only (argparse drops it), and durations
finer than 0.1 ms.

gcloud cannot leave retryConfig out: a flag that is not given is sent with gcloud's own
default (0 retries, 5 s, 3600 s, 5 doublings). No retries is what an absent retryConfig
means too, so a job without one is made by giving no retry flag.
"""

from __future__ import annotations

import shlex
from itertools import chain
from typing import TYPE_CHECKING, Final, assert_never

from migrate.export.text import ExportError, refuse
from migrate.job import AppEngineHttpTarget, HttpTarget, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from migrate.job import Job, RetryConfig

_HEADER: Final = """\
#!/usr/bin/env bash
# Makes {count} with gcloud. Every command is one job;
# the first that fails ends the script, those before it have been made.
# The jobs fire from the moment they are made: as long as cron.yaml is deployed
# too, both do. gcloud cannot make a job paused.
set -euo pipefail
"""

_PLACES: Final = 4  # gcloud keeps so many decimals of a duration (core/util/times.py)


def script(jobs: Sequence[Job]) -> str:
    """Give the script that makes the jobs.

    Raises ExportError, naming all of them, if there are values gcloud cannot carry.
    """
    _check(jobs)
    count = f"{len(jobs)} Cloud Scheduler job{'s' * (len(jobs) != 1)}"
    return "\n".join([_HEADER.format(count=count), *map(_command, jobs)])


def _command(job: Job) -> str:
    kind = "app-engine" if isinstance(job.target, AppEngineHttpTarget) else "http"
    command = f"gcloud scheduler jobs create {kind} {shlex.quote(job.name.job_id)}"
    flags = [f"--{name}={shlex.quote(value)}" for name, value in _flags(job)]
    return " \\\n  ".join([f"{command} --quiet", *flags]) + "\n"


def _flags(job: Job) -> Iterator[tuple[str, str]]:
    yield "project", job.name.project
    yield "location", job.name.location
    yield "schedule", job.schedule
    yield "time-zone", job.time_zone
    match job.target:
        case AppEngineHttpTarget() as target:
            yield from _app_engine(target)
        case HttpTarget() as target:
            yield from _http(target)
        case _:
            assert_never(job.target)
    if job.target.headers:
        yield "headers", _headers(job.target.headers)
    if job.description:
        yield "description", job.description
    if job.attempt_deadline is not None:
        yield "attempt-deadline", seconds(job.attempt_deadline)
    if job.retry_config is not None:
        yield from _retries(job.retry_config)


def _app_engine(target: AppEngineHttpTarget) -> Iterator[tuple[str, str]]:
    yield "relative-url", target.relative_uri
    yield "http-method", target.http_method.lower()
    if target.routing is not None:
        yield "service", target.routing.service
        if target.routing.version:
            yield "version", target.routing.version


def _http(target: HttpTarget) -> Iterator[tuple[str, str]]:
    yield "uri", target.uri
    yield "http-method", target.http_method.lower()
    if target.oidc_token is not None:
        yield "oidc-service-account-email", target.oidc_token.service_account_email
        yield "oidc-token-audience", target.oidc_token.audience


def _headers(headers: Mapping[str, str]) -> str:
    """Join headers by a character that none of them holds (gcloud topic escaping).

    >>> _headers({"X-A": "1", "X-B": "="}), _headers({"X-A": "1,2", "X-B": "a"})
    ('X-A=1,X-B==', '^|^X-A=1,2|X-B=a')
    """
    items = [f"{name}={value}" for name, value in headers.items()]
    free = chain(",|;#~", map(chr, range(0xE000, 0xF900)))
    mark = next(m for m in free if not any(m in item for item in items))
    plain = mark == "," and not items[0].startswith("^")
    return ("" if plain else f"^{mark}^") + mark.join(items)


def _retries(config: RetryConfig) -> Iterator[tuple[str, str]]:
    yield "max-retry-attempts", str(config.retry_count)
    yield "max-retry-duration", seconds(config.max_retry_duration)
    yield "min-backoff", seconds(config.min_backoff)
    yield "max-backoff", seconds(config.max_backoff)
    yield "max-doublings", str(config.max_doublings)


def _check(jobs: Sequence[Job]) -> None:
    """Raise ExportError for all that gcloud cannot carry."""
    refuse(
        jobs, lambda text: "no argument holds NUL; drop it" if "\0" in text else None
    )
    faults = [f"job {job.name.job_id}: {fault}" for job in jobs for fault in _lost(job)]
    if faults:
        raise ExportError("\n".join(faults))


def _lost(job: Job) -> Iterator[str]:
    other = "reword it, or use another format"
    if job.description == "--":
        yield f"description '--': gcloud takes it for syntax; {other}"
    for name in job.target.headers:
        if "=" in name or not name:
            yield f"header {name!r}: gcloud splits it at '='; {other}"
    for value in _durations(job):
        if round(value, _PLACES) != value:
            yield (
                f"duration {seconds(value)}: gcloud rounds it to 0.0001 s; round it in "
                "cron.yaml, or use another format"
            )


def _durations(job: Job) -> Iterator[float]:
    if job.attempt_deadline is not None:
        yield job.attempt_deadline.total_seconds()
    if job.retry_config is not None:
        yield job.retry_config.max_retry_duration.total_seconds()
        yield job.retry_config.min_backoff
        yield job.retry_config.max_backoff
