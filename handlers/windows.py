"""Which run a request asks for: the register it means, or those it may mean. Pure.

The entry is found by the job's mark, else by url; the window by the schedule that
fired, not by the headers that happened to come: a tick has a register of its own, an
end-time interval one for all its runs, a forced run a small one beside. So whoever
fires, and however often, the same run is meant.

A request that names no entry may mean one of several that share its url. It then
gets the first of them that is free, so that k entries with one tick make k runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cronspec import groc, unixcron, zones
from cronspec.naming import Marks, Unmarked, comparable
from cronspec.retry import MAX_RETRIES, NO_RETRIES
from cronspec.schedule import EndTimeInterval, ScheduleError, last_tick
from handlers.record import (
    At,
    Forced,
    Interval,
    RegisterKey,
    Window,
)
from handlers.request import NotSent, Sender, Sent
from handlers.runs import (
    TOLERANCE,
    Terms,
    floor_minute,
)

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cronspec.schedule import Schedule
    from handlers.catalog import Catalog, Entry

_MINUTE: Final = timedelta(minutes=1)
_SECOND: Final = timedelta(seconds=1)
_NONE: Final = timedelta(0)


@dataclass(frozen=True, slots=True)
class CronRequest:
    """A proven request. `scope` keeps apart what may bear the same names."""

    sender: Sender
    url: str
    scope: str
    job_name: str
    sent: Sent | NotSent
    marks: Marks | Unmarked


@dataclass(frozen=True, slots=True)
class Candidate:
    """A register that a request may mean, and what its runs go by.

    `timeless` and `only_retry` as in `runs.Ask`; `before` is the register of the
    tick before, None where there is none: was it ever settled?
    """

    key: RegisterKey
    terms: Terms
    timeless: bool = False
    only_retry: bool = False
    before: RegisterKey | None = None

    def after(self, waited: timedelta) -> Candidate:
        """Give the candidate for a sender that has waited: less is left for the task.

        Its own clock runs from the request on, not from the claim.
        """
        left = max(self.terms.deadline - waited, _SECOND)
        return replace(self, terms=replace(self.terms, deadline=left))

    def apart(self, now: datetime) -> Candidate:
        """Give the window of the minute of arrival: that of a run without a tick."""
        window = At(floor_minute(now + TOLERANCE))
        key = replace(self.key, window=window)
        return replace(self, key=key, timeless=False, before=None)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the service says of every run: lease, deadline of one attempt."""

    lease: timedelta
    deadline: timedelta


@dataclass(frozen=True, slots=True)
class Meant:
    """The registers that a request may mean, the likeliest first; and warnings."""

    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fired:
    """An entry that may have fired, with the schedule that made it do so."""

    entry: Entry
    schedule: Schedule
    zone: ZoneInfo

    def tick(self, at: datetime) -> datetime | None:
        """Give the latest tick not later than `at`; an interval has none."""
        if isinstance(self.schedule, EndTimeInterval):
            return None
        return _last_tick(self.schedule, self.zone, at.replace(microsecond=0))


_last_tick = lru_cache(maxsize=4096)(last_tick)


def meant_by(
    request: CronRequest, catalog: Catalog, limits: Limits, now: datetime
) -> Meant:
    """Decide which runs a request may mean."""
    fired, warnings = _fired(request, catalog)
    if isinstance(request.sent, NotSent) and request.sent.warning:
        warnings.append(f"{request.sent.warning}: taken as not sent")
    build = _Builder(request, limits, now)
    if not fired:
        return Meant((build.unlisted(),), tuple(warnings))
    if isinstance(request.sent, Sent):
        candidates = build.by_time(fired, request.sent.at)
    else:
        candidates = build.by_arrival(fired)
    return Meant(tuple(candidates), tuple(warnings))


# --- The entry ----------------------------------------------------------------------


def _fired(request: CronRequest, catalog: Catalog) -> tuple[list[_Fired], list[str]]:
    """Find the entries that may have fired: one by its mark, else those of the url."""
    listed = [_Fired(e, e.schedule, e.zone) for e in catalog.at(request.url)]
    if isinstance(request.marks, Unmarked):
        return listed, []
    marks = request.marks
    own = _own_schedule(marks)
    warnings = [own] if isinstance(own, str) else []
    known = catalog.by_key(marks.entry)
    if known is not None and comparable(known.url) == comparable(request.url):
        if isinstance(own, str):
            return [_Fired(known, known.schedule, known.zone)], warnings
        return [_Fired(known, *own)], warnings
    warnings.append(
        f"the job's mark names the entry {marks.entry!r}, "
        + (f"whose url is {known.url}" if known else "which this copy does not know")
        + f": taken for {request.url}"
    )
    if isinstance(own, str):
        return listed, warnings
    alike = [fired for fired in listed if (fired.schedule, fired.zone.key) == _id(own)]
    return [_Fired(fired.entry, *own) for fired in alike or listed], warnings


def _id(own: tuple[Schedule, ZoneInfo]) -> tuple[Schedule, str]:
    return own[0], own[1].key


