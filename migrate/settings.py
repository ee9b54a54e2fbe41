"""Every choice in one place: for all entries, by service, by entry.

`settings_file` reads them from cronshift.toml, `options` from the command line, whose
options beat the file; here is what they mean for an entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from cronspec.config import Fault
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
        """Tell whether this is said of `entry`."""
        return self.url == entry.url and self.target in {None, entry.target}


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
    def uses_http(self) -> bool:
        """Tell whether any service has an url of its own."""
        return any(service.url for service in self.services.values())

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
                destination=self._destination(said, route.service, limits),
            )

        return choose

    def said_of(self, entry: CronEntry) -> EntrySettings:
        """Give what is said of one entry."""
        for said in self.entries:
            if said.matches(entry):
                return said
        return EntrySettings(entry.url, entry.place)

    def _destination(
        self, said: EntrySettings, reached: str, limits: Mapping[str, timedelta]
    ) -> ToAppEngine | ToHttp:
        service = self.service(reached)
        if said.to == "app-engine" or not service.url:
            return ToAppEngine()
        return ToHttp(
            base_url=service.url,
            service_account_email=service.oidc_service_account_email,
            audience=service.oidc_token_audience or service.url,
            limit=limits.get(reached, APP_ENGINE_DEADLINE),
        )

    def faults(
        self, entries: Sequence[CronEntry], reached: Iterable[str]
    ) -> list[Fault]:
        """Give what does not fit the files: a setting that matches nothing, and such.

        `reached` are the services that the entries' requests reach, in order.
        """
        found = []
        for said in self.entries:
            targets = {entry.target for entry in entries if said.matches(entry)}
            if not targets:
                text = f"no entry of cron.yaml has the url {said.url!r}"
                if said.target is not None:
                    text += f" and the target {said.target!r}"
                found.append(Fault("settings-no-entry", said.place, text))
            elif len(targets) > 1 and said.target is None:
                names = ", ".join(sorted(target or "none" for target in targets))
                text = (
                    f"entries with the url {said.url!r} have several targets ({names})"
                )
                fix = "say which with target = …"
                found.append(Fault("settings-ambiguous", said.place, text, fix))
        for entry, name in zip(entries, reached, strict=True):
            said = self.said_of(entry)
            if said.to == "http" and not self.service(name).url:
                text = f"{said.url!r} is to be an HTTP target, and reaches {name!r}"
                fix = f"give that service an url: [services.{name}] url = …"
                found.append(Fault("settings-no-url", said.place, text, fix))
        return found

    def missing_accounts(self, reached: Iterable[str]) -> list[str]:
        """Give the services that become HTTP targets without a service account."""
        return sorted(
            {
                name
                for name in reached
                if (service := self.service(name)).url
                and not service.oidc_service_account_email
            }
        )


def _first(said: _Value | None, general: _Value) -> _Value:
    return general if said is None else said
