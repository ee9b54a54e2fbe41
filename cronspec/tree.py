"""A YAML text as a tree whose every value knows its place.

The tree is built from PyYAML's events, never recursively and never following an
alias, so that neither deep nesting nor an alias bomb costs more than its own length.
What gcloud's loader refuses in any file is told here: anchors, aliases, tags that
mean nothing, several documents. A text that is no YAML gives the tree as far as it
goes, so that the faults before the break are told too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

from cronspec import scalars
from cronspec.faults import Place, Report
from cronspec.nodes import Broken, Mapping, Scalar, Sequence, Tree

if TYPE_CHECKING:
    from cronspec.nodes import Node

MAX_CHARACTERS: Final = 2_000_000
"""The longest text that is read: 250 entries at their largest fill 700,000."""
MAX_DEPTH: Final = 50
MAX_VALUES: Final = 250_000


def read(text: str, file: str, report: Report) -> Tree:
    """Read a YAML text. What is wrong with it is added to `report`."""
    text = text.removeprefix("\ufeff")
    lines = _LINE_BREAK.split(text) if len(text) <= MAX_CHARACTERS else []
    if len(text) > MAX_CHARACTERS:
        report.fault(
            "too-large",
            Place(file, 1, 1),
            f"{len(text):,} characters are more than the {MAX_CHARACTERS:,} of any "
            "sensible file",
        )
        return Tree((), complete=False)
    if _unreadable(lines, file, report):
        return Tree((), complete=False)
    if yaml.__with_libyaml__ and not _ODD.search(text):
        builder = _Builder(lines, file)
        if builder.run(text, yaml.CSafeLoader) and not builder.odd:
            report.add(builder.report)
            return builder.tree()
    # libyaml takes more than gcloud's loader (tabs, for one), and says less of
    # what is wrong: PyYAML's own parser has the last word.
    builder = _Builder(lines, file)
    builder.run(text, yaml.SafeLoader)
    report.add(builder.report)
    return builder.tree()


_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_ODD: Final = re.compile("[\t\x85\u2028\u2029\ufeff]")
# What YAML 1.1 lets stand in a file (PyYAML's Reader.NON_PRINTABLE).
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


def _unreadable(lines: list[str], file: str, report: Report) -> bool:
    found = False
    for number, line in enumerate(lines, start=1):
        for match in _UNPRINTABLE.finditer(line):
            report.fault(
                "bad-character",
                Place(file, number, match.start() + 1),
                f"the character U+{ord(match[0]):04X} cannot stand in a YAML file",
                "remove it" if match[0] == "\0" else "remove or escape it",
            )
            found = True
            break  # one a line says enough
    return found


# Numbers too large for what they stand for: a character, a version of YAML.
_NO_NUMBER: Final = re.compile(
    r"\\U(?!000[0-9a-fA-F]|0010)[0-9a-fA-F]{8}|^%YAML +[0-9]+\.[0-9]{9}", re.ASCII
)


class _Stop(Exception):  # noqa: N818 - ends the reading, is no error
    """No more of the text is to be read."""


class _Builder:
    """Puts a tree together, event by event."""

    def __init__(self, lines: list[str], file: str) -> None:
        self.report = Report()
        self.odd = False  # libyaml may have read it otherwise than gcloud's loader
        self._lines = lines
        self._file = file
        self._stack: list[Sequence | Mapping] = []
        self._documents: list[Node] = []
        self._values = 0
        self._flow = 0
        self._yaml_1_2 = False
        self._complete = False
        self._just_closed: list[Sequence | Mapping] = []

    def run(self, text: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader]) -> bool:
        """Take in every event of a text; tell whether it is YAML to its end."""
        try:
            for event in yaml.parse(text, Loader=loader):
                self._take(event)
                if self.report.full:
                    return True
        except _Stop:
            return True
        except yaml.MarkedYAMLError as error:
            # Only a broken file needs it, and all that knows the slips of groc.
            from cronspec.yaml_faults import explain  # noqa: PLC0415 - see above

            self._undo_close()
            for fault in explain(error, self._lines, self._file):
                self.report.fault(fault.code, fault.place, fault.text, fault.fix)
            return False
        except (ValueError, OverflowError):
            # PyYAML's own parser, of an escape such as "\U99999999".
            self._unknown_escape()
            return False
        self._complete = True
        return True

    def _undo_close(self) -> None:
        """Take what ended where the text breaks off for unfinished: it may be so."""
        for node in self._just_closed:
            node.complete = False

    def _unknown_escape(self) -> None:
        """Tell what PyYAML's own parser stumbles over without saying where."""
        found = (
            (Place(self._file, number, match.start() + 1), match[0])
            for number, line in enumerate(self._lines, start=1)
            for match in _NO_NUMBER.finditer(line)
        )
        place, what = next(found, (Place(self._file, 1, 1), "a number"))
        self.report.fault("yaml-syntax", place, f"{what!r} means nothing to YAML")

    def tree(self) -> Tree:
        """Give what was read."""
        return Tree(tuple(self._documents), self._complete)

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._anchor(event)
                self._put(self._scalar(event), self._place(event))
            case yaml.AliasEvent():
                place = self._place(event)
                self.report.fault(
                    "alias",
                    place,
                    f"the alias *{event.anchor}: gcloud reads no anchors and aliases",
                    "write the value out",
                )
                self._put(Broken(place), place)
            case yaml.MappingStartEvent():
                self._open(event, Mapping(self._place(event)))
            case yaml.SequenceStartEvent():
                flow = bool(event.flow_style)
                self._open(event, Sequence(self._place(event), flow))
            case yaml.CollectionEndEvent():
                done = self._stack.pop()
                done.complete = True
                self._just_closed.append(done)
                self._flow -= self._flow > 0
            case yaml.DocumentStartEvent():
                self._yaml_1_2 = event.version == (1, 2)
                self._second_document(event)

    def _second_document(self, event: yaml.DocumentStartEvent) -> None:
        if self._documents:
            self.report.fault(
                "several-documents",
                self._place(event),
                "a second YAML document starts here; gcloud takes one a file",
                "remove the '---', or make it a file of its own",
            )

    def _open(self, event: yaml.CollectionStartEvent, node: Sequence | Mapping) -> None:
        self._anchor(event)
        self._put(node, node.place)
        if len(self._stack) >= MAX_DEPTH:
            self.report.fault(
                "too-deep",
                node.place,
                f"more than {MAX_DEPTH} levels of nesting; App Engine's files have "
                "four at most",
            )
            raise _Stop
        self._stack.append(node)
        # Within a flow collection every collection is one.
        self._flow += bool(event.flow_style)

    def _anchor(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            self.report.fault(
                "anchor",
                self._place(event),
                f"the anchor &{event.anchor}: gcloud reads no anchors and aliases",
                "remove it, and write the value out where it is used",
            )

    def _put(self, node: Node, place: Place) -> None:
        self._values += 1
        self._just_closed.clear()
        if self._values > MAX_VALUES:
            self.report.fault(
                "too-large", place, f"more than {MAX_VALUES:,} values in one file"
            )
            raise _Stop
        if not self._stack:
            self._documents.append(node)
            return
        parent = self._stack[-1]
        if isinstance(parent, Sequence):
            parent.items.append((node, self._dash(parent, place)))
        elif parent.key is None:
            parent.key = node
        else:
            parent.pairs.append((parent.key, node))
            parent.key = None

    def _dash(self, parent: Sequence, place: Place) -> Place:
        """Give the place of the dash before an item; its own where there is none."""
        if parent.flow:
            return place
        column = parent.place.column
        dashes = (
            Place(self._file, line, column)
            for line in range(place.line, parent.place.line - 1, -1)
            if self._dash_stands_at(line, column, first=parent.place.line)
        )
        return next(dashes, place)

    def _dash_stands_at(self, line: int, column: int, first: int) -> bool:
        """Tell whether a line's first word, at `column`, is a dash.

        Before a list's first dash may stand what the list is the value of.
        """
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        before, dash = text[: column - 1], text[column - 1 : column]
        return dash == "-" and (line == first or not before.strip())

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar | Broken:
        place = self._place(event)
        text = event.value
        is_key = (
            bool(self._stack)
            and isinstance(self._stack[-1], Mapping)
            and self._stack[-1].key is None
        )
        is_plain = event.style is None or not event.style
        if is_plain and self._flow and "?" in text:
            self.odd = True
        try:
            if event.tag is not None:
                value = scalars.tagged(text, event.tag, yaml_1_2=self._yaml_1_2)
            elif is_plain and not is_key:
                value = scalars.plain(text, yaml_1_2=self._yaml_1_2)
            else:
                value = text
        except ValueError as error:
            self.report.fault("bad-value", place, str(error))
            return Broken(place)
        return Scalar(text, value, place, self._inner(event, place, text))

    def _inner(self, event: yaml.ScalarEvent, place: Place, text: str) -> Place | None:
        start = place.column - 1 + (event.style in {"'", '"'})
        line = self._lines[place.line - 1] if place.line <= len(self._lines) else ""
        if event.tag is None and line.startswith(text, start):
            return Place(self._file, place.line, start + 1)
        return None

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        assert mark is not None  # noqa: S101 - every event of a parser has one
        return Place(self._file, mark.line + 1, mark.column + 1)
