"""The claim rule as a table, and its laws over any course of events."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from cronspec.retry import NO_RETRIES, RetryPolicy
from handlers.attempt import Attempt, Got, RunOver, acquire
from handlers.record import (
    At,
    Forced,
    Interval,
    Occupancy,
    Record,
    RegisterKey,
    RunId,
    State,
    StoreError,
    Window,
)
from handlers.runs import (
    AlreadyDone,
    Ask,
    Busy,
    Claimed,
    OutOfReach,
    Settled,
    TakenOver,
    Terms,
    Write,
    decide,
    line_is_over,
    renewed,
    settle,
    settled,
)
from tests.handlers.support import ManualClock, MemoryStore, Unreliable, utc

TICK = At(utc("2026-11-30T08:00:00"))
NOW = utc("2026-11-30T08:00:00.400")
MINUTE = timedelta(minutes=1)
FIVE_RETRIES = RetryPolicy(5, timedelta(0), 60.0, 60.0, 0)


def terms(**changes: object) -> Terms:
    known = Terms(
        lease=timedelta(seconds=30),
        deadline=10 * MINUTE,
        period=timedelta(0),
        reach=10 * MINUTE,
        policy=NO_RETRIES,
    )
    return replace(known, **changes)  # type: ignore[arg-type]  # a table's columns


FIVE = terms(period=5 * MINUTE, reach=2 * MINUTE)


def ask(window: Window = TICK, **changes: object) -> Ask:
    asked = Ask(RegisterKey("shop", "a", window), "cron", uuid4().hex, terms())
    return replace(asked, **changes)  # type: ignore[arg-type]  # a table's columns


def working(asked: Ask, at: datetime = NOW) -> Record:
    claim = decide(None, asked, at)
    assert isinstance(claim, Claimed)
    return claim.record


def ended(asked: Ask, state: State, at: datetime) -> Record:
    return settled(working(asked, at), state, asked.terms, at)


# --- Claim ------------------------------------------------------------


def test_a_free_register_is_claimed_for_one_lease() -> None:
    record = working(ask())
    assert record.state is State.WORKING
    assert record.attempt == 1
    assert record.lease.expires_at == NOW + timedelta(seconds=30)
    assert record.began == record.started == NOW


def test_a_lease_is_never_longer_than_the_deadline() -> None:
    short = terms(deadline=timedelta(seconds=12))
    assert working(ask(terms=short)).lease.expires_at == NOW + timedelta(seconds=12)


@pytest.mark.parametrize("window", [TICK, Interval(), Forced(TICK.at)])
def test_a_live_lease_keeps_others_out(window: Window) -> None:
    held = working(ask(window))
    until = held.lease.expires_at
    just_before = until - timedelta(microseconds=1)
    assert decide(held, ask(window), just_before) == Busy(until)


@pytest.mark.parametrize("window", [TICK, Interval(), Forced(TICK.at)])
def test_a_lease_that_is_over_is_up_for_grabs(window: Window) -> None:
    held = working(ask(window, terms=FIVE))
    claim = decide(held, ask(window, terms=FIVE), held.lease.expires_at)
    assert isinstance(claim, Claimed)
    assert claim.record.attempt == 2
    assert claim.record.run_id == held.run_id
    assert claim.record.began == held.began
    assert claim.record.started == held.lease.expires_at


def test_a_failed_run_is_claimed_anew_at_once() -> None:
    failed = ended(ask(), State.FAILED, NOW)
    claim = decide(failed, ask(), NOW)
    assert isinstance(claim, Claimed)
    assert (claim.record.attempt, claim.record.run_id) == (2, failed.run_id)


def test_a_run_of_a_tick_that_failed_long_ago_is_still_that_run() -> None:
    failed = ended(ask(), State.FAILED, NOW)
    claim = decide(failed, ask(), NOW + timedelta(hours=7))
    assert isinstance(claim, Claimed)
    assert (claim.record.attempt, claim.record.run_id) == (2, failed.run_id)


@pytest.mark.parametrize("state", [State.DONE, State.SKIPPED])
@pytest.mark.parametrize("later", [timedelta(0), 9 * MINUTE, timedelta(hours=20)])
def test_a_settled_tick_stays_settled(state: State, later: timedelta) -> None:
    assert decide(ended(ask(), state, NOW), ask(), NOW + later) == AlreadyDone()


def test_the_run_of_a_tick_bears_its_registers_name_whoever_claims_it() -> None:
    assert working(ask()).run_id == working(ask(sender="scheduler")).run_id


@pytest.mark.parametrize("window", [Interval(), Forced(TICK.at)])
def test_runs_that_share_a_register_bear_the_names_of_their_first_attempts(
    window: Window,
) -> None:
    asked = ask(window)
    assert working(asked).run_id == RunId(asked.attempt_id)


# --- Without a time: the sender's reach -------------------------------------------


@pytest.mark.parametrize(
    ("sender", "timeless", "minutes", "claim"),
    [
        ("cron", True, 10, AlreadyDone()),
        ("cron", True, 11, OutOfReach()),
        ("cron", False, 11, AlreadyDone()),
        ("scheduler", True, 11, AlreadyDone()),
    ],
)
def test_a_sender_can_mean_what_it_ran_only_within_its_reach(
    sender: str,
    timeless: bool,  # noqa: FBT001 - a table's column
    minutes: int,
    claim: object,
) -> None:
    done = ended(ask(), State.DONE, NOW)
    asked = ask(sender=sender, timeless=timeless)
    assert decide(done, asked, NOW + minutes * MINUTE) == claim


# --- End-time intervals -----------------------------------------------------------


@pytest.mark.parametrize(
    ("ended_at", "arrives", "is_next"),
    [
        # The end, rounded down with the period added, as Google rounds.
        ("08:01:00", "08:06:00", True),
        ("08:01:59.900", "08:06:00", True),
        ("08:01:59.900", "08:05:58.000", True),  # a clock 2 s early
        ("08:01:59.900", "08:05:57.999", False),
        ("08:01:00", "08:05:57", False),
    ],
)
def test_an_interval_is_due_a_period_after_the_end_in_whole_minutes(
    ended_at: str,
    arrives: str,
    is_next: bool,  # noqa: FBT001 - a table's column
) -> None:
    asked = ask(Interval(), terms=FIVE, sender="other")
    done = ended(asked, State.DONE, utc(f"2026-11-30T{ended_at}"))
    claim = decide(done, ask(Interval(), terms=FIVE), utc(f"2026-11-30T{arrives}"))
    if is_next:
        assert isinstance(claim, Claimed)
        assert claim.record.attempt == 1
        assert claim.record.run_id != done.run_id
    else:
        assert claim == AlreadyDone()


def test_an_interval_that_is_due_is_no_forced_run_however_late() -> None:
    asked = ask(Interval(), terms=FIVE, timeless=True)
    done = ended(asked, State.DONE, NOW)
    assert isinstance(decide(done, asked, NOW + timedelta(hours=3)), Claimed)


def test_before_it_is_due_its_own_sender_can_only_have_been_forced() -> None:
    asked = ask(Interval(), terms=FIVE, timeless=True)
    done = ended(asked, State.DONE, NOW)
    assert decide(done, asked, NOW + 2 * MINUTE) == AlreadyDone()
    assert decide(done, asked, NOW + 3 * MINUTE) == OutOfReach()


def test_an_intervals_failed_run_is_retried_while_its_line_lasts() -> None:
    retried = replace(FIVE, policy=replace(FIVE_RETRIES, min_backoff=600.0))
    retried = replace(
        retried, policy=replace(retried.policy, max_backoff=600.0), deadline=MINUTE
    )
    asked = ask(Interval(), terms=retried)
    failed = ended(asked, State.FAILED, NOW)
    again = decide(failed, ask(Interval(), terms=retried), NOW + 10 * MINUTE)
    assert isinstance(again, Claimed)
    assert (again.record.attempt, again.record.run_id) == (2, failed.run_id)
    later = decide(failed, ask(Interval(), terms=retried), NOW + 12 * MINUTE)
    assert isinstance(later, Claimed)
    assert (later.record.attempt, later.record.run_id != failed.run_id) == (1, True)


def test_an_intervals_failed_run_without_retries_is_another_once_due() -> None:
    asked = ask(Interval(), terms=FIVE)
    failed = ended(asked, State.FAILED, NOW)
    soon = decide(failed, ask(Interval(), terms=FIVE), NOW + 3 * MINUTE)
    assert isinstance(soon, Claimed)
    assert soon.record.run_id == failed.run_id
    due = decide(failed, ask(Interval(), terms=FIVE), NOW + 5 * MINUTE)
    assert isinstance(due, Claimed)
    assert due.record.run_id != failed.run_id


# --- Forced runs, occupancy, retries ----------------------------------------------


def test_a_forced_run_is_repeated_within_reach_and_another_beyond() -> None:
    forced = ask(Forced(TICK.at))
    done = ended(forced, State.DONE, NOW)
    again = ask(Forced(TICK.at))
    assert decide(done, again, NOW + 10 * MINUTE) == AlreadyDone()
    beyond = decide(done, again, NOW + 10 * MINUTE + timedelta(seconds=1))
    assert isinstance(beyond, Claimed)
    assert beyond.record.run_id != done.run_id


def test_an_entry_that_is_occupied_lets_only_the_same_run_in() -> None:
    mine, other = RunId("mine"), RunId("other")
    held = working(ask(Occupancy(), run_id=mine))
    assert decide(held, ask(Occupancy(), run_id=other), NOW) == Busy(
        held.lease.expires_at
    )
    assert isinstance(decide(held, ask(Occupancy(), run_id=mine), NOW), Claimed)
    free = ended(ask(Occupancy(), run_id=mine), State.DONE, NOW)
    assert isinstance(decide(free, ask(Occupancy(), run_id=other), NOW), Claimed)


def test_who_occupies_an_entry_after_a_failed_run_goes_by_its_own_name() -> None:
    retried = terms(policy=FIVE_RETRIES)  # the failed run may still be tried again
    failed = ended(
        ask(Occupancy(), run_id=RunId("a"), terms=retried), State.FAILED, NOW
    )
    claim = decide(failed, ask(Occupancy(), run_id=RunId("b"), terms=retried), NOW)
    assert isinstance(claim, Claimed)
    assert claim.record.run_id == RunId("b")


def test_asked_for_retries_only_nothing_else_is_claimed() -> None:
    retried = terms(policy=FIVE_RETRIES)
    asked = ask(terms=retried, only_retry=True)
    assert decide(None, asked, NOW) == AlreadyDone()
    done = ended(ask(terms=retried), State.DONE, NOW)
    assert decide(done, asked, NOW) == AlreadyDone()
    failed = ended(ask(terms=retried), State.FAILED, NOW)
    assert isinstance(decide(failed, asked, NOW + MINUTE), Claimed)
    given_up = ended(ask(), State.FAILED, NOW)  # without retries
    assert decide(given_up, ask(only_retry=True), NOW) == AlreadyDone()


@pytest.mark.parametrize(
    ("policy", "attempt", "age_minutes", "since_minutes", "over"),
    [
        (NO_RETRIES, 1, 0, 0, True),
        (FIVE_RETRIES, 1, 0, 1, False),
        (FIVE_RETRIES, 1, 0, 3, True),  # its retry should have come
        (FIVE_RETRIES, 5, 0, 0, False),
        (FIVE_RETRIES, 6, 0, 0, True),
        # With an age limit besides, both must be reached.
        (replace(FIVE_RETRIES, age_limit=60 * MINUTE), 6, 59, 0, False),
        (replace(FIVE_RETRIES, age_limit=60 * MINUTE), 6, 60, 0, True),
        (replace(FIVE_RETRIES, age_limit=60 * MINUTE), 5, 90, 0, False),
        # An age limit alone: five retries at most.
        (replace(FIVE_RETRIES, limit=0, age_limit=60 * MINUTE), 5, 10, 0, False),
        (replace(FIVE_RETRIES, limit=0, age_limit=60 * MINUTE), 6, 10, 0, True),
        (replace(FIVE_RETRIES, limit=0, age_limit=60 * MINUTE), 2, 61, 0, True),
    ],
)
def test_a_line_of_retries_ends_as_the_retry_policy_says(
    policy: RetryPolicy,
    attempt: int,
    age_minutes: int,
    since_minutes: int,
    over: bool,  # noqa: FBT001 - a table's column
) -> None:
    retried = terms(policy=policy)
    failed = replace(
        ended(ask(terms=retried), State.FAILED, NOW),
        attempt=attempt,
        began=NOW - age_minutes * MINUTE,
    )
    assert line_is_over(failed, retried, NOW + since_minutes * MINUTE) == over


def test_a_killed_attempts_retry_may_come_as_late_as_its_deadline() -> None:
    retried = terms(policy=FIVE_RETRIES)
    killed = working(ask(terms=retried))
    assert not line_is_over(killed, retried, NOW + 11 * MINUTE)
    assert line_is_over(killed, retried, NOW + 13 * MINUTE)


# --- Renewal, settlement, expiry --------------------------------------------------


def test_a_lease_is_renewed_from_now_and_never_past_the_deadline() -> None:
    record = working(ask())
    soon = renewed(record, terms(), NOW + timedelta(seconds=10))
    assert soon.lease.expires_at == NOW + timedelta(seconds=40)
    late = renewed(record, terms(), NOW + timedelta(minutes=9, seconds=50))
    assert late.lease.expires_at == NOW + 10 * MINUTE


def test_an_attempt_settles_late_as_long_as_the_record_bears_its_id() -> None:
    record = working(ask())
    late = NOW + timedelta(hours=2)
    rule_ = settle(record, record, State.DONE, terms(), late)
    assert isinstance(rule_, Write)
    assert (rule_.record.state, rule_.record.ended) == (State.DONE, late)


def test_an_attempt_that_was_taken_over_has_nothing_to_say() -> None:
    mine = working(ask())
    others = working(ask())
    assert settle(others, mine, State.DONE, terms(), NOW) == TakenOver(done=False)
    done = settled(others, State.DONE, terms(), NOW)
    assert settle(done, mine, State.FAILED, terms(), NOW) == TakenOver(done=True)


def test_a_record_that_vanished_is_written_again() -> None:
    mine = working(ask())
    rule_ = settle(None, mine, State.DONE, terms(), NOW)
    assert isinstance(rule_, Write)
    assert rule_.record.state is State.DONE


def test_an_attempt_sees_that_its_lost_word_was_heard() -> None:
    mine = working(ask())
    done = settled(mine, State.DONE, terms(), NOW)
    assert settle(done, mine, State.DONE, terms(), NOW) == Settled()


@pytest.mark.parametrize(
    ("known", "keep"),
    [
        (terms(), timedelta(days=2)),
        (terms(period=timedelta(days=3)), timedelta(days=4)),
        (terms(reach=timedelta(days=5)), timedelta(days=6)),
        (
            terms(policy=replace(FIVE_RETRIES, age_limit=timedelta(days=2))),
            timedelta(days=3, minutes=10),
        ),
    ],
)
def test_a_record_is_kept_past_all_that_may_ask_for_it(
    known: Terms, keep: timedelta
) -> None:
    record = working(ask(terms=known))
    assert record.expire_at == record.lease.expires_at + keep
    later = NOW + MINUTE
    assert settled(record, State.DONE, known, later).expire_at == later + keep
    assert renewed(record, known, later).expire_at > record.expire_at


def test_an_expired_record_counts_no_more_even_where_it_is_not_deleted() -> None:
    done = ended(ask(), State.DONE, NOW)
    asked = ask(only_retry=False)
    assert decide(done, asked, done.expire_at - MINUTE) == AlreadyDone()
    again = decide(done, asked, done.expire_at)
    assert isinstance(again, Claimed)
    assert again.record.attempt == 1


# --- The attempt in hand ----------------------------------------------------------


def got(store: MemoryStore, clock: ManualClock, asked: Ask | None = None) -> Attempt:
    result = acquire(store, asked or ask(), clock)
    assert isinstance(result, Got)
    return Attempt(store, result, terms(), clock)


def test_check_raises_after_the_deadline(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    for _ in range(60):
        attempt.check()
        clock.move(9.9)
        attempt.renew()
    clock.move(20)
    assert not attempt.renew()
    with pytest.raises(RunOver, match="deadline"):
        attempt.check()


def test_check_raises_when_the_lease_was_not_renewed(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    clock.move(30)
    with pytest.raises(RunOver, match="could not be renewed"):
        attempt.check()


def test_check_raises_once_a_renewal_saw_another_attempt(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    clock.move(31)
    got(memory, clock)
    assert not attempt.renew()
    assert attempt.taken_over == TakenOver(done=False)
    with pytest.raises(RunOver, match="taken the run over"):
        attempt.check()


def test_a_renewal_whose_answer_was_lost_is_seen_by_the_next(
    memory: MemoryStore,
) -> None:
    clock = ManualClock()
    asked = ask()
    result = acquire(memory, asked, clock)
    assert isinstance(result, Got)
    attempt = Attempt(Unreliable(memory, ["after"]), result, terms(), clock)
    clock.move(10)
    with pytest.raises(StoreError):
        attempt.renew()
    clock.move(1)
    assert attempt.renew()
    found = memory.read(asked.key)
    assert found == attempt.stored
    assert found.record.lease.expires_at == clock() + timedelta(seconds=30)


def test_an_attempt_that_has_settled_renews_no_more(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    attempt.settle(State.DONE)
    clock.move(10)
    assert not attempt.renew()
    found = memory.read(attempt.record.key)
    assert found is not None
    assert found.record.state is State.DONE


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_settlement_is_written_whatever_answer_is_lost(
    memory: MemoryStore, fault: str
) -> None:
    clock = ManualClock()
    result = acquire(memory, ask(), clock)
    assert isinstance(result, Got)
    attempt = Attempt(Unreliable(memory, [fault]), result, terms(), clock)
    assert attempt.settle(State.DONE) == Settled()
    found = memory.read(attempt.record.key)
    assert found is not None
    assert found.record.state is State.DONE


def test_a_vanished_record_is_settled_by_creating_it(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    memory.kept.clear()
    assert attempt.settle(State.DONE) == Settled()
    found = memory.read(attempt.record.key)
    assert found is not None
    assert found.record.state is State.DONE


def test_a_store_that_reads_but_does_not_write_ends_the_trying(
    memory: MemoryStore,
) -> None:
    clock = ManualClock()
    result = acquire(memory, ask(), clock)
    assert isinstance(result, Got)
    read_only = Unreliable(memory, ["before", ""] * 20)
    attempt = Attempt(read_only, result, terms(), clock)
    with pytest.raises(StoreError, match="does not write"):
        attempt.settle(State.DONE)


def test_a_claim_does_not_go_on_for_ever(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.attempt.CLAIM_SECONDS", 0.05)
    read_only = Unreliable(memory, ["before", ""] * 1000)
    with pytest.raises(StoreError, match="too slow"):
        acquire(read_only, ask(), ManualClock())


def test_what_a_slow_claim_reads_last_still_counts(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.attempt.CLAIM_SECONDS", -1.0)  # over at once
    lost = Unreliable(memory, ["after"])
    assert isinstance(acquire(lost, ask(), ManualClock()), Got)
    assert isinstance(acquire(memory, ask(), ManualClock()), Busy)


def test_a_record_that_vanished_is_not_renewed(memory: MemoryStore) -> None:
    clock = ManualClock()
    attempt = got(memory, clock)
    memory.kept.clear()
    clock.move(10)
    assert not attempt.renew()
    assert memory.kept == {}


# --- Any course of events ---------------------------------------------------------


class Courses(RuleBasedStateMachine):
    """Claims, renewals, settlements, lost calls, crashes and time, in any order.

    Whatever happens: at most one attempt holds a live lease; a run that was done is
    never begun again; an attempt that was taken over changes nothing; the attempts'
    numbers only grow.
    """

    window: Window = TICK

    @initialize()
    def begin(self) -> None:
        self.clock = ManualClock()
        self.memory = MemoryStore()
        self.store = Unreliable(self.memory)
        self.attempts: list[Attempt] = []
        self.ended: set[str] = set()  # their work is over, whatever is written
        self.done: set[RunId] = set()
        self.begun: list[tuple[RunId, int]] = []

    @property
    def key(self) -> RegisterKey:
        return RegisterKey("shop", "a", self.window)

    @rule(
        faults=st.lists(st.sampled_from(["", "before", "after"]), max_size=4),
        timeless=st.booleans(),
        sender=st.sampled_from(["cron", "scheduler"]),
    )
    def deliver(self, faults: list[str], timeless: bool, sender: str) -> None:  # noqa: FBT001 - a drawn value
        asked = ask(
            self.window, timeless=timeless, sender=sender, terms=self.entry_terms
        )
        self.store.faults = faults
        try:
            result = acquire(self.store, asked, self.clock)
        except StoreError:
            return
        finally:
            self.store.faults = []
        if isinstance(result, Got):
            record = result.stored.record
            assert record.run_id not in self.done, "a done run was begun again"
            assert all(
                number < record.attempt
                for run_id, number in self.begun
                if run_id == record.run_id
            ), "an attempt's number does not grow"
            self.begun.append((record.run_id, record.attempt))
            self.attempts.append(
                Attempt(self.store, result, self.entry_terms, self.clock)
            )

    @rule(seconds=st.sampled_from([0.5, 1, 5, 10, 29, 30, 31, 60, 300, 601, 3600]))
    def wait(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(
        which=st.integers(0, 20),
        faults=st.lists(st.sampled_from(["", "before", "after"]), max_size=2),
    )
    def renew(self, which: int, faults: list[str]) -> None:
        for attempt in self.alive(which):
            self.store.faults = faults
            try:
                attempt.renew()
            except StoreError:
                pass
            finally:
                self.store.faults = []

    @rule(
        which=st.integers(0, 20),
        state=st.sampled_from([State.DONE, State.FAILED]),
        faults=st.lists(st.sampled_from(["", "before", "after"]), max_size=3),
    )
    def end(self, which: int, state: State, faults: list[str]) -> None:
        for attempt in self.alive(which):
            before = self.memory.read(self.key)
            self.ended.add(attempt.lease.attempt_id)
            self.store.faults = faults
            try:
                result = attempt.settle(state)
            except StoreError:
                # Tried until the lease is over; then its worker gives up.
                result = None
            finally:
                self.store.faults = []
            after = self.memory.read(self.key)
            if isinstance(result, TakenOver):
                assert after == before, "an attempt that was taken over wrote"
            if result is not None:
                self.attempts.remove(attempt)
            mine = attempt.lease.attempt_id
            is_mine = after and after.record.lease.attempt_id == mine
            if after and is_mine and after.record.state is State.DONE:
                self.done.add(after.record.run_id)

    @rule(which=st.integers(0, 20))
    def crash(self, which: int) -> None:
        for attempt in self.alive(which):
            self.attempts.remove(attempt)

    def alive(self, which: int) -> list[Attempt]:
        if not self.attempts:
            return []
        return [self.attempts[which % len(self.attempts)]]

    @property
    def entry_terms(self) -> Terms:
        return terms(period=5 * MINUTE) if self.window == Interval() else terms()

    @invariant()
    def at_most_one_attempt_holds_a_live_lease(self) -> None:
        found = self.memory.read(self.key)
        holding = [
            attempt
            for attempt in self.attempts
            if attempt.record.is_held(self.clock())
            and attempt.taken_over is None
            and attempt.lease.attempt_id not in self.ended
        ]
        assert len(holding) <= 1
        if holding and found:
            assert found.record.lease.attempt_id == holding[0].lease.attempt_id


class IntervalCourses(Courses):
    """The same for a register that holds one run after the other."""

    window = Interval()


Courses.TestCase.settings = hypothesis_settings(
    max_examples=100, stateful_step_count=40, deadline=None
)
IntervalCourses.TestCase.settings = Courses.TestCase.settings
TestCourses = Courses.TestCase
TestIntervalCourses = IntervalCourses.TestCase
