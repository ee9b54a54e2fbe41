"""`translate`: the jobs, and what was noted of them, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from migrate.job import AppEngineHttpTarget, HttpTarget, Job, to_api
from migrate.notes import CODES, Level, Note
from migrate.report.words import Status, status, verdict_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.config import CronEntry
    from migrate.choices import Home
    from migrate.translate import Translation

_MARKS: Final = {
    Status.EQUAL: ("=", "green"),
    Status.NOTED: ("i", "cyan"),
    Status.LOST: ("!", "yellow"),
    Status.BLOCKED: ("x", "red"),
}


def as_json(
    translations: Sequence[Translation], notes: Sequence[Note]
) -> dict[str, Any]:
    """Give translations as a JSON document; docs/json.md describes the schema."""
    return {
        "jobs": [
            {
                "entry": entry_json(one.entry),
                "job": None if job is None else to_api(job),
                "notes": [note_json(note) for note in one.notes],
                "verdict": verdicts_json(one),
            }
            for one in translations
            for job in (one.jobs or (None,))
        ],
        "notes": [note_json(note) for note in notes],
    }


def entry_json(entry: CronEntry) -> dict[str, Any]:
    """Give what tells an entry; `line` is that of its dash, from 1."""
    return {
        "file": entry.place.file,
        "line": entry.place.line,
        "url": entry.url,
        "target": entry.target,
        "schedule": entry.schedule_text,
        "timezone": entry.timezone,
    }


def note_json(note: Note) -> dict[str, Any]:
    """Give a note; `fallback` is null where no option avoids it."""
    return {
        "code": note.code,
        "level": note.level.value,
        "text": note.text,
        "fallback": note.fallback,
    }


def verdicts_json(one: Translation) -> dict[str, Any]:
    """Give the three verdicts on an entry and the heading it is counted under."""
    same = one.route.before == one.route.after
    return {
        "status": status(one).value,
        "schedule": verdict_json(one.schedule),
        "retry": verdict_json(one.retry),
        "route": {
            "kind": "equivalent" if same else "divergent",
            "before": one.route.before,
            "after": one.route.after,
        },
    }


def as_text(
    translations: Sequence[Translation], notes: Sequence[Note], home: Home
) -> Iterator[Text]:
    """Yield the lines for people: counts, then decisions to take, then the jobs."""
    yield from _counts(translations, home)
    waiting = [
        one for one in translations if one.unaccepted or one.of_level(Level.BLOCK)
    ]
    if waiting:
        yield Text("\nTo decide", style="bold")
        for one in waiting:
            yield from _decision(one)
    others = [one for one in translations if one not in waiting]
    if others:
        yield Text("\nJobs", style="bold")
        width = max(len(str(one.entry.place).rpartition(":")[0]) for one in others)
        for one in others:
            yield _line(one, width)
    yield from _legend(others, notes)


def _counts(translations: Sequence[Translation], home: Home) -> Iterator[Text]:
    counted = Counter(status(one) for one in translations)
    jobs = sum(len(one.jobs) for one in translations)
    entries = len(translations)
    summary = ", ".join(f"{counted[kind]} {kind.value}" for kind in Status)
    yield Text(
        f"{_many(entries, 'entry', 'entries')}, {_many(jobs, 'job', 'jobs')}: "
        f"{summary}",
        style="bold",
    )
    if home.project is None or home.location is None:
        missing = " and ".join(
            option
            for option, value in (
                ("--project", home.project),
                ("--location", home.location),
            )
            if value is None
        )
        yield Text(f"Job names hold placeholders: give {missing}.", style="dim")


def _decision(one: Translation) -> Iterator[Text]:
    mark, style = _MARKS[status(one)]
    yield Text.assemble(
        "  ", (mark, style), f" {_where(one)}  {one.entry.url}  ", _schedule_text(one)
    )
    for note in one.notes:
        if note.level is Level.INFO or note.code in one.accept:
            continue
        yield Text.assemble("      ", (f"{note.level} {note.code}: ", style), note.text)
        options = [note.fallback] if note.fallback else []
        if note.level is Level.LOSS:
            options.insert(0, f"--accept {note.code}")
        if options:
            yield Text(f"      settled by: {', or '.join(options)}")


def _line(one: Translation, width: int) -> Text:
    mark, style = _MARKS[status(one)]
    codes = list(dict.fromkeys(note.code for note in one.notes))
    return Text.assemble(
        "  ",
        (mark, style),
        f" {_where(one):{width}}  ",
        (one.entry.url, "bold"),
        f"  {_schedule_text(one)}{_destination(one.jobs[0])}",
        (f"  [{', '.join(codes)}]" if codes else "", "dim"),
    )


def _where(one: Translation) -> str:
    return f"{one.entry.place.file}:{one.entry.place.line}"


def _schedule_text(one: Translation) -> str:
    zone = one.entry.timezone or "UTC"
    before = one.entry.schedule_text
    after = [job.schedule for job in one.jobs]
    changed = "" if after in ([], [before]) else f" → {' + '.join(after)}"
    return f"{before}{changed} ({zone})"


def _destination(job: Job) -> str:
    match job.target:
        case AppEngineHttpTarget(routing=named):
            if named is None:
                return ""
            version = f" version {named.version}" if named.version else ""
            return f"  to {named.service}{version}"
        case HttpTarget(uri=uri):
            return f"  to {uri}"


def _legend(
    translations: Sequence[Translation], notes: Sequence[Note]
) -> Iterator[Text]:
    """Yield what the notes say, by code: the reason, then the entries' own words."""
    said: dict[str, dict[str, list[Translation]]] = {}
    for one in translations:
        for note in one.notes:
            said.setdefault(note.code, {}).setdefault(note.text, []).append(one)
    if said or notes:
        yield Text("\nNotes", style="bold")
    for code, by_text in sorted(said.items()):
        accepted = " (accepted)" if CODES[code].level is Level.LOSS else ""
        yield Text.assemble("  ", (code, "cyan"), f"{accepted}: {CODES[code].reason}")
        for text, entries in by_text.items():
            yield Text(f"    {_places(entries)}: {text}")
    for note in notes:
        yield Text.assemble("  ", (note.code, "cyan"), f": {note.text}")


def _places(entries: Sequence[Translation]) -> str:
    """Name entries by file and line, the file once for all that share it."""
    lines: dict[str, list[str]] = {}
    for one in entries:
        place = one.entry.place
        lines.setdefault(place.file, []).append(str(place.line))
    return "; ".join(f"{file}:{','.join(found)}" for file, found in lines.items())


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
