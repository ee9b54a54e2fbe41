"""The rules of who may work on a run: pure, written once.

`decide` is the claim rule, `settle` the other end of it; both are functions of the
record that was found and of `now`.

    claim        lease ends        next claim
    |--- busy ---|- up for grabs ---|--- busy --- ...             > time
          |- renewed while the task works
                                    '- the first attempt can settle no more

`attempt.py` carries these decisions out on a store, `windows.py` says which register
a request is about.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from cronspec.retry import MAX_RETRIES, RetryPolicy, waits
from handlers.record import (
    At,
    Forced,
    Interval,
    Lease,
    Occupancy,
    Record,
    RegisterKey,
    RunId,
    State,
)

TOLERANCE: Final = timedelta(seconds=2)
"""How much a clock may be early: a scheduler's before ours, or ours before its."""

_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)


def floor_minute(instant: datetime) -> datetime:
    """Give the full minute that `instant` falls in."""
    return instant.replace(second=0, microsecond=0)


# --- The claim rule ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Terms:
    """What an entry's runs go by.

    `period` is that of an end-time interval, zero where there are ticks; `deadline`
    what one attempt may take; `reach` how long after a run's end its sender may
    repeat it; `policy` says when the sender gives a failing run up.
    """

    lease: timedelta
    deadline: timedelta
    period: timedelta
    reach: timedelta
    policy: RetryPolicy

    @property
    def keep(self) -> timedelta:
        """How long after its end a record is kept."""
        aged = self.policy.age_limit + self.deadline
        return max(self.period, self.reach, aged, _DAY) + _DAY


@dataclass(frozen=True, slots=True)
class Ask:
    """A wish to work on a run.

    `timeless`: the request did not say which run it means. `only_retry`: claim
    nothing but a run that was tried before and not given up. `run_id`: the run that
    asks, where the register is not its own (occupancy); else made at the claim.
    """

    key: RegisterKey
    sender: str
    attempt_id: str
    terms: Terms
    timeless: bool = False
    only_retry: bool = False
    run_id: RunId | None = None

    def new_run(self) -> RunId:
        """Give the id of a run that begins with this attempt."""
        if self.run_id is not None:
            return self.run_id
        named_by_key = isinstance(self.key.window, At)
        return RunId(self.key.digest[:32] if named_by_key else self.attempt_id)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The run is the asker's, once `record` is written over what was found."""

    record: Record


@dataclass(frozen=True, slots=True)
class Busy:
    """Another attempt works on the run, and holds it until `until` or longer."""

    until: datetime
    attempt: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class AlreadyDone:
    """The run is settled, and was meant by this request too."""

    attempt: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """The run is settled, and its sender cannot mean it any more: a run apart."""


Claim = Claimed | Busy | AlreadyDone | OutOfReach


def decide(found: Record | None, ask: Ask, now: datetime) -> Claim:
    """Decide what becomes of a wish to work on a run: the claim rule."""
    if found is None or found.is_expired(now):
        return AlreadyDone() if ask.only_retry else Claimed(_first(ask, now))
    if found.is_held(now):
        if found.run_id == ask.run_id:  # held by an attempt that lost the run
            return Claimed(_first(ask, now))
        return Busy(found.lease.expires_at, found.attempt)
    if ask.only_retry:
        return _retry_only(found, ask, now)
    if found.is_free(now):
        if isinstance(ask.key.window, At) or not _is_over(found, ask, now):
            return Claimed(_again(found, ask, now))
        return Claimed(_first(ask, now))
    if _is_next(found, ask, now):
        return Claimed(_first(ask, now))
    beyond = ask.timeless and found.sender == ask.sender
    if beyond and now > found.ended + ask.terms.reach:
        return OutOfReach()
    return AlreadyDone(found.attempt)


def _retry_only(found: Record, ask: Ask, now: datetime) -> Claim:
    if found.is_free(now) and not line_is_over(found, ask.terms, now):
        return Claimed(_again(found, ask, now))
    return AlreadyDone(found.attempt)


