"""Who may come in, and what a request says of itself: pure decisions.

Only schedulers get a task to run. What proves one depends on where the service runs:
on App Engine the front end strips `X-Appengine-...` headers from everybody else's
requests, and internal requests carry their origin there; anywhere else these headers
prove nothing, and a signed token does. Everything that is not proven is refused.

What each scheduler sends is in docs/handlers.md, with the sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.hosting import Platform

ORIGIN: Final = "0.1.0.2"
OLD_ORIGIN: Final = "0.1.0.1"
"""Where jobs come from that a gcloud before 326.0.0 deployed."""

CRON_QUEUE: Final = "__cron"


class Mode(Enum):
    """Which schedulers are expected: before, after and during the move."""

    LEGACY = "legacy"
    SCHEDULER = "scheduler"
    BOTH = "both"

    @property
    def takes_cron(self) -> bool:
        """Tell whether App Engine's cron may come in."""
        return self is not Mode.SCHEDULER

    @property
    def takes_scheduler(self) -> bool:
        """Tell whether Cloud Scheduler may come in."""
        return self is not Mode.LEGACY


class Sender(Enum):
    """Who fired."""

    CRON = "app-engine-cron"
    SCHEDULER = "scheduler-app-engine"
    OIDC = "scheduler-oidc"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Door:
    """What a request is measured by. `oidc`: tokens can be checked here."""

    platform: Platform
    mode: Mode
    origins: frozenset[str]
    oidc: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """The sender is proven."""

    sender: Sender


@dataclass(frozen=True, slots=True)
class TokenOffered:
    """The sender is who it says if this token holds."""

    token: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing is proven: `reason` says what was missing, `fix` what would mend it."""

    reason: str
    fix: str = ""


Proof = Admitted | TokenOffered | Refusal


def identify(headers: Mapping[str, str], remote_addr: str, door: Door) -> Proof:
    """Decide who sent a request. The names of `headers` are in lower case."""
    queue = headers.get("x-appengine-queuename", CRON_QUEUE)
    if queue != CRON_QUEUE or "x-cloudtasks-queuename" in headers:
        named = headers.get("x-cloudtasks-queuename", queue)
        return Refusal(
            f"a task of the queue {named!r}, not a scheduler's request",
            "Cloud Tasks comes from the same address; give its tasks another service",
        )
    if door.local and headers.get("x-cron-local") is not None:
        return _local(headers, remote_addr)
    from_app_engine = _from_app_engine(headers, door)
    if isinstance(from_app_engine, Admitted):
        return from_app_engine
    offered = _token(headers, door)
    return from_app_engine if offered is None else offered


def _from_app_engine(headers: Mapping[str, str], door: Door) -> Admitted | Refusal:
    is_cron = headers.get("x-appengine-cron") == "true"
    is_scheduler = headers.get("x-cloudscheduler") == "true"
    if not is_cron and not is_scheduler:
        return Refusal(
            "neither X-Appengine-Cron nor X-CloudScheduler is 'true'",
            "only App Engine's cron and Cloud Scheduler may call",
        )
    if not door.platform.strips_headers:
        return Refusal(
            f"on {door.platform.value}, headers prove nothing, and there is no token",
            "give the job an HTTP target with an OIDC token, and set "
            "CRON_OIDC_AUDIENCE and CRON_OIDC_EMAILS",
        )
    origin = headers.get("x-appengine-user-ip")
    if origin not in door.origins:
        old = " (CRON_OLD_ORIGIN=1 admits jobs deployed by gcloud before 326.0.0)"
        wanted = " or ".join(sorted(door.origins))
        return Refusal(
            f"X-Appengine-User-IP is {origin!r}, not {wanted}",
            "internal requests carry it" + (old if origin == OLD_ORIGIN else ""),
        )
    if is_cron and door.mode.takes_cron:
        return Admitted(Sender.CRON)
    if is_scheduler and door.mode.takes_scheduler:
        return Admitted(Sender.SCHEDULER)
    header, mode = (
        ("X-Appengine-Cron", Mode.LEGACY)
        if is_cron
        else ("X-CloudScheduler", Mode.SCHEDULER)
    )
    return Refusal(
        f"CRON_MODE={door.mode.value} does not admit {header}",
        f"CRON_MODE={mode.value} or both does",
    )


def _token(headers: Mapping[str, str], door: Door) -> TokenOffered | Refusal | None:
    """Give the token of a Cloud Scheduler job's HTTP target; None without one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return None
    if headers.get("x-cloudscheduler") != "true":
        return Refusal("a token, but X-CloudScheduler is not 'true'")
    if not door.mode.takes_scheduler:
        return Refusal(
            f"CRON_MODE={door.mode.value} does not admit Cloud Scheduler",
            "CRON_MODE=scheduler or both does",
        )
    if not door.oidc:
        return Refusal(
            "a token, but no setting says whose token may come in",
            "set CRON_OIDC_AUDIENCE and CRON_OIDC_EMAILS",
        )
    return TokenOffered(token)


_LOOPBACK_HOST: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")
_FORWARDING: Final = ("forwarded", "via", "x-real-ip")


def _local(headers: Mapping[str, str], remote_addr: str) -> Admitted | Refusal:
    """Admit a developer at this machine, and nobody that a proxy brings along."""
    if headers["x-cron-local"] != "1":
        return Refusal("X-Cron-Local is not '1'")
    forwarded = [
        name
        for name in headers
        if name in _FORWARDING or name.startswith("x-forwarded-")
    ]
    if forwarded:
        return Refusal(f"local mode takes no forwarded requests ({forwarded[0]})")
    if not _is_loopback(remote_addr):
        return Refusal(f"local mode takes no requests from {remote_addr!r}")
    host = headers.get("host", "")
    if not _LOOPBACK_HOST.fullmatch(host):
        return Refusal(
            f"local mode answers no host {host!r}", "call it at http://localhost:PORT"
        )
    return Admitted(Sender.LOCAL)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


# --- What a request says of itself ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """The time a sender gave, in UTC."""

    at: datetime


@dataclass(frozen=True, slots=True)
class NotSent:
    """No time was given, or none that can be read: `warning` says why, or is ""."""

    warning: str = ""


_RFC_3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,12})?([Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
_PLAUSIBLE: Final = timedelta(days=10 * 366)


def sent_time(headers: Mapping[str, str], now: datetime) -> Sent | NotSent:
    """Read X-CloudScheduler-ScheduleTime: any form of RFC 3339, or a warning.

    Cloud Scheduler has sent `Z`, offsets and microseconds.
    """
    text = headers.get("x-cloudscheduler-scheduletime", "")
    if not text:
        return NotSent()
    found = _RFC_3339.fullmatch(text)
    if found is None:
        return NotSent(f"X-CloudScheduler-ScheduleTime is no time: {text[:80]!r}")
    day, clock, fraction, offset = found.groups()
    zone = "+00:00" if offset in "Zz" else offset
    try:
        written = f"{day}T{clock}{(fraction or '')[:7]}{zone}"
        at = datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return NotSent(f"X-CloudScheduler-ScheduleTime is no time: {text!r}")
    if abs(at - now) > _PLAUSIBLE:
        return NotSent(f"X-CloudScheduler-ScheduleTime is years away: {text!r}")
    return Sent(at)
