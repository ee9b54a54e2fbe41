"""The service's settings: `CRON_...` variables, and the platform's own.

A wrong setting stops the service at start-up, all faults told at once; none ever
opens a door. docs/handlers.md has every one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from handlers.hosting import Platform, platform_of, sign_of_a_host
from handlers.request import OLD_ORIGIN, ORIGIN, Door, Mode
from handlers.stores import DEFAULT_STORE, StoreUrlError, check_url, is_local

if TYPE_CHECKING:
    from collections.abc import Mapping

GOOGLE_CERTS: Final = "https://www.googleapis.com/oauth2/v1/certs"

NAMES: Final = (
    "CRON_STORE",
    "CRON_ALLOW_LOCAL_STORE",
    "CRON_YAML",
    "CRON_MODE",
    "CRON_LEASE_SECONDS",
    "CRON_BUSY_WAIT",
    "CRON_DEADLINE_SECONDS",
    "CRON_STORE_DOWN",
    "CRON_SCOPE",
    "CRON_OIDC_AUDIENCE",
    "CRON_OIDC_EMAILS",
    "CRON_OIDC_IAM",
    "CRON_OIDC_CERTS_URL",
    "CRON_OLD_ORIGIN",
    "CRON_FLEXIBLE",
    "CRON_LOCAL",
    "CRON_THREADS",
)


_Choice = TypeVar("_Choice", bound=Enum)


class SettingsError(ValueError):
    """Settings that cannot be used; the message tells every fault and its way out."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(faults))


class StoreDown(Enum):
    """What to answer when the store cannot be reached and nothing was claimed."""

    RETRY = "retry"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Oidc:
    """Whose tokens come in, and for what. `iam`: Google has checked them before us."""

    audiences: frozenset[str]
    emails: frozenset[str]
    certs_url: str = GOOGLE_CERTS
    iam: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Seconds are floats; `deadline` None: app.yaml says it."""

    store: str
    cron_yaml: Path
    door: Door
    oidc: Oidc | None
    lease: float
    busy_wait: float
    deadline: timedelta | None
    store_down: StoreDown
    scope: str
    service: str
    project: str | None
    threads: int
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings. Raises SettingsError with all their faults."""
        return _Reader(environ).settings()


