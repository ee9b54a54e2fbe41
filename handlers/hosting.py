"""Where the service runs, as far as its environment proves it. Pure.

What proves a sender depends on it, so every doubt is decided for the stricter side.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class Platform(Enum):
    """Where the service runs, as far as its environment proves it."""

    APP_ENGINE = "App Engine standard"
    FLEXIBLE = "App Engine flexible"
    CLOUD_RUN = "Cloud Run"
    ELSEWHERE = "a platform of no kind known"

    @property
    def strips_headers(self) -> bool:
        """Tell whether outsiders cannot send X-Appengine-... headers here."""
        return self in {Platform.APP_ENGINE, Platform.FLEXIBLE}


_CLOUD_RUN: Final = ("K_SERVICE", "K_REVISION", "FUNCTION_TARGET")
_NOT_APP_ENGINE: Final = (*_CLOUD_RUN, "KUBERNETES_SERVICE_HOST")


def platform_of(environ: Mapping[str, str], *, flexible: bool) -> Platform:
    """Read the platform from its variables; `flexible` is the owner's word for it.

    Variables named GAE_ can be set anywhere, so those of other platforms win.
    """
    if any(environ.get(name) for name in _NOT_APP_ENGINE):
        return Platform.CLOUD_RUN if environ.get("K_SERVICE") else Platform.ELSEWHERE
    if environ.get("GAE_ENV") == "standard":
        return Platform.APP_ENGINE
    if flexible and environ.get("GAE_SERVICE") and environ.get("GAE_INSTANCE"):
        return Platform.FLEXIBLE
    return Platform.ELSEWHERE


_APP_ENGINE: Final = ("GAE_ENV", "GAE_SERVICE", "GAE_INSTANCE", "GAE_DEPLOYMENT_ID")
_DEV_SERVER: Final = "localdev"


def sign_of_a_host(environ: Mapping[str, str]) -> str | None:
    """Give the variable that shows App Engine or Cloud Run; None where none does.

    Wider than `platform_of`: here it is doubt that must count. App Engine's own
    development server says GAE_ENV=localdev. A pod is no sign: people develop in them.
    """
    is_dev_server = environ.get("GAE_ENV") == _DEV_SERVER
    signs = _CLOUD_RUN if is_dev_server else (*_CLOUD_RUN, *_APP_ENGINE)
    return next((name for name in signs if environ.get(name)), None)
