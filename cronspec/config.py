"""cron.yaml, dispatch.yaml and app.yaml: text in, entries, rules and faults out.

The files are read from PyYAML's node graph, so that every value has its place, with
the strictness of gcloud's own loader and all faults of a file at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from cronspec.retry import RetryParameters
    from cronspec.schedule import GrocSchedule


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What makes a file unusable: `code` is stable, `fix` the way out or ""."""

    code: str
    place: Place
    text: str
    fix: str = ""

    def __str__(self) -> str:
        way_out = f" ({self.fix})" if self.fix else ""
        return f"{self.place}: {self.text}{way_out}"


@dataclass(frozen=True, slots=True)
class Remark:
    """What is accepted, but worth knowing; `code` is stable."""

    code: str
    place: Place
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class CronEntry:
    """One entry of cron.yaml.

    `timezone` is the text as written, None where the file gives none (UTC);
    `place` is that of the entry's dash, `places` those of its values, by key
    (`retry_parameters.job_retry_limit` for those within the block).
    """

    url: str
    schedule: GrocSchedule
    schedule_text: str
    timezone: str | None
    target: str | None
    description: str | None
    retry: RetryParameters | None
    attempt_deadline: timedelta | None
    place: Place
    places: Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an entry wants its requests, known even if the entry has faults."""

    url: str
    target: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class CronFile:
    """What a cron.yaml says: the entries without faults, and every fault."""

    file: str
    entries: tuple[CronEntry, ...]
    destinations: tuple[Destination, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class DispatchRule:
    """One rule of dispatch.yaml; `index` counts from 0, `place` is its dash's."""

    host: str
    path: str
    service: str
    index: int
    place: Place


@dataclass(frozen=True, slots=True)
class DispatchFile:
    """What a dispatch.yaml says."""

    file: str
    rules: tuple[DispatchRule, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class LoginHandler:
    """A handler of app.yaml with a `login:`; `url` is its pattern."""

    url: str
    login: str
    place: Place


@dataclass(frozen=True, slots=True)
class AppFile:
    """What is needed of an app.yaml. `scaling` is automatic, basic or manual."""

    file: str
    service: str
    runtime: str
    flexible: bool
    scaling: str
    entrypoint: str | None
    logins: tuple[LoginHandler, ...]
    faults: tuple[Fault, ...]


def load_cron(text: str, file: str) -> CronFile:
    """Read a cron.yaml. Never raises for what the text says: see `faults`."""
    raise NotImplementedError


def load_dispatch(text: str, file: str) -> DispatchFile:
    """Read a dispatch.yaml. Never raises for what the text says: see `faults`."""
    raise NotImplementedError


def load_app(text: str, file: str) -> AppFile | None:
    """Read an app.yaml; None where the text is none (another kind of YAML)."""
    raise NotImplementedError
