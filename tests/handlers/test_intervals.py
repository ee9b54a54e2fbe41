"""Laws of end-time intervals, for any number of senders in any phase.

Each sender does as Google's: a period after its last answer, rounded down to the
minute, it fires again. Latencies and the lengths of tasks are drawn. Time is played
through; the claim rule is the real one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from cronspec.retry import NO_RETRIES
from handlers.record import Interval, Record, RegisterKey, State
from handlers.runs import (
    AlreadyDone,
    Ask,
    Busy,
    Claimed,
    OutOfReach,
    Terms,
    decide,
    floor_minute,
    renewed,
    settled,
)
from tests.handlers.support import utc

START = utc("2026-11-30T00:00:00")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
BUSY_WAIT = 30 * SECOND
KEY = RegisterKey("shop", "a", Interval())


@dataclass
class World:
    """One register, and time."""

    terms: Terms
    latencies: list[float]
    lengths: list[float]
    record: Record | None = None
    runs: list[tuple[datetime, datetime]] = field(default_factory=list)
    delivered: int = 0
    held_until: datetime = START

    def __post_init__(self) -> None:
        self._attempts = count(1)
        self._latency = _endless(self.latencies)
        self._length = _endless(self.lengths)

    def deliver(self, at: datetime) -> datetime | None:
        """Deliver at `at`; give when it is answered, None to look again later."""
        if self.record and self.record.state is State.WORKING:
            self._catch_up(at)
        ask = Ask(KEY, "any", f"{next(self._attempts)}", self.terms)
        match decide(self.record, ask, at):
            case Claimed(record):
                end = at + next(self._length) * SECOND
                self.runs.append((at, end))
                self.held_until = end
                self.record = record
                return end
            case AlreadyDone() | OutOfReach():
                return at
            case Busy():
                return None

    def _catch_up(self, now: datetime) -> None:
        """Renew or settle what the holder would have by now."""
        assert self.record is not None
        if now >= self.held_until:
            self.record = settled(self.record, State.DONE, self.terms, self.held_until)
        else:
            self.record = renewed(self.record, self.terms, now)

    def play(self, phases: list[float], until: datetime) -> None:
        """Let senders fire, each by its own answers."""
        queue: list[tuple[datetime, int, datetime | None]] = [
            (START + phase * SECOND, index, None) for index, phase in enumerate(phases)
        ]
        heapq.heapify(queue)
        while queue:
            now, index, waiting_since = heapq.heappop(queue)
            if now > until:
                return
            if waiting_since is None:
                self.delivered += 1
            answered = self.deliver(now)
            if answered is None:
                since = waiting_since or now
                if now - since < BUSY_WAIT:
                    heapq.heappush(queue, (now + 4 * SECOND, index, since))
                    continue
                answered = now  # 409: a failed attempt, and no retries
            # The sender sees the end a little later than we wrote it.
            seen = answered + next(self._latency) * SECOND
            due = floor_minute(seen + self.terms.period)
            fires = max(due, seen) + next(self._latency) * SECOND
            heapq.heappush(queue, (fires, index, None))


def _endless(values: list[float]):  # type: ignore[no-untyped-def]  # a plain cycle
    while True:
        yield from values


def world(period: int, latencies: list[float], lengths: list[float]) -> World:
    terms = Terms(
        lease=30 * SECOND,
        deadline=timedelta(hours=24),
        period=period * MINUTE,
        reach=timedelta(hours=24),
        policy=NO_RETRIES,
    )
    return World(terms, latencies, lengths)


periods = st.sampled_from([1, 2, 5, 7, 60])
latencies = st.lists(st.floats(0.001, 5), min_size=1, max_size=30)
lengths = st.lists(
    st.one_of(st.floats(0.001, 2), st.floats(2, 200)), min_size=1, max_size=30
)


@settings(max_examples=200, deadline=None)
@given(periods, latencies, lengths, st.floats(0, 59))
def test_of_one_sender_every_delivery_runs(
    period: int, drawn: list[float], long: list[float], phase: float
) -> None:
    played = world(period, drawn, long)
    played.play([phase], START + 40 * period * MINUTE)
    assert played.delivered > 5
    assert len(played.runs) == played.delivered


@settings(max_examples=300, deadline=None)
@given(
    periods,
    latencies,
    lengths,
    st.lists(st.floats(0, 7200), min_size=1, max_size=5),
)
def test_of_any_senders_the_rest_is_a_period_less_a_minute_to_two_periods(
    period: int, drawn: list[float], long: list[float], phases: list[float]
) -> None:
    played = world(period, drawn, long)
    played.play(phases, START + timedelta(hours=2) + 30 * period * MINUTE)
    assert len(played.runs) > 5
    slack = 2 * max(drawn) * SECOND + 5 * SECOND  # the network's, and a last look's
    for (_, ended), (begun, _) in pairwise(played.runs):
        rest = begun - ended
        assert rest >= period * MINUTE - MINUTE
        assert rest <= 2 * period * MINUTE + slack + BUSY_WAIT
