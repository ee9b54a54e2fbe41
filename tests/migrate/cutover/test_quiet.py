"""When an entry's job is at rest, by what the API tells of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cronspec import groc
from cronspec.retry import NO_RETRIES, RetryParameters, policy
from migrate.cutover.quiet import LAST_CALL, MARGIN, disturbed, next_due
from migrate.cutover.seen import Pace
from migrate.livejob import LiveJob

TEN = timedelta(minutes=10)
RETRIED = policy(RetryParameters(job_retry_limit=3))


def pace(schedule: str, retries: Any = NO_RETRIES) -> Pace:
    return Pace(groc.parse(schedule), ZoneInfo("UTC"), retries, TEN)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-04T{text}").replace(tzinfo=UTC)


def live(**fields: Any) -> LiveJob:
    return LiveJob(
        {"name": "projects/p/locations/l/jobs/j", "state": "ENABLED"} | fields
    )


def told(last: str, due: str, code: int | None = 0) -> LiveJob:
    """A job as the API tells of it; no code: the attempt has not ended."""
    fields: dict[str, Any] = {"scheduleTime": f"2026-03-04T{due}Z"}
    if last:
        fields["lastAttemptTime"] = f"2026-03-04T{last}Z"
    if code is not None and last:
        fields["status"] = {"code": code} if code else {}
    return live(userUpdateTime="2026-03-01T00:00:00Z", **fields)


FIVE, NO = "every 5 minutes synchronized", NO_RETRIES
REST = "every 5 minutes"


@pytest.mark.parametrize(
    ("schedule", "retries", "job", "now", "why"),
    [
        (FIVE, NO, told("10:00:00.3", "10:05:00.7"), "10:01:00", ""),
        (FIVE, NO, told("10:00:00", "10:05:00"), "10:04:40", ""),
        (FIVE, NO, told("10:00:00", "10:05:00"), "10:04:41", "is due at"),
        (FIVE, NO, told("10:00:00", "10:05:00"), "10:00:04", "just begun"),
        (FIVE, NO, told("10:00:00", "10:05:00", None), "10:04:00", "under way"),
        (FIVE, NO, told("09:50:00", "10:05:00", None), "10:00:30", "a run is due"),
        (FIVE, NO, told("09:55:00", "10:05:00"), "10:00:10", "a run is due"),
        # Delayed by the run before it, or not fired at all: known by its deadline.
        (FIVE, NO, told("09:55:00", "10:00:00"), "10:03:00", "a run is due"),
        (FIVE, NO, told("09:35:00", "10:05:00"), "10:01:01", ""),
        (FIVE, NO, told("", "10:05:00"), "10:00:30", "a run is due"),
        (FIVE, NO, told("", "10:05:00"), "10:01:30", ""),
        # A failed run: with retries left, the API has the next of them as next time.
        (FIVE, RETRIED, told("10:00:00", "10:00:40", 13), "10:00:20", "retried"),
        (FIVE, RETRIED, told("10:00:00", "10:05:00", 13), "10:01:00", ""),
        (FIVE, NO, told("10:00:00", "10:05:00", 13), "10:01:00", ""),
        # App Engine's 503 is retried without a policy, too.
        (FIVE, NO, told("10:00:00", "10:02:30", 14), "10:01:00", "retried"),
        (FIVE, NO, told("10:00:00", "10:05:00", 14), "10:01:00", ""),
        (REST, NO, told("10:00:00", "10:01:30", 14), "10:00:40", "retried"),
        # An early clock.
        (FIVE, NO, told("09:59:59", "10:05:00"), "10:00:30", ""),
        # Intervals: the next time is the API's word alone.
        (REST, NO, told("10:00:30", "10:05:00"), "10:02:00", ""),
        (REST, NO, told("10:00:30", "10:05:00"), "10:05:01", "due"),
        (REST, NO, told("10:00:30", "10:05:00"), "10:04:45", "due"),
        (REST, RETRIED, told("10:00:30", "10:01:00", 2), "10:00:36", "ret"),
        (REST, NO, told("", "10:05:00"), "10:02:00", ""),
    ],
)  # fmt: skip
def test_a_job_is_at_rest_between_its_runs(
    schedule: str, retries: Any, job: LiveJob, now: str, why: str
) -> None:
    found = disturbed(pace(schedule, retries), job, at(now), MARGIN)
    if not why:
        assert found is None
        return
    assert found is not None
    assert why in found.why
    assert found.until > at(now)


def test_the_second_of_two_calls_may_come_later() -> None:
    job = told("10:00:00", "10:05:00")
    assert disturbed(pace(FIVE), job, at("10:04:50"), MARGIN) is not None
    assert disturbed(pace(FIVE), job, at("10:04:50"), LAST_CALL) is None
    assert disturbed(pace(FIVE), job, at("10:04:56"), LAST_CALL) is not None


def test_a_paused_job_is_at_rest_unless_its_last_run_is_under_way() -> None:
    resting = told("10:00:00", "10:05:00")
    paused = LiveJob({**resting.resource, "state": "PAUSED"})
    assert disturbed(pace(FIVE), paused, at("10:04:59")) is None
    at_work = LiveJob({**paused.resource, "status": None})
    del at_work.resource["status"]
    assert disturbed(pace(FIVE), at_work, at("10:04:59")) is not None
    assert disturbed(pace(FIVE), at_work, at("10:10:01")) is None


def test_an_interval_whose_next_time_is_not_told_is_due_a_period_after_its_begin() -> (
    None
):
    untold = LiveJob(
        {k: v for k, v in told("10:00:30", "").resource.items() if k != "scheduleTime"}
    )
    assert disturbed(pace(REST), untold, at("10:04:39")) is None
    assert disturbed(pace(REST), untold, at("10:04:41")) is not None
    assert disturbed(pace(REST), untold, at("10:06:00")) is not None
    assert next_due(pace(REST), live(), at("10:00:00")) is None


def test_the_next_tick_may_be_years_off() -> None:
    rare = pace("29 of feb 10:00")
    due = next_due(rare, live(), at("10:00:00"))
    assert due == datetime(2028, 2, 29, 10, tzinfo=UTC)
