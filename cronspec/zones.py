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
import re
import struct
from bisect import bisect_right
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import tzdata

if TYPE_CHECKING:
    from collections.abc import Iterator

TZDATA_VERSION: str = tzdata.IANA_VERSION
"""The release of the tz database that every tick is computed from, as "2026a"."""

DAY = 86_400
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_YEAR = 9998  # datetime ends with 9999; a span never reaches past it
HORIZON = (date(_LAST_YEAR + 1, 1, 1).toordinal() - _EPOCH_ORDINAL) * DAY
_DAWN = -(1 << 59)
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

    def __init__(
        self, starts: list[int], offsets: list[int], listed_until: int, rule: _Rule
    ) -> None:
        self._starts = starts  # starts[i] begins the span with offsets[i]
        self._offsets = offsets
        self._listed_until = listed_until  # the rule holds for what comes later
        self._rule = rule
        self._next_year = _year_of(max(listed_until, 0))

    def _extend(self) -> bool:
        """Work out one more year's changes by rule; False where there are no more."""
        if not self._rule.changes_clock or self._next_year > _LAST_YEAR:
            return False
        for at, offset in self._rule.year(self._next_year):
            if at > self._listed_until and offset != self._offsets[-1]:
                self._starts.append(at)
                self._offsets.append(offset)
        self._next_year += 1
        return True

    def spans(self, since: int) -> Iterator[Span]:
        """Yield the spans from the one that holds `since` on, up to HORIZON."""
        while self._starts[-1] <= since and self._extend():
            pass
        index = bisect_right(self._starts, since) - 1
        while True:
            while index + 1 >= len(self._starts):
                if not self._extend():
                    if self._starts[index] < HORIZON:
                        yield Span(self._starts[index], HORIZON, self._offsets[index])
                    return
            start, end = self._starts[index], self._starts[index + 1]
            yield Span(start, end, self._offsets[index])
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
            for change in self.changes(wall - 2 * DAY):
                skipped_from, skipped_to = change.wall
                if change.after > change.before and skipped_from <= wall < skipped_to:
                    wall += -(-(skipped_to - wall) // 60) * 60
                    break
            found = self.instants(wall)
        return found[0]


@cache
def clock(key: str) -> Clock:
    """Give the clock of the zone called `key`. Raises ZoneError."""
    return _read_tzif(_FOLDER.joinpath(*canonical(key).split("/")).read_bytes())


def clock_of(zone: ZoneInfo) -> Clock:
    """Give the clock of `zone`, by its name: the pinned tzdata, whatever its source.

    Raises ZoneError for a zone without a name of the tz database.
    """
    return clock(zone.key or "")


def _year_of(seconds: int) -> int:
    return date.fromordinal(_EPOCH_ORDINAL + seconds // DAY).year


# --- TZif, RFC 8536 -------------------------------------------------------------


def _read_tzif(data: bytes) -> Clock:
    """Read the 64-bit part of a TZif file and its footer (RFC 8536)."""
    # The first header and its 32-bit data only say where the second begins.
    skip = 44 + _body_size(data, 0, 4)
    isutc, isstd, leap, times, types, chars = _counts(data, skip)
    at = skip + 44
    instants = struct.unpack_from(f">{times}q", data, at)
    indices = data[at + 8 * times : at + 9 * times]
    at += 9 * times
    utoffs = [struct.unpack_from(">i", data, at + 6 * i)[0] for i in range(types)]
    at += 6 * types + chars + 12 * leap + isstd + isutc
    rule = _Rule.parse(data[at:].decode("ascii").strip("\n"))

    starts, offsets = [_DAWN], [utoffs[0]]
    for instant, index in zip(instants, indices, strict=True):
        if utoffs[index] != offsets[-1] and instant > starts[0]:
            starts.append(instant)
            offsets.append(utoffs[index])
    return Clock(starts, offsets, instants[-1] if times else _DAWN, rule)


def _counts(data: bytes, at: int) -> tuple[int, ...]:
    return struct.unpack_from(">6l", data, at + 20)


def _body_size(data: bytes, at: int, width: int) -> int:
    isutc, isstd, leap, times, types, chars = _counts(data, at)
    size = times * (width + 1) + types * 6 + chars
    return size + leap * (width + 4) + isstd + isutc


class _Day(NamedTuple):
    """When in a year a rule's change comes: `Mm.w.d`, `Jn` or `n`, and a time."""

    kind: str
    month: int
    week: int
    day: int
    seconds: int

    def wall(self, year: int) -> int:
        if self.kind == "M":
            first = date(year, self.month, 1)
            day = 1 + (self.day - first.isoweekday()) % 7 + 7 * (self.week - 1)
            after = date(year + self.month // 12, self.month % 12 + 1, 1)
            while day > (after - first).days:  # week 5 means the last one
                day -= 7
            ordinal = first.toordinal() + day - 1
        else:
            ordinal = date(year, 1, 1).toordinal() + self.day
            if self.kind == "J":  # counts from 1 and never counts 29 February
                leap = date(year, 12, 31).timetuple().tm_yday == 366
                ordinal += (leap and self.day >= 60) - 1
        return (ordinal - _EPOCH_ORDINAL) * DAY + self.seconds


class _Rule(NamedTuple):
    """A footer's POSIX TZ string: the rule by which a zone's clock goes on."""

    standard: int
    summer: int
    begins: _Day | None
    ends: _Day | None

    @property
    def changes_clock(self) -> bool:
        return self.begins is not None and self.standard != self.summer

    def year(self, year: int) -> list[tuple[int, int]]:
        """Give the changes of a year as (instant, new offset), in order."""
        if self.begins is None or self.ends is None:
            return []
        return sorted(
            (
                (self.begins.wall(year) - self.standard, self.summer),
                (self.ends.wall(year) - self.summer, self.standard),
            )
        )

    @classmethod
    def parse(cls, text: str) -> _Rule:
        name = r"(?:<[^>]+>|[A-Za-z]+)"
        found = re.fullmatch(
            rf"{name}([-+\d:]+)(?:{name}([-+\d:]+)?(?:,([^,]+),([^,]+))?)?", text
        )
        if found is None:  # an empty footer: nothing is known, nothing changes
            return cls(0, 0, None, None)
        standard = -_hms(found[1])
        if found[3] is None:
            return cls(standard, standard, None, None)
        summer = -_hms(found[2]) if found[2] else standard + 3600
        return cls(standard, summer, _day(found[3]), _day(found[4]))


def _hms(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * unit for part, unit in zip(parts, (3600, 60, 1)))  # noqa: B905 - minutes and seconds may be left out


def _day(text: str) -> _Day:
    when, _, clock_time = text.partition("/")
    seconds = _hms(clock_time) if clock_time else 7200
    if when.startswith("M"):
        month, week, day = (int(part) for part in when[1:].split("."))
        return _Day("M", month, week, day, seconds)
    if when.startswith("J"):
        return _Day("J", 0, 0, int(when[1:]), seconds)
    return _Day("n", 0, 0, int(when), seconds)
