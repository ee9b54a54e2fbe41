"""What may be said in cronshift.toml: each key, and the check of its value.

A check tells what is wanted instead, or None where the value will do.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from migrate.choices import Intervals, Routing, Schedules
from migrate.notes import CODES, Level

if TYPE_CHECKING:
    from collections.abc import Callable

FAIL_ON: Final = ("error", "warning", "info", "never")
OWNERS: Final = ("cronshift", "terraform")
DESTINATIONS: Final = ("app-engine", "http")
LOSSES: Final = tuple(code for code, kind in CODES.items() if kind.level is Level.LOSS)


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "a text"


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _limit(value: object) -> str | None:
    return None if type(value) is int and value in {0, 5} else "0 or 5"


def _one_of(*values: str) -> Callable[[object], str | None]:
    return lambda value: None if value in values else f"one of {', '.join(values)}"


def _list_of(*values: str) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        if isinstance(value, list) and all(one in values for one in value):
            return None
        return f"a list of {', '.join(values)}"

    return check


def name(value: object) -> str | None:
    """Tell whether `value` may stand in a job's name and marks; wider than Google."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._:-]+", value):
        return None
    return "letters, digits, '-', '.', '_' and ':'"


def email(value: object) -> str | None:
    """Tell what is wanted instead if `value` is no service account's address."""
    if isinstance(value, str) and re.fullmatch(r"[^@\s]+@[^@\s]+", value):
        return None
    return "an address such as cron@PROJECT.iam.gserviceaccount.com"


def _codes(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return None
    return "a list of codes"


def base_url(value: object) -> str | None:
    """Tell what is wanted instead if `value` is no base url; None if it is one."""
    url = isinstance(value, str) and re.fullmatch(
        r"https?://[^\s/?#]+(/[^\s?#]*)?", value
    )
    return None if url else "an url such as https://worker-x.a.run.app"


def _duration(value: object) -> str | None:
    return None if duration(value) is not None else "a duration such as '600s' or '10m'"


_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def duration(value: object) -> timedelta | None:
    """Read a number of seconds, or a text such as 600s, 10m or 1h; None if neither."""
    if type(value) is int:
        return timedelta(seconds=value) if 0 < value <= 99_999 else None
    found = re.fullmatch(r"(\d{1,5})([smh])", value) if isinstance(value, str) else None
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]]) if found else None


Checks = dict[str, "Callable[[object], str | None] | None"]

_SCHEDULES: Final = _one_of(*(kind.value for kind in Schedules))
_INTERVALS: Final = _one_of(*(kind.value for kind in Intervals))
SERVICE: Final[Checks] = {
    "url": base_url,
    "oidc-service-account-email": email,
    "oidc-token-audience": _text,
}
ENTRY: Final[Checks] = {
    "url": _text,
    "target": _text,
    "schedules": _SCHEDULES,
    "split": _flag,
    "intervals": _INTERVALS,
    "attempt-deadline": _duration,
    "accept": _list_of(*LOSSES),
    "to": _one_of(*DESTINATIONS),
}
TOP: Final[Checks] = {
    "project": name,
    "location": name,
    "schedules": _SCHEDULES,
    "split": _flag,
    "intervals": _INTERVALS,
    "routing": _one_of(*(kind.value for kind in Routing)),
    "missing-retry-limit": _limit,
    "set": name,
    "owner": _one_of(*OWNERS),
    "accept": _list_of(*LOSSES),
    "ignore": _codes,
    "fail-on": _one_of(*FAIL_ON),
    "services": None,
    "entries": None,
}
