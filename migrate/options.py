"""Options that commands share, and the settings that they make."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from migrate.choices import Intervals, Routing, Schedules
from migrate.notes import Note, note
from migrate.settings import ALL_SERVICES, Service, Settings
from migrate.settings_schema import FAIL_ON, LOSSES, base_url, email
from migrate.settings_schema import name as name_check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Command = TypeVar("_Command", bound="Callable[..., Any]")

EXPORT_FORMATS: Final = ("gcloud", "terraform", "krm")
_FIRST_YEAR, _LAST_YEAR = 1900, 9000  # well within what dates can be counted in
# App Engine's own location ids, and what Cloud Scheduler calls the same places.
_RENAMED: Final = {"us-central": "us-central1", "europe-west": "europe-west1"}


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


def scheduler_location(location: str) -> str:
    """Give Cloud Scheduler's id of an App Engine location."""
    return _RENAMED.get(location, location)


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
    """Take all options that decide what jobs are made; None where not given."""
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
        click.option(
            "--project",
            metavar="ID",
            help="The project; else CLOUDSDK_CORE_PROJECT or GOOGLE_CLOUD_PROJECT.",
        ),
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
        click.option(
            "--project",
            metavar="ID",
            help="The project; else CLOUDSDK_CORE_PROJECT or GOOGLE_CLOUD_PROJECT.",
        ),
        click.option(
            "--services",
            metavar="NAME,…",
            help="The services that exist; default: those of the app yamls below PATH.",
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


def settings(
    chosen: Mapping[str, Any], of_file: Settings
) -> tuple[Settings, list[Note]]:
    """Lay the options given over the file's settings, with notes on what changed.

    An option beats all that the file says of its matter: a list is not added to,
    and what the file says of single entries or services goes as well. Raises
    click.BadParameter.
    """
    given = {
        name: kind(chosen[name])
        for name, kind in _KINDS.items()
        if chosen[name] not in {None, ()}
    }
    for name in given.keys() & {"project", "location", "job_set"}:
        _check_name(f"--{name.removeprefix('job_')}", given[name])
    unsaid: dict[str, Any] = dict.fromkeys(given.keys() & _OF_ENTRIES)
    made = replace(
        of_file,
        **given,
        services=_services(chosen, of_file),
        entries=tuple(replace(said, **unsaid) for said in of_file.entries),
    )
    if made.project is None:
        made = replace(made, project=project_of_environment())
    if made.location is None or made.location not in _RENAMED:
        return made, []
    location = scheduler_location(made.location)
    text = f"{made.location} is called {location} by Cloud Scheduler"
    return replace(made, location=location), [note("location-renamed", text, None)]


_OF_ENTRIES: Final = {"schedules", "split", "intervals"}
_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "project": str,
    "location": str,
    "schedules": Schedules,
    "split": bool,
    "intervals": Intervals,
    "routing": Routing,
    "missing_retry_limit": int,
    "job_set": str,
    "accept": frozenset,
}


def _check_name(option: str, value: str) -> None:
    if wanted := name_check(value):
        raise click.BadParameter(f"{value!r}: expected {wanted}", param_hint=option)


def _services(chosen: Mapping[str, Any], of_file: Settings) -> dict[str, Service]:
    services = dict(of_file.services)
    for option, key in (
        ("http", "url"),
        ("oidc_service_account_email", "oidc_service_account_email"),
        ("oidc_token_audience", "oidc_token_audience"),
    ):
        said = dict(_service_and_value(option, text) for text in chosen[option])
        if ALL_SERVICES in said:  # it is for all: what the file says of each goes
            for name, known in services.items():
                services[name] = replace(known, **{key: ""})
        for name, value in said.items():
            known = services.get(name, Service())
            services[name] = replace(known, **{key: value})
    return services


def _service_and_value(option: str, text: str) -> tuple[str, str]:
    """Split `[SERVICE=]VALUE`; --http wants both parts, and an url."""
    hint = f"--{option.replace('_', '-')}"
    found = re.fullmatch(r"(\*|[a-z0-9-]+)=(.*)", text)
    name, value = (found[1], found[2]) if found else (ALL_SERVICES, text)
    if option == "http" and (found is None or base_url(value)):
        raise click.BadParameter(
            f"{text!r} is not SERVICE=URL, such as worker=https://worker-x.a.run.app",
            param_hint=hint,
        )
    if not value:
        raise click.BadParameter(f"{text!r} has no value", param_hint=hint)
    if option == "oidc_service_account_email" and (wanted := email(value)):
        raise click.BadParameter(f"{value!r}: expected {wanted}", param_hint=hint)
    return name, value


def judge(of_file: Settings, chosen: Mapping[str, Any]) -> Settings:
    """Lay the options of an audit over the file's settings.

    Raises click.BadParameter.
    """
    if chosen["project"] is not None:
        _check_name("--project", chosen["project"])
    return replace(
        of_file,
        project=chosen["project"] or of_file.project or project_of_environment(),
        fail_on=chosen["fail_on"] or of_file.fail_on,
        ignore=frozenset(chosen["ignore"]) or of_file.ignore,
    )


def project_of_environment() -> str | None:
    """Give the project that gcloud's environment variables name.

    Raises click.BadParameter.
    """
    for name in ("CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"):
        if project := os.environ.get(name):
            _check_name(name, project)
            return project
    return None
