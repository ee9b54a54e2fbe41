"""adopt; `cli` loads it where it is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from migrate import live_options, options
from migrate.adoption import Misfit, adoptions
from migrate.prepare import api, now, wanted
from migrate.report import changes, outcomes
from migrate.terminal import NO, confirm, end, fail, remark, show, show_json


@click.command("adopt")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--path",
    "paths",
    multiple=True,
    default=(".",),
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The folder or the cron file whose entries they serve (default: here).",
)
@click.option(
    "--dispatch",
    metavar="FILE|none",
    help="The dispatch.yaml that counts; default: the one beside cron.yaml.",
)
@options.choices
@live_options.yes
@options.form
def adopt_command(
    *,
    names: tuple[str, ...],
    paths: tuple[Path, ...],
    yes: bool,
    form: str,
    **chosen: Any,
) -> None:
    """Take hand-made jobs over: each becomes the job of the entry with its url.

    NAME is a job's id. It keeps its name, history and pause; what else would change is
    shown first.
    """
    asked = wanted(paths, now(), form, chosen)
    if asked.settings.owner == "terraform":
        fail('owner = "terraform": import them there (translate --import-blocks)')
    with api() as store:
        live = list(store.jobs(asked.parent))
        found = adoptions(names, asked.jobs, live, asked.settings.job_set)
        misfits = [one for one in found if isinstance(one, Misfit)]
        for one in misfits:
            remark(f"{one.name}: {one.why}")
        updates = [one for one in found if not isinstance(one, Misfit)]
        if misfits:
            if form == "json":
                show_json(outcomes.adoptions_json((), misfits))
            end(NO)
        if form == "text":
            for update in updates:
                show(changes.adoption_text(update.before, update.after, update.fields))
        if not yes:
            confirm(f"Take over {len(updates)} jobs?")
        for update in updates:
            store.update(update.after, update.mask)
            remark(f"adopted {update.before.job_id}")
    if form == "json":
        show_json(outcomes.adoptions_json(updates, ()))


COMMANDS: Final = {"adopt": adopt_command}
