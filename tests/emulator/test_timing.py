"""When the emulated server says that a job is due next."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from emulator.timing import next_time, read_schedule, read_zone, rfc3339

NOON = "2026-03-04T12:00:30Z"  # a Wednesday


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "due"),
    [
        ("0 9 * * 1", "Europe/Rome", NOON, "2026-03-09T08:00:00Z"),
        ("every monday 09:00", "Europe/Rome", NOON, "2026-03-09T08:00:00Z"),
        ("every minute", "UTC", NOON, "2026-03-04T12:01:00Z"),
        # Whole minutes, rounded down, from the end of the last run.
        ("every 5 minutes", "UTC", NOON, "2026-03-04T12:05:00Z"),
        ("every 48 hours", "UTC", NOON, "2026-03-06T12:00:00Z"),
        ("every 12 hours synchronized", "UTC", NOON, "2026-03-05T00:00:00Z"),
        # Days are the zone's: 17:00 on Thursday in New York is 22:00 UTC.
        ("every 5 hours on thu", "America/New_York", NOON, "2026-03-05T08:00:00Z"),
        ("every 5 hours on wed", "Asia/Tokyo", NOON, "2026-03-10T18:00:00Z"),
        # The clock skips 02:30 that day.
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-08T06:00:00Z",
            "2026-03-09T06:30:00Z",
        ),
        ("0 0 30 2 *", "Europe/Rome", NOON, None),
    ],
)
def test_a_job_is_due_when_its_schedule_says(schedule, zone, after, due):
    at = next_time(
        read_schedule(schedule), read_zone(zone), datetime.fromisoformat(after)
    )
    assert (at and rfc3339(at)) == due


def test_times_are_spelled_as_the_api_does():
    assert rfc3339(datetime(2026, 3, 4, 1, 2, 3, 4, UTC)) == (
        "2026-03-04T01:02:03.000004Z"
    )
