"""The values of a cron.yaml entry, one by one."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec import groc, zones
from cronspec.fields import cast, shown, text
from cronspec.kinds import ScheduleError
from cronspec.nodes import Scalar

if TYPE_CHECKING:
    from cronspec.faults import Place, Report
    from cronspec.fields import Field
    from cronspec.kinds import GrocSchedule

MAX_URL: Final = 2083
"""The longest `relativeUri` that Cloud Scheduler takes."""
_MAX_DESCRIPTION: Final = 499
_TARGET: Final = re.compile(r"(?:(?!-)[a-z\d-]{1,63}:)?(?!-)[a-z\d-]{1,100}", re.ASCII)
_FILL_IN: Final = "if it is a template, fill it in first, and give the result"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DEADLINE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)s", re.ASCII)
_MAX_DEADLINE: Final = 10**9  # seconds: bounds the number, means nothing


def read_url(field: Field | None, report: Report) -> str | None:
    """Read the path that is requested."""
    url = cast(field, report) if field else None
    if field is None or url is None:
        return None
    if not url.startswith("/"):
        other = re.match(r"[a-z]+://", url)
        report.fault(
            "bad-url",
            field.place,
            f"url {shown(url)} must be a path and start with '/'",
            "cron reaches the app itself only; another host needs a Cloud Scheduler "
            "job with an HTTP target"
            if other
            else _FILL_IN
            if "${" in url or "{{" in url
            else f"did you mean {shown('/' + url)}?",
        )
        return None
    bad = _CONTROL.search(url) or re.search(r"\s", url)
    if bad:
        report.fault(
            "bad-url",
            _within(field, bad.start()),
            f"url {shown(url)} holds {_name(bad[0])}, which no url may",
            "write %20 for a blank" if bad[0] == " " else "remove it",
        )
        return None
    if len(url) > MAX_URL:
        report.fault(
            "bad-url",
            field.place,
            f"the url has {len(url):,} characters; Cloud Scheduler takes {MAX_URL:,}",
        )
        return None
    if "#" in url:
        report.remark(
            "fragment",
            _within(field, url.index("#")),
            f"{shown(url[url.index('#') :])} is a fragment, which is never sent",
            f"write {shown(url[: url.index('#')])}",
        )
    return url


def _name(character: str) -> str:
    return "a blank" if character == " " else f"the character U+{ord(character):04X}"


def _within(field: Field, offset: int) -> Place:
    """Give the place of a value's character, if it stands in the file as it is."""
    node = field.node
    if isinstance(node, Scalar) and node.inner and "\n" not in node.text[:offset]:
        return replace(node.inner, column=node.inner.column + offset)
    return field.place


def read_schedule(
    field: Field | None, report: Report
) -> tuple[GrocSchedule, str] | None:
    """Read the schedule; give it with its text."""
    written = text(field, report) if field else None
    if field is None or written is None:
        return None
    try:
        schedule = groc.parse(written)
    except ScheduleError as error:
        _bad_schedule(field, error, report)
        return None
    for dialect in groc.dialects(written):
        report.remark("dialect", field.place, dialect)
    return schedule, written


def _bad_schedule(field: Field, error: ScheduleError, report: Report) -> None:
    written = error.text
    if _is_crontab(written):
        report.fault(
            "crontab",
            field.place,
            f"schedule {shown(written)} is a crontab line; cron.yaml takes groc only, "
            "and gcloud does not say so before the server does",
            f"the same in groc: {error.fix}"
            if error.fix
            else "no groc means the same; split it, or make it a Cloud Scheduler job",
        )
        return
    report.fault(
        "bad-schedule",
        _within(field, error.column - 1),
        f"schedule {shown(written)}: {error.reason}",
        f"did you mean '{error.fix}'?" if error.fix else "",
    )


_NICKNAME: Final = re.compile(
    r"@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)"
)


def _is_crontab(written: str) -> bool:
    written = written.strip()
    if _NICKNAME.fullmatch(written):
        return True
    fields = written.split(maxsplit=5)
    return len(fields) == 5 and bool(
        re.fullmatch(r"[\d*/,?LW#-]+", fields[0] + fields[1])
    )


def read_timezone(field: Field | None, report: Report) -> str | None:
    """Read the time zone, kept as it is written; empty text is none, as to gcloud."""
    name = text(field, report) if field else None
    if field is None or not name:
        return None
    try:
        spelling = zones.canonical(name)
    except zones.ZoneError as error:
        report.fault(
            "bad-timezone",
            field.place,
            f"time zone {shown(name)} is unknown",
            error.hint,
        )
        return None
    if spelling != name:
        report.remark(
            "timezone-case",
            field.place,
            f"the tz database writes {spelling}, not {name}",
            f"write {spelling}",
        )
    return name


def read_target(field: Field | None, report: Report) -> str | None:
    """Read the service, or `version:service`, that is to get the requests."""
    if field is None:
        return None
    node = field.node
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        report.fault(
            "bad-target",
            field.place,
            f"YAML takes the unquoted {shown(node.text)} for a boolean",
            f"put it in quotes: target: '{node.text}'",
        )
        return None
    target = cast(field, report)
    if target is None or _TARGET.fullmatch(target):
        return target
    lowered = target.strip().lower().replace("_", "-").replace(".", ":")
    report.fault(
        "bad-target",
        field.place,
        f"target {shown(target)} is no service's name: small letters, digits and '-' "
        "only, and not '-' first",
        f"did you mean {lowered!r}?" if _TARGET.fullmatch(lowered) else "",
    )
    return None


def read_description(field: Field | None, report: Report) -> str | None:
    """Read the description: one line, whose own line break gcloud lets pass."""
    words = cast(field, report) if field else None
    if field is None or words is None:
        return None
    line = words.removesuffix("\n")
    if "\n" in line:
        report.fault(
            "bad-description",
            field.place,
            "the description has more than one line",
            "write it in one line ('>-' joins lines)",
        )
        return None
    if len(line) > _MAX_DESCRIPTION:
        report.fault(
            "bad-description",
            field.place,
            f"the description has {len(line)} characters; {_MAX_DESCRIPTION} are the "
            "most",
            f"cut {len(line) - _MAX_DESCRIPTION}",
        )
        return None
    return words


def read_deadline(field: Field | None, report: Report) -> timedelta | None:
    """Read `attempt_deadline`, "<float>s", which only Google's own loader knows."""
    written = cast(field, report) if field else None
    if field is None or written is None:
        return None
    found = _DEADLINE.fullmatch(written)
    seconds = float(found[1]) if found else math.nan
    if not 0 < seconds <= _MAX_DEADLINE:
        report.fault(
            "bad-deadline",
            field.place,
            f"attempt_deadline {shown(written)} is no number of seconds and 's'",
            "write, say, 600.0s",
        )
        return None
    report.remark(
        "attempt-deadline",
        field.place,
        "'attempt_deadline' is undocumented, and gcloud's loader refuses it",
        "remove it before 'gcloud app deploy cron.yaml'",
    )
    return timedelta(seconds=seconds)
