"""What commands start from: the files and the settings, or an end with every fault."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from cronspec.routing import effective
from migrate import overlay, sources
from migrate.appfiles import apps
from migrate.sources import SourceError, Sources
from migrate.terminal import fail, remark, show_json
from migrate.translate import Translation, attempt_limit, translate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from cronspec.config import Fault
    from migrate.notes import Note
    from migrate.settings import Settings


def read_all(
    paths: tuple[Path, ...], dispatch: str | None, *, whole: bool = False
) -> Sources:
    """Read the files, faults and all; ends the command where one is not there."""
    try:
        files = sources.read(paths, dispatch, whole=whole)
    except SourceError as error:
        fail(str(error))
    for double in files.doubles:
        remark(double)
    return files


def read(
    paths: tuple[Path, ...], dispatch: str | None, form: str, *, whole: bool = False
) -> Sources:
    """Read the files; faults in them end the command, all told."""
    files = read_all(paths, dispatch, whole=whole)
    _end_with(files.faults, form)
    for cron in files.emptied:
        remark(f"{cron.file}: no entries: deployed as it is, it deletes all cron jobs")
    return files


def settings_of_file(files: Sources, chosen: dict[str, Any], form: str) -> Settings:
    """Read the settings beside cron.yaml; faults in them end the command."""
    try:
        of_file, faults = sources.read_settings(files, chosen["config"], chosen["env"])
    except SourceError as error:
        fail(str(error))
    _end_with(faults, form)
    return of_file


def check_settings(files: Sources, chosen: dict[str, Any], form: str) -> None:
    """End the command where settings have faults, though it needs none of them."""
    named = chosen["config"]
    there = sources.settings_beside(files) if named is None else [named]
    for path in there or [None]:
        settings_of_file(files, chosen | {"config": path}, form)


def settings(
    files: Sources, chosen: dict[str, Any], form: str
) -> tuple[Settings, list[Note]]:
    """Lay the options over the settings; what does not fit the files ends it."""
    of_file = settings_of_file(files, chosen, form)
    made, notes = overlay.settings(chosen, of_file)
    reached = fit(files, made, form)
    missing = made.missing_accounts(files.entries, reached)
    if missing:
        fail(
            f"HTTP targets need a service account: --oidc-service-account-email "
            f"[SERVICE=]EMAIL for {', '.join(missing)}"
        )
    return made, notes


def fit(files: Sources, made: Settings, form: str) -> list[str]:
    """Give the service that each entry reaches; settings that do not fit end it."""
    reached = [
        effective(entry.url, entry.target, files.rules, made.project).service
        for entry in files.entries
    ]
    _end_with(made.faults(files.entries, reached), form)
    for told in made.unreached(reached):
        remark(told)
    return reached


def translations(files: Sources, made: Settings, now: datetime) -> list[Translation]:
    """Translate what was read as the settings say."""
    choose = made.chooser(limits(files) if made.needs_limits else {})
    return translate(files.entries, files.rules, made.home, choose, now)


def limits(files: Sources) -> dict[str, timedelta]:
    """Give how long attempts may take today, by service, from the app yamls found.

    Of several for one service the longest counts, so that no cut goes untold.
    """
    limits: dict[str, timedelta] = {}
    for app in (app for folder in files.folders for app in apps(folder)):
        known = limits.get(app.service, timedelta(0))
        limits[app.service] = max(known, attempt_limit(app))
    return limits


# What a command's JSON holds where there is nothing to tell, beside `faults`.
_NOTHING: Final[dict[str | None, dict[str, Any]]] = {
    "audit": {"findings": [], "routes": [], "counts": {}, "ignored": []},
    "translate": {"jobs": [], "notes": []},
    "prove": {"entries": []},
    "next": {"entries": [], "clashes": []},
}


def _end_with(faults: Sequence[Fault], form: str) -> None:
    """End the command if there are faults, all told: on stderr, in JSON as well."""
    if not faults:
        return
    if form == "json":
        from migrate.report.words import fault_json  # noqa: PLC0415 - only wanted here

        command = click.get_current_context().command.name
        told = [fault_json(fault) for fault in faults]
        show_json(_NOTHING.get(command, {}) | {"faults": told})
    for fault in faults:
        remark(str(fault))
    fail("1 fault" if len(faults) == 1 else f"{len(faults)} faults")
