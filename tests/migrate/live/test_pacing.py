"""Quotas and waits, on a clock of the test's own."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate.pacing import Bucket, Patience


@dataclass
class Time:
    now: float = 0.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@given(st.integers(1, 20), st.lists(st.floats(0, 30), max_size=120))
def test_no_minute_wherever_it_begins_sees_more_than_the_quota(per_minute, pauses):
    time = Time()
    bucket = Bucket(per_minute, time.read, time.sleep)
    taken = []
    for pause in pauses:
        time.now += pause
        bucket.take()
        taken.append(time.now)
    for start in taken:
        within = bisect_left(taken, start + 59.999) - bisect_left(taken, start)
        assert within <= per_minute


def test_a_whole_minute_s_quota_may_be_taken_at_once():
    time = Time()
    bucket = Bucket(500, time.read, time.sleep)
    for _ in range(500):
        bucket.take()
    assert time.now == 0
    bucket.take()
    assert time.now == 60


def test_waits_grow_and_end_at_the_longest():
    patience = Patience(first_wait=1, longest_wait=5)
    assert [patience.wait(n, 1) for n in (1, 2, 3, 4, 5)] == [1, 2, 4, 5, 5]
    assert [patience.wait(n, 0) for n in (1, 2, 3, 4)] == [0.5, 1, 2, 2.5]


def test_waits_for_a_quota_sum_to_more_than_its_minute():
    patience = Patience()
    tries = range(1, patience.quota_tries)
    assert sum(patience.wait_for_quota(n, 0) for n in tries) > 40
    assert sum(patience.wait_for_quota(n, 0.5) for n in tries) > 60


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_a_call_is_given_up_within_a_minute_of_waits(share):
    patience = Patience()
    assert sum(patience.wait(n, share) for n in range(1, patience.tries)) < 60
