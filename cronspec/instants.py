"""Instants and wall times as whole seconds from 1970-01-01T00:00.

An instant counts from 1970-01-01T00:00Z; a wall time, what some clock shows, from
1970-01-01T00:00 on that clock.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

DAY: Final = 86_400
_SECOND: Final = timedelta(seconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()


def to_seconds(instant: datetime) -> int:
    """Give the whole seconds from 1970-01-01T00:00Z to `instant`, rounded down."""
    if instant.tzinfo is None:
        raise ValueError(f"a time without a zone: {instant.isoformat()}")
    return (instant - _EPOCH) // _SECOND


def to_datetime(seconds: int) -> datetime:
    """Give the instant `seconds` after 1970-01-01T00:00Z, in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


def start_of_year(year: int) -> int:
    """Give the first second of `year`."""
    return (date(year, 1, 1).toordinal() - _EPOCH_ORDINAL) * DAY


def year_of(seconds: int) -> int:
    """Give the year that `seconds` lies in."""
    return date.fromordinal(_EPOCH_ORDINAL + seconds // DAY).year


def weekday_of(seconds: int) -> int:
    """Give the day of the week that `seconds` lies in; 0 is Sunday."""
    return (seconds // DAY + 4) % 7  # 1970-01-01 was a Thursday
