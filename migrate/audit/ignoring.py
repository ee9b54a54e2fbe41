"""What a user chose not to be told: by option, or by a comment beside the cause.

A comment `# cronshift: ignore CODE reason` holds for the entry (or dispatch rule) that
it stands in, or right above of; above the first key of a file, for the whole file; in
code and scripts, for its own line and the next. Several codes are parted by commas.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from migrate.audit.codes import CODES
from migrate.audit.finding import Finding, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from migrate.audit.evidence import SourceText

_COMMENT: Final = re.compile(
    r"(?:^|\s)(?:#|//|/\*|--)[ \t]*cronshift:[ \t]*ignore[ \t]+"
    r"(?P<codes>[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*)[ \t]*(?P<reason>[^\r\n]*)"
)
_MARK: Final = "cronshift:"
_EVERYWHERE: Final = 10**9  # more lines than any file has
_DASH: Final = re.compile(r"([ \t]*)-(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One code that is ignored, in the lines [first, last] of the file of `place`.

    Without a place it was an option, and holds everywhere.
    """

    code: str
    reason: str
    place: Place | None = None
    first: int = 1
    last: int = _EVERYWHERE

    def covers(self, finding: Finding) -> bool:
        """Tell whether this silences a finding."""
        if finding.code != self.code:
            return False
        if self.place is None:
            return True
        within = self.first <= finding.place.line <= self.last
        return finding.place.file == self.place.file and within


@dataclass(frozen=True, slots=True)
class Ignored:
    """A finding that was silenced, and by what."""

    finding: Finding
    by: Ignore


def comments(texts: Mapping[str, str]) -> Iterator[Ignore]:
    """Read the comments of YAML files, given as texts by name."""
    for file, text in texts.items():
        if _MARK not in text:
            continue
        lines = text.splitlines()
        starts = _item_starts(lines)
        for number, line in enumerate(lines, start=1):
            found = _COMMENT.search(line)
            if found:
                first, last = _scope(lines, starts, number, found)
                yield from _ignores(found, Place(file, number, 1), first, last)


def code_comments(sources: Iterable[SourceText]) -> Iterator[Ignore]:
    """Read the comments of code and scripts."""
    for source in sources:
        if _MARK not in source.text:
            continue
        for number, line in enumerate(source.text.splitlines(), start=1):
            found = _COMMENT.search(line)
            if found:
                place = Place(source.file, number, 1)
                yield from _ignores(found, place, number, number + 1)


def _ignores(
    found: re.Match[str], place: Place, first: int, last: int
) -> Iterator[Ignore]:
    reason = found["reason"].removesuffix("*/").strip()
    for code in re.split(r"[ \t]*,[ \t]*", found["codes"]):
        yield Ignore(code, reason, place, first, last)


def _item_starts(lines: Sequence[str]) -> list[int]:
    """Give the line numbers of the dashes of the file's outermost list."""
    dashes = [
        (number, len(found[1]))
        for number, line in enumerate(lines, start=1)
        if (found := _DASH.match(line))
    ]
    outermost = min((indent for _, indent in dashes), default=0)
    return [number for number, indent in dashes if indent == outermost]


def _scope(
    lines: Sequence[str], starts: Sequence[int], number: int, found: re.Match[str]
) -> tuple[int, int]:
    """Give the lines that a comment on line `number` speaks of."""
    before = lines[number - 1][: found.start()]
    index = bisect_right(starts, number) - 1
    if not before.strip():
        above_all = not any(
            line.strip() and not line.lstrip().startswith(("#", "---", "%"))
            for line in lines[: number - 1]
        )
        if above_all or not starts:
            return 1, _EVERYWHERE
        # A comment no deeper than the dashes belongs to what comes next.
        indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
        dash = len(lines[starts[0] - 1]) - len(lines[starts[0] - 1].lstrip())
        if index < 0 or (indent <= dash and index + 1 < len(starts)):
            index += 1
    if index < 0:
        return 1, _EVERYWHERE
    end = starts[index + 1] - 1 if index + 1 < len(starts) else _EVERYWHERE
    return starts[index], end


def sift(
    findings: Iterable[Finding], ignores: Sequence[Ignore], fallback: Place
) -> tuple[list[Finding], list[Ignored]]:
    """Part the findings into those to tell and those ignored.

    An ignore without a finding is itself told, an option's at `fallback`.
    """
    kept, ignored = list[Finding](), list[Ignored]()
    used = set[int]()
    for finding in findings:
        covering = [i for i, ignore in enumerate(ignores) if ignore.covers(finding)]
        used.update(covering)
        if covering:
            ignored.append(Ignored(finding, ignores[covering[0]]))
        else:
            kept.append(finding)
    silenced = {ignore.code for ignore in ignores if ignore.place is None}
    for number, ignore in enumerate(ignores):
        if number not in used and ignore.code not in {
            "ignore-unused",
            "ignore-unknown",
        }:
            finding = _unused(ignore, ignore.place or fallback)
            if finding.code not in silenced:
                kept.append(finding)
    return kept, ignored


def _unused(ignore: Ignore, place: Place) -> Finding:
    how = "--ignore" if ignore.place is None else "this comment"
    if ignore.code not in CODES:
        return told(
            "ignore-unknown",
            place,
            f"{how} ignores {ignore.code!r}, which is no code of an audit",
            "docs/audit.md lists them all",
        )
    return told(
        "ignore-unused",
        place,
        f"{how} ignores {ignore.code}, and there is no such finding"
        f"{'' if ignore.place is None else ' here'}",
        "take it out",
    )
