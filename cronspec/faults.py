"""What can be wrong with a file, or worth knowing: faults and remarks, each in place.

Every code that `load_cron`, `load_dispatch` and `load_app` tell is listed here with
what it means; codes are stable, texts are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

FAULTS: Final = MappingProxyType(
    {
        "alias": "a YAML alias (`*name`), which gcloud's loader refuses",
        "anchor": "a YAML anchor (`&name`), which gcloud's loader refuses",
        "bad-application": "an `application` that is no project's id",
        "bad-character": "a character that cannot stand in a YAML file, or its value",
        "bad-deadline": "an `attempt_deadline` that is not seconds, such as 600.0s",
        "bad-description": "a description over 499 characters or over several lines",
        "bad-host": "a dispatch rule's host that gcloud refuses",
        "bad-retry": "a retry parameter out of its range or against another one",
        "bad-schedule": "a schedule that is no groc",
        "bad-service": "a name that no service can have",
        "bad-target": "a `target` that is no service, nor version:service",
        "bad-timezone": "a time zone that the tz database does not know",
        "bad-url": "a url that is no path, or no host and path in dispatch.yaml",
        "bad-value": "a YAML value that cannot be read: an unknown tag, no such date",
        "crontab": "a crontab line where cron.yaml wants groc",
        "duplicate-key": "a key given twice in one mapping",
        "empty-file": "a file with nothing in it, which is not 'delete all'",
        "missing-key": "an entry or rule without a value it must have",
        "not-a-cron-file": "the text is another kind of file",
        "not-a-dispatch-file": "the text is another kind of file",
        "not-utf-8": "bytes that are no UTF-8 text",
        "several-documents": "more than one YAML document in a file",
        "template": "a file made from a template, before it is filled in",
        "too-deep": "more nesting than any App Engine file has",
        "too-large": "more text or values than any sensible file has",
        "too-many-faults": "so many faults that the rest are not told",
        "two-names": "both `service` and the old `module` are given",
        "unknown-key": "a key that App Engine does not know here",
        "unquoted-star": "a value that starts with `*`, an alias to YAML, for want of "
        "quotes",
        "wrong-type": "a value of another type than App Engine wants",
        "xml": "Java's cron.xml or dispatch.xml, which must be written as YAML",
        "yaml-colon": "`: ` within an unquoted value, which YAML takes for a key",
        "yaml-indent": "lines that are not indented alike",
        "yaml-syntax": "a text that is no YAML",
        "yaml-tab": "a tab where YAML wants blanks",
    }
)

REMARKS: Final = MappingProxyType(
    {
        "attempt-deadline": "`attempt_deadline` is undocumented and gcloud refuses it",
        "deletes-all": "the file says that no jobs, or no rules, are wanted",
        "dialect": "only some of Google's schedule parsers take this",
        "empty-retry": "`retry_parameters:` without a value is no block: no retries",
        "fragment": "what follows `#` in a url is never sent",
        "long-pattern": "a dispatch rule's host or path over the documented 100",
        "module": "`module` is the old name of `service`",
        "not-a-string": "an unquoted value that YAML turns into other text",
        "timezone-case": "a time zone in other letters than the tz database's",
        "too-many-rules": "more than the 20 dispatch rules that App Engine documents",
        "truncated-number": "a fraction or boolean that gcloud makes a whole number of",
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What makes a file unusable: `code` is stable, `fix` the way out or ""."""

    code: str
    place: Place
    text: str
    fix: str = ""

    def __str__(self) -> str:
        way_out = f" ({self.fix})" if self.fix else ""
        return f"{self.place}: {self.text}{way_out}"


@dataclass(frozen=True, slots=True)
class Remark:
    """What is accepted, but worth knowing; `code` is stable."""

    code: str
    place: Place
    text: str
    fix: str = ""


MAX_TOLD: Final = 500
"""How many faults, and how many remarks, of one file are told."""


class Report:
    """Collects what one file's readers find."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._remarks: list[Remark] = []

    @property
    def full(self) -> bool:
        """Tell whether further faults would not be told."""
        return len(self._faults) > MAX_TOLD

    @property
    def count(self) -> int:
        """How many faults there are so far."""
        return len(self._faults)

    def fault(self, code: str, place: Place, text: str, fix: str = "") -> None:
        """Add a fault; of those past MAX_TOLD only that there are more."""
        if len(self._faults) < MAX_TOLD:
            self._faults.append(Fault(code, place, text, fix))
        elif not self.full:
            many = f"there are more than {MAX_TOLD} faults; the rest are not told"
            self._faults.append(Fault("too-many-faults", place, many))

    def remark(self, code: str, place: Place, text: str, fix: str = "") -> None:
        """Add a remark."""
        if len(self._remarks) < MAX_TOLD:
            self._remarks.append(Remark(code, place, text, fix))

    def add(self, other: Report) -> None:
        """Add all that another report has."""
        for fault in other._faults:
            self.fault(fault.code, fault.place, fault.text, fault.fix)

    def faults(self) -> tuple[Fault, ...]:
        """Give the faults in the order of their places."""
        return tuple(sorted(self._faults, key=_position))

    def remarks(self) -> tuple[Remark, ...]:
        """Give the remarks in the order of their places."""
        return tuple(sorted(self._remarks, key=_position))


def _position(told: Fault | Remark) -> tuple[int, int]:
    return told.place.line, told.place.column
