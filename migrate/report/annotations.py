"""An audit's findings as GitHub's workflow commands, which annotate a pull request.

The escapes are those of GitHub's own toolkit (@actions/core, command.ts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from migrate.audit.codes import Severity
from migrate.report.findings import said, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from migrate.audit import Finding, Report

_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}


def as_annotations(report: Report) -> str:
    """Write a line for each finding; those of one file that say the same share one."""
    return "".join(f"{_line(same)}\n" for same in together(report.findings))


def _line(same: Sequence[Finding]) -> str:
    finding = same[0]
    place = finding.place
    properties = {
        "file": place.file,
        "line": str(place.line),
        "col": str(place.column),
        "title": f"cronshift {finding.code}",
    }
    written = ",".join(
        f"{name}={_property(value)}" for name, value in properties.items()
    )
    text = said(same) + (f"\n{finding.fix}" if finding.fix else "")
    return f"::{_LEVELS[finding.severity]} {written}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
