"""Why a text is no YAML, in words that help: from PyYAML's error to faults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cronspec.faults import Fault, Place
from cronspec.groc_fixes import fix as groc_fix
from cronspec.yaml_slips import conflicts, near

if TYPE_CHECKING:
    from yaml import MarkedYAMLError

_TEMPLATE: Final = re.compile(r"\{%|\{\{|<%|\$\{")
_STAR: Final = re.compile(r"(\s*(?:-\s+)*([\w-]+)\s*:\s+)(\*.*?)\s*(?:\s#.*)?")
_KEY_VALUE: Final = re.compile(r"\s*(?:-\s+)*([\w-]+)\s*:\s+(.*?)\s*")


def explain(error: MarkedYAMLError, lines: list[str], file: str) -> list[Fault]:
    """Say where a text stops being YAML, most likely why, and what to do."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    place = Place(file, line + 1, column + 1)
    text = lines[line] if line < len(lines) else ""
    problem = error.problem or ""
    if template := _template(lines, file):
        return [template]
    if marks := conflicts(lines, file):
        return marks
    if "scanning an alias" in (error.context or ""):
        bare_star = f"{_cut(text)} holds a bare '*'"
        return _stars(lines, file) or [Fault("unquoted-star", place, bare_star, _QUOTE)]
    if r"'\t'" in problem or "'\t'" in problem:
        return _tabs(lines, line, file, place)
    if slip := _open_quote(error, problem, file) or near(lines, line, file):
        return [slip]
    if "mapping values are not allowed" in problem:
        return [_colon(text, place)]
    if "<block end>" in problem or "could not find expected ':'" in problem:
        return [_indent(error, problem, text, place)]
    if bare := re.search(r"found character '(.)' that cannot start", problem):
        what = f"a value cannot start with {bare[1]}"
        return [Fault("yaml-syntax", place, what, _QUOTE)]
    context = f"{error.context}: " if error.context else ""
    return [Fault("yaml-syntax", place, f"no valid YAML: {context}{problem}")]


_LONG: Final = 1000  # no longer line is looked at closely, which may take long
_MANY: Final = 250  # so many crontab lines are enough of them
_QUOTE: Final = "put the value in quotes"


def _cut(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 80 else text[:80] + "…")


def _template(lines: list[str], file: str) -> Fault | None:
    for number, line in enumerate(lines, start=1):
        found = _TEMPLATE.search(line)
        if found:
            return Fault(
                "template",
                Place(file, number, found.start() + 1),
                f"{found[0]!r}: this is a template, not YAML yet",
                "fill the template in first, and give the result",
            )
    return None


def _open_quote(error: MarkedYAMLError, problem: str, file: str) -> Fault | None:
    opened = error.context_mark
    if opened is None or "quoted scalar" not in (error.context or ""):
        return None
    if "end of stream" not in problem and "separator" not in problem:
        return None
    return Fault(
        "yaml-syntax",
        Place(file, opened.line + 1, opened.column + 1),
        "the quote that opens here is never closed",
        "close it; a ' within '…' is written twice",
    )


def _stars(lines: list[str], file: str) -> list[Fault]:
    """Tell every value that starts with a bare star, which mostly is a crontab."""
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        short = len(line) <= _LONG and "*" in line
        found = _STAR.fullmatch(line) if short else None
        if found is None or re.fullmatch(r"\*[\w-]+", found[3]):
            continue
        if len(faults) == _MANY:
            break
        value = found[3]
        twin = groc_fix(value) if found[2] == "schedule" else ""
        way_out = f"put it in quotes: {found[2]}: '{value}'"
        text = f"{value!r} starts with '*', which YAML takes for an alias"
        if twin:
            text += "; and it is a crontab line, where cron.yaml takes groc"
            way_out = f"the same in groc: {found[2]}: {twin}"
        place = Place(file, number, found.start(3) + 1)
        faults.append(Fault("unquoted-star", place, text, way_out))
    return faults


def _tabs(lines: list[str], line: int, file: str, place: Place) -> list[Fault]:
    """Tell every line, from the first at fault, that a tab indents."""
    faults = [
        Fault(
            "yaml-tab",
            Place(file, number, text.index("\t") + 1),
            "a tab indents this line; YAML takes blanks only",
            "write blanks instead of the tab",
        )
        for number, text in enumerate(lines[line:], start=line + 1)
        if "\t" in re.match(r"[\s-]*", text)[0]  # type: ignore[index]  # always matches
    ]
    text = "a tab stands where YAML takes blanks only"
    return faults or [Fault("yaml-tab", place, text, "write a blank instead")]


def _colon(text: str, place: Place) -> Fault:
    found = _KEY_VALUE.fullmatch(text[:_LONG])
    if found is None or ": " not in found[2] + " ":
        return Fault(
            "yaml-indent",
            place,
            f"YAML takes {_cut(text)} for a key within a value",
            "indent it as its neighbours are, and look at the line before",
        )
    quoted = found[2].replace("'", "''")
    return Fault(
        "yaml-colon",
        place,
        f"the unquoted value {_cut(found[2])} holds ': ', which YAML takes for a key",
        f"put it in quotes: {found[1]}: '{quoted}'",
    )


def _indent(error: MarkedYAMLError, problem: str, text: str, place: Place) -> Fault:
    mark = error.context_mark
    since = f", which starts at line {mark.line + 1}" if mark else ""
    what = (
        f"{_cut(text)} does not fit what stands around it"
        if "<block end>" in problem
        else f"a ':' is missing after {_cut(text)}, or it is indented otherwise than "
        "its neighbours"
    )
    context = (error.context or "").removeprefix("while parsing a ")
    within = f" (in the {context}{since})" if "parsing" in (error.context or "") else ""
    return Fault(
        "yaml-indent",
        place,
        what + within,
        "indent all keys of an entry alike",
    )
