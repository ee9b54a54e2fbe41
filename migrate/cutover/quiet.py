"""Whether the job that fires an entry is at rest, by what the API tells of it. Pure.

    tick        attempt ends    quiet                 20 s   next tick
    |--- under way ---|--------- at rest ---------------|------|        > time
          '- failed, and retries are left: not at rest before the last

The API tells when the last attempt began, how it ended (`status`, `{}` for well), and
what is due next: a tick, or the retry of a failed attempt before it. A job that is
attempted for the first time, or whose status is not there, is taken to be at work
until an attempt's deadline. Whether an older status is shown while an attempt is at
work Google does not say; so the first seconds after an attempt's begin count as well.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec.schedule import EndTimeInterval, last_tick, ticks
from migrate.cutover.seen import Wait
from migrate.livejob import State

if TYPE_CHECKING:
    from datetime import datetime

    from migrate.cutover.seen import Pace
    from migrate.livejob import LiveJob

MARGIN: Final = timedelta(seconds=20)
"""How far off the next tick must be for a step of two calls to begin."""
LAST_CALL: Final = timedelta(seconds=5)
"""The same for the second of two calls, where it is worse to leave it undone."""

_BEGINS: Final = timedelta(seconds=5)  # an attempt so young counts as at work
_EARLY: Final = timedelta(seconds=2)  # a tick's attempt may begin so much before it
_LATE: Final = timedelta(seconds=60)  # one that has not begun by then begins not at all
_UNAVAILABLE: Final = 14  # App Engine's 503: retried whatever the policy, and uncounted
_AGAIN: Final = timedelta(seconds=5)  # when to look again where nothing tells


def disturbed(
    pace: Pace, job: LiveJob, now: datetime, margin: timedelta = MARGIN
) -> Wait | None:
    """Give what keeps the job from being at rest, and until when; None at rest."""
    at_work = _at_work(pace, job, now)
    if at_work is not None or job.state is not State.ENABLED:
        return at_work
    return _unmet(pace, job, now) or _due_soon(pace, job, now, margin)


def next_due(pace: Pace, job: LiveJob, now: datetime) -> datetime | None:
    """Give when the job fires next: a tick, or what the API says if that is sooner."""
    tick = None
    if not isinstance(pace.schedule, EndTimeInterval):
        tick = next(ticks(pace.schedule, pace.zone, now), None)
    told = _told(pace, job)
    if told is None or told <= now:
        return tick
    return told if tick is None else min(tick, told)


def _told(pace: Pace, job: LiveJob) -> datetime | None:
    """Give the next time that the API tells; of an interval, else the soonest."""
    if job.next_at is not None or not isinstance(pace.schedule, EndTimeInterval):
        return job.next_at
    since = job.last_at or job.updated_at
    if since is None:
        return None
    return (since + pace.schedule.period).replace(second=0, microsecond=0)


def _at_work(pace: Pace, job: LiveJob, now: datetime) -> Wait | None:
    if job.last_at is None:
        return None
    ends = job.last_at + pace.deadline
    if "status" not in job.resource and now < ends:
        again = min(ends, now + _AGAIN)
        return Wait(again, "a run is under way")
    if now < job.last_at + _BEGINS:
        return Wait(job.last_at + _BEGINS, "a run has just begun")
    return None


def _unmet(pace: Pace, job: LiveJob, now: datetime) -> Wait | None:
    """Say what is owed: a tick that nothing was heard of yet, or a retry."""
    due = _owed(pace, job, now)
    if due is not None:
        # It may be held up by the run before it, which has its deadline.
        held_up = (job.last_at or due) + pace.deadline
        until = max(due + _LATE, held_up if job.last_at else due)
        if now < until:
            return Wait(min(until, now + _AGAIN), "a run is due")
    if job.last_code and _is_retry(pace, job, now):
        after = max(now, job.next_at or now) + _AGAIN
        return Wait(after, "a failed run is going to be retried")
    return None


def _owed(pace: Pace, job: LiveJob, now: datetime) -> datetime | None:
    """Give the time that has come and was not attempted, as far as is known."""
    told = _told(pace, job)
    tick = told if told is not None and told <= now else None
    if not isinstance(pace.schedule, EndTimeInterval):
        last = last_tick(pace.schedule, pace.zone, now)
        since = job.updated_at
        if last is not None and (since is None or since <= last):
            tick = max(last, tick) if tick else last
    attempted = job.last_at + _EARLY if job.last_at else None
    if tick is None or (attempted is not None and attempted >= tick):
        return None
    return tick


def _is_retry(pace: Pace, job: LiveJob, now: datetime) -> bool:
    """Tell whether what is due next is sooner than the schedule alone would have it."""
    policy = pace.policy
    tried_again = policy.limit or policy.age_limit or job.last_code == _UNAVAILABLE
    if not tried_again or job.last_at is None:
        return False
    if job.next_at is None or job.next_at <= now:
        return False
    if isinstance(pace.schedule, EndTimeInterval):
        regular: datetime | None = job.last_at + pace.schedule.period - _LATE
    else:
        regular = next(ticks(pace.schedule, pace.zone, now), None)
    return regular is None or job.next_at < regular - _EARLY / 2


def _due_soon(
    pace: Pace, job: LiveJob, now: datetime, margin: timedelta
) -> Wait | None:
    due = next_due(pace, job, now)
    if due is None or due >= now + margin:
        return None
    return Wait(due + _BEGINS, f"the next run is due at {due:%H:%M:%S} UTC")
