"""The next step of `rollback` for one entry, decided on what is there. Pure.

          [ours]   make the legacy job again (where the host does not make one run
                   of both: in a quiet moment)
[legacy]  [ours]   it is in the list: pause ours
[legacy]  (ours)   done
          (ours)   nobody fires it: make the legacy job again at once
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from migrate.cutover.onward import obstacle
from migrate.cutover.quiet import LAST_CALL, MARGIN, disturbed
from migrate.cutover.seen import (
    Before,
    Complete,
    Do,
    Done,
    Hold,
    Restore,
    Stage,
    Stop,
    Way,
)
from migrate.livejob import State
from migrate.normal import form_of
from migrate.plan import Finish

if TYPE_CHECKING:
    from datetime import datetime

    from migrate.cutover.seen import Moving, Next
    from migrate.livejob import LiveJob


def back(one: Moving, now: datetime) -> Next:
    """Decide the next step of a roll-back."""
    stopped = obstacle(one)
    if stopped is not None and one.ours:
        return stopped
    if one.legacy is not None:
        return _with_legacy(one, one.legacy, now)
    return _without_legacy(one, now)


def _with_legacy(one: Moving, legacy: LiveJob, now: datetime) -> Next:
    for job in one.at(Stage.UNBORN):
        if isinstance(job.change, Finish) and not one.theirs:
            why = "its creation was broken off: it is finished, and stays paused"
            return Do(Complete(job.change), why)
    for job in one.at(Stage.FIRING):
        if legacy.state is not State.ENABLED:
            return Stop(
                "the legacy job is there and does not fire: resume it where it was "
                "paused, or delete it and run this again"
            )
        if one.theirs:
            return Stop("both fire: set paused = true and terraform apply")
        if job.live is not None:
            do = Do(Hold(job.live), "the legacy job is there again")
            return disturbed(one.pace, job.live, now, LAST_CALL) or do
    for live in one.still_firing:
        if one.theirs:
            return Stop("both fire: set paused = true and terraform apply")
        do = Do(Hold(live), "the legacy job is there again")
        return disturbed(one.pace, live, now, LAST_CALL) or do
    return _surplus(one) or Done(
        "the legacy job fires it"
        if legacy.state is State.ENABLED
        else "the legacy job is there, and paused as it was"
    )


def _surplus(one: Moving) -> Stop | None:
    """Say that there are more legacy jobs of it than the file has entries like it.

    Two operators, or a request that took effect after its sender had given up.
    """
    wanted = form_of(one.as_legacy)
    more = [job for job in one.differing if form_of(job.resource) == wanted]
    if not more:
        return None
    return Stop(
        f"{len(more)} more legacy jobs like it fire it too: gcloud app deploy "
        "cron.yaml deletes what is too many",
        tuple(job.resource for job in more),
    )


def _without_legacy(one: Moving, now: datetime) -> Next:
    again = Do(Restore(one.as_legacy), "nobody fires it")
    if one.at(Stage.FIRING):
        side_by_side = "both fire for a moment"
        if one.chosen.way is Way.OVERLAP:
            return Do(Restore(one.as_legacy), side_by_side)
        for job in one.ours:
            wait = job.live and disturbed(one.pace, job.live, now, MARGIN)
            if wait:
                return wait
        return Do(Restore(one.as_legacy), f"a quiet moment; {side_by_side}")
    if one.before is Before.STOPPED:
        return Done(
            "it was paused before the move, and is: a legacy job can only be made "
            "firing"
        )
    if one.at(Stage.STOPPED) and not one.theirs:
        return Stop(
            "somebody paused our job, and a legacy job would fire: resume ours, or "
            "delete it and run this again"
        )
    if one.before is Before.UNKNOWN and len(one.at(Stage.MISSING)) == len(one.ours):
        return Stop("nobody fires it, and the backup does not know it: never deployed")
    return again
