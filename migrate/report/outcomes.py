"""`apply` and `adopt`: what came of each change, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from migrate.apply import Failed, Made, NotTried
from migrate.plan import name_of, url_of_change
from migrate.report.changes import action, fields_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from migrate.adoption import Misfit
    from migrate.apply import Outcome, Result
    from migrate.plan import Update


def result_text(result: Result, number: int, total: int) -> Text:
    """Give the line that tells one result as it comes."""
    what = f"{action(result.change)} {name_of(result.change).rpartition('/')[2]}"
    width = len(str(total))
    head = f"[{number:{width}}/{total}] "
    match result:
        case Made():
            return Text.assemble(head, ("done", "green"), f"  {what}")
        case Failed(_, why):
            return Text.assemble(head, ("FAILED", "red"), f"  {what}: {why}")
        case NotTried(_, why):
            return Text.assemble(head, ("not done", "yellow"), f"  {what}: {why}")


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Give what became of every change."""
    told = []
    for result in outcome.results:
        why: str | None = None
        match result:
            case Made():
                state = "done"
            case Failed(_, problem):
                state, why = "failed", str(problem)
            case NotTried(_, reason):
                state, why = "not done", reason
        told.append(
            {
                "action": action(result.change),
                "name": name_of(result.change),
                "url": url_of_change(result.change),
                "result": state,
                "why": why,
            }
        )
    return {"complete": outcome.complete, "results": told}


def outcome_text(outcome: Outcome, *, stopped: bool) -> Iterator[Text]:
    """Yield what was done and not done."""
    left = [one for one in outcome.results if not isinstance(one, Made)]
    done = len(outcome.results) - len(left)
    if not left:
        yield Text(f"All {done} changes are made.", style="bold green")
        return
    head = "Stopped" if stopped else "Not complete"
    yield Text(f"{head}: {done} of {len(outcome.results)} changes made.", style="bold")
    for one in left:
        job_id = name_of(one.change).rpartition("/")[2]
        yield Text(f"  not done: {action(one.change)} {job_id}: {one.why}")
    yield Text("Run it again: it goes on from what is there.")


def adoptions_json(
    updates: Iterable[Update], misfits: Iterable[Misfit]
) -> dict[str, Any]:
    """Give what was taken over, or the jobs that cannot be, as a JSON document."""
    return {
        "adopted": [
            {
                "name": one.before.name,
                "mask": list(one.mask),
                "fields": fields_json(one.fields),
            }
            for one in updates
        ],
        "misfits": [{"name": one.name, "why": one.why} for one in misfits],
    }
