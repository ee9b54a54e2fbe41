"""Findings on retry blocks: without effect, without a limit, longer than the period."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from cronspec.retry import MAX_RETRIES, policy, timeline
from migrate.audit.evidence import zone_of
from migrate.audit.finding import told
from migrate.audit.spacing import period

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cronspec.config import CronEntry
    from cronspec.retry import RetryParameters, RetryPolicy
    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

_AT_ONCE: Final = timedelta(milliseconds=1)  # how long an attempt takes that fails
_COUNTED: Final = 1000
_BLOCK: Final = "retry_parameters"


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell what retry blocks do that they do not seem to."""
    for entry in evidence.entries:
        if entry.retry is not None:
            yield from _limits(entry, entry.retry)
            yield from _until_both(entry, policy(entry.retry))
            yield from _outlasting(evidence, entry, policy(entry.retry))
    yield from _without_block(evidence)


def _limits(entry: CronEntry, block: RetryParameters) -> Iterator[Finding]:
    place = entry.place_of(_BLOCK)
    limit, age = block.job_retry_limit, block.job_age_limit
    if limit is None:
        yield told(
            "retry-limit-missing",
            place,
            "no job_retry_limit: Google's documents say 0 retries, and older ones 5",
            "write job_retry_limit",
        )
    if age and not limit:
        yield told(
            "age-limit-alone",
            entry.place_of(f"{_BLOCK}.job_age_limit", _BLOCK),
            f"job_age_limit without retries to count means at most {MAX_RETRIES} "
            "retries until that age",
            "write job_retry_limit",
        )
    others = (
        block.min_backoff_seconds,
        block.max_backoff_seconds,
        block.max_doublings,
    )
    if limit == 0 and not age and any(value is not None for value in others):
        yield told(
            "retry-without-effect",
            entry.place_of(f"{_BLOCK}.job_retry_limit", _BLOCK),
            "the block allows no retry: job_retry_limit is 0, and there is no "
            "job_age_limit; its waits are for nothing",
            "raise job_retry_limit, or take the rest of the block out",
        )


def _until_both(entry: CronEntry, known: RetryPolicy) -> Iterator[Finding]:
    if not (known.limit and known.age_limit):
        return
    retries, _ = _line(known)
    if retries > known.limit:
        many = f"{retries}" if retries < _COUNTED else f"{_COUNTED} or more"
        yield told(
            "retry-until-both",
            entry.place_of(f"{_BLOCK}.job_retry_limit", _BLOCK),
            f"up to {many} retries, not {known.limit}: a run is given up when both "
            f"job_retry_limit and job_age_limit ({_span(known.age_limit)}) are reached",
            "give only one of the two limits",
        )


@lru_cache(maxsize=1024)
def _line(known: RetryPolicy) -> tuple[int, timedelta]:
    """Give how many retries a run has that fails at once, and when the last comes.

    More than some thousand are not counted: those go on until the age limit.
    """
    line = list(islice(timeline(known, _AT_ONCE), _COUNTED))
    if len(line) == _COUNTED:
        return _COUNTED, max(line[-1], known.age_limit)
    return len(line), line[-1] if line else timedelta(0)


def _outlasting(
    evidence: Evidence, entry: CronEntry, known: RetryPolicy
) -> Iterator[Finding]:
    _, last = _line(known)
    gap = period(entry.schedule, zone_of(entry), evidence.now, last)
    if gap is not None:
        yield told(
            "retries-outlast-period",
            entry.place_of(_BLOCK),
            f"a failing run may be retried for {_span(last)}, but the next is due "
            f"after {_span(gap)}, and is then skipped or late",
            "lower the limits or the waits",
        )


def _without_block(evidence: Evidence) -> Iterator[Finding]:
    """Tell once a file what having no block means."""
    for cron in evidence.crons:
        without = [entry for entry in cron.entries if entry.retry is None]
        if without:
            all_of_them = len(without) == len(cron.entries)
            who = (
                "no entry has"
                if all_of_them
                else f"{len(without)} of {len(cron.entries)} entries have no"
            )
            yield told(
                "no-retries",
                without[0].place,
                f"{who} retry_parameters: a failed run is not tried again, but one "
                "answered with 503 is, by App Engine itself and without limit",
                "write retry_parameters where a lost run matters, and never answer 503",
            )


def _span(length: timedelta) -> str:
    """Write a length of time as cron.yaml does: `90s`, `15m`, `1.5h`."""
    seconds = round(length.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size and not seconds % (size / 2):
            return f"{seconds / size:g}{unit}"
    return f"{seconds}s"
