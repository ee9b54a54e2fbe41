"""Findings on a file as a whole: how many entries, and what it is called."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.audit.evidence import Evidence
    from migrate.audit.finding import Finding

# App Engine's limits on cron (page "Scheduling jobs with cron.yaml").
_MOST: Final = 250
_MOST_FREE: Final = 20
# What is left of a cron.yaml whose entries have moved is called jobs.yaml.
_EXPECTED: Final = frozenset(("cron.yaml", "jobs.yaml"))


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell too many entries, of all files together, and files with other names."""
    places = [
        destination.place
        for cron in evidence.crons
        for destination in cron.destinations
    ]
    if len(places) > _MOST:
        yield told(
            "too-many-entries",
            places[_MOST],
            f"{len(places)} entries, and this is number {_MOST + 1}: App Engine takes "
            f"{_MOST} an app",
            "move some of them to Cloud Scheduler",
        )
    elif len(places) > _MOST_FREE:
        yield told(
            "over-free-limit",
            places[_MOST_FREE],
            f"{len(places)} entries: an app without billing may have {_MOST_FREE}",
        )
    for cron in evidence.crons:
        name = PurePath(cron.file).name
        if name not in _EXPECTED and cron.destinations:
            yield told(
                "file-name",
                Place(cron.file, 1, 1),
                f"gcloud deploys cron entries from cron.yaml, not from {name}",
                "deploy it under that name",
            )
