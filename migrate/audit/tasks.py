"""Findings on entries that no task answers, and on tasks that no entry asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.naming import comparable
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding


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
