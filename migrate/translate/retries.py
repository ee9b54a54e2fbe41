"""How a failed run is retried: all that gcloud fills a retry block up with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec import retry
from migrate import equivalence
from migrate.job import RetryConfig
from migrate.notes import Note, note

if TYPE_CHECKING:
    from cronspec.config import CronEntry
    from migrate.choices import EntryChoices
    from migrate.verdict import RetryVerdict


def retry_config(
    entry: CronEntry, choices: EntryChoices
) -> tuple[RetryConfig | None, list[Note]]:
    """Write out all five values where the entry has a block; none has none."""
    params = entry.retry
    if params is None:
        return None, []
    known = retry.policy(params, choices.missing_retry_limit)
    config = RetryConfig(
        retry_count=known.limit,
        max_retry_duration=known.age_limit,
        min_backoff=known.min_backoff,
        max_backoff=known.max_backoff,
        max_doublings=known.max_doublings,
    )
    return config, _notes(entry, known)


def _notes(entry: CronEntry, known: retry.RetryPolicy) -> list[Note]:
    params = entry.retry
    block = entry.place_of("retry_parameters")
    notes = []
    if params is not None and params.job_retry_limit is None:
        text = (
            f"no job_retry_limit: taken as {known.limit} (today's documentation "
            "says 0, that of 2016 said 5)"
        )
        other = 0 if known.limit else retry.MAX_RETRIES
        option = f"--missing-retry-limit {other}"
        notes.append(note("retry-limit-missing", text, block, option))
    if known.age_limit and not known.limit:
        text = "an age limit alone: at most 5 retries until then, says Google"
        place = entry.place_of("retry_parameters.job_age_limit")
        notes.append(note("age-limit-alone", text, place))
    if known.limit and known.min_backoff < 5:
        text = f"waits from {known.min_backoff:g} s on, under the 5 s of an old text"
        place = entry.place_of(
            "retry_parameters.min_backoff_seconds", "retry_parameters"
        )
        notes.append(note("short-backoff", text, place))
    return notes


def verdict(
    entry: CronEntry, choices: EntryChoices, config: RetryConfig | None
) -> RetryVerdict:
    """Compare how a failing run is retried today and by the job."""
    today = retry.policy(entry.retry, choices.missing_retry_limit)
    if config is None:
        return equivalence.retries(today, retry.NO_RETRIES)
    return equivalence.retries(today, policy_of(config))


def policy_of(config: RetryConfig) -> retry.RetryPolicy:
    """Give a job's retry config as a policy, which has a time line."""
    return retry.RetryPolicy(
        limit=config.retry_count,
        age_limit=config.max_retry_duration,
        min_backoff=config.min_backoff,
        max_backoff=config.max_backoff,
        max_doublings=config.max_doublings,
    )
