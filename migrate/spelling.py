"""What may be spelt in several ways, in one: zones, schedules, durations. Pure."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from cronspec import groc
from cronspec.schedule import ScheduleError
from cronspec.zones import ZoneError, canonical

_UTC: Final = frozenset(
    "UTC UCT Universal Zulu Etc/UTC Etc/UCT Etc/Universal Etc/Zulu".split()
)


@lru_cache(maxsize=1024)
def zone(name: str) -> str:
    """Give a time zone's name; all of UTC's are one.

    >>> zone(""), zone("etc/utc"), zone("Europe/Rome")
    ('UTC', 'UTC', 'Europe/Rome')
    """
    try:
        known = canonical(name or "UTC")
    except ZoneError:
        return name
    return "UTC" if known in _UTC else known


@lru_cache(maxsize=1024)
def schedule(text: str) -> str:
    """Give a schedule's text; what groc may spell in several ways, in one.

    An update for the spelling alone would start an interval anew.

    >>> schedule("every 05  mins"), schedule("0 9 * *  1")
    ('every 5 minutes', '0 9 * * 1')
    """
    try:
        return groc.render(groc.parse(text))
    except ScheduleError:
        return " ".join(text.split())


@lru_cache(maxsize=1024)
def duration(text: str) -> str:
    """Give a duration in its shortest spelling.

    >>> duration("0.100s"), duration("3600.000000000s"), duration("")
    ('0.1s', '3600s', '0s')
    """
    try:
        number = Decimal(text.removesuffix("s") or "0")
    except InvalidOperation:
        return text
    plain = f"{number:f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) + "s"
