"""The commands that only look at live jobs: status, export-cron."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import options, overlay
from migrate.export.cron import cron_json, cron_yaml
from migrate.prepare import api, located, now, wanted
from migrate.report import who_fires
from migrate.settings import Settings
from migrate.status import survey
from migrate.terminal import DONE, NO, fail, remark, show, show_exactly, show_json

if TYPE_CHECKING:
    from pathlib import Path


@click.command("status")
@options.paths
@options.choices
@options.form
def status_command(*, paths: tuple[Path, ...], form: str, **chosen: Any) -> None:
    """Show who fires each entry today: jobs of gcloud's, ours, or nobody.

    Exits 1 where an entry is fired twice or by nobody, or a job is not as the file
    has it.
    """
    asked = wanted(paths, now(), form, chosen, strict=False)
    with api() as store:
        live = store.jobs(asked.parent)
        legacy = list(store.legacy_jobs(asked.legacy_parent))
        found = survey(asked.translations, live, legacy, asked.scope(), now())
    if form == "json":
        show_json(who_fires.status_json(found))
    else:
        show(who_fires.status_text(found))
    sys.exit(DONE if found.well else NO)


@click.command("export-cron")
@options.project
@click.option("--location", metavar="ID", help="The jobs' region; default: the app's.")
@click.option("--set", "job_set", metavar="NAME", help="Our jobs of this set only.")
@click.option("--legacy", is_flag=True, help="The jobs that gcloud app deploy made.")
@options.form
def export_cron_command(
    *,
    project: str | None,
    location: str | None,
    job_set: str | None,
    legacy: bool,
    form: str,
) -> None:
    """Print live jobs as a cron.yaml, with notes on what it cannot say."""
    if project is None:
        project = overlay.project_of_environment()
    if project is None:
        fail("live jobs need --project, or CLOUDSDK_CORE_PROJECT")
    place, app = located(Settings(project=project, location=location))
    if legacy and app is not None:
        place = app.location  # gcloud's own are nowhere else
    parent = f"projects/{project}/locations/{place}"
    with api() as store:
        jobs = list(store.legacy_jobs(parent) if legacy else store.jobs(parent))
    if job_set is not None:
        jobs = [job for job in jobs if job.belongs_to(job_set)]
    if not jobs:
        remark(f"no jobs in {parent}")
    if form == "json":
        show_json(cron_json(jobs))
    else:
        show_exactly(cron_yaml(jobs))


COMMANDS: Final = {"export-cron": export_cron_command, "status": status_command}
