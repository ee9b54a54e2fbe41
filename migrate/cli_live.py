"""The commands on live jobs: plan, apply, adopt. `cli` loads them where one is wanted.

Google's clients are loaded only when one of them runs.
"""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import options
from migrate.adoption import Misfit, adoptions
from migrate.apply import Run
from migrate.plan import diff
from migrate.planfile import PlanFileError, Saved, dump, looks_like_one
from migrate.prepare import Wanted, api, now, wanted
from migrate.report import changes
from migrate.terminal import DONE, NO, confirm, end, fail, remark, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from threading import Event

    from migrate.apply import Outcome, Result
    from migrate.plan import Plan
    from migrate.store import JobStore

CHANGES: Final = 2
"""What `plan --detailed-exitcode` ends with where there is something to change."""

_only = click.option(
    "--only",
    multiple=True,
    metavar="URL",
    help="These entries alone (repeatable): no other job is made, changed or deleted.",
)
_max_deletes = click.option(
    "--max-deletes",
    type=click.IntRange(0),
    metavar="N",
    help="Delete up to N jobs. Without it: one, or up to 30 % of them.",
)
_paused = click.option(
    "--paused", is_flag=True, help="Make new jobs so that none fires before its resume."
)
_moved_from = click.option(
    "--moved-from",
    multiple=True,
    metavar="ID",
    help="A region where jobs of this set lived before (repeatable): the API cannot "
    "move a job, so they are made anew here and deleted there.",
)
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


# --- plan -------------------------------------------------------------------------


@click.command("plan")
@options.paths
@options.choices
@_only
@_max_deletes
@_moved_from
@_paused
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the plan, for apply FILE to carry out exactly.",
)
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit 0 without changes, 2 with changes, and 1 on every error.",
)
@options.form
def plan_command(
    *,
    paths: tuple[Path, ...],
    form: str,
    out: Path | None,
    detailed_exitcode: bool,
    **chosen: Any,
) -> int:
    """Compare the live jobs with what cron.yaml wants; change nothing.

    Only jobs with our marks, and of this set, are ours. Exits 1 where the plan could
    not be applied: a loss not accepted, a name that is taken, too many deletions.
    """
    at = now()
    asked = wanted(paths, at, form, chosen)
    if out is not None and asked.settings.owner == "terraform":
        fail('--out is for apply, and owner = "terraform" has none: drop it')
    with api() as store:
        plan = _plan(asked, store, chosen)
    if form == "json":
        show_json(changes.plan_json(plan, at))
    else:
        show(changes.plan_text(plan, at))
    if plan.conflicts or plan.refusal:
        end(NO)
    if out is not None:
        _save(plan, out)
    return CHANGES if plan and detailed_exitcode else DONE


def _plan(asked: Wanted, store: JobStore, chosen: dict[str, Any]) -> Plan:
    scope = asked.scope(
        paused=chosen["paused"],
        max_deletes=chosen["max_deletes"],
        moved_from=chosen["moved_from"],
    )
    plan = diff(asked.jobs, store.jobs(scope.parent, *scope.former), scope)
    known = {job.url for job in plan.kept} | {
        change.before.url for change in plan.changes if hasattr(change, "before")
    }
    known |= {one.entry.url for one in asked.translations}
    if unknown := sorted(asked.urls - known):
        fail(f"--only {unknown[0]}: no entry and no job of this set has that url")
    return plan


def _save(plan: Plan, out: Path) -> None:
    try:
        out.write_text(dump(plan), encoding="utf-8")
    except OSError as error:
        fail(f"{out}: {error.strerror}")
    remark(f"saved: cronshift apply {out}")


# --- apply ------------------------------------------------------------------------


@click.command("apply")
@options.paths
@options.choices
@_only
@_max_deletes
@_moved_from
@_paused
@_yes
@options.form
def apply_command(
    *,
    paths: tuple[Path, ...],
    form: str,
    yes: bool,
    **chosen: Any,
) -> None:
    """Make the live jobs what cron.yaml wants, or carry out a saved plan.

    PATH may be a file of plan --out, which is carried out exactly, or refused where
    the jobs changed since. Shows the plan and asks first. Exits 1 if anything was not
    done; run again, it goes on from what is there.
    """
    at = now()
    saved = _saved(paths, chosen)
    with api() as store:
        if saved is not None:
            plan = _again(saved, store)
        else:
            asked = wanted(paths, at, form, chosen)
            if asked.settings.owner == "terraform":
                fail(
                    'owner = "terraform": these jobs are Terraform\'s to change; '
                    "cronshift plan compares, terraform apply changes"
                )
            plan = _plan(asked, store, chosen)
        sys.exit(_apply(plan, store, at, form, yes=yes))


