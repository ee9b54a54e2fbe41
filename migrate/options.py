"""Options that commands share, and the settings that they make."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from migrate.choices import Intervals, Routing, Schedules
from migrate.notes import CODES, Level, Note, note
from migrate.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Command = TypeVar("_Command", bound="Callable[..., Any]")

EXPORT_FORMATS: Final = ("gcloud",)
LOSSES: Final = tuple(code for code, kind in CODES.items() if kind.level is Level.LOSS)
# App Engine's own location ids, and what Cloud Scheduler calls the same places.
_RENAMED: Final = {"us-central": "us-central1", "europe-west": "europe-west1"}


class _Instant(click.ParamType[datetime]):
    """An ISO 8601 instant; one without an offset is in UTC."""

    name = "instant"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Read an instant, or fail as click does."""
        if isinstance(value, datetime):
            return value
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is not like 2026-03-08T07:30 or …T07:30-05:00", param, ctx
            )
        return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


INSTANT: Final = _Instant()


def _stack(
    *decorators: Callable[[_Command], _Command],
) -> Callable[[_Command], _Command]:
    def apply(command: _Command) -> _Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


def paths(command: _Command) -> _Command:
    """Take PATH… and --dispatch."""
    return _stack(
        click.argument(
            "paths",
            metavar="PATH...",
            nargs=-1,
            required=True,
            type=click.Path(path_type=Path),
        ),
        click.option(
            "--dispatch",
            metavar="FILE|none",
            help="The dispatch.yaml that counts; default: the one beside cron.yaml.",
        ),
    )(command)


def form(command: _Command) -> _Command:
    """Take --format text|json."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="text for people, json for programs.",
    )(command)


def choices(command: _Command) -> _Command:
    """Take all options that decide what jobs are made."""
    return _stack(
        click.option(
            "--project",
            metavar="ID",
            help="The project; else CLOUDSDK_CORE_PROJECT or GOOGLE_CLOUD_PROJECT.",
        ),
        click.option("--location", metavar="ID", help="The app's region."),
        click.option(
            "--schedules",
            type=click.Choice([kind.value for kind in Schedules]),
            default=Schedules.AUTO.value,
            show_default=True,
            help="auto: unix-cron where proven equal, else groc; groc: as it stands; "
            "unix: unix-cron or not at all.",
        ),
        click.option(
            "--split",
            is_flag=True,
            help="Allow several unix-cron jobs for one entry.",
        ),
        click.option(
            "--intervals",
            type=click.Choice([kind.value for kind in Intervals]),
            default=Intervals.KEEP.value,
            show_default=True,
            help="keep: `every 5 minutes` counts from the end of each run; clock: it "
            "becomes clock-aligned unix-cron, a loss.",
        ),
        click.option(
            "--routing",
            type=click.Choice([kind.value for kind in Routing]),
            default=Routing.EFFECTIVE.value,
            show_default=True,
            help="effective: name the service that requests reach today; declared: "
            "`target` as it stands.",
        ),
        click.option(
            "--missing-retry-limit",
            type=click.Choice(["0", "5"]),
            default="0",
            show_default=True,
            help="What a retry block without job_retry_limit means.",
        ),
        click.option(
            "--set",
            "job_set",
            metavar="NAME",
            default="default",
            show_default=True,
            help="The set of jobs that this cron.yaml owns.",
        ),
        click.option(
            "--accept",
            multiple=True,
            metavar="CODE",
            help=f"Accept a loss by its code (repeatable): {', '.join(LOSSES)}.",
        ),
    )(command)


def settings(chosen: Mapping[str, Any]) -> tuple[Settings, list[Note]]:
    """Make the settings of the options' values, with notes on what was changed."""
    unknown = sorted(set(chosen["accept"]) - set(LOSSES))
    if unknown:
        raise click.BadParameter(
            f"{', '.join(unknown)}: no loss has this code; losses are "
            f"{', '.join(LOSSES)}",
            param_hint="--accept",
        )
    notes = []
    location = chosen["location"]
    if location in _RENAMED:
        text = f"{location} is called {_RENAMED[location]} by Cloud Scheduler"
        notes.append(note("location-renamed", text, None))
        location = _RENAMED[location]
    return (
        Settings(
            project=chosen["project"] or project_of_environment(),
            location=location,
            schedules=Schedules(chosen["schedules"]),
            split=chosen["split"],
            intervals=Intervals(chosen["intervals"]),
            routing=Routing(chosen["routing"]),
            missing_retry_limit=int(chosen["missing_retry_limit"]),
            job_set=chosen["job_set"],
            accept=frozenset(chosen["accept"]),
        ),
        notes,
    )


def project_of_environment() -> str | None:
    """Give the project that gcloud's environment variables name."""
    for name in ("CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"):
        if os.environ.get(name):
            return os.environ[name]
    return None
