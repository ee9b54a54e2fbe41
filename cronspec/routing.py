"""Where a request of App Engine's cron really goes, dispatch.yaml counted in.

A cron request for a url goes to `target`, or to the default service, unless a rule
of dispatch.yaml matches: then the first that does wins over `target`. A rule sees
the request's host, `[SERVICE.]PROJECT.REGION_ID.r.appspot.com`, and its path without
the query. Paths under `/_ah/` are never dispatched, nor is a host that names version
and service. (Docs: cron.yaml reference, dispatch.yaml reference, "How requests are
routed"; devappserver2's dispatcher.py, `_module_for_request`.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cronspec.config import DispatchRule

DEFAULT_SERVICE: Final = "default"


@dataclass(frozen=True, slots=True)
class Target:
    """A `target` in its parts; `version` is "" where none is pinned."""

    service: str
    version: str = ""


def parse_target(target: str | None) -> Target:
    """Read a `target`; none means the default service, `worker:v2` pins a version."""
    if target is None:
        return Target(DEFAULT_SERVICE)
    service, _, version = target.partition(":")
    return Target(service, version)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: to the service of `rule`, or where it was sent to.

    `unsure` are the rules before the deciding one that may match or not: they name
    a host that is the app's own only perhaps.
    """

    service: str
    version: str
    rule: DispatchRule | None
    unsure: tuple[DispatchRule, ...] = ()


class _Match(Enum):
    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


def effective(
    url: str, target: str | None, rules: Sequence[DispatchRule], project: str | None
) -> Route:
    """Give the route of a cron request; without `project`, own hosts are unsure."""
    sent_to = parse_target(target)
    path = path_of(url)
    unsure: list[DispatchRule] = []
    if not sent_to.version and not path.startswith("/_ah/"):
        # Without a target, the request goes to the app's bare host.
        label = "" if target is None else sent_to.service
        for rule in rules:
            if not matches_path(rule, path):
                continue
            match = _matches_host(rule.host, label, project)
            if match is _Match.YES:
                return Route(rule.service, "", rule, tuple(unsure))
            if match is _Match.MAYBE:
                unsure.append(rule)
    return Route(sent_to.service, sent_to.version, None, tuple(unsure))


def path_of(url: str) -> str:
    """Give the path of a cron url, which is all that a rule looks at."""
    return re.split(r"[?#]", url, maxsplit=1)[0]


def matches_path(rule: DispatchRule, path: str) -> bool:
    """Tell whether a rule's path covers `path`: `*` stands at its end or for itself."""
    if rule.path.endswith("*"):
        return path.startswith(rule.path[:-1])
    return path == rule.path


_REGIONAL: Final = re.compile(r"([a-z0-9-]+)\.r\.appspot\.com$")
_EVERY_APP: Final = ".r.appspot.com"  # what the hosts of all apps end with
_SOME_REGION: Final = "region-id"


def _matches_host(pattern: str, label: str, project: str | None) -> _Match:
    """Match the host of a cron request: `[label.]PROJECT.REGION_ID.r.appspot.com`.

    Offline nobody knows the app's region id, so a pattern that names one means it.
    An app's older host, `PROJECT.appspot.com`, may be the request's or not.
    """
    if pattern.startswith("*") and _EVERY_APP.endswith(pattern[1:]):
        return _Match.YES
    prefix = f"{label}." if label else ""
    if project is None:
        shape = rf"{re.escape(prefix)}[a-z0-9-]+(\.[a-z0-9-]+\.r)?\.appspot\.com"
        may_be = pattern.endswith("appspot.com") and (
            pattern.startswith("*") or re.fullmatch(shape, pattern)
        )
        return _Match.MAYBE if may_be else _Match.NO
    domain, _, name = project.rpartition(":")  # `example.com:app` is an old form
    own = f"{prefix}{name}.{domain}" if domain else f"{prefix}{name}"
    named = _REGIONAL.search(pattern)
    region = named[1] if named else _SOME_REGION
    if _covers(pattern, f"{own}.{region}{_EVERY_APP}"):
        return _Match.YES
    return _Match.MAYBE if _covers(pattern, f"{own}.appspot.com") else _Match.NO


def _covers(pattern: str, host: str) -> bool:
    if pattern.startswith("*"):
        return host.endswith(pattern[1:])
    return host == pattern