def _is_over(found: Record, ask: Ask, now: datetime) -> bool:
    """Tell whether an unfinished run has been given up: the next one may begin.

    Who occupies an entry is always another question: its record names who asks.
    """
    if isinstance(ask.key.window, Occupancy):
        return True
    return _is_next(found, ask, now) and line_is_over(found, ask.terms, now)


def _is_next(found: Record, ask: Ask, now: datetime) -> bool:
    """Tell whether a register is due for its next run."""
    window = ask.key.window
    if isinstance(window, Interval):
        # App Engine waits a period from a run's end and rounds down to the minute;
        # so does this, or true runs would be taken for repetitions.
        due = floor_minute(found.ended + ask.terms.period)
        return floor_minute(now + TOLERANCE) >= due
    if isinstance(window, Forced):
        return now > found.ended + ask.terms.reach
    return isinstance(window, Occupancy)


def line_is_over(found: Record, terms: Terms, now: datetime) -> bool:
    """Tell whether the sender of an unfinished run will try it no more.

    With a count and an age limit both must be reached; an age limit alone allows
    five retries. A retry comes a wait after the failure that it answers, and an
    attempt that nobody answered fails by its deadline.
    """
    policy, retries = terms.policy, found.attempt - 1
    age = policy.age_limit
    young = bool(age) and found.ended - found.began < age
    if not policy.limit:
        young = young and retries < MAX_RETRIES
    if retries >= policy.limit and not young:
        return True
    lapsed = found.state is State.WORKING
    failed_by = found.started + terms.deadline if lapsed else found.ended
    wait = next(wait for n, wait in enumerate(waits(policy)) if n == retries)
    return now > failed_by + wait + _MINUTE


# --- What is written ----------------------------------------------------------------


def _first(ask: Ask, now: datetime) -> Record:
    """Begin a run."""
    return _working(ask, ask.new_run(), 1, now, now)


def _again(found: Record, ask: Ask, now: datetime) -> Record:
    """Try a run once more; the attempt's number never falls."""
    return _working(ask, found.run_id, found.attempt + 1, found.began, now)


def _working(
    ask: Ask, run_id: RunId, attempt: int, began: datetime, now: datetime
) -> Record:
    until = now + min(ask.terms.lease, ask.terms.deadline)
    return Record(
        key=ask.key,
        run_id=run_id,
        sender=ask.sender,
        lease=Lease(ask.attempt_id, until),
        state=State.WORKING,
        attempt=attempt,
        began=began,
        started=now,
        ended=until,
        written_at=now,
        expire_at=until + ask.terms.keep,
    )


def renewed(mine: Record, terms: Terms, now: datetime) -> Record:
    """Prolong the lease, never past the attempt's deadline."""
    until = min(now + terms.lease, mine.started + terms.deadline)
    return replace(
        mine,
        lease=replace(mine.lease, expires_at=until),
        ended=until,
        written_at=now,
        expire_at=until + terms.keep,
    )


def settled(mine: Record, state: State, terms: Terms, now: datetime) -> Record:
    """Say how the run ended; the lease is over with it."""
    return replace(
        mine,
        state=state,
        lease=replace(mine.lease, expires_at=now),
        ended=now,
        written_at=now,
        expire_at=now + terms.keep,
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """The record says how the attempt ended."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Another attempt has the run: this one has nothing to say; `done`: it is done."""

    done: bool


@dataclass(frozen=True, slots=True)
class Write:
    """The record is still the attempt's: `record` is to be written over it."""

    record: Record


def settle(
    found: Record | None, mine: Record, state: State, terms: Terms, now: datetime
) -> Settled | TakenOver | Write:
    """Decide whether an attempt may still settle, by the record that was read back.

    It may as long as the record bears its id, late or not. A record that vanished
    (expired while the task worked, or the store was emptied) is written again, for
    work that was done must not be ordered anew.
    """
    if found is None:
        return Write(settled(mine, state, terms, now))
    if found.lease.attempt_id != mine.lease.attempt_id:
        return TakenOver(found.state in {State.DONE, State.SKIPPED})
    if found.state in {state, State.DONE}:  # our own word: its answer was lost
        return Settled()
    return Write(settled(found, state, terms, now))
