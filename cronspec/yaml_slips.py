"""Slips of the pen that the lines of a broken YAML file show, whatever PyYAML says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cronspec.faults import Fault, Place
from cronspec.vocabulary import CRON_TOP, DISPATCH_TOP, ENTRY, RETRY, RULE

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS: Final = (CRON_TOP, DISPATCH_TOP, ENTRY, RETRY, RULE)
_KEYS: Final = "|".join(sorted({key for words in _WORDS for key in words.keys}))
_LEAD: Final = r"(\s{0,99}(?:-\s{1,99})?)"
_CONFLICT: Final = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: .*)?")
_NO_BLANK: Final = re.compile(rf"{_LEAD}({_KEYS}):(?![ \t]|$)")
_LIST_BESIDE: Final = re.compile(rf"{_LEAD}({_KEYS}):[ \t]+-[ \t]")
_QUOTED: Final = re.compile(
    rf"""{_LEAD}({_KEYS}):[ \t]+(?:'(.*)'|"(.*)")[ \t]*""",
)
_MANY: Final = 250  # so many of a kind are enough


def conflicts(lines: list[str], file: str) -> list[Fault]:
    """Tell the marks that git leaves where two changes meet."""
    numbers = [n for n, line in enumerate(lines, 1) if _CONFLICT.fullmatch(line[:200])]
    if not any(lines[number - 1].startswith("<<<<<<<") for number in numbers):
        return []  # seven signs alone may be anything
    return [
        Fault(
            "yaml-syntax",
            Place(file, number, 1),
            f"{lines[number - 1][:7]!r} is a mark that git leaves where changes meet",
            "keep one side of the two, and remove the marks",
        )
        for number in numbers[:_MANY]
    ]


def near(lines: list[str], at: int, file: str) -> Fault | None:
    """Tell the slip that made a line (from 0), or the one before it, unreadable."""
    for number in _with_the_one_before(lines, at):
        line = lines[number][:1000]
        if found := _NO_BLANK.match(line):
            key = found[2]
            return Fault(
                "yaml-syntax",
                Place(file, number + 1, found.end() + 1),
                f"a blank is missing after '{key}:'",
                f"write '{key}: ' and then its value",
            )
        if found := _LIST_BESIDE.match(line):
            return Fault(
                "yaml-syntax",
                Place(file, number + 1, found.end() - 1),
                f"a list cannot start on the line of its key, '{found[2]}:'",
                "start it on the next line",
            )
        if found := _QUOTED.fullmatch(line):
            start = found.start(3 if found[4] is None else 4)
            if slip := _quote_within(found, Place(file, number + 1, start)):
                return slip
    return None


def _with_the_one_before(lines: list[str], at: int) -> Iterable[int]:
    yield from (number for number in (at, at - 1) if 0 <= number < len(lines))


def _quote_within(found: re.Match[str], place: Place) -> Fault | None:
    inner = found[3] or found[4] or ""
    quote = '"' if found[3] is None else "'"
    ends = re.sub(r"''" if quote == "'" else r"\\.", "", inner)
    if quote not in ends:
        return None
    doubled = inner.replace("'", "''")
    return Fault(
        "yaml-syntax",
        place,
        f"the value of '{found[2]}' goes on after its closing {quote}",
        f"write a ' within quotes twice: {found[2]}: '{doubled}'",
    )
