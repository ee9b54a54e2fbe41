"""Every choice in one place: for all entries, by service, by entry.

`settings_file` reads them from cronshift.toml, `overlay` from the command line, whose
options beat the file; here is what they mean for an entry.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from cronspec.config import Fault
from cronspec.routing import DEFAULT_SERVICE
from migrate.choices import (
    APP_ENGINE_DEADLINE,
    EntryChoices,
    Home,
    Intervals,
    Routing,
    Schedules,
    ToAppEngine,
    ToHttp,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import timedelta

    from cronspec.config import CronEntry, Place
    from cronspec.routing import Route

_Value = TypeVar("_Value")

ALL_SERVICES: Final = "*"


@dataclass(frozen=True, slots=True)
class Service:
    """Where one service's requests go as an HTTP target; "" is not said."""

    url: str = ""
    oidc_service_account_email: str = ""
    oidc_token_audience: str = ""


@dataclass(frozen=True, slots=True)
class EntrySettings:
    """What is said of one entry; None leaves what holds for all entries."""

    url: str
    place: Place
    target: str | None = None
    schedules: Schedules | None = None
    split: bool | None = None
    intervals: Intervals | None = None
    attempt_deadline: timedelta | None = None
    accept: frozenset[str] = frozenset()
    to: str | None = None

    def matches(self, entry: CronEntry) -> bool:
        """Tell whether this is said of `entry`; no target is the default service."""
        declared = entry.target or DEFAULT_SERVICE
        return self.url == entry.url and self.target in {None, declared}


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a run of the migrator."""

    project: str | None = None
    location: str | None = None
    schedules: Schedules = Schedules.AUTO
    split: bool = False
    intervals: Intervals = Intervals.KEEP
    routing: Routing = Routing.EFFECTIVE
    missing_retry_limit: int = 0
    job_set: str = "default"
    owner: str = "cronshift"
    accept: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    fail_on: str = "error"
    services: Mapping[str, Service] = field(default_factory=dict)
    entries: tuple[EntrySettings, ...] = ()

    @property
    def home(self) -> Home:
        """Where the jobs are to live."""
        return Home(self.project, self.location, self.job_set)

    @property
    def needs_limits(self) -> bool:
        """Tell whether it matters how long attempts may take on App Engine today."""
        return any(service.url for service in self.services.values()) or any(
            said.attempt_deadline is not None for said in self.entries
        )

    def service(self, name: str) -> Service:
        """Give what is said of a service, what holds for all filled in."""
        own = self.services.get(name, Service())
        general = self.services.get(ALL_SERVICES, Service())
        return Service(
            own.url or general.url,
            own.oidc_service_account_email or general.oidc_service_account_email,
            own.oidc_token_audience or general.oidc_token_audience,
        )

    def chooser(
        self, limits: Mapping[str, timedelta]
    ) -> Callable[[CronEntry, Route], EntryChoices]:
        """Give the choices of each entry.

        `limits` says how long attempts may take today, by service; a service that
        it lacks is taken to scale automatically.
        """

        def choose(entry: CronEntry, route: Route) -> EntryChoices:
            said = self.said_of(entry)
            return EntryChoices(
                schedules=_first(said.schedules, self.schedules),
                split=_first(said.split, self.split),
                intervals=_first(said.intervals, self.intervals),
                routing=self.routing,
                missing_retry_limit=self.missing_retry_limit,
                attempt_deadline=said.attempt_deadline,
                accept=self.accept | said.accept,
                destination=self._destination(said, route.service),
                limit=limits.get(route.service, APP_ENGINE_DEADLINE),
            )

        return choose

    def said_of(self, entry: CronEntry) -> EntrySettings:
        """Give what is said of one entry."""
        for said in self.entries:
            if said.matches(entry):
                return said
        return EntrySettings(entry.url, entry.place)

    def _destination(self, said: EntrySettings, reached: str) -> ToAppEngine | ToHttp:
        service = self.service(reached)
        if said.to == "app-engine" or not service.url:
            return ToAppEngine()
        return ToHttp(
            base_url=service.url,
            service_account_email=service.oidc_service_account_email,
            audience=service.oidc_token_audience or service.url,
        )

    def faults(
        self, entries: Sequence[CronEntry], reached: Sequence[str]
    ) -> list[Fault]:
        """Give what does not fit the files: a setting that matches nothing, and such.

        `reached` are the services that the entries' requests reach, in order.
        """
        found = []
        for number, said in enumerate(self.entries):
            matched = [entry for entry in entries if said.matches(entry)]
            found.extend(_misses(said, matched, entries))
            for earlier in self.entries[:number]:
                if any(earlier.matches(entry) for entry in matched):
                    text = f"this entry has settings already, at {earlier.place}"
                    fix = "say all in one [[entries]]"
                    found.append(Fault("settings-twice", said.place, text, fix))
        for entry, name in zip(entries, reached, strict=True):
            said = self.said_of(entry)
            if said.to == "http" and not self.service(name).url:
                text = f"{said.url!r} is to be an HTTP target, and reaches {name!r}"
                fix = f"give that service an url: [services.{name}] url = …"
                found.append(Fault("settings-no-url", said.place, text, fix))
        return list(dict.fromkeys(found))

    def unreached(self, reached: Iterable[str]) -> list[str]:
        """Say which services have settings and no entry that reaches them."""
        known = sorted(set(reached))
        all_known = ", ".join(known)
        told = []
        for name in self.services:
            if name != ALL_SERVICES and name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = (
                    f"did you mean {near[0]!r}?" if near else f"reached are {all_known}"
                )
                told.append(f"no entry reaches the service {name!r} ({hint})")
        return told

    def missing_accounts(
        self, entries: Sequence[CronEntry], reached: Sequence[str]
    ) -> list[str]:
        """Give the services that become HTTP targets without a service account."""
        found = set()
        for entry, name in zip(entries, reached, strict=True):
            match self._destination(self.said_of(entry), name):
                case ToHttp(service_account_email=""):
                    found.add(name)
        return sorted(found)


def _misses(
    said: EntrySettings, matched: Sequence[CronEntry], entries: Sequence[CronEntry]
) -> list[Fault]:
    """Tell settings of one entry that match none, or entries of several targets."""
    targets = {entry.target or DEFAULT_SERVICE for entry in matched}
    if not targets:
        of_target = "" if said.target is None else f" and the target {said.target!r}"
        text = f"no entry of cron.yaml has the url {said.url!r}{of_target}"
        fix = _meant(said.url, entries)
        return [Fault("settings-no-entry", said.place, text, fix)]
    if len(targets) > 1:
        names = ", ".join(sorted(targets))
        text = f"entries with the url {said.url!r} have several targets ({names})"
        return [
            Fault("settings-ambiguous", said.place, text, "say which with target = …")
        ]
    return []


def _meant(url: str, entries: Sequence[CronEntry]) -> str:
    """Say what settings of one entry that match none may have meant."""
    targets = {entry.target or DEFAULT_SERVICE for entry in entries if entry.url == url}
    if targets:
        return f"its target is {' or '.join(sorted(targets))}"
    near = difflib.get_close_matches(url, [entry.url for entry in entries], n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def _first(said: _Value | None, general: _Value) -> _Value:
    return general if said is None else said
