"""The next step of `cutover` for one entry, decided on what is there. Pure.

    overlap     [legacy]          make ours, firing
                [legacy] [ours]   see ours deliver; at rest: delete the legacy job
                         [ours]   done
    hand-over   [legacy]          in the rest after a run: make ours, firing
                [legacy] [ours]   in the same rest: delete the legacy job
                         [ours]   done: the next run comes a period later
    gap         [legacy]          make ours, paused
                [legacy] (ours)   at rest: delete the legacy job and resume ours
                         (ours)   broken off between the two: resume ours
                         [ours]   done

`[ ]` fires, `( )` is paused. Both firing is a state of every way: it may have been
left there by a way that was open before, or by hand, and ends in a quiet moment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec.naming import PAUSED_HEADER
from migrate.cutover.quiet import LAST_CALL, MARGIN, disturbed, next_due
from migrate.cutover.seen import (
    Before,
    Complete,
    Do,
    Done,
    Make,
    MakePaused,
    Mend,
    Release,
    Remove,
    Resume,
    Stage,
    Stop,
    Swap,
    Wait,
    Way,
)
from migrate.livejob import State
from migrate.plan import Finish, Update

if TYPE_CHECKING:
    from datetime import datetime

    from migrate.cutover.seen import Moving, Next, OurJob
    from migrate.livejob import LiveJob

_ANSWERED: Final = frozenset({0, 6, 10})
"""Codes of an attempt that reached the host: done, or (409) the run is another's."""
_AFTER_A_TICK: Final = timedelta(seconds=30)
_UNPAUSE: Final = "set paused = false and terraform apply"
_MANY_YEARS: Final = timedelta(days=1000)


def onward(one: Moving, now: datetime) -> Next:
    """Decide the next step of a cut-over."""
    stopped = obstacle(one)
    if stopped is not None:
        return stopped
    if one.still_firing:
        names = ", ".join(job.job_id for job in one.still_firing)
        return Stop(
            f"{names} fires too, of a form that the entry had before: cronshift plan "
            "shows it, cronshift apply deletes it"
        )
    if one.legacy is None:
        return _without_legacy(one)
    if one.legacy.state is State.UNKNOWN:
        return Stop("the API does not say whether its legacy job fires or is paused")
    unready = _unready(one, one.legacy)
    if unready is not None:
        return unready
    if one.legacy.state is not State.ENABLED:
        return _carried_over(one, one.legacy, now)
    match one.chosen.way:
        case Way.OVERLAP:
            return _overlap(one, one.legacy, now)
        case Way.HAND_OVER:
            return _hand_over(one, one.legacy, now)
        case Way.GAP:
            return _gap(one, one.legacy, now)


# --- Before anything else -----------------------------------------------------------


def obstacle(one: Moving) -> Stop | None:
    """Say what must be decided by somebody before a step of either direction."""
    if one.taken:
        names = ", ".join(job.job_id for job in one.taken)
        return Stop(
            f"a job that is not ours is named {names}: cronshift adopt {names}, or "
            "delete it",
            tuple(job.resource for job in one.taken),
        )
    if one.differing and one.legacy is None:
        return Stop(
            "the live legacy job is not as the file says: deploy the file with gcloud "
            "app deploy cron.yaml, or make the file as the job is",
            (one.differing[0].resource, one.as_legacy),
        )
    if not one.ours:
        return Stop("it is blocked: no job can be made of it")
    return None


def _unready(one: Moving, legacy: LiveJob) -> Next | None:
    """Give what our jobs need first; None where they can be gone on with."""
    for job in one.ours:
        mended = _mended(one, job)
        if mended is not None:
            return mended
        if isinstance(job.change, Update):
            return Stop(
                "our job is not as the file says: cronshift plan shows how, cronshift "
                "apply changes it",
                fields=job.fields,
            )
    if missing := one.at(Stage.MISSING):
        return _make(one, missing[0], legacy)
    return None


def _mended(one: Moving, job: OurJob) -> Next | None:
    """Give what makes a job whole that was left half done; None where it is whole."""
    if isinstance(job.change, Finish):
        why = "its creation was broken off: it is finished, and stays paused"
        return _of_ours(one, Do(Complete(job.change), why))
    if isinstance(job.change, Update) and not one.theirs:
        if job.stage is Stage.HELD:
            return Do(Mend(job.change), "our paused job is made as the file has it")
        if job.stage is Stage.FIRING and all(
            field.path.endswith(f"[{PAUSED_HEADER}]") for field in job.fields
        ):
            return Do(Resume((job.wanted,)), "it fires, and our mark of a pause goes")
    return None


def _make(one: Moving, job: OurJob, legacy: LiveJob) -> Next | None:
    """Make a missing job; None where its moment matters."""
    if one.theirs:
        return Stop("our job is not there: terraform apply makes it")
    if legacy.state is not State.ENABLED:
        why = "made paused, as the legacy job is"
        return Do(MakePaused(job.wanted), why)
    match one.chosen.way:
        case Way.OVERLAP:
            return Do(Make(job.wanted), "both fire for a while")
        case Way.GAP:
            return Do(MakePaused(job.wanted), "it waits for a quiet moment")
        case Way.HAND_OVER:
            return None


