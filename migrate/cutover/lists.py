"""Entries from one cron file to another, each text as it stands, comments too. Pure.

An entry's text is its lines, from the comments right above its dash to those of the
next. A file that is not written so (in flow style) is written anew instead. What comes
out is read again before it is given: no entry may be lost or changed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import yaml

from cronspec.config import load_cron

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cronspec.config import CronEntry

JOBS: Final = "jobs.yaml"
_NEW: Final = """\
# What Cloud Scheduler fires. cronshift and its host read this beside cron.yaml;
# gcloud does not know it, and must not: it is not deployed with the app's cron.
cron:
"""


class ListsError(Exception):
    """A list that cannot be parted; the message says what to do by hand."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A cron file: its name, and its text ("" for one that is not there)."""

    name: str
    text: str


def transfer(
    source: Listing, dest: Listing, dashes: Collection[tuple[int, int]]
) -> tuple[str, str]:
    """Move the entries whose dashes stand in these lines and columns.

    Gives both new texts. One that stands in `dest` already is only taken away.
    Raises ListsError.
    """
    here, there = _entries(source.name, source.text), _entries(dest.name, dest.text)
    known = Counter(_said(entry) for entry in there)
    going = [entry for entry in here if _at(entry) in dashes]
    new = []
    for entry in going:
        if known[_said(entry)]:
            known[_said(entry)] -= 1
        else:
            new.append(entry)
    staying = [entry for entry in here if entry not in going]
    for write in (_by_lines, _by_nodes):
        try:
            left, right = write(source, dest, staying, new)
        except (_NotByLinesError, yaml.YAMLError):
            continue
        if _same(left, staying) and _same(right, [*there, *new]):
            return left, right
    urls = ", ".join(entry.url for entry in going)
    raise ListsError(
        f"{source.name}: cannot be parted without changing an entry; move by hand to "
        f"{dest.name}: {urls}"
    )


# --- What must not change -----------------------------------------------------------


def _entries(name: str, text: str) -> list[CronEntry]:
    if not text:
        return []
    file = load_cron(text, name)
    if file.faults:
        raise ListsError("\n".join(map(str, file.faults)))
    return list(file.entries)


def _at(entry: CronEntry) -> tuple[int, int]:
    return entry.place.line, entry.place.column


def _said(entry: CronEntry) -> tuple[Any, ...]:
    """Give all that an entry says, without where."""
    return (
        entry.url,
        entry.schedule_text,
        entry.timezone,
        entry.target,
        entry.description,
        entry.retry,
        entry.attempt_deadline,
    )


def _same(text: str, entries: Sequence[CronEntry]) -> bool:
    file = load_cron(text, "")
    found = [_said(entry) for entry in file.entries]
    return not file.faults and found == [_said(entry) for entry in entries]


# --- By lines -----------------------------------------------------------------------


class _NotByLinesError(Exception):
    """The file's entries are not whole lines."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """A file in its lines: what stands before, in, and after its entries."""

    head: list[str]
    blocks: dict[int, list[str]]  # by the line of the dash
    tail: list[str]
    column: int  # of the dashes, 1 for the first


def _by_lines(
    source: Listing,
    dest: Listing,
    staying: Sequence[CronEntry],
    new: Sequence[CronEntry],
) -> tuple[str, str]:
    ours, theirs = _parts(source), _parts(dest)
    kept = [ours.blocks[entry.place.line] for entry in staying]
    added = [ours.blocks[entry.place.line] for entry in new]
    if theirs.blocks:
        by = theirs.column - ours.column
        added = [[_shifted(line, by) for line in block] for block in added]
    left = [*ours.head, *(line for block in kept for line in block), *ours.tail]
    right = [
        *theirs.head,
        *(line for block in [*theirs.blocks.values(), *added] for line in block),
        *theirs.tail,
    ]
    return "".join(left), "".join(right)


def _parts(listing: Listing) -> _Parts:
    lines = [
        line if line.endswith("\n") else line + "\n"
        for line in (listing.text or _NEW).splitlines(keepends=True)
    ]
    dashes = [entry.place for entry in _entries(listing.name, listing.text)]
    if not dashes:
        end = _end_of_cron(lines)
        return _Parts(lines[:end], {}, lines[end:], 1)
    columns = {place.column for place in dashes}
    if len(columns) != 1 or any(
        lines[place.line - 1][: place.column].strip() != "-" for place in dashes
    ):
        raise _NotByLinesError
    column = columns.pop()
    starts = [_with_comments(lines, place.line - 1) for place in dashes]
    end = _end(lines, dashes[-1].line, column)
    blocks = {
        place.line: lines[start:stop]
        for place, (start, stop) in zip(dashes, pairwise([*starts, end]), strict=True)
    }
    return _Parts(lines[: starts[0]], blocks, lines[end:], column)


def _end_of_cron(lines: list[str]) -> int:
    """Give where entries may stand: after the line `cron:`, at the end if it can be."""
    for number, line in enumerate(lines):
        if line.partition("#")[0].rstrip() == "cron:":
            return _end(lines, number + 1, 1)
    raise _NotByLinesError


def _with_comments(lines: list[str], dash: int) -> int:
    start = dash
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def _end(lines: list[str], after: int, column: int) -> int:
    """Give the first line that is no more of the list: of another key, or the end."""
    for number in range(after, len(lines)):
        line = lines[number].rstrip()
        text = line.lstrip()
        if text and not text.startswith("#") and len(line) - len(text) < column:
            return _with_comments(lines, number)
    return len(lines)


def _shifted(line: str, by: int) -> str:
    if by >= 0:
        return " " * by + line if line.strip() else line
    blank = len(line) - len(line.lstrip(" "))
    return line[min(-by, blank) :]


# --- Anew ---------------------------------------------------------------------------


def _by_nodes(
    source: Listing,
    dest: Listing,
    staying: Sequence[CronEntry],
    new: Sequence[CronEntry],
) -> tuple[str, str]:
    """Write both files anew: what they say stays, how they are written does not."""
    ours, theirs = _nodes(source), _nodes(dest)
    kept = [ours[_at(entry)] for entry in staying]
    added = [*theirs.values(), *(ours[_at(entry)] for entry in new)]
    return _serialized(kept), _serialized(added)


def _nodes(listing: Listing) -> dict[tuple[int, int], yaml.Node]:
    entries = _entries(listing.name, listing.text)
    if not entries:
        return {}
    top = yaml.compose(listing.text, yaml.SafeLoader)
    if not isinstance(top, yaml.MappingNode):
        raise _NotByLinesError
    items = next(value.value for key, value in top.value if key.value == "cron")
    places = [_at(entry) for entry in entries]
    if len(items) != len(set(places)):
        raise _NotByLinesError
    return dict(zip(places, items, strict=True))


def _serialized(items: list[yaml.Node]) -> str:
    if not items:
        return "cron:\n"
    tag = "tag:yaml.org,2002:"
    whole = yaml.MappingNode(
        f"{tag}map",
        [
            (
                yaml.ScalarNode(f"{tag}str", "cron"),
                yaml.SequenceNode(f"{tag}seq", items, flow_style=False),
            )
        ],
        flow_style=False,
    )
    written: str = yaml.serialize(
        whole, Dumper=yaml.SafeDumper, allow_unicode=True, width=88
    )
    return written
