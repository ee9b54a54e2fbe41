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
    return Done("the legacy job fires it")


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
