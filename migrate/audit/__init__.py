"""What is wrong with an app's cron files, and what is worth knowing: findings.

Values in, findings out: `audit` looks at all that it is given; `examine` also takes
away what the user ignores, and gives the route of every entry. Each family of
findings has a module, and every code stands in `codes`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from migrate.audit import (
    clock_changes,
    code,
    dates,
    deadlines,
    ignoring,
    intervals,
    limits,
    logins,
    repeats,
    retries,
    routes,
    rules,
    scripts,
    services,
    tasks,
)
from migrate.audit.codes import CODES, Code, Severity
from migrate.audit.evidence import Evidence, Routed, SourceText, routed
from migrate.audit.finding import Finding, told
from migrate.audit.ignoring import Ignore, Ignored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from cronspec.config import Fault, Remark

__all__ = [
    "CODES",
    "Code",
    "Evidence",
    "Finding",
    "Ignored",
    "Report",
    "Routed",
    "Severity",
    "SourceText",
    "audit",
    "examine",
    "reaches",
]


@dataclass(frozen=True, slots=True)
class Report:
    """All that an audit has to say; `routes` in file order."""

    findings: tuple[Finding, ...]
    ignored: tuple[Ignored, ...]
    routes: tuple[Routed, ...]

    @property
    def counts(self) -> dict[Severity, int]:
        """How many findings there are of each severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in Severity}


def examine(evidence: Evidence, ignore: Collection[str] = ()) -> Report:
    """Audit, leaving out the codes in `ignore` and those that comments name."""
    ignores = [Ignore(code, "--ignore") for code in dict.fromkeys(ignore)]
    ignores += ignoring.comments(evidence.texts)
    ignores += ignoring.code_comments(evidence.sources)
    files = _files(evidence)
    somewhere = Place(files[0] if files else "cron.yaml", 1, 1)
    kept, ignored = ignoring.sift(audit(evidence), ignores, somewhere)
    return Report(
        findings=tuple(_in_order(kept, files)),
        ignored=tuple(ignored),
        routes=tuple(routed(evidence)),
    )


def audit(evidence: Evidence) -> list[Finding]:
    """Give all findings, in the order of the files and of their lines."""
    return _in_order(list(_all(evidence)), _files(evidence))


def _all(evidence: Evidence) -> Iterator[Finding]:
    yield from _of_the_loaders(evidence)
    where = routed(evidence)
    for by_route in (routes, rules, services, deadlines, logins, tasks):
        yield from by_route.check(evidence, where)
    for by_entry in (repeats, clock_changes, dates, retries, intervals, limits):
        yield from by_entry.check(evidence)
    yield from code.check(evidence)
    yield from scripts.check(evidence)


def _of_the_loaders(evidence: Evidence) -> Iterator[Finding]:
    """Tell every fault and remark of the files."""
    for cron in evidence.crons:
        yield from _as_findings(cron.faults, cron.remarks)
    if evidence.dispatch is not None:
        yield from _as_findings(evidence.dispatch.faults, evidence.dispatch.remarks)
    for app in evidence.apps:
        yield from _as_findings(app.faults, ())


def _as_findings(
    faults: Sequence[Fault], remarks: Sequence[Remark]
) -> Iterator[Finding]:
    for fault in faults:
        yield told(fault.code, fault.place, fault.text, fault.fix)
    for remark in remarks:
        yield told(remark.code, remark.place, remark.text, remark.fix)


def _files(evidence: Evidence) -> list[str]:
    """Name the files in the order in which they are told."""
    read = [cron.file for cron in evidence.crons]
    read += [evidence.dispatch.file] if evidence.dispatch else []
    read += [app.file for app in evidence.apps]
    return read + [source.file for source in evidence.sources]


_GRAVITY: Final = {severity: rank for rank, severity in enumerate(Severity)}


def _in_order(findings: list[Finding], files: list[str]) -> list[Finding]:
    ranks = {file: rank for rank, file in reversed(list(enumerate(files)))}

    def key(finding: Finding) -> tuple[int, int, int, int, str]:
        place = finding.place
        rank = ranks.get(place.file, len(files))
        return rank, place.line, place.column, _GRAVITY[finding.severity], finding.code

    return sorted(findings, key=key)


def reaches(report: Report, fail_on: Severity | None) -> bool:
    """Tell whether a report has a finding as grave as `fail_on`; None is never."""
    if fail_on is None:
        return False
    return any(_GRAVITY[f.severity] <= _GRAVITY[fail_on] for f in report.findings)
