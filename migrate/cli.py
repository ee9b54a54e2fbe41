"""The command line: one function a command, which wires the rest together."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import inputs, options, terminal
from migrate.about import versions
from migrate.notes import Level, Note
from migrate.terminal import (
    DONE,
    NO,
    fail,
    remark,
    show,
    show_exactly,
    show_json,
)
from migrate.translate import file_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from migrate.settings import Settings
    from migrate.translate import Translation


def main() -> None:
    """Run the command line."""
    terminal.run(cli)


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        click.echo(versions())
        context.exit()


# Commands that are loaded only where they are wanted, and the modules they are in.
_LATER: Final = {
    "adopt": "migrate.cli_adopt",
    "apply": "migrate.cli_live",
    "audit": "migrate.cli_audit",
    "completion": "migrate.cli_completion",
    "cutover": "migrate.cli_cutover",
    "explain": "migrate.cli_schedules",
    "export-cron": "migrate.cli_look",
    "next": "migrate.cli_schedules",
    "plan": "migrate.cli_live",
    "rollback": "migrate.cli_cutover",
    "status": "migrate.cli_look",
}


class _Commands(click.Group):
    """All commands, those of other modules too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give all names in order."""
        return sorted([*super().list_commands(ctx), *_LATER])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give the command of that name."""
        if cmd_name not in _LATER:
            return super().get_command(ctx, cmd_name)
        commands: dict[str, click.Command] = import_module(_LATER[cmd_name]).COMMANDS
        return commands[cmd_name]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Tell the versions of cronshift, tzdata and Python.",
)
def cli() -> None:
    """Move App Engine cron to Cloud Scheduler: audit, translate, prove.

    PATH is a folder with a cron.yaml, one cron file, or several of either. Only the
    commands on live jobs (plan, apply, status, …) need an account and a network.

    Exit codes: 0 done; 1 the answer is no (findings, a divergence, a loss not
    accepted); 2 could not (unreadable file, bad usage, faults in a file).
    """


# --- translate ------------------------------------------------------------------


@cli.command("translate")
@options.paths
@options.choices
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", *options.EXPORT_FORMATS]),
    default="text",
    show_default=True,
    help="text for people, json (REST v1) for programs, or an export.",
)
@click.option(
    "--import-blocks",
    is_flag=True,
    help="With --format terraform: import blocks for jobs that exist already.",
)
def translate_command(
    paths: tuple[Path, ...],
    dispatch: str | None,
    form: str,
    import_blocks: bool,  # noqa: FBT001 - click gives it by name
    **chosen: Any,
) -> None:
    """Translate the entries of cron.yaml to Cloud Scheduler jobs.

    Exits 1 while an entry is blocked or a loss is not accepted, and then prints
    nothing that could be executed.
    """
    if import_blocks and form != "terraform":
        raise click.UsageError("--import-blocks goes with --format terraform")
    files = inputs.read(paths, dispatch, form)
    settings, remarks = inputs.settings(files, chosen, form)
    translations = inputs.translations(files, settings, _now())
    notes = [*remarks, *file_notes(files.entries)]
    refused = _refused(translations)
    if form == "json":
        from migrate.report import translation  # noqa: PLC0415 - rich is slow to load

        show_json(translation.as_json(translations, notes))
    elif form == "text":
        from migrate.report import translation  # noqa: PLC0415 - as above

        show(translation.as_text(translations, notes, settings.home))
    else:
        for told in remarks:
            remark(told.text)
        _export(form, translations, settings, refused, import_blocks)
    sys.exit(NO if refused else DONE)


def _refused(translations: Iterable[Translation]) -> list[tuple[Translation, Note]]:
    return [
        (one, refused)
        for one in translations
        for refused in (*one.of_level(Level.BLOCK), *one.unaccepted)
    ]


def _export(
    form: str,
    translations: Sequence[Translation],
    settings: Settings,
    refused: Sequence[tuple[Translation, Note]],
    import_blocks: bool,  # noqa: FBT001 - as the option has it
) -> None:
    if settings.project is None or settings.location is None:
        fail(
            f"--format {form} makes what will be executed: it needs --project and "
            "--location"
        )
    for one, why in refused:
        option = f" (--accept {why.code})" if why.level is Level.LOSS else ""
        remark(
            f"{why.place}: {one.entry.url}: {why.level} {why.code}: {why.text}{option}"
        )
    if refused:
        remark(
            "nothing is exported while a loss is not accepted or an entry is blocked"
        )
        return
    from migrate.export import EXPORTS, ExportError, hcl  # noqa: PLC0415 - seldom used

    jobs = [job for one in translations for job in one.jobs]
    try:
        text = hcl(jobs, import_blocks=True) if import_blocks else EXPORTS[form](jobs)
    except ExportError as error:
        fail(str(error))
    show_exactly(text)


# --- prove ------------------------------------------------------------------------


@cli.command("prove")
@options.paths
@options.choices
@options.form
def prove_command(
    paths: tuple[Path, ...], dispatch: str | None, form: str, **chosen: Any
) -> None:
    """Prove, entry by entry, that the jobs do what App Engine does today.

    Schedules are compared over the whole calendar and at every clock change of
    their zone, retries by their time lines, routes by dispatch.yaml. Exits 1 if
    anything differs that is not accepted.
    """
    files = inputs.read(paths, dispatch, form)
    settings, _ = inputs.settings(files, chosen, form)
    translations = inputs.translations(files, settings, _now())
    from migrate.report import proof  # noqa: PLC0415 - rich is slow to load

    if form == "json":
        show_json(proof.as_json(translations))
    else:
        show(proof.as_text(translations))
    sys.exit(NO if any(proof.diverges(one) for one in translations) else DONE)


def _now() -> datetime:
    return datetime.now(UTC)
