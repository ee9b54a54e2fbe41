"""What a run that keeps failing does, and when."""

from datetime import timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cronspec.retry import (
    NO_RETRIES,
    RetryParameters,
    RetryPolicy,
    policy,
    timeline,
    waits,
)


def params(least: float, most: float, doublings: int) -> RetryParameters:
    return RetryParameters(
        min_backoff_seconds=least, max_backoff_seconds=most, max_doublings=doublings
    )


def seconds(times: list[timedelta]) -> list[float]:
    return [time.total_seconds() for time in times]


@pytest.mark.parametrize(
    ("least", "most", "doublings", "expected"),
    [
        # The documentation's first example, in full.
        (10, 300, 3, [10, 20, 40, 80, 160, 240, 300, 300]),
        # Its second: it says 120 where its own rule, and Google's code, give 80.
        (10, 120, 2, [10, 20, 40, 80, 120, 120]),
        (5, 3600, 5, [5, 10, 20, 40, 80]),  # Cloud Scheduler's defaults
        (0.1, 3600, 16, [0.1, 0.2, 0.4, 0.8, 1.6]),  # App Engine's
        (2.5, 3600, 5, [2.5, 5, 10, 20, 40]),  # cron.yaml's page
        (10, 300, 0, [10, 20, 30, 40, 50]),
        (10, 10, 5, [10, 10, 10]),
        (0, 0, 5, [0, 0, 0]),
        (0, 10, 5, [0, 0, 0]),
        (1, 1e300, 10**9, [1, 2, 4, 8]),
    ],
)
def test_the_waits(
    least: float, most: float, doublings: int, expected: list[float]
) -> None:
    found = list(islice(waits(params(least, most, doublings)), len(expected)))
    assert seconds(found) == pytest.approx(expected)


def by_google(number: int, least: float, most: float, doublings: int) -> float:
    """CalculateBackoffUsec of taskqueue_stub.py, as it stands."""
    exponent = min(number - 1, doublings)
    linear_steps = number - exponent
    wait = least * 2.0**exponent
    if linear_steps > 1:
        wait *= linear_steps
    return min(most, wait)


@given(
    st.floats(0.01, 1000), st.floats(0, 10_000), st.integers(0, 30), st.integers(1, 60)
)
def test_the_waits_are_those_of_googles_code(
    least: float, more: float, doublings: int, count: int
) -> None:
    known = params(round(least, 3), round(least + more, 3), doublings)
    exact = policy(known)
    expected = [
        by_google(number, exact.min_backoff, exact.max_backoff, doublings)
        for number in range(1, count + 1)
    ]
    assert seconds(list(islice(waits(known), count))) == pytest.approx(
        expected, abs=1e-6
    )


@given(
    st.floats(1e-8, 1e300), st.floats(1e-8, 1e300), st.integers(0, 10**12)
)  # fmt: skip
def test_waits_never_shrink_and_never_fail(a: float, b: float, doublings: int) -> None:
    found = list(islice(waits(params(min(a, b), max(a, b), doublings)), 1200))
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("block", "limit", "least", "most", "doublings"),
    [
        # gcloud's conversion: _ReplaceDefaultRetryParamsForYamlJob
        (RetryParameters(), 0, 0.1, 3600, 16),
        (RetryParameters(job_retry_limit=3), 3, 0.1, 3600, 16),
        (RetryParameters(min_backoff_seconds=10), 0, 10, 3600, 16),
        (RetryParameters(min_backoff_seconds=5000), 0, 5000, 5000, 16),
        (RetryParameters(max_backoff_seconds=0.05), 0, 0.05, 0.05, 16),
        (RetryParameters(max_backoff_seconds=10), 0, 0.1, 10, 16),
        (RetryParameters(min_backoff_seconds=0), 0, 0.1, 3600, 16),
        (RetryParameters(max_backoff_seconds=0), 0, 0.1, 0.1, 16),
        (params(0, 0, 0), 0, 0, 0, 0),
        (params(2.123456789, 9, 1), 0, 2.12345679, 9, 1),
    ],
)
def test_a_block_is_filled_up_as_gcloud_does(
    block: RetryParameters, limit: int, least: float, most: float, doublings: int
) -> None:
    assert policy(block) == RetryPolicy(limit, timedelta(0), least, most, doublings)


def test_no_block_means_no_retries() -> None:
    assert policy(None) == NO_RETRIES
    assert list(timeline(policy(None), timedelta(seconds=1))) == []


def test_a_missing_limit_is_what_one_says_it_is() -> None:
    assert policy(RetryParameters(), missing_limit=5).limit == 5
    assert policy(RetryParameters(2), missing_limit=5).limit == 2
    assert policy(None, missing_limit=5).limit == 0


def test_an_age_limit_is_cut_to_whole_seconds() -> None:
    block = RetryParameters(job_age_limit=timedelta(seconds=1.9))
    assert policy(block).age_limit == timedelta(seconds=1)


@pytest.mark.parametrize(
    ("limit", "age", "attempt", "expected"),
    [
        (0, 0, 1, []),
        (3, 0, 0, [10, 30, 70]),
        (3, 0, 5, [15, 40, 85]),
        # Both limits: it ends when both are reached.
        (1, 100, 0, [10, 30, 70, 150]),
        (5, 15, 0, [10, 30, 70, 150, 310]),
        # An age limit alone: five retries at the most.
        (0, 15, 0, [10, 30]),
        (0, 1000, 0, [10, 30, 70, 150, 310]),
        (0, 10, 20, []),
    ],
)
def test_the_time_line_of_a_run_that_keeps_failing(
    limit: int, age: int, attempt: int, expected: list[float]
) -> None:
    known = RetryPolicy(limit, timedelta(seconds=age), 10, 300, 3)
    found = list(timeline(known, timedelta(seconds=attempt)))
    assert seconds(found) == expected


@given(
    st.integers(0, 5), st.integers(0, 5000), st.floats(0.1, 100), st.floats(0, 100),
    st.integers(0, 16),
)  # fmt: skip
def test_a_time_line_is_bounded_by_age_and_five_longest_waits(
    limit: int, age: int, least: float, more: float, doublings: int
) -> None:
    known = RetryPolicy(limit, timedelta(seconds=age), least, least + more, doublings)
    longest = timedelta(seconds=5 * (least + more) + 1)
    line = islice(timeline(known, timedelta(milliseconds=1)), 10_000)
    assert max(line, default=timedelta(0)) <= timedelta(seconds=age) + longest
