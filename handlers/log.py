"""One line of JSON a decision, with the fields that Cloud Logging knows."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO


class Severity(Enum):
    """Cloud Logging's severities, as far as they are used here."""

    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class Log(Protocol):
    """Takes one line: what happened, and its fields."""

    def __call__(self, severity: Severity, message: str, **fields: object) -> None:
        """Write the line."""


@dataclass(frozen=True, slots=True)
class JsonLog:
    """Writes each line at once to `stream` (None: the standard output)."""

    stream: TextIO | None = None

    def __call__(self, severity: Severity, message: str, **fields: object) -> None:
        """Write the line; fields that are no JSON become text."""
        line = {
            "severity": severity.value,
            "message": message,
            "time": datetime.now(UTC).isoformat(),
            **fields,
        }
        # One write a line, so that the lines of many threads stay whole.
        out = self.stream or sys.stdout
        out.write(json.dumps(line, default=str) + "\n")
        out.flush()


def trace_fields(headers: Mapping[str, str], project: str | None) -> dict[str, str]:
    """Give the field that shows a line beneath its request's log, in Cloud Logging.

    >>> trace_fields({"x-cloud-trace-context": "0af7651916cd43dd/1;o=1"}, "shop")
    {'logging.googleapis.com/trace': 'projects/shop/traces/0af7651916cd43dd'}
    """
    trace = headers.get("x-cloud-trace-context", "").partition("/")[0]
    if not trace:
        parent = headers.get("traceparent", "").split("-")
        trace = parent[1] if len(parent) == 4 else ""
    if not project or not trace.isalnum() or not trace.isascii() or len(trace) > 64:
        return {}
    return {"logging.googleapis.com/trace": f"projects/{project}/traces/{trace}"}
