"""Options that commands share; what they make of the settings is in `overlay`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from migrate.choices import Intervals, Routing, Schedules
from migrate.settings_schema import FAIL_ON, LOSSES

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., Any]")

EXPORT_FORMATS: Final = ("gcloud", "terraform", "krm")
_FIRST_YEAR, _LAST_YEAR = 1900, 9000  # well within what dates can be counted in


if TYPE_CHECKING:
    _InstantType = click.ParamType[datetime]
else:  # only newer releases of click have a type to fill in
    _InstantType = click.ParamType


class _Instant(_InstantType):
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
        if not _FIRST_YEAR <= instant.year <= _LAST_YEAR:
            self.fail(
                f"{value!r} is not within the years {_FIRST_YEAR} to {_LAST_YEAR}",
                param,
                ctx,
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


def settings_file(command: _Command) -> _Command:
    """Take --config and --env."""
    return _stack(
        click.option(
            "--config",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="The settings; default: cronshift.toml beside cron.yaml. An option "
            "beats them.",
        ),
        click.option(
            "--env", metavar="NAME", help="Lay the settings' [env.NAME] over."
        ),
    )(command)


def project(command: _Command) -> _Command:
    """Take --project."""
    return click.option(
        "--project",
        metavar="ID",
        help="The project; else CLOUDSDK_CORE_PROJECT or GOOGLE_CLOUD_PROJECT.",
    )(command)


def choices(command: _Command) -> _Command:
    """Take all options that decide what jobs are made; None where not given."""
    return _stack(
        settings_file,
        project,
        click.option("--location", metavar="ID", help="The app's region."),
        click.option(
            "--schedules",
            type=click.Choice([kind.value for kind in Schedules]),
            help="auto (default): unix-cron where proven equal, else groc; groc: as "
            "it stands; unix: unix-cron or not at all.",
        ),
        click.option(
            "--split/--no-split",
            default=None,
            help="Allow several unix-cron jobs for one entry.",
        ),
        click.option(
            "--intervals",
            type=click.Choice([kind.value for kind in Intervals]),
            help="keep (default): `every 5 minutes` counts from the end of each run; "
            "clock: it becomes clock-aligned unix-cron, a loss.",
        ),
        click.option(
            "--routing",
            type=click.Choice([kind.value for kind in Routing]),
            help="effective (default): name the service that requests reach today; "
            "declared: `target` as it stands.",
        ),
        click.option(
            "--missing-retry-limit",
            type=click.Choice(["0", "5"]),
            help="What a retry block without job_retry_limit means (default 0).",
        ),
        click.option(
            "--set",
            "job_set",
            metavar="NAME",
            help="The set of jobs that this cron.yaml owns (default: default).",
        ),
        click.option(
            "--http",
            multiple=True,
            metavar="SERVICE=URL",
            help="Make entries that reach SERVICE (* for all) HTTP targets at URL "
            "(repeatable).",
        ),
        click.option(
            "--oidc-service-account-email",
            multiple=True,
            metavar="[SERVICE=]EMAIL",
            help="The service account of HTTP targets.",
        ),
        click.option(
            "--oidc-token-audience",
            multiple=True,
            metavar="[SERVICE=]AUD",
            help="The audience of their tokens (default: the service's URL).",
        ),
        click.option(
            "--accept",
            multiple=True,
            type=click.Choice(LOSSES),
            help="Accept a loss by its code (repeatable); beats the settings' list.",
        ),
    )(command)


def judgement(command: _Command) -> _Command:
    """Take the options of an audit; None where not given."""
    return _stack(
        settings_file,
        project,
        click.option(
            "--services",
            metavar="NAME,…",
            help="The services that exist; default: those of the app yamls below PATH.",
        ),
        click.option(
            "--tasks",
            "task_files",
            multiple=True,
            metavar="[SERVICE=]FILE",
            help="Python code that declares the tasks of SERVICE (default: default): "
            "entries without a task, and tasks without an entry, are told.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            help="Exit 1 from this severity on (default: error).",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="CODE",
            help="Leave findings of this code out (repeatable); beats the settings' "
            "list.",
        ),
        click.option(
            "--show-ignored", is_flag=True, help="List what was ignored, and why."
        ),
    )(command)
