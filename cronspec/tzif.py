"""A TZif file of the tz database (RFC 8536), and the clock changes by its rule.

A file lists the offsets from UTC that a zone's clock has had, each with the instant
from which it held, and ends with a *footer*: a rule in the notation of POSIX's `TZ`
variable, such as `EST5EDT,M3.2.0,M11.1.0`, for all that comes after the list.
"""

from __future__ import annotations

import re
import struct
from calendar import isleap, monthrange
from datetime import date
from typing import Final, NamedTuple

from cronspec.instants import DAY, start_of_year

DAWN: Final = -(1 << 59)
"""The instant from which a file's first offset holds."""


class TzFile(NamedTuple):
    """What a file says; instants and offsets in seconds."""

    listed: list[tuple[int, int]]  # (instant, the offset from there on)
    listed_until: int  # `rule` says what comes later
    rule: Rule


def read(data: bytes) -> TzFile:
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
    rule = Rule.parse(data[at:].decode("ascii").strip("\n"))

    listed = [(DAWN, utoffs[0])]
    for instant, index in zip(instants, indices, strict=True):
        if utoffs[index] != listed[-1][1] and instant > DAWN:
            listed.append((instant, utoffs[index]))
    return TzFile(listed, max(instants, default=DAWN), rule)


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
        """Give the wall time of the change in one year."""
        if self.kind == "M":
            first = date(year, self.month, 1)
            length = monthrange(year, self.month)[1]
            day = (self.day - first.isoweekday()) % 7 + 7 * (self.week - 1)
            while day >= length:  # week 5 means the last one
                day -= 7
            day += first.timetuple().tm_yday - 1
        elif self.kind == "J":  # counts from 1 and never counts 29 February
            day = self.day - (not (isleap(year) and self.day >= 60))
        else:
            day = self.day
        return start_of_year(year) + day * DAY + self.seconds


class Rule(NamedTuple):
    """A footer's POSIX TZ string: the rule by which a zone's clock goes on."""

    standard: int
    summer: int
    begins: _Day | None
    ends: _Day | None

    @property
    def changes_clock(self) -> bool:
        """Whether the offset ever changes again."""
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
    def parse(cls, text: str) -> Rule:
        """Read a footer; an empty one says that nothing more is known to change."""
        name = r"(?:<[^>]+>|[A-Za-z]+)"
        found = re.fullmatch(
            rf"{name}([-+\d:]+)(?:{name}([-+\d:]+)?(?:,([^,]+),([^,]+))?)?", text
        )
        if found is None:
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
