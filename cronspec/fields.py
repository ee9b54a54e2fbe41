"""Reading a mapping's values as gcloud's loader would, a fault for each that is not.

gcloud's loader has two ways with a value that should be text: some must be text
(`schedule`, `timezone`), others are made text of (`target: 4` is "4", but `on` is
"True"). Both are followed; what YAML changed is told.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.nodes import Broken, Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as Dict

    from cronspec.faults import Place, Report
    from cronspec.nodes import Node
    from cronspec.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a mapping and its value."""

    key: str
    key_place: Place
    node: Node

    @property
    def place(self) -> Place:
        """Where its value stands; where its key does, if it has none."""
        if isinstance(self.node, Scalar) and self.node.text == "":
            return self.key_place
        return self.node.place


def read_fields(
    mapping: Mapping, words: Vocabulary, report: Report
) -> dict[str, Field]:
    """Give a mapping's values by key; unknown and repeated keys are faults."""
    found: dict[str, Field] = {}
    for key, node in mapping.pairs:
        if isinstance(key, Broken):
            continue
        name = key.text if isinstance(key, Scalar) else None
        if name is None or name not in words.keys:
            _unknown(name, key.place, words, report)
        elif name in found:
            first = found[name].key_place.line
            report.fault(
                "duplicate-key",
                key.place,
                f"{name!r} stands here twice (first in line {first})",
                "keep one of them",
            )
        else:
            found[name] = Field(name, key.place, node)
    return found


def _unknown(name: str | None, place: Place, words: Vocabulary, report: Report) -> None:
    if name is None:
        report.fault(
            "unknown-key", place, f"a list or mapping is no key of {words.what}"
        )
        return
    known = ", ".join(words.keys)
    fix = words.hints.get(name.lower(), "")
    if name != name.strip():
        fix = "blanks belong to it that are none to YAML, such as no-break spaces"
    if not fix and not report.full:  # a near word is costly to find
        close = near(name, words.keys)
        fix = f"did you mean {close!r}?" if close else f"it may have: {known}"
    report.fault("unknown-key", place, f"{words.what} has no {shown(name)}", fix)


def near(name: str, known: Iterable[str]) -> str:
    """Give the known word that `name` most likely was meant to be, or ""."""
    lowered = name.lower().replace("-", "_").strip()
    if len(lowered) > 40:
        return ""
    close = difflib.get_close_matches(lowered, list(known), n=1, cutoff=0.7)
    return close[0] if close else ""


def shown(text: str) -> str:
    """Give a text as a message shows it: quoted and, if long, cut."""
    return repr(text if len(text) <= 120 else text[:120] + "…")


def missing(
    mapping: Mapping,
    place: Place,
    keys: Iterable[str],
    fields: Dict[str, Field],
    report: Report,
) -> None:
    """Tell the keys that a mapping must have and has not, or has without a value."""
    names = [one.text for one, _ in mapping.pairs if isinstance(one, Scalar)]
    for key in keys:
        field = fields.get(key)
        # A misspelt key has been told as such.
        misspelt = field is None and any(near(name, [key]) for name in names)
        if field is None and mapping.complete and not misspelt:
            report.fault("missing-key", place, f"{key!r} is missing", f"add '{key}:'")
        elif field is not None and is_null(field.node):
            report.fault(
                "missing-key", field.key_place, f"{key!r} has no value", "give it one"
            )


def is_null(node: Node) -> bool:
    """Tell whether a value is YAML's nothing: empty, `~` or `null`."""
    return isinstance(node, Scalar) and node.value is None


def text(field: Field, report: Report) -> str | None:
    """Read a value that must be text; None, and a fault, where it is not."""
    node = _scalar(field, report)
    if node is None:
        return None
    if not isinstance(node.value, str):
        report.fault(
            "wrong-type",
            field.place,
            f"{field.key!r} must be text, and YAML takes {shown(node.text)} for "
            f"{_kind(node)}",
            f"put it in quotes: {field.key}: '{node.text}'",
        )
        return None
    return _sane(field, node.value, report)


def cast(field: Field, report: Report) -> str | None:
    """Read a value that gcloud makes text of; None, and a fault, where it cannot."""
    node = _scalar(field, report)
    if node is None:
        return None
    value = node.value if isinstance(node.value, str) else str(node.value)
    if value != node.text:
        report.remark(
            "not-a-string",
            field.place,
            f"YAML takes the unquoted {shown(node.text)} for {_kind(node)}, and gcloud "
            f"makes {shown(value)} of it",
            f"put it in quotes: {field.key}: '{node.text}'",
        )
    return _sane(field, value, report)


def _scalar(field: Field, report: Report) -> Scalar | None:
    match field.node:
        case Scalar() as node:
            return node
        case Broken():
            return None
        case node:
            fix = ""
            if isinstance(node, Mapping):
                fix = "if '{{…}}' is a template's, fill it in first, or quote it"
            elif field.key == "schedule":
                fix = "an entry has one schedule: write an entry for each"
            report.fault(
                "wrong-type",
                node.place,
                f"{field.key!r} must be a single value, not {kind(node)}",
                fix,
            )
            return None


def _sane(field: Field, value: str, report: Report) -> str | None:
    if any("\ud800" <= character <= "\udfff" for character in value):
        report.fault(
            "bad-character", field.place, f"{field.key!r} holds half of a character"
        )
        return None
    return value


def kind(node: Node) -> str:
    """Name what a value is, that has not been told to be broken."""
    if isinstance(node, Mapping):
        return "a mapping"
    return _kind(node) if isinstance(node, Scalar) else "a list"


_KINDS: Final = {bool: "a boolean", int: "a number", float: "a number", str: "text"}


def _kind(node: Scalar) -> str:
    if node.value is None:
        return "nothing"
    return _KINDS.get(type(node.value), "a date")


_APPLICATION: Final = re.compile(
    r"(?:[a-z\d\-]{1,100}~)?(?:(?!-)[a-z\d\-.]{1,100}:)?(?!-)[a-z\d\-]{0,99}[a-z\d]",
    re.ASCII,
)


def read_application(fields: Dict[str, Field], report: Report) -> None:
    """Check the old `application` key, which cron.yaml and dispatch.yaml may have."""
    field = fields.get("application")
    if field is None or is_null(field.node):
        return
    name = cast(field, report)
    if name is not None and not _APPLICATION.fullmatch(name):
        report.fault(
            "bad-application",
            field.place,
            f"{shown(name)} is no project's id",
            "remove 'application': gcloud takes the project from --project",
        )
