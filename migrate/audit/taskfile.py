"""The tasks that a service's code declares, read from its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.config import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

_DECLARE: Final = frozenset(("task", "proxy"))


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The tasks that a service's code declares: each url with its place."""

    service: str
    file: str
    urls: Mapping[str, Place]

    @classmethod
    def of(cls, service: str, file: str, code: str) -> TaskFile:
        """Find `….task("/url")` and `….proxy("/url", …)`. Raises SyntaxError."""
        urls = {}
        for node in ast.walk(ast.parse(code)):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr=attr),
                    args=[ast.Constant(value=str(url)), *_],
                ) if attr in _DECLARE and url.startswith("/"):
                    urls[url] = Place(file, node.lineno, node.col_offset + 1)
                case _:
                    pass
        return cls(service, file, urls)
