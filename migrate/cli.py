"""The command line: one function a command, which wires the rest together."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from cronspec.schedule import ScheduleError
from cronspec.zones import TZDATA_VERSION, ZoneError
from migrate import inputs, options, terminal
from migrate.notes import Level, Note, note
from migrate.terminal import DONE, NO, fail, remark, show, show_exactly, show_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from migrate.audit import Report
    from migrate.settings import Settings
    from migrate.sources import Sources
    from migrate.translate import Translation


def main() -> None:
    """Run the command line."""
    terminal.run(cli)


def own_version() -> str:
    """Give the version of the installed package, or say that there is none."""
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415 - slow to load
    from importlib.metadata import version as installed  # noqa: PLC0415 - as above

    try:
        return installed("cronshift")
    except PackageNotFoundError:
        return "(from a checkout)"


def version() -> str:
    """Give the versions that results depend on."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"cronshift {own_version()}, tzdata {TZDATA_VERSION}, Python {python}"


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        click.echo(version())
        context.exit()


_LIVE = ("adopt", "apply", "plan")
_MOVES = ("cutover", "rollback")


class _Commands(click.Group):
    """All commands; those on live jobs are loaded only where they are wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give all names in order."""
        return sorted([*super().list_commands(ctx), *_LIVE, *_MOVES])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give the command of that name."""
        if cmd_name in _MOVES:
            from migrate import cli_cutover  # noqa: PLC0415 - as below

            return cli_cutover.COMMANDS[cmd_name]
        if cmd_name not in _LIVE:
            return super().get_command(ctx, cmd_name)
        from migrate import cli_live  # noqa: PLC0415 - not wanted for the others

        return cli_live.COMMANDS[cmd_name]


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
    commands on live jobs (plan, apply, adopt) need an account and a network.

    Exit codes: 0 done; 1 the answer is no (findings, a divergence, a loss not
    accepted); 2 could not (unreadable file, bad usage, faults in a file).
    """


# --- audit ------------------------------------------------------------------------


@cli.command("audit")
@options.paths
@options.judgement
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, SARIF 2.1.0 for code scanning, or "
    "annotations for a GitHub workflow.",
)
def audit_command(
    paths: tuple[Path, ...],
    dispatch: str | None,
    services: str | None,
    show_ignored: bool,  # noqa: FBT001 - click gives it by name
    form: str,
    **chosen: Any,
) -> None:
    """Audit cron.yaml and dispatch.yaml: what is wrong, or will surprise.

    Below a folder, app yamls, code and build scripts are looked at too. Faults in the
    files are findings. Exits 1 where there is one of the severity of --fail-on.
    """
    from migrate import audit, evidence_files  # noqa: PLC0415 - slow to load

    files = inputs.read_all(paths, dispatch)
    of_file = inputs.settings_of_file(files, chosen, form)
    settings = options.judge(of_file, chosen)
    named = [name.strip() for name in (services or "").split(",") if name.strip()]
    evidence = evidence_files.gather(files, _now(), named, settings.project)
    report = audit.examine(evidence, sorted(settings.ignore))
    _print_audit(report, form, show_ignored)
    never = settings.fail_on == "never"
    fail_on = None if never else audit.Severity(settings.fail_on)
    sys.exit(NO if audit.reaches(report, fail_on) else DONE)


def _print_audit(report: Report, form: str, show_ignored: bool) -> None:  # noqa: FBT001 - as the option has it
    from migrate.report import annotations, findings, sarif  # noqa: PLC0415 - as above

    match form:
        case "json":
            show_json(findings.as_json(report))
        case "sarif":
            show_json(sarif.as_sarif(report, own_version()))
        case "github":
            click.echo(annotations.as_annotations(report), nl=False)
        case _:
            click.echo(findings.as_text(report, show_ignored=show_ignored), nl=False)


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
    notes = [*remarks, *_file_notes(files)]
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
    files = inputs.read(paths, dispatch, form)
    from migrate.report import coming  # noqa: PLC0415 - rich is slow to load

    found = coming.coming(files.entries, since or _now(), count, until)
    if form == "json":
        show_json(coming.as_json(found))
    else:
        show(coming.as_text(found))


# --- explain ----------------------------------------------------------------------


@cli.command("explain")
@click.argument("text")
@click.option(
    "--time-zone",
    "timezone",
    metavar="ZONE",
    default="UTC",
    show_default=True,
    help="The zone whose clock the schedule runs on.",
)
@click.option(
    "--count",
    type=click.IntRange(0, 100_000),
    default=5,
    show_default=True,
    help="So many coming runs.",
)
@options.form
def explain_command(text: str, timezone: str, count: int, form: str) -> None:
    """Explain one schedule, groc or unix-cron: words, kind, next runs, twin.

    The twin is the schedule of the other language that ticks alike, if there is one.
    """
    from migrate.report import explanation  # noqa: PLC0415 - rich is slow to load

    try:
        schedule = explanation.read(text)
        one = explanation.explanation(text, timezone, _now(), count)
    except (ScheduleError, ZoneError) as error:
        fail(str(error))
    if form == "json":
        show_json(explanation.as_json(one, schedule))
    else:
        show(explanation.as_text(one, schedule))


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


def _now() -> datetime:
    return datetime.now(UTC)
