"""The tree of a YAML text, every value with its place; `tree` makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cronspec.faults import Place
    from cronspec.scalars import Value


@dataclass(slots=True)
class Scalar:
    """A value without parts: `text` as written, `value` what YAML makes of it.

    `inner` is where the text's first character stands if the text stands in the
    file letter by letter on one line, else None.
    """

    text: str
    value: Value
    place: Place
    inner: Place | None = None


@dataclass(slots=True)
class Sequence:
    """A list; `items` go with the places of their dashes."""

    place: Place
    flow: bool
    items: list[tuple[Node, Place]] = field(default_factory=list)
    complete: bool = False


@dataclass(slots=True)
class Mapping:
    """Keys and values in order, duplicates included."""

    place: Place
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    key: Node | None = None  # the one that waits for its value
    complete: bool = False


@dataclass(slots=True)
class Broken:
    """A value that a fault has been told of: nothing more need be said."""

    place: Place


Node = Scalar | Sequence | Mapping | Broken


@dataclass(frozen=True, slots=True)
class Tree:
    """A text's documents, as far as they go; `complete` if it is YAML to its end."""

    documents: tuple[Node, ...]
    complete: bool
