"""cronshift.toml: the file that holds every choice, read with the place of each.

    project = "shop"                 # any option of the command line, by its name
    location = "europe-west1"

    [services.worker]                # a service, as requests reach it
    url = "https://worker-x.a.run.app"
    oidc-service-account-email = "cron@shop.iam.gserviceaccount.com"

    [[entries]]                      # one entry, by its url (and target where shared)
    url = "/tasks/heartbeat"
    intervals = "clock"
    accept = ["interval-to-clock"]

    [env.staging]                    # overrides any of it with --env staging
    project = "shop-staging"
"""

from __future__ import annotations

import difflib
import re
import tomllib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from cronspec.config import Fault, Place
from migrate.choices import Intervals, Routing, Schedules
from migrate.notes import CODES, Level
from migrate.settings import EntrySettings, Service, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILE_NAME: Final = "cronshift.toml"
FAIL_ON: Final = ("error", "warning", "info", "never")
DESTINATIONS: Final = ("app-engine", "http")
_LOSSES: Final = tuple(code for code, kind in CODES.items() if kind.level is Level.LOSS)

_Path = tuple[str | int, ...]


def load_settings(
    text: str, file: str, env: str | None
) -> tuple[Settings, tuple[Fault, ...]]:
    """Read settings, with those of `[env.NAME]` over them. Never raises."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Settings(), (_syntax_fault(error, file),)
    reader = _Reader(file, _places(text, file))
    reader.table(document, (), _TOP | {"env": None})
    chosen = dict(document)
    environments = chosen.pop("env", {})
    if isinstance(environments, dict):
        for name, table in environments.items():
            reader.table(table, ("env", name), _TOP)
    if env is not None:
        override = environments.get(env) if isinstance(environments, dict) else None
        if isinstance(override, dict):
            chosen = _merged(chosen, override)
        else:
            known = ", ".join(environments) or "none"
            reader.fault((), f"there is no [env.{env}]; there are: {known}")
    if reader.faults:
        return Settings(), tuple(reader.faults)
    return _settings(chosen, reader, env), ()


def _syntax_fault(error: tomllib.TOMLDecodeError, file: str) -> Fault:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
    place = Place(file, int(found[1]), int(found[2])) if found else Place(file, 1, 1)
    words = str(error)[: found.start()] if found else str(error)
    return Fault("settings-syntax", place, f"not TOML: {words.removesuffix('.')}")


# --- What may be said -----------------------------------------------------------


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "a text"


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _limit(value: object) -> str | None:
    return None if value in (0, 5) and not isinstance(value, bool) else "0 or 5"


def _one_of(*values: str) -> Callable[[object], str | None]:
    return lambda value: None if value in values else f"one of {', '.join(values)}"


def _list_of(*values: str) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        if isinstance(value, list) and all(one in values for one in value):
            return None
        return f"a list of {', '.join(values)}"

    return check


def _codes(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return None
    return "a list of codes"


def _base_url(value: object) -> str | None:
    url = isinstance(value, str) and re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", value)
    return None if url else "an url such as https://worker-x.a.run.app"


def _duration(value: object) -> str | None:
    return None if duration(value) is not None else "a duration such as '600s' or '10m'"


_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def duration(value: object) -> timedelta | None:
    """Read a number of seconds, or a text such as 600s, 10m or 1h; None if neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(seconds=value) if 0 < value <= 86_400 else None
    found = re.fullmatch(r"(\d{1,5})([smh])", value) if isinstance(value, str) else None
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]]) if found else None


_Checks = dict[str, "Callable[[object], str | None] | None"]

_SCHEDULES: Final = _one_of(*(kind.value for kind in Schedules))
_INTERVALS: Final = _one_of(*(kind.value for kind in Intervals))
_SERVICE: Final[_Checks] = {
    "url": _base_url,
    "oidc-service-account-email": _text,
    "oidc-token-audience": _text,
}
_ENTRY: Final[_Checks] = {
    "url": _text,
    "target": _text,
    "schedules": _SCHEDULES,
    "split": _flag,
    "intervals": _INTERVALS,
    "attempt-deadline": _duration,
    "accept": _list_of(*_LOSSES),
    "to": _one_of(*DESTINATIONS),
}
_TOP: Final[_Checks] = {
    "project": _text,
    "location": _text,
    "schedules": _SCHEDULES,
    "split": _flag,
    "intervals": _INTERVALS,
    "routing": _one_of(*(kind.value for kind in Routing)),
    "missing-retry-limit": _limit,
    "set": _text,
    "accept": _list_of(*_LOSSES),
    "ignore": _codes,
    "fail-on": _one_of(*FAIL_ON),
    "services": None,
    "entries": None,
}


