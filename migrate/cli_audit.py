"""The command `audit`: findings over the files below PATH."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import audit, evidence_files, inputs, options, overlay
from migrate.about import own_version
from migrate.report import annotations as github
from migrate.report import findings, sarif
from migrate.sources import SourceError
from migrate.terminal import DONE, NO, fail, show_exactly, show_findings, show_json

if TYPE_CHECKING:
    from pathlib import Path


@click.command("audit")
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
def audit_command(  # noqa: PLR0913 - one parameter an option
    paths: tuple[Path, ...],
    dispatch: str | None,
    services: str | None,
    task_files: tuple[str, ...],
    show_ignored: bool,  # noqa: FBT001 - click gives it by name
    form: str,
    **chosen: Any,
) -> None:
    """Audit cron.yaml and dispatch.yaml: what is wrong, or will surprise.

    Below a folder, app yamls, code and build scripts are looked at too. Faults in the
    files are findings. Exits 1 where there is one of the severity of --fail-on.
    """
    files = inputs.read_all(paths, dispatch)
    of_file = inputs.settings_of_file(files, chosen, form)
    settings = overlay.judge(of_file, chosen)
    if not files.faults:  # else entries may be missing only because of them
        inputs.fit(files, settings, form)
    named = [name.strip() for name in (services or "").split(",") if name.strip()]
    now = datetime.now(UTC)
    try:
        tasks = [evidence_files.read_tasks(text) for text in task_files]
        evidence = evidence_files.gather(files, now, named, settings.project, tasks)
    except SourceError as error:
        fail(str(error))
    report = audit.examine(evidence, sorted(settings.ignore))
    _print_audit(report, form, show_ignored)
    never = settings.fail_on == "never"
    fail_on = None if never else audit.Severity(settings.fail_on)
    sys.exit(NO if audit.reaches(report, fail_on) else DONE)


def _print_audit(report: audit.Report, form: str, show_ignored: bool) -> None:  # noqa: FBT001 - as the option has it
    match form:
        case "json":
            show_json(findings.as_json(report))
        case "sarif":
            show_json(sarif.as_sarif(report, own_version()))
        case "github":
            show_exactly(github.as_annotations(report))
        case _:
            show_findings(findings.as_text(report, show_ignored=show_ignored))


COMMANDS: Final = {"audit": audit_command}
