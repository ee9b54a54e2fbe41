"""An audit's findings as text for people and as JSON for programs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from migrate.audit.evidence import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.audit import Finding, Ignored, Report, Routed


def as_text(report: Report, *, show_ignored: bool = False) -> str:
    """Write the findings by file, then how many there are.

    Findings of one file that say the same are told once, with all their lines.
    """
    blocks = [
        "\n".join(_lines(list(findings)))
        for _, findings in groupby(report.findings, lambda f: f.place.file)
    ]
    if show_ignored and report.ignored:
        blocks.append("\n".join(map(_ignored_line, report.ignored)))
    blocks.append(_counts(report))
    return "\n\n".join(blocks) + "\n"


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for same in together(findings):
        first = same[0]
        yield f"{first.place}: {first.severity} {first.code}: {said(same)}"
        if first.fix:
            yield f"    {first.fix}"


def together(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Gather the findings of one file that say the same, in order of the first.

    Errors are told one by one: each is to be mended.
    """
    gathered: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        apart = number if finding.severity == "error" else -1
        key = (finding.code, finding.place.file, finding.text, apart)
        gathered.setdefault(key, []).append(finding)
    return list(gathered.values())


def said(same: Sequence[Finding]) -> str:
    """Give the words that findings share, and the lines of those after the first."""
    others = [finding.place for finding in same[1:]]
    return f"{same[0].text} (also {lines(others)})" if others else same[0].text


def _ignored_line(one: Ignored) -> str:
    finding, by = one.finding, one.by
    why = f": {by.reason}" if by.place is not None and by.reason else ""
    where = f"{by.place.file}:{by.place.line}" if by.place is not None else "--ignore"
    return f"{finding.place}: ignored {finding.code} (by {where}{why}): {finding.text}"


def _counts(report: Report) -> str:
    counts = report.counts
    total = sum(counts.values())
    ignored = f"; {len(report.ignored)} ignored" if report.ignored else ""
    if not total:
        return f"Nothing to tell{ignored}."
    parts = [
        f"{count} {severity}{'s' if count != 1 and severity != 'info' else ''}"
        for severity, count in counts.items()
        if count
    ]
    return f"{', '.join(parts)}{ignored}."


def as_json(report: Report) -> dict[str, Any]:
    """Give the findings one by one, and the route of every entry."""
    return {
        "findings": [_finding(finding) for finding in report.findings],
        "routes": [_route(one) for one in report.routes],
        "counts": {str(severity): n for severity, n in report.counts.items()},
        "ignored": [_ignored(one) for one in report.ignored],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "text": finding.text,
        "fix": finding.fix,
    }


def _route(one: Routed) -> dict[str, Any]:
    wanted, rule = one.destination, one.route.rule
    return {
        "file": wanted.place.file,
        "line": wanted.place.line,
        "url": wanted.url,
        "declared": wanted.target,
        "effective": one.route.service,
        "rule": None
        if rule is None
        else {
            "file": rule.place.file,
            "line": rule.place.line,
            "index": rule.index,
        },
    }


def _ignored(one: Ignored) -> dict[str, Any]:
    place = one.by.place
    return {
        **_finding(one.finding),
        "by": None if place is None else {"file": place.file, "line": place.line},
        "reason": "" if place is None else one.by.reason,
    }