class _Reader:
    """Checks tables against what may be said, and collects every fault."""

    def __init__(self, file: str, places: Mapping[_Path, Place]) -> None:
        self._file = file
        self._places = places
        self.faults: list[Fault] = []

    def place(self, path: _Path) -> Place:
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, Place(self._file, 1, 1))

    def fault(self, path: _Path, text: str, fix: str = "") -> None:
        self.faults.append(Fault("settings", self.place(path), text, fix))

    def table(self, table: object, path: _Path, checks: _Checks) -> None:
        if not isinstance(table, dict):
            self.fault(path, f"{_dotted(path)} must be a table")
            return
        for key, value in table.items():
            here = (*path, key)
            if key not in checks:
                near = difflib.get_close_matches(key, checks, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"known: {_list(checks)}"
                self.fault(here, f"{key!r} is no setting{_of(path)}", fix)
            elif key == "services" and checks[key] is None:
                self._services(value, here)
            elif key == "entries" and checks[key] is None:
                self._entries(value, here)
            elif (check := checks[key]) is not None and (wanted := check(value)):
                self.fault(here, f"{key} = {value!r}: expected {wanted}")

    def _services(self, services: object, path: _Path) -> None:
        if not isinstance(services, dict):
            self.fault(path, "services must be tables: [services.NAME]")
            return
        for name, table in services.items():
            self.table(table, (*path, name), _SERVICE)

    def _entries(self, entries: object, path: _Path) -> None:
        if not isinstance(entries, list):
            self.fault(path, "entries must be a list of tables: [[entries]]")
            return
        for index, table in enumerate(entries):
            here = (*path, index)
            self.table(table, here, _ENTRY)
            if isinstance(table, dict) and "url" not in table:
                self.fault(here, "an entry is named by its url: url = …")


def _dotted(path: _Path) -> str:
    return ".".join(str(part) for part in path)


def _of(path: _Path) -> str:
    match path:
        case (*_, "services", str(name)):
            return f" of service {name!r}"
        case (*_, "entries", int()):
            return " of an entry"
        case _:
            return ""


def _list(checks: _Checks) -> str:
    return ", ".join(checks)


# --- What it means --------------------------------------------------------------


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Lay an environment over the rest: services and entries one by one."""
    services = {name: dict(said) for name, said in base.get("services", {}).items()}
    for name, said in over.get("services", {}).items():
        services.setdefault(name, {}).update(said)
    entries = {_known_by(said): said for said in base.get("entries", ())}
    for said in over.get("entries", ()):
        known = _known_by(said)
        entries[known] = entries.get(known, {}) | said
    return base | over | {"services": services, "entries": list(entries.values())}


def _known_by(said: dict[str, Any]) -> tuple[object, object]:
    return said.get("url"), said.get("target")


def _settings(chosen: dict[str, Any], reader: _Reader, env: str | None) -> Settings:
    default = Settings()
    return Settings(
        project=chosen.get("project"),
        location=chosen.get("location"),
        schedules=Schedules(chosen.get("schedules", default.schedules)),
        split=chosen.get("split", default.split),
        intervals=Intervals(chosen.get("intervals", default.intervals)),
        routing=Routing(chosen.get("routing", default.routing)),
        missing_retry_limit=chosen.get(
            "missing-retry-limit", default.missing_retry_limit
        ),
        job_set=chosen.get("set", default.job_set),
        accept=frozenset(chosen.get("accept", ())),
        ignore=frozenset(chosen.get("ignore", ())),
        fail_on=chosen.get("fail-on", default.fail_on),
        services={
            name: Service(
                said.get("url", ""),
                said.get("oidc-service-account-email", ""),
                said.get("oidc-token-audience", ""),
            )
            for name, said in chosen.get("services", {}).items()
        },
        entries=tuple(
            _entry(said, reader.place(_entry_path(said, reader, env)))
            for said in chosen.get("entries", ())
        ),
    )
