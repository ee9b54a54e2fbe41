"""What a comparison of two schedules, or of two retry policies, comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from cronspec.instants import to_datetime
from cronspec.zones import HORIZON

if TYPE_CHECKING:
    from datetime import datetime, timedelta


class Side(Enum):
    """Which of the two schedules has an instant that the other lacks."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Divergence:
    """An instant (in UTC) at which only one side ticks."""

    at: datetime
    side: Side


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Proven alike at every instant up to `until` (the end of the calendar)."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Divergent:
    """Proven different; the first instants that show it."""

    first: tuple[Divergence, ...]


@dataclass(frozen=True, slots=True)
class Unfixed:
    """Not comparable: nothing fixes the instants, or Google does not document them."""

    why: str


@dataclass(frozen=True, slots=True)
class RetryDivergent:
    """Two time lines that part: when each retries, from the first attempt on."""

    before: tuple[timedelta, ...]
    after: tuple[timedelta, ...]


Verdict = Equivalent | Divergent | Unfixed
RetryVerdict = Equivalent | RetryDivergent

FOREVER: Final = to_datetime(HORIZON)
