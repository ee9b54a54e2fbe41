"""Findings on `login:` in app.yaml: where it does not protect, where it shuts out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cronspec.routing import path_of
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.config import AppFile, LoginHandler
    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding

# The runtimes that enforce `login:` by themselves.
_FIRST_GENERATION: Final = re.compile(
    r"python(25|27)?|java[78]?|go(1\d?)?|php(55)?", re.ASCII
)
_PROTECTING: Final = frozenset(("admin", "required"))
_LONGEST_PATTERN: Final = 200
# Python tries every way to share a text out among repeats: one within another takes
# exponential time, those side by side a power of the text's length.
_NESTED: Final = re.compile(r"\)[*+{]")
_REPEATS: Final = re.compile(r"[*+{]")
_MOST_STEPS: Final = 10_000_000


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell what `login:` means for the urls of cron.yaml."""
    for app in evidence.apps:
        paths = [
            path_of(one.destination.url)
            for one in routed
            if one.route.service == app.service
        ]
        enforced = not app.flexible and _FIRST_GENERATION.fullmatch(app.runtime)
        for handler in app.logins:
            served = [path for path in paths if _covers(handler, path)]
            paths = [path for path in paths if path not in served]
            if not served or handler.login not in _PROTECTING:
                continue
            if not enforced:
                yield _unprotected(app, handler, served)
            elif handler.login == "required":
                yield _shut_out(handler, served)


def _covers(handler: LoginHandler, path: str) -> bool:
    """Tell whether a handler's pattern matches; one that may take ages does not."""
    pattern = handler.url
    if len(pattern) > _LONGEST_PATTERN or _NESTED.search(pattern):
        return False
    if len(path) ** len(_REPEATS.findall(pattern)) > _MOST_STEPS:
        return False
    try:
        return re.fullmatch(pattern, path) is not None
    except re.error:
        return False


def _unprotected(app: AppFile, handler: LoginHandler, served: list[str]) -> Finding:
    kind = f"{app.runtime or 'this runtime'}{' (flexible)' if app.flexible else ''}"
    return told(
        "login-not-enforced",
        handler.place,
        f"`login: {handler.login}` does not protect {_some(served)} on {kind}: without "
        "the bundled services (app_engine_apis) nothing enforces it",
        "check in the code that the request is cron's",
    )


def _shut_out(handler: LoginHandler, served: list[str]) -> Finding:
    return told(
        "login-refuses-cron",
        handler.place,
        f"`login: required` sends cron's requests for {_some(served)} to a login page, "
        "unless an earlier handler takes them",
        "write a handler with `login: admin` above it, which cron satisfies",
    )


def _some(paths: list[str]) -> str:
    different = list(dict.fromkeys(paths))
    if len(different) < 3:
        return " and ".join(different)
    return f"{different[0]} and {len(different) - 1} other cron urls"
