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
from typing import TYPE_CHECKING, Any, Final

from cronspec.config import Fault, Place
from migrate.choices import Intervals, Routing, Schedules
from migrate.settings import EntrySettings, Service, Settings
from migrate.settings_schema import ENTRY, SERVICE, TOP, Checks, duration

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME: Final = "cronshift.toml"

_LONGEST_SHOWN: Final = 60

_Path = tuple[str | int, ...]


def load_settings(
    text: str, file: str, env: str | None
) -> tuple[Settings, tuple[Fault, ...]]:
    """Read settings, with those of `[env.NAME]` over them. Never raises."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return Settings(), (_syntax_fault(error, text, file),)
    reader = _Reader(file, _places(text, file))
    reader.table(document, (), TOP | {"env": None})
    chosen = dict(document)
    environments = chosen.pop("env", {})
    if not isinstance(environments, dict):
        reader.fault(("env",), "env must be tables: [env.NAME]")
        environments = {}
    for name, table in environments.items():
        reader.table(table, ("env", name), TOP)
    if env is not None and env not in environments:
        reader.unknown_env(env, list(environments))
    if reader.faults:
        return Settings(), reader.in_order()
    if env is not None:
        chosen = _merged(chosen, environments[env])
    return _settings(chosen, reader, env), ()


def _syntax_fault(error: Exception, text: str, file: str) -> Fault:
    """Tell what tomllib says; it names the place in words, or not at all."""
    lines = text.split("\n")
    found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
    if found:
        place = Place(file, int(found[1]), int(found[2]))
    elif str(error).endswith("(at end of document)"):
        place = Place(file, len(lines), len(lines[-1]) + 1)
    else:
        place = Place(file, 1, 1)
    words = re.sub(r" \(at [^()]*\)$", "", str(error)).removesuffix(".")
    if isinstance(error, RecursionError):
        words = "nested too deeply"
    return Fault("settings-syntax", place, f"not TOML: {words}")


class _Reader:
    """Checks tables against what may be said, and collects every fault."""

    def __init__(self, file: str, places: Mapping[_Path, Place]) -> None:
        self._file = file
        self._places = places
        self.faults: list[Fault] = []
        self.entry_places: dict[tuple[_Path, object], Place] = {}

    def place(self, path: _Path) -> Place:
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, Place(self._file, 1, 1))

    def fault(self, path: _Path, text: str, fix: str = "") -> None:
        self.faults.append(Fault("settings", self.place(path), text, fix))

    def in_order(self) -> tuple[Fault, ...]:
        """Give the faults in the order of their places."""
        return tuple(
            sorted(self.faults, key=lambda one: (one.place.line, one.place.column))
        )

    def unknown_env(self, env: str, known: list[str]) -> None:
        near = difflib.get_close_matches(env, known, n=1)
        there_are = ", ".join(known) or "none"
        fix = f"did you mean {near[0]!r}?" if near else f"there are: {there_are}"
        self.fault((), f"there is no [env.{env}]", fix)

    def table(self, table: object, path: _Path, checks: Checks) -> None:
        if not isinstance(table, dict):
            self.fault(path, f"{_dotted(path)} must be a table")
            return
        for key, value in table.items():
            here = (*path, key)
            if key not in checks:
                self._unknown(key, here, checks)
            elif key == "services":
                self._services(value, here)
            elif key == "entries":
                self._entries(value, here)
            elif (check := checks[key]) is not None and (wanted := check(value)):
                self.fault(here, f"{key} = {_shown(value)}: expected {wanted}")

    def _unknown(self, key: str, here: _Path, checks: Checks) -> None:
        respelt = key.replace("_", "-").lower()
        near = difflib.get_close_matches(respelt, checks, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(checks)}"
        self.fault(here, f"{key!r} is no setting{_of(here[:-1])}", fix)

    def _services(self, services: object, path: _Path) -> None:
        if not isinstance(services, dict):
            self.fault(path, "services must be tables: [services.NAME]")
            return
        for name, table in services.items():
            self.table(table, (*path, name), SERVICE)

    def _entries(self, entries: object, path: _Path) -> None:
        if not isinstance(entries, list):
            self.fault(path, "entries must be a list of tables: [[entries]]")
            return
        for index, table in enumerate(entries):
            here = (*path, index)
            self.table(table, here, ENTRY)
            if not isinstance(table, dict):
                continue
            if "url" not in table:
                self.fault(here, "an entry is named by its url: url = …")
                continue
            known = (path[:-1], repr(_known_by(table)))
            if known in self.entry_places:
                text = f"this entry has settings already, at {self.entry_places[known]}"
                self.fault(here, text, "say all in one [[entries]]")
            self.entry_places.setdefault(known, self.place(here))

    def entry_place(self, said: dict[str, Any], env: str | None) -> Place:
        """Give where an entry is named: in the environment, else for all."""
        known = repr(_known_by(said))
        in_env = self.entry_places.get((("env", env or ""), known))
        return in_env or self.entry_places[(), known]


def _dotted(path: _Path) -> str:
    return ".".join(str(part) for part in path)


def _of(path: _Path) -> str:
    match path:
        case (*_, "services", str(name)):
            return f" of service {name!r}"
        case (*_, "entries", int()):
            return " of an entry"
        case ("env", str(name)):
            return f" of [env.{name}]"
        case _:
            return ""


def _shown(value: object) -> str:
    """Give a value as TOML writes it, if it is short."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


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
        owner=chosen.get("owner", default.owner),
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
            _entry(said, reader.entry_place(said, env))
            for said in chosen.get("entries", ())
        ),
    )


def _entry(said: dict[str, Any], place: Place) -> EntrySettings:
    schedules, intervals = said.get("schedules"), said.get("intervals")
    return EntrySettings(
        url=said["url"],
        place=place,
        target=said.get("target"),
        schedules=None if schedules is None else Schedules(schedules),
        split=said.get("split"),
        intervals=None if intervals is None else Intervals(intervals),
        attempt_deadline=duration(said.get("attempt-deadline")),
        accept=frozenset(said.get("accept", ())),
        to=said.get("to"),
    )


# --- Places ---------------------------------------------------------------------

_PART: Final = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER: Final = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_KEY: Final = re.compile(rf"(\s*)({_DOTTED})\s*=")


def _places(text: str, file: str) -> dict[_Path, Place]:
    """Find where each table and key of a valid TOML text stands.

    tomllib keeps no places. A line of a text over several lines may look like a key
    and add a place that nothing asks for; keys of inline tables have their line's.
    """
    places: dict[_Path, Place] = {}
    counts: dict[_Path, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _split(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            for depth in range(1, len(table) + 1):  # the tables that it implies too
                here = Place(file, number, header.start(1) + 1)
                places.setdefault(table[:depth], here)
        elif key := _KEY.match(line):
            place = Place(file, number, key.start(2) + 1)
            places.setdefault((*table, *_split(key[2])), place)
    return places


def _split(dotted: str) -> _Path:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))
