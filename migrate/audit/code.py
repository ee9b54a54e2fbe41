"""Findings in code: what checks X-Appengine-Cron, which Cloud Scheduler does not send.

Two independent dumps of Cloud Scheduler's requests to App Engine show X-CloudScheduler
and no X-Appengine-Cron, and X-Appengine-… cannot be set on a job. A file that knows
X-CloudScheduler as well is ready for the move, and not told.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.audit.evidence import Evidence, SourceText
    from migrate.audit.finding import Finding

EXTENSIONS: Final = frozenset(
    ".py .go .java .kt .kts .scala .groovy .clj .js .mjs .cjs .jsx .ts .mts .cts .tsx "
    ".php .rb .cs .fs .vb .rs .ex .exs .dart .swift .pl".split()
)
_HEADER: Final = re.compile(r"x[-_]appengine[-_]cron(?![\w-])", re.IGNORECASE)
_BOTH: Final = re.compile(r"x[-_]cloud[-_]?scheduler", re.IGNORECASE)
_COMMENT: Final = re.compile(r"\s*(#|//|/\*|\*|--|;|<!--|'''|\"\"\")")
_TEST: Final = re.compile(
    r"(^|/)(tests?|__tests__|spec)/|(^|/)(test_|conftest)[^/]*$|"
    r"(_test|_spec|\.test|\.spec|Tests?|Spec)\.\w+$"
)


def is_code(file: str) -> bool:
    """Tell by its name, from the audited folder on, if a file is code and no test."""
    path = PurePath(file)
    minified = path.stem.endswith((".min", ".bundle"))
    return path.suffix in EXTENSIONS and not minified and not _TEST.search(file)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell every line of code that names the header."""
    for source in evidence.sources:
        if PurePath(source.file).suffix in EXTENSIONS:
            yield from _checks(source)


def _checks(source: SourceText) -> Iterator[Finding]:
    if not _HEADER.search(source.text) or _BOTH.search(source.text):
        return
    for number, line in enumerate(source.text.splitlines(), start=1):
        found = _HEADER.search(line)
        if found and not _COMMENT.match(line):
            yield told(
                "cron-header-checked",
                Place(source.file, number, found.start() + 1),
                f"{found[0]} comes from App Engine's cron only: Cloud Scheduler sends "
                "X-CloudScheduler instead",
                "before the move, take X-CloudScheduler: true from 0.1.0.2 too",
            )