class _Reader:
    """Reads values one by one, and collects what is wrong with them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._faults: list[str] = []
        self._warnings: list[str] = []

    def settings(self) -> Settings:
        self._unknown_names()
        platform = platform_of(self._environ, flexible=self._flag("CRON_FLEXIBLE"))
        store = self._store(platform)
        oidc = self._oidc(platform)
        door = self._door(platform, oidc)
        lease = self._seconds("CRON_LEASE_SECONDS", 30.0, least=1.0)
        deadline = self._seconds("CRON_DEADLINE_SECONDS", 0.0, least=1.0)
        project = self._environ.get("GOOGLE_CLOUD_PROJECT") or None
        settings = Settings(
            store=store,
            cron_yaml=Path(self._text("CRON_YAML", "cron.yaml")),
            door=door,
            oidc=oidc,
            lease=lease,
            busy_wait=self._seconds("CRON_BUSY_WAIT", lease, least=0.0),
            deadline=timedelta(seconds=deadline) if deadline else None,
            store_down=self._choice("CRON_STORE_DOWN", StoreDown, StoreDown.RETRY),
            scope=self._text("CRON_SCOPE", project or "local"),
            service=self._environ.get("GAE_SERVICE") or "default",
            project=project,
            threads=int(self._seconds("CRON_THREADS", 8.0, least=1.0)),
            warnings=tuple(self._warnings),
        )
        if self._faults:
            raise SettingsError(self._faults)
        return settings

    def _unknown_names(self) -> None:
        """Stop for a name that was meant for one of ours: its default might be wide."""
        for name in self._environ:
            if not name.startswith("CRON_") or name in NAMES:
                continue
            close = get_close_matches(name, NAMES, n=1, cutoff=0.85)
            if close:
                self._faults.append(
                    f"{name}: no such setting; did you mean {close[0]}?"
                )
            else:
                self._warnings.append(f"{name} is no setting of this service")

    # --- Kinds of values

    def _text(self, name: str, default: str) -> str:
        value = self._environ.get(name, "").strip()
        if name in self._environ and not value:
            self._faults.append(f"{name} is empty: give a value, or do not set it")
        return value or default

    def _flag(self, name: str) -> bool:
        value = self._environ.get(name)
        if value not in {None, "0", "1"}:
            self._faults.append(f"{name}={value!r}: say 1, or do not set it")
        return value == "1"

    def _seconds(self, name: str, default: float, *, least: float) -> float:
        """Read a plain number of at least `least`."""
        text = self._environ.get(name)
        if text is None:
            return default
        number = re.fullmatch(r"\d{1,7}(\.\d{1,6})?", text.strip(), re.ASCII)
        if number is None or float(text) < least:
            self._faults.append(f"{name}={text!r}: say a number of at least {least:g}")
            return default
        return float(text)

    def _choice(self, name: str, kinds: type[_Choice], default: _Choice) -> _Choice:
        text = self._environ.get(name)
        if text is None:
            return default
        try:
            return kinds(text)
        except ValueError:
            allowed = ", ".join(str(kind.value) for kind in kinds)
            self._faults.append(f"{name}={text!r}: say one of {allowed}")
            return default

    def _list(self, name: str) -> frozenset[str]:
        text = self._text(name, "")
        return frozenset(part.strip() for part in text.split(",") if part.strip())

    # --- What belongs together

    def _store(self, platform: Platform) -> str:
        url = self._text("CRON_STORE", DEFAULT_STORE)
        try:
            check_url(url)
        except StoreUrlError as error:
            self._faults.append(str(error))
            return DEFAULT_STORE
        allowed = self._flag("CRON_ALLOW_LOCAL_STORE")
        if is_local(url) and platform is Platform.APP_ENGINE and not allowed:
            self._faults.append(
                f"CRON_STORE={url!r}: on App Engine standard each instance has a disk "
                "of its own, so a file keeps nobody from running twice; use "
                "firestore://PROJECT/COLLECTION (or CRON_ALLOW_LOCAL_STORE=1 where "
                "max_instances is 1 and a restart may repeat runs)"
            )
        if is_local(url) and platform in {Platform.CLOUD_RUN, Platform.FLEXIBLE}:
            self._warnings.append(
                f"CRON_STORE={url!r}: on {platform.value} each instance has a disk of "
                "its own, so a file keeps nobody from running twice; use "
                "firestore://PROJECT/COLLECTION"
            )
        return url

    def _door(self, platform: Platform, oidc: Oidc | None) -> Door:
        mode = self._choice("CRON_MODE", Mode, Mode.BOTH)
        local = self._flag("CRON_LOCAL")
        sign = sign_of_a_host(self._environ)
        if local and sign:
            self._faults.append(
                f"CRON_LOCAL=1: {sign} says that this is App Engine or Cloud Run, "
                "where it would let others in"
            )
        if self._flag("CRON_FLEXIBLE"):
            self._flexible(platform)
        origins = {ORIGIN, OLD_ORIGIN} if self._flag("CRON_OLD_ORIGIN") else {ORIGIN}
        door = Door(
            platform=platform,
            mode=mode,
            origins=frozenset(origins),
            oidc=oidc is not None,
            local=local and sign is None,
        )
        by_token = door.oidc and mode.takes_scheduler
        if by_token and platform.strips_headers and "CRON_SCOPE" not in self._environ:
            self._warnings.append(
                "CRON_SCOPE is not set: a tick that comes from App Engine and with a "
                "token too would run twice if the job names its scope; set it to "
                "PROJECT/LOCATION, as the jobs' X-Cron-Scope has it"
            )
        if not (platform.strips_headers or by_token or door.local):
            self._warnings.append(
                "nobody can come in: this is no App Engine, so set CRON_OIDC_AUDIENCE "
                "and CRON_OIDC_EMAILS (and a CRON_MODE that admits Cloud Scheduler), "
                "or CRON_LOCAL=1 for development"
            )
        return door

    def _flexible(self, platform: Platform) -> None:
        if platform is not Platform.FLEXIBLE:
            self._faults.append(
                "CRON_FLEXIBLE=1, but GAE_SERVICE and GAE_INSTANCE, which the flexible "
                f"environment sets, are not there; this is {platform.value}"
            )
            return
        self._warnings.append(
            "CRON_FLEXIBLE=1: nothing in a flexible instance proves that requests "
            "come through App Engine's front end; whoever reaches its port directly "
            "comes in, so keep the firewall closed to all but the front end"
        )

    def _oidc(self, platform: Platform) -> Oidc | None:
        audiences = self._list("CRON_OIDC_AUDIENCE")
        emails = self._list("CRON_OIDC_EMAILS")
        iam = self._flag("CRON_OIDC_IAM")
        certs_url = self._text("CRON_OIDC_CERTS_URL", GOOGLE_CERTS)
        if not re.match(r"https://|http://(localhost|127\.0\.0\.1)[:/]", certs_url):
            self._faults.append(f"CRON_OIDC_CERTS_URL={certs_url!r}: say https://...")
        if certs_url.startswith("http:") and platform is not Platform.ELSEWHERE:
            self._faults.append(
                f"CRON_OIDC_CERTS_URL={certs_url!r}: on {platform.value} say https://"
            )
        if bool(audiences) != bool(emails):
            self._faults.append(
                "CRON_OIDC_AUDIENCE and CRON_OIDC_EMAILS go together: without both, "
                "anybody's token, or one made for another service, would come in"
            )
        self._faults.extend(
            f"CRON_OIDC_EMAILS: {email!r} is no e-mail of a service account"
            for email in sorted(emails)
            if not re.fullmatch(r"[^@\s]+@[^@\s]+", email)
        )
        if iam and platform is not Platform.CLOUD_RUN:
            self._warnings.append(
                "CRON_OIDC_IAM=1 has no effect: this is no Cloud Run, so every token's "
                "signature is checked here"
            )
        if not audiences or not emails:
            return None
        return Oidc(audiences, emails, certs_url, iam)
