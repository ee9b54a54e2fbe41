"""`cutover` and `rollback`: where each entry stands, each step, what is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from migrate.cutover.seen import (
    Complete,
    Do,
    Done,
    Hold,
    Make,
    MakePaused,
    Mend,
    Release,
    Remove,
    Restore,
    Resume,
    Stop,
    Swap,
    Wait,
)
from migrate.normal import normal
from migrate.report.words import utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from migrate.cutover.observe import View
    from migrate.cutover.run import Ended, Told
    from migrate.cutover.seen import Moving, Next, OnOurs, Step
    from migrate.job import Json
    from migrate.livejob import LiveJob

_MARKS: Final = {
    Do: ("->", "cyan"),
    Wait: ("..", "yellow"),
    Stop: ("!!", "red"),
    Done: ("ok", "green"),
}


def step_words(step: Step) -> str:
    """Say what a step does."""
    match step:
        case Remove(legacy):
            return f"delete the legacy job {legacy.job_id}"
        case Swap(legacy, jobs):
            ours = ", ".join(map(_id, jobs))
            return f"delete the legacy job {legacy.job_id} and resume {ours}"
        case Restore():
            return "make the legacy job again"
        case _:
            return _words_on_ours(step)


def _words_on_ours(step: OnOurs) -> str:
    match step:
        case Make(job):
            return f"make {_id(job)}, firing"
        case MakePaused(job):
            return f"make {_id(job)}, paused"
        case Complete(change):
            return f"finish {change.before.job_id}"
        case Mend(change):
            return f"change {change.before.job_id}"
        case Release(live):
            return f"leave {live.job_id} paused for good"
        case Resume(jobs):
            return f"resume {', '.join(map(_id, jobs))}"
        case Hold(live):
            return f"pause {live.job_id}"


def _id(job: Json) -> str:
    return str(job["name"]).rpartition("/")[2]


def standing(view: View, found: Mapping[str, Next], *, ways: bool) -> Iterator[Text]:
    """Yield where each entry stands; with `ways`, how it goes over and why so."""
    for one in view.entries:
        line = Text(one.url, style="bold")
        line.append(f"  {one.place}", style="dim not bold")
        yield line
        if ways and one.legacy is not None:
            chosen = one.chosen
            yield Text(f"     {chosen.way.value}: {chosen.why}", style="dim")
        yield from _next(found[one.key])
    yield from _of_none("legacy jobs of no entry, left alone", view.strays)
    yield from _of_none(
        "our jobs of no entry, left alone (export-cron says them as entries)",
        view.orphans,
    )


def _of_none(what: str, jobs: Sequence[LiveJob]) -> Iterator[Text]:
    if jobs:
        said = (f"{job.url} ({job.schedule}, {job.job_id})" for job in jobs)
        yield Text(f"{what}: {', '.join(said)}", style="yellow")


def _next(chosen: Next) -> Iterator[Text]:
    mark, colour = _MARKS[type(chosen)]
    yield Text.assemble((f"  {mark} ", colour), _words(chosen))
    if isinstance(chosen, Stop):
        for field in chosen.fields:
            yield Text(
                f"       {field.path}: {field.before!r} is to be {field.after!r}"
            )
        if len(chosen.shown) == 2:
            live, wanted = map(normal, chosen.shown)
            for path in sorted(live.keys() | wanted.keys()):
                if live.get(path) != wanted.get(path):
                    yield Text(
                        f"       {path}: live {live.get(path, '')!r}, "
                        f"file {wanted.get(path, '')!r}"
                    )


def _words(chosen: Next) -> str:
    match chosen:
        case Do(step, why):
            return f"{step_words(step)} ({why})"
        case Wait(until, why):
            return f"{why}; look again at {utc(until)}"
        case Stop(why) | Done(why):
            return why


def begins_text(one: Moving, do: Do) -> Text:
    """Say a step before it is done."""
    return Text.assemble(
        ("now   ", "cyan"), f"{one.url}: {step_words(do.step)} ({do.why})"
    )


def told_text(told: Told) -> Text:
    """Say what became of a step."""
    if told.problem is None:
        return Text.assemble(("done  ", "green"), told.entry.url)
    return Text.assemble(("FAILED ", "red"), f"{told.entry.url}: {told.problem}")


def wait_text(wait: Wait, one: Moving) -> Text:
    """Say what is waited for."""
    return Text.assemble(
        ("wait  ", "yellow"), f"{one.url}: {wait.why}; until {utc(wait.until)}"
    )


def summary(found: Mapping[str, Next], *, word: str) -> Text:
    """Say how many entries are where they were to go."""
    done = sum(isinstance(one, Done) for one in found.values())
    return Text(f"{done} of {len(found)} entries {word}", style="bold")


def ended_json(ended: Ended, steps: Sequence[Told]) -> dict[str, Any]:
    """Give how a run ended, and its steps, for programs."""
    view = ended.view
    return {
        "entries": [_entry_json(one, ended.next[one.key]) for one in view.entries],
        "steps": [
            {
                "url": told.entry.url,
                "do": step_words(told.step),
                "problem": str(told.problem) if told.problem else None,
            }
            for told in steps
        ],
        "strays": [_stray(job) for job in view.strays],
        "orphans": [_stray(job) for job in view.orphans],
    }


def _entry_json(one: Moving, chosen: Next) -> dict[str, Any]:
    until = chosen.until if isinstance(chosen, Wait) else None
    kinds = {Do: "step", Wait: "wait", Stop: "stop", Done: "done"}
    return {
        "url": one.url,
        "key": one.key,
        "place": one.place,
        "way": one.chosen.way.value,
        "why": one.chosen.why,
        "state": kinds[type(chosen)],
        "text": _words(chosen),
        "until": f"{until:%Y-%m-%dT%H:%M:%SZ}" if until else None,
    }


def _stray(job: LiveJob) -> dict[str, str]:
    return {"job": job.job_id, "url": job.url, "schedule": job.schedule}
