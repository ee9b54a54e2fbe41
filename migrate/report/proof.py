"""`prove`: entry by entry, whether the jobs do what App Engine does today."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cronspec import retry
from cronspec.schedule import EndTimeInterval
from cronspec.zones import load
from migrate.notes import Level
from migrate.report.translation import entry_json, note_json, verdicts_json
from migrate.report.words import duration, local, side, utc
from migrate.translate.retries import policy_of
from migrate.verdict import Divergent, Equivalent, RetryDivergent, Unfixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.translate import Translation

_SHOWN_RETRIES: Final = 6


def diverges(one: Translation) -> bool:
    """Tell whether anything differs that nobody has accepted."""
    if not one.jobs or one.unaccepted:
        return True
    accepted = bool(one.accept & {note.code for note in one.notes})
    parted = (
        isinstance(one.schedule, Divergent)
        or isinstance(one.retry, RetryDivergent)
        or one.route.before != one.route.after
    )
    return parted and not accepted


def as_json(translations: Sequence[Translation]) -> dict[str, Any]:
    """Give the verdicts on all entries; `diverges` is what decides the exit code."""
    return {
        "entries": [
            {
                "entry": entry_json(one.entry),
                "schedules": [job.schedule for job in one.jobs],
                "verdict": verdicts_json(one),
                "diverges": diverges(one),
                "notes": [note_json(note) for note in one.notes],
            }
            for one in translations
        ]
    }


def as_text(translations: Sequence[Translation]) -> Iterator[Text]:
    """Yield the proof of each entry, then the count."""
    for one in translations:
        yield Text.assemble(
            (f"{one.entry.place.file}:{one.entry.place.line}", "bold"),
            f"  {one.entry.url}",
        )
        yield from _schedule(one)
        yield from _retry(one)
        yield _route(one)
        for note in (*one.of_level(Level.BLOCK), *one.unaccepted):
            yield Text(f"  {note.level} {note.code}: {note.text}", style="yellow")
        yield Text()
    parted = sum(diverges(one) for one in translations)
    total = len(translations)
    yield Text(
        f"{total - parted} of {total} entries do what they do today"
        + (f"; {parted} do not" if parted else ""),
        style="bold",
    )


def _schedule(one: Translation) -> Iterator[Text]:
    zone = one.entry.timezone or "UTC"
    after = " + ".join(f"'{job.schedule}'" for job in one.jobs) or "(no job)"
    yield Text(f"  schedule  '{one.entry.schedule_text}' → {after}, {zone}")
    match one.schedule:
        case Equivalent() if _same_text(one):
            yield _good("equal: the same text, read by the same language")
        case Equivalent(until):
            yield _good(
                "equal: the same minutes on every kind of day, and at every clock "
                f"change of {zone}, to the end of {until.year - 1}"
            )
        case Unfixed(why) if isinstance(one.entry.schedule, EndTimeInterval):
            yield Text(f"            {why}", style="cyan")
        case Unfixed(why):
            yield Text(f"            not provable: {why}", style="yellow")
        case Divergent(first):
            yield Text("            differs, first at:", style="yellow")
            for one_divergence in first:
                shown = local(one_divergence.at, load(zone))
                yield Text(
                    f"              {shown} ({utc(one_divergence.at)}): "
                    f"{side(one_divergence.side)}"
                )


def _same_text(one: Translation) -> bool:
    return [job.schedule for job in one.jobs] == [one.entry.schedule_text.lower()]


def _retry(one: Translation) -> Iterator[Text]:
    if isinstance(one.retry, RetryDivergent):
        yield Text(f"  retries   today {_waits(list(one.retry.before))}")
        yield Text(f"            then  {_waits(list(one.retry.after))}", style="yellow")
        return
    config = one.jobs[0].retry_config if one.jobs else None
    known = retry.policy(one.entry.retry) if config is None else policy_of(config)
    line = list(islice(retry.timeline(known, timedelta(0)), _SHOWN_RETRIES))
    yield Text.assemble("  retries   ", (f"equal: {_waits(line)}", "green"))


def _waits(line: list[timedelta]) -> str:
    """Say when a run that fails at once each time is retried."""
    if not line:
        return "none"
    more = ", …" if len(line) == _SHOWN_RETRIES else ""
    return "after " + ", ".join(duration(at) for at in line) + more


def _route(one: Translation) -> Text:
    if one.route.before == one.route.after:
        return Text.assemble(
            "  route     ", (f"equal: service {one.route.before}", "green")
        )
    return Text.assemble(
        "  route     ",
        (f"differs: {one.route.before} today, {one.route.after} then", "yellow"),
    )


def _good(text: str) -> Text:
    return Text(f"            {text}", style="green")