def _of_ours(one: Moving, do: Do) -> Next:
    """Give a step on our jobs, or say that they are another tool's."""
    if one.theirs:
        return Stop(f'owner = "terraform" changes our job, not this ({do.why})')
    return do


# --- Without a legacy job -----------------------------------------------------------


def _without_legacy(one: Moving) -> Next:
    if one.at(Stage.MISSING):
        return Stop(
            "no legacy job fires it: cron.yaml was not deployed with it; cronshift "
            "apply makes a job"
        )
    for job in one.ours:
        mended = _mended(one, job)
        if mended is not None:
            return mended
    if stopped := one.at(Stage.STOPPED):
        if one.theirs and one.before is Before.ENABLED:
            return Stop(f"nobody fires it: {_UNPAUSE}")
        return Done(f"moved; {stopped[0].stage.value} it stays")
    if held := one.at(Stage.HELD):
        if one.theirs:
            if one.before is Before.STOPPED:
                return Done("moved; paused it stays, as the legacy job was")
            return Stop(f"nobody fires it: {_UNPAUSE}")
        if one.before is Before.STOPPED:
            live = next(job.live for job in held if job.live is not None)
            return Do(Release(live), "the legacy job was paused, so ours stays paused")
        jobs = tuple(job.wanted for job in held)
        return Do(Resume(jobs), "nobody fires it: the legacy job is gone already")
    return Done("moved")


def _carried_over(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    """Carry a legacy job that does not fire over as a paused one."""
    for job in one.at(Stage.HELD):
        if job.live is not None:
            why = f"the legacy job is {legacy.state.value.lower()}: ours stays paused"
            return _of_ours(one, Do(Release(job.live), why))
    why = "it does not fire, and ours is there in its place"
    return disturbed(one.pace, legacy, now) or Do(Remove(legacy), why)


# --- The three ways -----------------------------------------------------------------


def _overlap(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    if one.at(Stage.STOPPED):
        return _stopped(one)
    if held := one.at(Stage.HELD):
        jobs = tuple(job.wanted for job in held)
        return _of_ours(one, Do(Resume(jobs), "both fire for a while"))
    for job in one.ours:
        if job.live is not None and not _delivered(job.live, legacy):
            due = next_due(one.pace, job.live, now)
            if due is None:
                return Wait(now + _MANY_YEARS, "it never fires: ours cannot be seen to")
            why = f"ours is to be seen delivering: it is due {due:%Y-%m-%d %H:%M} UTC"
            return Wait(due + _AFTER_A_TICK, why)
    why = "ours delivers"
    return disturbed(one.pace, legacy, now, MARGIN) or Do(Remove(legacy), why)


def _delivered(ours: LiveJob, legacy: LiveJob) -> bool:
    """Tell whether a run of ours reached the host since it was last changed.

    A run that fails alike from both is the task's failure, not the delivery's.
    """
    if ours.last_at is None or "status" not in ours.resource:
        return False
    if ours.updated_at is not None and ours.last_at < ours.updated_at:
        return False
    return ours.last_code in _ANSWERED or ours.last_code == legacy.last_code


def _hand_over(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    if one.at(Stage.STOPPED):
        return _stopped(one) if not one.theirs else _leave_to_them(one, legacy, now)
    if missing := one.at(Stage.MISSING):
        do = Do(Make(missing[0].wanted), "in the rest after a run")
        return disturbed(one.pace, legacy, now, MARGIN) or do
    if held := one.at(Stage.HELD):
        jobs = tuple(job.wanted for job in held)
        do = Do(Resume(jobs), "in the rest after a run")
        return disturbed(one.pace, legacy, now, MARGIN) or _of_ours(one, do)
    why = "the next run comes from ours, a period later"
    return disturbed(one.pace, legacy, now, LAST_CALL) or Do(Remove(legacy), why)


def _gap(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    if one.at(Stage.STOPPED):
        return _stopped(one) if not one.theirs else _leave_to_them(one, legacy, now)
    if held := one.at(Stage.HELD):
        do = Do(Swap(legacy, tuple(job.wanted for job in held)), "a quiet moment")
        return disturbed(one.pace, legacy, now, MARGIN) or _of_ours(one, do)
    why = "both fire: the legacy job goes in a quiet moment"
    return disturbed(one.pace, legacy, now, LAST_CALL) or Do(Remove(legacy), why)


def _stopped(one: Moving) -> Stop:
    if one.theirs:
        return Stop(f"ours is paused: {_UNPAUSE}; both fire then for a while")
    return Stop(
        "somebody paused our job: resume it (gcloud scheduler jobs resume), or delete "
        "it and run this again"
    )


def _leave_to_them(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    do = Do(Remove(legacy), f"a quiet moment; at once then: {_UNPAUSE}")
    return disturbed(one.pace, legacy, now, MARGIN) or do
