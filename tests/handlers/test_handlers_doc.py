"""docs/handlers.md says what is so."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import islice

import pytest

from cronspec.retry import RetryPolicy, timeline, waits
from handlers.settings import NAMES
from tests.handlers.support import ROOT

PAGE = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
LEASE = 30.0


def table(first_column: str) -> list[list[str]]:
    """Give the rows of the table whose head begins so."""
    _, _, after = PAGE.partition(f"\n| {first_column} |")
    rows = []
    for line in after.splitlines()[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def done_again(policy: RetryPolicy, busy_wait: float) -> float | None:
    """Give the seconds from a kill to the next attempt's claim; None for never."""
    arrives = (
        retry.total_seconds() for retry in islice(timeline(policy, timedelta(0)), 9)
    )
    freed = 0.0  # a delivery that waited in vain delays the retries after it
    for wait in arrives:
        if wait + freed + busy_wait >= LEASE:
            return max(wait + freed, LEASE)
        freed += busy_wait
    return None


@pytest.mark.parametrize("row", table("retries"), ids="|".join)
def test_the_table_of_retries_is_as_computed(row: list[str]) -> None:
    limit, first, doublings, total, busy_wait, again = row
    policy = RetryPolicy(
        limit=int(limit),
        age_limit=timedelta(0),
        min_backoff=float(first),
        max_backoff=3600,
        max_doublings=int(doublings),
    )
    waited = sum((wait for wait in islice(waits(policy), int(limit))), timedelta(0))
    assert f"{waited.total_seconds():g}" == total
    found = done_again(policy, float(busy_wait))
    assert ("never" if found is None else f"{found:g}") == again


def test_every_setting_is_in_the_table_and_nothing_else() -> None:
    listed = [re.sub("`", "", row[0]) for row in table("setting")]
    assert sorted(listed) == sorted(NAMES)


def test_every_outcome_is_in_the_table() -> None:
    told = {
        name for row in table("status") for name in re.findall("`([a-z]+)`", row[1])
    }
    assert told == {"ran", "duplicate", "skipped", "busy", "failed"}
