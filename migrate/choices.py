"""What a user can choose for a translation: for all entries, or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

APP_ENGINE_DEADLINE: Final = timedelta(minutes=10)
"""How long an attempt may take on App Engine with automatic scaling."""


class Schedules(StrEnum):
    """Which language the jobs' schedules are written in."""

    AUTO = "auto"
    GROC = "groc"
    UNIX = "unix"


class Intervals(StrEnum):
    """What becomes of end-time intervals."""

    KEEP = "keep"
    CLOCK = "clock"


class Routing(StrEnum):
    """Which service the jobs name: the one reached today, or the declared one."""

    EFFECTIVE = "effective"
    DECLARED = "declared"


@dataclass(frozen=True, slots=True)
class ToAppEngine:
    """The job stays a request to the project's App Engine app."""


@dataclass(frozen=True, slots=True)
class ToHttp:
    """The job becomes a request to `base_url` + url, as `service_account_email`."""

    base_url: str
    service_account_email: str
    audience: str


@dataclass(frozen=True, slots=True)
class EntryChoices:
    """What a user has chosen for one entry.

    `limit` is no choice but what bears on them: how long the entry's attempts may
    take on App Engine today.
    """

    schedules: Schedules = Schedules.AUTO
    split: bool = False
    intervals: Intervals = Intervals.KEEP
    routing: Routing = Routing.EFFECTIVE
    missing_retry_limit: int = 0
    attempt_deadline: timedelta | None = None
    accept: frozenset[str] = frozenset()
    destination: ToAppEngine | ToHttp = ToAppEngine()
    limit: timedelta = APP_ENGINE_DEADLINE


@dataclass(frozen=True, slots=True)
class Home:
    """Where the jobs are to live, and the set that one cron.yaml owns there.

    `project` is None where it is not known: names then hold placeholders.
    """

    project: str | None
    location: str | None
    job_set: str = "default"
