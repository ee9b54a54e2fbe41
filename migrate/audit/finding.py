"""One thing that an audit tells: what, how bad, where, and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrate.audit.codes import CODES, Severity

if TYPE_CHECKING:
    from cronspec.config import Place

__all__ = ["Finding", "Severity", "told"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is one of CODES, `fix` the way out or ""."""

    code: str
    severity: Severity
    place: Place
    text: str
    fix: str = ""


def told(code: str, place: Place, text: str, fix: str = "") -> Finding:
    """Make a finding of a known code. Raises KeyError for any other."""
    return Finding(code, CODES[code].severity, place, text, fix)
