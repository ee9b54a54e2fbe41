"""Time zones: the clock a schedule runs on, from the pinned tzdata package alone.

A machine's own zone files may be years older than the pinned package, and
`zoneinfo` prefers the machine's. So everything here reads the package: `load` a
zone by its name, and `clock` for its *spans*, the stretches of time over which
its offset from UTC stays the same. Schedules are evaluated span by span; nothing
converts an instant at a time.

Instants are whole seconds since 1970-01-01T00:00Z; a *wall* time is what the
zone's clock shows, as seconds since 1970-01-01T00:00 on that clock.
"""

from __future__ import annotations

import difflib
import itertools
import re
from bisect import bisect_right
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import tzdata

from cronspec.instants import DAY, start_of_year, year_of
from cronspec.tzif import TzFile, read

if TYPE_CHECKING:
    from collections.abc import Iterator

TZDATA_VERSION: str = tzdata.IANA_VERSION
"""The release of the tz database that every tick is computed from, as "2026a"."""

_LAST_YEAR = 9998  # datetime ends with 9999; a span never reaches past it
HORIZON = start_of_year(_LAST_YEAR + 1)
_FOLDER = Path(tzdata.__file__).parent / "zoneinfo"


class ZoneError(ValueError):
    """A time zone that the tz database does not know; `hint` is the way out."""

    def __init__(self, name: str, hint: str) -> None:
        self.name = name
        self.hint = hint
        super().__init__(f"time zone {name!r} is unknown: {hint}")


class Span(NamedTuple):
    """A stretch of time [start, end) with one offset from UTC, all in seconds."""

    start: int
    end: int
    offset: int


_START = attrgetter("start")


class Change(NamedTuple):
    """One clock change: at instant `at`, the offset goes from `before` to `after`."""

    at: int
    before: int
    after: int

    @property
    def wall(self) -> tuple[int, int]:
        """The wall times [from, to) that are skipped or shown twice."""
        return (
            self.at + min(self.before, self.after),
            self.at + max(self.before, self.after),
        )


@cache
def names() -> frozenset[str]:
    """All zone names of the pinned tzdata."""
    return frozenset((_FOLDER.parent / "zones").read_text().split())


@cache
def _names_by_lower() -> dict[str, str]:
    return {name.lower(): name for name in names()}


def canonical(name: str) -> str:
    """Give the tz database's spelling of `name`, which may differ in case.

    Google's parser (through pytz) does not mind the case of a zone's name.
    Raises ZoneError for a name that is in no spelling a zone's.
    """
    if name in names():
        return name
    try:
        return _names_by_lower()[name.lower()]
    except KeyError:
        raise ZoneError(name, _hint(name)) from None


def _hint(name: str) -> str:
    fixed = re.fullmatch(r"(?:GMT|UTC|Etc/GMT)?([+-])(\d{1,2})(?::?00)?", name.strip())
    if fixed and int(fixed[2]) <= 12:
        sign = "-" if fixed[1] == "+" else "+"
        return (
            "fixed offsets are no zone names; did you mean "
            f"Etc/GMT{sign}{int(fixed[2])} (its sign is inverted)?"
        )
    close = difflib.get_close_matches(name, names(), n=1, cutoff=0.75)
    if not close and name:
        city = name.replace(" ", "_").rpartition("/")[2].lower()
        close = [known for known in sorted(names()) if known.lower().endswith(city)]
    if close:
        return f"did you mean {close[0]}?"
    return "use a name of the tz database, such as Europe/Rome or UTC"


@lru_cache(maxsize=1024)
def load(name: str) -> ZoneInfo:
    """Give the zone called `name`, from the pinned tzdata. Raises ZoneError."""
    key = canonical(name)
    with _FOLDER.joinpath(*key.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=key)


class Clock:
    """One zone's spans, worked out from its TZif file as far as they are asked for."""

    def __init__(self, file: TzFile) -> None:
        self._spans = [
            Span(start, end, offset)
            for (start, offset), (end, _) in itertools.pairwise(file.listed)
        ]
        self._start, self._offset = file.listed[
            -1
        ]  # of the span whose end is not known
        self._listed_until = file.listed_until
        self._rule = file.rule
        self._next_year = year_of(max(file.listed_until, 0))
        self._extending = Lock()

    def _extend(self, known: int) -> bool:
        """Have more than `known` spans worked out; False where there are no more."""
        with self._extending:
            while len(self._spans) <= known:
                if self._start == HORIZON:
                    return False
                for at, offset in self._rule.year(self._next_year):
                    if at > self._listed_until and offset != self._offset:
                        self._close(at, offset)
                self._next_year += 1
                if not self._rule.changes_clock or self._next_year > _LAST_YEAR:
                    self._close(HORIZON, self._offset)
        return True

    def _close(self, end: int, next_offset: int) -> None:
        self._spans.append(Span(self._start, end, self._offset))
        self._start, self._offset = end, next_offset

    def spans(self, since: int) -> Iterator[Span]:
        """Yield the spans from the one that holds `since` on, up to HORIZON."""
        spans = self._spans
        while not spans or spans[-1].end <= since:
            if not self._extend(len(spans)):
                break
        index = max(bisect_right(spans, since, key=_START) - 1, 0)
        while index < len(spans) or self._extend(index):
            yield spans[index]
            index += 1

    def changes(self, since: int) -> Iterator[Change]:
        """Yield the changes of the offset later than `since`."""
        previous: Span | None = None
        for span in self.spans(since):
            if previous is not None:
                yield Change(span.start, previous.offset, span.offset)
            previous = span

    def offset(self, instant: int) -> int:
        """Give the offset from UTC at `instant`, in seconds."""
        return next(self.spans(instant)).offset

    def instants(self, wall: int) -> list[int]:
        """Give the instants at which the clock shows `wall`: none, one or two."""
        found = []
        for start, end, offset in self.spans(wall - 2 * DAY):
            if start > wall + 2 * DAY:
                break
            if start <= wall - offset < end:
                found.append(wall - offset)
        return found

    def first_instant(self, wall: int) -> int:
        """Give the first instant at which the clock shows `wall`.

        Where a clock change skips `wall`, that of the next full minute that the
        clock does show (Google's GrocTimeSpecification, _CombineDateAndTime).
        """
        found = self.instants(wall)
        while not found:
            skipped_to = next(
                change.wall[1]
                for change in self.changes(wall - 2 * DAY)
                if change.after > change.before
                and change.wall[0] <= wall < change.wall[1]
            )
            wall += -(-(skipped_to - wall) // 60) * 60
            found = self.instants(wall)
        return found[0]


@cache
def clock(key: str) -> Clock:
    """Give the clock of the zone called `key`. Raises ZoneError."""
    return Clock(read(_FOLDER.joinpath(*canonical(key).split("/")).read_bytes()))


def clock_of(zone: ZoneInfo) -> Clock:
    """Give the clock of `zone`, by its name: the pinned tzdata, whatever its source.

    Raises ZoneError for a zone without a name of the tz database.
    """
    return clock(zone.key or "")
