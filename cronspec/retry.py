"""Retry policies: what a run that keeps failing does, and when.

The same arithmetic serves both worlds: cron.yaml's `retry_parameters` (with the
defaults that gcloud applies to a block) and Cloud Scheduler's `retryConfig`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import count, takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RETRIES: Final = 5
"""The largest retry count that App Engine and Cloud Scheduler take."""


@dataclass(frozen=True, slots=True)
class RetryParameters:
    """A `retry_parameters` block as it was written: None means not said."""

    job_retry_limit: int | None = None
    job_age_limit: timedelta | None = None
    min_backoff_seconds: float | None = None
    max_backoff_seconds: float | None = None
    max_doublings: int | None = None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A policy with nothing left open.

    An `age_limit` of zero is no limit; `min_backoff` and `max_backoff` are seconds.
    """

    limit: int
    age_limit: timedelta
    min_backoff: float
    max_backoff: float
    max_doublings: int


NO_RETRIES: Final = RetryPolicy(0, timedelta(0), 5.0, 3600.0, 5)
"""What no block (and no retryConfig) means: a failed run is not tried again."""

# What gcloud fills a block up with (constants.CRON_JOB_LEGACY_DEFAULT_VALUES).
_MIN_BACKOFF: Final = 0.1
_MAX_BACKOFF: Final = 3600.0
_MAX_DOUBLINGS: Final = 16


def policy(params: RetryParameters | None, missing_limit: int = 0) -> RetryPolicy:
    """Fill a block up as gcloud does; no block means no retries.

    `missing_limit` stands for a limit that the block does not give: 0 as today's
    documentation says, or 5 as that of 2016 did.
    """
    if params is None:
        return NO_RETRIES
    least, most = _backoffs(params.min_backoff_seconds, params.max_backoff_seconds)
    limit, age = params.job_retry_limit, params.job_age_limit
    doublings = params.max_doublings
    return RetryPolicy(
        limit=missing_limit if limit is None else limit,
        age_limit=timedelta(0) if age is None else age // _SECOND * _SECOND,
        min_backoff=round(least, 8),
        max_backoff=round(most, 8),
        max_doublings=_MAX_DOUBLINGS if doublings is None else doublings,
    )


_SECOND: Final = timedelta(seconds=1)


def _backoffs(least: float | None, most: float | None) -> tuple[float, float]:
    """Give both bounds: a lone one pulls the other along.

    As in gcloud's app_deploy_migration_util, _ReplaceDefaultRetryParamsForYamlJob.
    """
    if least is not None and most is not None:
        return least, most
    # gcloud tests truth: a lone 0 counts as not said.
    if most is None:
        least = least or _MIN_BACKOFF
        return least, max(_MAX_BACKOFF, least)
    least = min(_MIN_BACKOFF, most or _MIN_BACKOFF)
    return least, max(least, most)


_LONGEST: Final = 315_576_000_000.0  # seconds: the most that protobuf's Duration holds
_ENOUGH_DOUBLINGS: Final = 1000  # the shortest wait is longer than any by then


def waits(params: RetryParameters | RetryPolicy) -> Iterator[timedelta]:
    """Yield the waits before the first retry, the second, and so on, without end.

    The formula is App Engine's own (taskqueue_stub.py, CalculateBackoffUsec): the
    wait doubles `max_doublings` times, then grows by a constant step, and never
    passes the maximum. Limits are not looked at: see `timeline`.

    >>> from itertools import islice
    >>> ten = RetryParameters(min_backoff_seconds=10, max_backoff_seconds=300,
    ...                       max_doublings=3)
    >>> [wait.seconds for wait in islice(waits(ten), 8)]
    [10, 20, 40, 80, 160, 240, 300, 300]
    """
    known = params if isinstance(params, RetryPolicy) else policy(params)
    longest = timedelta(seconds=min(known.max_backoff, _LONGEST))
    growing = takewhile(
        lambda seconds: 0 < seconds < min(known.max_backoff, _LONGEST),
        (_backoff(known, retry) for retry in count(1)),
    )
    for seconds in growing:
        yield timedelta(seconds=seconds)
    while True:  # no later wait is longer, nor shorter
        yield longest if known.min_backoff else timedelta(0)


def _backoff(known: RetryPolicy, retry: int) -> float:
    """Give the wait before a retry in seconds, the maximum not yet applied."""
    exponent = min(retry - 1, known.max_doublings, _ENOUGH_DOUBLINGS)
    return known.min_backoff * 2.0**exponent * max(1, retry - exponent)


def timeline(known: RetryPolicy, attempt: timedelta) -> Iterator[timedelta]:
    """Yield when a run that always fails is retried, counted from its first attempt.

    Each attempt takes `attempt`. With a count and an age limit, both must be reached
    before it is given up ("until both limits are reached"); with an age limit alone,
    5 retries are the most (Cloud Scheduler's page on retries; not proven otherwise).
    The line may be endless where the waits are zero.
    """
    failed_at = attempt
    upcoming = waits(known)
    retried = 0
    # A count's retries are due whatever the age; an age's whatever the count, if any.
    while retried < known.limit or (
        failed_at < known.age_limit and (known.limit or retried < MAX_RETRIES)
    ):
        wait = next(upcoming)
        yield failed_at + wait
        failed_at += wait + attempt
        retried += 1
