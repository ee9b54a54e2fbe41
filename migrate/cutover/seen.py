"""What is observed of one entry, and what may be decided on it: values, no rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from migrate.livejob import LiveJob, State

if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    from cronspec.retry import RetryPolicy
    from cronspec.schedule import Schedule
    from migrate.livejob import Json
    from migrate.normal import FieldDiff
    from migrate.plan import Finish, Update


# --- What is there ------------------------------------------------------------------


class Way(Enum):
    """How an entry goes over."""

    OVERLAP = "overlap"  # both fire for a while, and the host makes one run of it
    HAND_OVER = "hand-over"  # in the rest after a run: the next one comes from ours
    GAP = "gap"  # ours is made paused; in a quiet moment one ends, the other begins


@dataclass(frozen=True, slots=True)
class Chosen:
    """The way of an entry, and why this one."""

    way: Way
    why: str


class Stage(Enum):
    """How far a job of ours is."""

    MISSING = "missing"
    UNBORN = "unborn"  # its paused creation was broken off
    HELD = "held"  # paused by us: its mark says so
    STOPPED = "stopped"  # paused by somebody else, or disabled
    FIRING = "firing"


@dataclass(frozen=True, slots=True)
class OurJob:
    """A job that the entry wants; `change` makes the live one as wanted."""

    wanted: Json
    live: LiveJob | None = None
    change: Update | Finish | None = None
    fields: tuple[FieldDiff, ...] = ()

    @property
    def stage(self) -> Stage:
        """How far it is."""
        if self.live is None:
            return Stage.MISSING
        if self.live.unborn:
            return Stage.UNBORN
        if self.live.state is State.ENABLED:
            return Stage.FIRING
        held = self.live.state is State.PAUSED and self.live.pause_is_ours
        return Stage.HELD if held else Stage.STOPPED


class Before(Enum):
    """What the backup says of the entry's legacy job."""

    UNKNOWN = "not saved"
    ENABLED = "it fired"
    STOPPED = "it was paused"


@dataclass(frozen=True, slots=True)
class Pace:
    """What an entry's runs go by: when they are due, how long one may take."""

    schedule: Schedule
    zone: ZoneInfo
    policy: RetryPolicy
    deadline: timedelta


@dataclass(frozen=True, slots=True)
class Moving:
    """One entry as it stands.

    `legacy` is its live legacy job, `as_legacy` what `gcloud app deploy` would send
    for it. `differing` are live legacy jobs of its url that no entry says, `taken`
    foreign jobs on names that it needs, `former` jobs of ours for it that the file
    wants no more. `theirs`: another tool has our jobs.
    """

    key: str
    url: str
    place: str
    pace: Pace
    chosen: Chosen
    ours: tuple[OurJob, ...]
    as_legacy: Json
    legacy: LiveJob | None = None
    differing: tuple[LiveJob, ...] = ()
    taken: tuple[LiveJob, ...] = ()
    former: tuple[LiveJob, ...] = ()
    before: Before = Before.UNKNOWN
    theirs: bool = False

    def at(self, *stages: Stage) -> tuple[OurJob, ...]:
        """Give the jobs of ours that are at one of these stages."""
        return tuple(job for job in self.ours if job.stage in stages)

    @property
    def still_firing(self) -> tuple[LiveJob, ...]:
        """Give the former jobs that fire."""
        return tuple(
            job for job in self.former if job.state is State.ENABLED and not job.unborn
        )


# --- What may be done ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Make:
    """Make our job, firing."""

    job: Json


@dataclass(frozen=True, slots=True)
class MakePaused:
    """Make our job so that it cannot fire."""

    job: Json


@dataclass(frozen=True, slots=True)
class Complete:
    """Finish our job, whose paused creation was broken off; it stays paused."""

    change: Finish


@dataclass(frozen=True, slots=True)
class Mend:
    """Make our job, which we paused, as the file has it."""

    change: Update


@dataclass(frozen=True, slots=True)
class Release:
    """Leave our job paused for good, as the legacy job was: our mark goes."""

    live: LiveJob


@dataclass(frozen=True, slots=True)
class Resume:
    """Let our jobs fire."""

    jobs: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """Pause our job, marked as paused by us."""

    live: LiveJob


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete the legacy job."""

    legacy: LiveJob


@dataclass(frozen=True, slots=True)
class Swap:
    """Delete the legacy job and let ours fire; if they do not, make it again."""

    legacy: LiveJob
    jobs: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Restore:
    """Make the legacy job again."""

    as_legacy: Json


OnOurs = Make | MakePaused | Complete | Mend | Release | Resume | Hold
Step = OnOurs | Remove | Swap | Restore

TIMED = (Make, Resume, Remove, Swap, Restore, Hold)
"""Steps whose moment matters: what is there is looked at again just before."""


# --- What may be decided ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Do:
    """This step is next."""

    step: Step
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`."""

    until: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing to do until somebody decides: `shown` are the jobs that it is about."""

    why: str
    shown: tuple[Json, ...] = ()
    fields: tuple[FieldDiff, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The entry is where it was to go."""

    why: str


Next = Do | Wait | Stop | Done
