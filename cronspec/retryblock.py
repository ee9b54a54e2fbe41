"""`retry_parameters` of a cron.yaml entry, with the limits that gcloud holds it to.

gcloud's loader (croninfo.py, RetryParameters) makes numbers of texts and cuts
fractions off; ValidateCronYamlFileConfig then refuses a limit over 5, an age limit
below a second, and a shortest wait longer than the longest. Two things it lets pass
are faults here, since Cloud Scheduler can hold neither: numbers that are not finite,
and spans of over 10,000 years.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec.fields import is_null, kind, read_fields, shown
from cronspec.nodes import Broken, Mapping, Scalar
from cronspec.retry import MAX_RETRIES, RetryParameters
from cronspec.vocabulary import RETRY

if TYPE_CHECKING:
    from cronspec.faults import Place, Report
    from cronspec.fields import Field

_AGE: Final = re.compile(r"(\d+(?:\.\d+)?|\.\d+)([smhd])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST: Final = (
    315_576_000_000  # seconds: the most that google.protobuf.Duration holds
)


def read_retry(
    field: Field, places: dict[str, Place], report: Report
) -> RetryParameters | None:
    """Read a block; None where there is none, or where it has faults."""
    places[field.key] = field.place
    node = field.node
    if isinstance(node, Broken):
        return None
    if is_null(node):
        report.remark(
            "empty-retry",
            field.key_place,
            "'retry_parameters:' without a value is no block: a failed run is not "
            "tried again",
            "remove it, or write 'retry_parameters: {}' for App Engine's defaults",
        )
        return None
    if not isinstance(node, Mapping):
        report.fault(
            "wrong-type",
            node.place,
            f"'retry_parameters' must hold keys and values, not {kind(node)}",
            "write, say, retry_parameters: {job_retry_limit: 3}",
        )
        return None
    fields = read_fields(node, RETRY, report)
    for key, one in fields.items():
        places[f"{field.key}.{key}"] = one.place
    least = _seconds(fields.get("min_backoff_seconds"), report)
    most = _seconds(fields.get("max_backoff_seconds"), report)
    if least is not None and most is not None and least > most:
        report.fault(
            "bad-retry",
            fields["min_backoff_seconds"].place,
            f"'min_backoff_seconds' {least:g} is more than 'max_backoff_seconds' "
            f"{most:g}",
            "swap them, or raise 'max_backoff_seconds'",
        )
    return RetryParameters(
        job_retry_limit=_limit(fields.get("job_retry_limit"), report),
        job_age_limit=_age(fields.get("job_age_limit"), report),
        min_backoff_seconds=least,
        max_backoff_seconds=most,
        max_doublings=_whole(fields.get("max_doublings"), report),
    )


def _number(field: Field | None, report: Report) -> float | int | str | None:
    """Give a value from which gcloud makes a number, None where there is none."""
    if field is None or isinstance(field.node, Broken) or is_null(field.node):
        return None
    node = field.node
    if isinstance(node, Scalar):
        if isinstance(node.value, bool):
            report.remark(
                "truncated-number",
                field.place,
                f"YAML takes {shown(node.text)} for a boolean, and gcloud makes "
                f"{int(node.value)} of it",
                f"write {int(node.value)}",
            )
            return int(node.value)
        if isinstance(node.value, str | int | float):
            return node.value
    report.fault(
        "wrong-type",
        field.place,
        f"{field.key!r} must be a number, not {kind(node)}",
    )
    return None


def _whole(field: Field | None, report: Report) -> int | None:
    number = _number(field, report)
    if field is None or number is None:
        return None
    try:
        value = int(number)
    except (ValueError, OverflowError):
        _not_a_number(field, "a whole number", report)
        return None
    if value < 0:
        _negative(field, report)
        return None
    if not isinstance(number, str) and value != number:
        report.remark(
            "truncated-number",
            field.place,
            f"gcloud cuts {field.key!r} {number:g} down to {value}",
            f"write {value}",
        )
    return value


def _limit(field: Field | None, report: Report) -> int | None:
    limit = _whole(field, report)
    if field is not None and limit is not None and limit > MAX_RETRIES:
        report.fault(
            "bad-retry",
            field.place,
            f"'job_retry_limit' may be {MAX_RETRIES} at most, not {_node_text(field)}",
            f"write {MAX_RETRIES} or less",
        )
        return None
    return limit


def _seconds(field: Field | None, report: Report) -> float | None:
    number = _number(field, report)
    if field is None or number is None:
        return None
    try:
        value = float(number)
    except (ValueError, OverflowError):
        _not_a_number(field, "a number of seconds", report)
        return None
    if not math.isfinite(value):
        _not_a_number(field, "a finite number of seconds", report)
        return None
    if value < 0:
        _negative(field, report)
        return None
    if value > _LONGEST:
        _too_long(field, report)
        return None
    return value


def _age(field: Field | None, report: Report) -> timedelta | None:
    if field is None or isinstance(field.node, Broken) or is_null(field.node):
        return None
    node = field.node
    value = node.value if isinstance(node, Scalar) else None
    found = _AGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        report.fault(
            "bad-retry",
            field.place,
            f"'job_age_limit' must be a number and one unit, s, m, h or d, not "
            f"{_node_text(field)}",
            _age_fix(node.text) if isinstance(node, Scalar) else "write, say, 2h",
        )
        return None
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > _LONGEST:
        _too_long(field, report)
        return None
    if seconds < 1:
        report.fault(
            "bad-retry",
            field.place,
            f"'job_age_limit' must be at least a second, not {_node_text(field)}",
            "write 1s or more, or leave it out for no age limit",
        )
        return None
    # gcloud cuts to whole seconds: 1.9999999s may not round up to 2s on the way.
    return timedelta(microseconds=int(seconds * 1_000_000))


def _age_fix(text: str) -> str:
    """Say what an age limit that is none was most likely meant to be."""
    tight = re.sub(r"\s+", "", text.lower())
    if re.fullmatch(r"\d+(\.\d+)?", tight):
        return f"did you mean {tight}s?"
    if _AGE.fullmatch(tight):
        return f"did you mean {tight}?"
    parts = re.fullmatch(
        r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?", tight
    )
    if tight and parts:
        total = sum(
            int(count or 0) * size
            for count, size in zip(parts.groups(), (86_400, 3600, 60, 1), strict=True)
        )
        return f"did you mean {total}s?"
    return "write, say, 90s, 5m, 1.5h or 2d"


def _node_text(field: Field) -> str:
    node = field.node
    return shown(node.text) if isinstance(node, Scalar) else kind(node)


def _not_a_number(field: Field, wanted: str, report: Report) -> None:
    report.fault(
        "bad-retry",
        field.place,
        f"{field.key!r} must be {wanted}, not {_node_text(field)}",
    )


def _negative(field: Field, report: Report) -> None:
    report.fault(
        "bad-retry",
        field.place,
        f"{field.key!r} may not be negative: {_node_text(field)}",
        "write 0 or more",
    )


def _too_long(field: Field, report: Report) -> None:
    report.fault(
        "bad-retry",
        field.place,
        f"{field.key!r} {_node_text(field)} is over 10,000 years, the most that Cloud "
        "Scheduler takes",
    )
