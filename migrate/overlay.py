"""Options laid over the settings: what is said on the command line beats the file."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from migrate.choices import Intervals, Routing, Schedules
from migrate.notes import Note, note
from migrate.settings import ALL_SERVICES, Service, Settings
from migrate.settings_schema import base_url, email
from migrate.settings_schema import name as name_check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# App Engine's own location ids, and what Cloud Scheduler calls the same places.
_RENAMED: Final = {"us-central": "us-central1", "europe-west": "europe-west1"}


def scheduler_location(location: str) -> str:
    """Give Cloud Scheduler's id of an App Engine location."""
    return _RENAMED.get(location, location)


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