def _saved(paths: tuple[Path, ...], chosen: dict[str, Any]) -> Saved | None:
    if len(paths) != 1 or not paths[0].is_file():
        return None
    try:
        text = paths[0].read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None  # the reader of cron files says what is wrong with it
    if not looks_like_one(text):
        return None
    if given := [
        name for name, value in chosen.items() if value not in {None, (), False}
    ]:
        option = given[0].replace("_", "-").replace("job-set", "set")
        raise click.UsageError(
            f"--{option} has no say in a saved plan, which is carried out as it is"
        )
    try:
        return Saved(text, str(paths[0]))
    except PlanFileError as error:
        fail(str(error))


def _again(saved: Saved, store: JobStore) -> Plan:
    try:
        return saved.plan(store.jobs(saved.scope.parent, *saved.scope.former))
    except PlanFileError as error:
        remark(f"cronshift: {error}")
        end(NO)


def _apply(plan: Plan, store: JobStore, at: datetime, form: str, *, yes: bool) -> int:
    if form == "text":
        show(changes.plan_text(plan, at))
    if plan.conflicts or plan.refusal:
        if form == "json":
            show_json(changes.plan_json(plan, at))
        return NO
    if plan and not yes:
        confirm(f"Make {len(plan.changes)} changes?")
    outcome, stopped = _carry_out(plan, store, form)
    if form == "json":
        show_json(changes.outcome_json(outcome))
    elif plan:
        show(changes.outcome_text(outcome, stopped=stopped))
    return DONE if outcome.complete else NO


def _carry_out(plan: Plan, store: JobStore, form: str) -> tuple[Outcome, bool]:
    from migrate.report import changes  # noqa: PLC0415 - rich is slow to load

    total, told = len(plan.changes), 0

    def tell(result: Result) -> None:
        nonlocal told
        told += 1
        if form == "text":
            show([changes.result_text(result, told, total)])

    run = Run(store, now, tell)
    with _stopping(run.stop):
        outcome = run.apply(plan)
    return outcome, run.stop.is_set()


@contextmanager
def _stopping(stop: Event) -> Iterator[None]:
    """Let a first Ctrl-C stop after the changes in flight, a second one at once."""

    def on_signal(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        remark("stopping after the changes in flight; Ctrl-C again stops at once")

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- adopt ------------------------------------------------------------------------


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
@_yes
def adopt_command(
    *,
    names: tuple[str, ...],
    paths: tuple[Path, ...],
    yes: bool,
    **chosen: Any,
) -> None:
    """Take hand-made jobs over: each becomes the job of the entry with its url.

    NAME is a job's id. It keeps its name, history and pause; what else would change is
    shown first.
    """
    from migrate.report import changes  # noqa: PLC0415 - rich is slow to load

    asked = wanted(paths, now(), "text", chosen)
    if asked.settings.owner == "terraform":
        fail('owner = "terraform": import them there (translate --import-blocks)')
    with api() as store:
        live = list(store.jobs(asked.parent))
        found = adoptions(names, asked.jobs, live, asked.settings.job_set)
        misfits = [one for one in found if isinstance(one, Misfit)]
        for one in misfits:
            remark(f"{one.name}: {one.why}")
        if misfits:
            end(NO)
        updates = [one for one in found if not isinstance(one, Misfit)]
        for update in updates:
            show(changes.adoption_text(update.before, update.after, update.fields))
        if not yes:
            confirm(f"Take over {len(updates)} jobs?")
        for update in updates:
            store.update(update.after, update.mask)
            remark(f"adopted {update.before.job_id}")


COMMANDS: Final = {
    "adopt": adopt_command,
    "apply": apply_command,
    "plan": plan_command,
}
