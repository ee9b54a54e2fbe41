"""plan and apply; `cli` loads them where one is wanted.

Google's clients are loaded only when one of them runs.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import live_options, options
from migrate.apply import Run
from migrate.interrupt import stopping
from migrate.plan import Create, diff, fired_twice
from migrate.planfile import PlanFileError, Saved, dump, load, looks_like_one
from migrate.prepare import Wanted, api, now, wanted
from migrate.report import changes, outcomes
from migrate.terminal import (
    DONE,
    NO,
    confirm,
    end,
    fail,
    remark,
    show,
    show_at_work,
    show_json,
)

if TYPE_CHECKING:
    from datetime import datetime

    from migrate.apply import Outcome, Result
    from migrate.plan import Plan
    from migrate.store import JobStore

CHANGES: Final = 2
"""What `plan --detailed-exitcode` ends with where there is something to change."""

# --- plan -------------------------------------------------------------------------


@click.command("plan")
@options.paths
@options.choices
@live_options.only
@live_options.max_deletes
@live_options.moved_from
@live_options.paused
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
    entries = {one.entry.url for one in asked.translations}
    for url in sorted(asked.urls - entries):
        if not plan.knows(url):
            fail(f"--only {url}: no entry and no job of this set has that url")
    return _with_doubled(plan, store, asked.legacy_parent)


def _with_doubled(plan: Plan, store: JobStore, legacy_parent: str) -> Plan:
    """Add what goes on firing beside new jobs; asked only where there are such."""
    if not any(isinstance(one, Create) and not one.paused for one in plan.changes):
        return plan
    legacy = store.legacy_jobs(legacy_parent)
    return replace(plan, doubled=fired_twice(plan, legacy))


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
@live_options.only
@live_options.max_deletes
@live_options.moved_from
@live_options.paused
@live_options.yes
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
        name
        for name, value in chosen.items()
        if value is not None and value is not False and value != ()
    ]:
        option = given[0].replace("_", "-").replace("job-set", "set")
        raise click.UsageError(
            f"--{option} has no say in a saved plan, which is carried out as it is"
        )
    try:
        return load(text, str(paths[0]))
    except PlanFileError as error:
        fail(str(error))


def _again(saved: Saved, store: JobStore) -> Plan:
    try:
        plan = saved.plan(store.jobs(saved.scope.parent, *saved.scope.former))
    except PlanFileError as error:
        remark(f"cronshift: {error}")
        end(NO)
    return _with_doubled(plan, store, saved.scope.parent)


def _apply(plan: Plan, store: JobStore, at: datetime, form: str, *, yes: bool) -> int:
    if form == "text":
        show(changes.plan_text(plan, at))
    if plan.conflicts or plan.refusal:
        if form == "json":
            show_json(changes.plan_json(plan, at))
        return NO
    if plan and not yes:
        confirm(f"Make {len(plan.changes)} changes?")
        # The answer may have taken its time, and others are at work.
        plan = _again(load(dump(plan), "what was shown"), store)
    outcome, stopped = _carry_out(plan, store, form)
    if form == "json":
        show_json(outcomes.outcome_json(outcome))
    elif plan:
        show_at_work(outcomes.outcome_text(outcome, stopped=stopped))
    return DONE if outcome.complete else NO


def _carry_out(plan: Plan, store: JobStore, form: str) -> tuple[Outcome, bool]:

    total, told = len(plan.changes), 0

    def tell(result: Result) -> None:
        nonlocal told
        told += 1
        if form == "text":
            show_at_work([outcomes.result_text(result, told, total)])

    run = Run(store, now, tell)
    with stopping(run.stop, "changes"):
        outcome = run.apply(plan)
    return outcome, run.stop.is_set()


COMMANDS: Final = {"apply": apply_command, "plan": plan_command}
