"""A dispatch rule's url: a host, or the end of one, and a path, or its start.

As strict as gcloud's loader (dispatchinfo.py), whose regular expressions for hosts
are read label by label here: theirs take exponential time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cronspec.fields import shown, text

if TYPE_CHECKING:
    from cronspec.faults import Report
    from cronspec.fields import Field

MAX_PATTERN: Final = 100
"""The longest host, and the longest path, that it grants."""
_URL: Final = re.compile(r"([^/]+)(/.*)")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_FIRST_AFTER_STAR: Final = re.compile(r"[a-z0-9-]*[a-z0-9]")
_IP_V4: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")


def read_pattern(field: Field | None, report: Report) -> tuple[str, str] | None:
    """Read a rule's url; give its host and its path."""
    url = text(field, report) if field else None
    if field is None or url is None:
        return None
    found = _URL.fullmatch(url)
    if found is None:
        report.fault(
            "bad-url",
            field.place,
            f"url {shown(url)} must be a host, or '*', and a path",
            f"did you mean {shown('*' + url)}?"
            if url.startswith("/")
            else f"did you mean {shown(url + '/*')}?",
        )
        return None
    host, path = found.groups()
    fault = _host_fault(host)
    if fault:
        report.fault(
            "bad-host", field.place, f"the host {shown(host)} {fault[0]}", fault[1]
        )
        return None
    for what, part in (("host", host), ("path", path)):
        if len(part) > MAX_PATTERN:
            report.remark(
                "long-pattern",
                field.place,
                f"the {what} has {len(part)} characters; App Engine documents "
                f"{MAX_PATTERN} as the most",
            )
    return host, path


def _host_fault(host: str) -> tuple[str, str] | None:
    """Say why gcloud refuses a host, and the way out; None if it does not."""
    if host.startswith("*"):
        first, *labels = host[1:].split(".")
        if host == "*" or (
            (not first or _FIRST_AFTER_STAR.fullmatch(first))
            and (first or labels)
            and all(map(_LABEL.fullmatch, labels))
        ):
            return None
    elif all(map(_LABEL.fullmatch, host.split("."))):
        address = _IP_V4.fullmatch(host)
        if address is None or any(int(part) > 255 for part in address.groups()):
            return None
        return "is an IP address", "name the host"
    if "://" in host or host.endswith(":"):
        return "holds a scheme", "leave 'http://' out"
    if ":" in host:
        return "holds a port", "leave the port out"
    if host != host.lower():
        return "holds capital letters", f"did you mean {host.lower()!r}?"
    if "*" in host[1:]:
        return "holds '*' elsewhere than at its start", ""
    return "is no host: labels of letters, digits and '-', joined by '.'", ""