@lru_cache(maxsize=4096)
def _own_schedule(marks: Marks) -> tuple[Schedule, ZoneInfo] | str:
    """Read the schedule that a job carries; a warning if it cannot be read."""
    try:
        zone = zones.load(marks.timezone)
        try:
            return groc.parse(marks.schedule), zone
        except ScheduleError:
            return unixcron.parse(marks.schedule), zone
    except ValueError as error:
        return f"X-Cron-Schedule cannot be read ({error}): the file's is taken"


# --- The window -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes the candidates of one request."""

    request: CronRequest
    limits: Limits
    now: datetime

    def by_time(self, fired: list[_Fired], sent_at: datetime) -> list[Candidate]:
        """Take the entries that have a tick at the time that the request gives.

        Where none has, an interval's register, else a window of that time's own.
        """
        own = floor_minute(sent_at + TOLERANCE)
        ticking = [(one, _tick_of(one, sent_at)) for one in fired]
        ticked = [(one, tick) for one, tick in ticking if tick is not None]
        if sent_at > self.now + TOLERANCE:
            chosen = ticked or [(fired[0], own)]
            return [self._make(one, Forced(tick)) for one, tick in chosen]
        if ticked:
            return [self._make(one, At(tick)) for one, tick in ticked]
        resting = [one for one in fired if isinstance(one.schedule, EndTimeInterval)]
        if resting:
            return [self._make(one, Interval()) for one in resting]
        return [self._make(fired[0], At(own))]

    def by_arrival(self, fired: list[_Fired]) -> list[Candidate]:
        """Take the latest tick, or an interval's run: the request gives no time.

        Among several entries, those whose tick is less than a minute old come first,
        then intervals; older ticks only where there is neither, or to be retried.
        """
        ticks = [(one, tick) for one in fired if (tick := self._latest(one))]
        resting = [one for one in fired if isinstance(one.schedule, EndTimeInterval)]
        newest = max((tick for _, tick in ticks), default=None)
        retries, fresh = [], []
        for one, tick in sorted(ticks, key=lambda pair: pair[1], reverse=True):
            retries += self._tried_before(one, tick)
            if self.now - tick < _MINUTE or (tick == newest and not resting):
                fresh.append(self._make(one, At(tick), timeless=True))
            else:
                retries += self._retry_of(one, tick)
        intervals = [self._make(one, Interval(), timeless=True) for one in resting]
        found = [*retries, *fresh, *intervals]
        return found or [self._make(fired[0], At(floor_minute(self.now + TOLERANCE)))]

    def unlisted(self) -> Candidate:
        """Make the window of a url that the file does not have: by the job's name."""
        name, deadline = self.request.job_name, self.limits.deadline
        entry = f"job/{name}" if name else f"url/{comparable(self.request.url)}"
        window: Window = At(floor_minute(self.now + TOLERANCE))
        if isinstance(self.request.sent, Sent):
            at = self.request.sent.at
            window = Forced(at) if at > self.now + TOLERANCE else At(at)
        key = RegisterKey(self.request.scope, entry, window)
        terms = Terms(self.limits.lease, deadline, _NONE, deadline, NO_RETRIES)
        return Candidate(key, terms)

    def _latest(self, one: _Fired) -> datetime | None:
        return one.tick(self.now + TOLERANCE)

    def _tried_before(self, one: _Fired, tick: datetime) -> list[Candidate]:
        """Give the window before, if a retry of it may come as late as this."""
        if not one.entry.line:
            return []
        before = one.tick(tick - _SECOND)
        return [] if before is None else self._retry_of(one, before)

    def _retry_of(self, one: _Fired, tick: datetime) -> list[Candidate]:
        """Give a tick's window for a retry, if its line may reach until now.

        At its longest, each attempt of it takes as long as it may.
        """
        if not one.entry.line:
            return []
        candidate = self._make(one, At(tick), only_retry=True)
        longest = candidate.terms.reach + MAX_RETRIES * candidate.terms.deadline
        if tick + longest + _MINUTE < self.now:
            return []
        return [replace(candidate, before=None)]

    def _make(
        self,
        one: _Fired,
        window: Window,
        *,
        timeless: bool = False,
        only_retry: bool = False,
    ) -> Candidate:
        schedule = one.schedule
        period = schedule.period if isinstance(schedule, EndTimeInterval) else _NONE
        key = RegisterKey(self.request.scope, one.entry.key, window)
        before = None
        if isinstance(window, At) and (tick := one.tick(window.at - _SECOND)):
            before = replace(key, window=At(tick))
        terms = one.entry.terms(self.limits.lease, self.limits.deadline, period)
        return Candidate(key, terms, timeless, only_retry, before)


def _tick_of(one: _Fired, sent_at: datetime) -> datetime | None:
    """Give the tick that a sent time means: less than a minute before it."""
    tick = one.tick(sent_at + TOLERANCE)
    return tick if tick is not None and sent_at - tick < _MINUTE else None
