"""The command line: commands, wiring and exit codes. All printing is here.

One meaning of exit codes in every command: 0 done; 1 the answer is no (findings, a
divergence, a loss that is not accepted); 2 could not (an unreadable file, bad usage,
faults in a file; for `audit` faults are findings, so 1).
"""

from __future__ import annotations

import codecs
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from cronspec.routing import effective
from cronspec.zones import TZDATA_VERSION
from migrate import options, sources
from migrate.notes import Level, Note, note
from migrate.sources import SourceError, Sources
from migrate.translate import Translation, attempt_limit, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.text import Text

    from cronspec.config import Fault
    from migrate.settings import Settings

DONE: Final = 0
NO: Final = 1
COULD_NOT: Final = 2


def main() -> None:
    """Run the command line. Ends the process with an exit code, never a traceback."""
    codecs.register_error("cronshift", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="cronshift")
    try:
        # Not standalone: click would end a broken pipe with 1, which here means no.
        code = cli.main(prog_name="cronshift", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(COULD_NOT)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(COULD_NOT)
    except BrokenPipeError:
        # Who reads our output has read enough (`cronshift next . | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    sys.exit(code)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Write what a terminal's encoding lacks with the characters that it has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = {"→": "->", "…": "..."}
    lacking = error.object[error.start : error.end]
    written = (
        plain.get(one) or one.encode("ascii", "backslashreplace").decode("ascii")
        for one in lacking
    )
    return "".join(written), error.end


def version() -> str:
    """Give the versions that results depend on."""
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415 - slow to load
    from importlib.metadata import version as installed  # noqa: PLC0415 - as above

    try:
        own = installed("cronshift")
    except PackageNotFoundError:
        own = "(from a checkout)"
    python = ".".join(map(str, sys.version_info[:3]))
    return f"cronshift {own}, tzdata {TZDATA_VERSION}, Python {python}"


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        click.echo(version())
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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

    PATH is a folder with a cron.yaml, one cron file, or several of either. Nothing
    here needs an account or a network.

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
def translate_command(
    paths: tuple[Path, ...], dispatch: str | None, form: str, **chosen: Any
) -> None:
    """Translate the entries of cron.yaml to Cloud Scheduler jobs.

    Exits 1 while an entry is blocked or a loss is not accepted, and then prints
    nothing that could be executed.
    """
    files = _read(paths, dispatch, form)
    settings, remarks = _settings(files, chosen, form)
    translations = _translate(files, settings)
    notes = [*remarks, *_file_notes(files)]
    refused = _refused(translations)
    if form == "json":
        from migrate.report import translation  # noqa: PLC0415 - rich is slow to load

        _print_json(translation.as_json(translations, notes))
    elif form == "text":
        from migrate.report import translation  # noqa: PLC0415 - as above

        _print(translation.as_text(translations, notes, settings.home))
    else:
        for told in remarks:
            _remark(told.text)
        _export(form, translations, settings, refused)
    sys.exit(NO if refused else DONE)


def _translate(files: Sources, settings: Settings) -> list[Translation]:
    limits = _limits(files) if settings.needs_limits else {}
    choose = settings.chooser(limits)
    return translate(files.entries, files.rules, settings.home, choose, _now())


def _limits(files: Sources) -> dict[str, timedelta]:
    """Give how long attempts may take today, by service, from the app yamls found.

    Of several for one service the longest counts, so that no cut goes untold.
    """
    limits: dict[str, timedelta] = {}
    for app in (app for folder in files.folders for app in sources.apps(folder)):
        known = limits.get(app.service, timedelta(0))
        limits[app.service] = max(known, attempt_limit(app))
    return limits


def _refused(translations: Iterable[Translation]) -> list[tuple[Translation, Note]]:
    return [
        (one, refused)
        for one in translations
        for refused in (*one.of_level(Level.BLOCK), *one.unaccepted)
    ]


def _file_notes(files: Sources) -> list[Note]:
    """Give what holds for every job of the files."""
    if not files.entries:
        return []
    text = (
        "Cloud Scheduler does not send X-Appengine-Cron: code that checks it must take "
        "X-CloudScheduler from 0.1.0.2 as well before the move"
    )
    return [note("cron-header-gone", text, None)]


def _export(
    form: str,
    translations: Sequence[Translation],
    settings: Settings,
    refused: Sequence[tuple[Translation, Note]],
) -> None:
    if settings.project is None or settings.location is None:
        _fail(
            f"--format {form} makes what will be executed: it needs --project and "
            "--location"
        )
    for one, why in refused:
        option = f" (--accept {why.code})" if why.level is Level.LOSS else ""
        _remark(
            f"{why.place}: {one.entry.url}: {why.level} {why.code}: {why.text}{option}"
        )
    if refused:
        _remark(
            "nothing is exported while a loss is not accepted or an entry is blocked"
        )
        return
    from migrate.export import EXPORTS  # noqa: PLC0415 - only one of them is needed

    jobs = [job for one in translations for job in one.jobs]
    _print_exactly(EXPORTS[form](jobs))


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
    files = _read(paths, dispatch, form)
    settings, _ = _settings(files, chosen, form)
    translations = _translate(files, settings)
    from migrate.report import proof  # noqa: PLC0415 - rich is slow to load

    if form == "json":
        _print_json(proof.as_json(translations))
    else:
        _print(proof.as_text(translations))
    sys.exit(NO if any(proof.diverges(one) for one in translations) else DONE)


# --- next -------------------------------------------------------------------------


@cli.command("next")
@options.paths
@click.option(
    "--from",
    "since",
    type=options.INSTANT,
    help="Look from this instant on (ISO 8601, UTC without an offset); default now.",
)
@click.option("--until", type=options.INSTANT, help="Look no further than this.")
@click.option(
    "--count",
    type=click.IntRange(1, 100_000),
    default=5,
    show_default=True,
    help="At most so many runs of each entry.",
)
@options.form
def next_command(  # noqa: PLR0913 - one parameter an option
    paths: tuple[Path, ...],
    dispatch: str | None,
    since: datetime | None,
    until: datetime | None,
    count: int,
    form: str,
) -> None:
    """Show the coming runs of every entry, in its zone and in UTC.

    Minutes that three entries or more share are listed at the end.
    """
    files = _read(paths, dispatch, form)
    from migrate.report import coming  # noqa: PLC0415 - rich is slow to load

    found = coming.coming(files.entries, since or _now(), count, until)
    if form == "json":
        _print_json(coming.as_json(found))
    else:
        _print(coming.as_text(found))


# --- completion -------------------------------------------------------------------


@cli.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands and options in a shell.

    bash: eval "$(cronshift completion bash)" in ~/.bashrc; zsh: the same with zsh in
    ~/.zshrc; fish: cronshift completion fish | source in config.fish.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - rare

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the three that click knows
    click.echo(kind(cli, {}, "cronshift", "_CRONSHIFT_COMPLETE").source())


# --- Printing and ending ------------------------------------------------------------


def _now() -> datetime:
    return datetime.now(UTC)


def _read(paths: tuple[Path, ...], dispatch: str | None, form: str) -> Sources:
    """Read the files; faults in them end the command, all told."""
    try:
        files = sources.read(paths, dispatch)
    except SourceError as error:
        _fail(str(error))
    _end_with(files.faults, form)
    for cron in files.crons:
        if not cron.entries:
            _remark(
                f"{cron.file}: no entries: deployed as it is, it deletes all cron jobs"
            )
    return files


def _settings(
    files: Sources, chosen: dict[str, Any], form: str = "text"
) -> tuple[Settings, list[Note]]:
    """Read the settings beside cron.yaml and lay the options over; faults end it."""
    try:
        of_file, faults = sources.read_settings(files, chosen["config"], chosen["env"])
    except SourceError as error:
        _fail(str(error))
    _end_with(faults, form)
    settings, notes = options.settings(chosen, of_file)
    reached = [
        effective(entry.url, entry.target, files.rules, settings.project).service
        for entry in files.entries
    ]
    _end_with(settings.faults(files.entries, reached), form)
    for told in settings.unreached(reached):
        _remark(told)
    missing = settings.missing_accounts(files.entries, reached)
    if missing:
        _fail(
            f"HTTP targets need a service account: --oidc-service-account-email "
            f"[SERVICE=]EMAIL for {', '.join(missing)}"
        )
    return settings, notes


# What a command's JSON holds where there is nothing to tell, beside `faults`.
_NOTHING: Final[dict[str | None, dict[str, list[Any]]]] = {
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
        _print_json(_NOTHING.get(command, {}) | {"faults": told})
    for fault in faults:
        _remark(str(fault))
    _fail("1 fault" if len(faults) == 1 else f"{len(faults)} faults")


def _print(lines: Iterable[Text]) -> None:
    from rich.console import Console  # noqa: PLC0415 - slow to load

    console = Console(highlight=False, soft_wrap=True, emoji=False, markup=False)
    with console.capture() as captured:  # rich would end a broken pipe itself
        for line in lines:
            console.print(line)
    click.echo(captured.get(), nl=False, color=console.is_terminal)


def _print_json(document: dict[str, Any]) -> None:
    _print_exactly(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _print_exactly(text: str) -> None:
    """Print what a program is to read: UTF-8, whatever the terminal's encoding."""
    # A file's name may hold bytes that are no text; JSON can say them escaped.
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def _remark(text: str) -> None:
    click.echo(text, err=True)


def _fail(text: str) -> NoReturn:
    click.echo(f"cronshift: {text}", err=True)
    sys.exit(COULD_NOT)
