"""An audit's findings as SARIF 2.1.0, which GitHub's code scanning takes.

Files are named relative to where the command ran, which must be the repository's
root for GitHub to find them; absolute paths become file: URIs.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from migrate.audit.codes import CODES, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from migrate.audit import Finding, Report

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def as_sarif(report: Report, version: str) -> dict[str, Any]:
    """Give a log with one run, by the cronshift of `version`."""
    used = sorted({finding.code for finding in report.findings})
    index = {code: number for number, code in enumerate(used)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "cronshift",
                        "version": version,
                        "rules": [_rule(code) for code in used],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, index) for one in report.findings],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    known = CODES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": known.reason},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
    }


def _result(finding: Finding, index: Mapping[str, int]) -> dict[str, Any]:
    way_out = f" ({finding.fix})" if finding.fix else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.text}{way_out}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.place.file)},
                    "region": {
                        "startLine": finding.place.line,
                        "startColumn": finding.place.column,
                    },
                }
            }
        ],
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
