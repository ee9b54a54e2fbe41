"""Findings on entries that no task answers, and on tasks that no entry asks for."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from cronspec.naming import comparable
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding

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


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Compare entries with the tasks of the services whose code was given."""
    for file in evidence.tasks:
        here = [one for one in routed if one.route.service == file.service]
        tasks = {comparable(url) for url in file.urls}
        for one in here:
            if comparable(one.destination.url) not in tasks:
                yield told(
                    "entry-without-task",
                    one.place,
                    f"{one.destination.url} reaches {file.service}, and {file.file} "
                    "has no task for it: its requests are answered with 404",
                    f'declare it: @tasks.task("{one.destination.url}")',
                )
        wanted = {comparable(one.destination.url) for one in here}
        for url, place in file.urls.items():
            if comparable(url) not in wanted:
                yield told(
                    "task-without-entry",
                    place,
                    f"no entry asks {file.service} for {url}: nothing fires this task",
                    "add an entry, or remove the task",
                )
