"""dispatch.yaml: its rules, and everything that is wrong with them.

As strict as gcloud's loader (dispatchinfo.py), whose regular expressions for hosts
are read label by label here: theirs take exponential time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.cronfile import read_application
from cronspec.faults import Place, Report
from cronspec.fields import (
    Vocabulary,
    cast,
    is_null,
    kind,
    missing,
    near,
    read_fields,
    shown,
    text,
)
from cronspec.nodes import Broken, Mapping, Scalar, Sequence, read

if TYPE_CHECKING:
    from cronspec.faults import Fault, Remark
    from cronspec.fields import Field
    from cronspec.nodes import Node


@dataclass(frozen=True, slots=True)
class DispatchRule:
    """One rule of dispatch.yaml; `index` counts from 0, `place` is its dash's."""

    host: str
    path: str
    service: str
    index: int
    place: Place


@dataclass(frozen=True, slots=True)
class DispatchFile:
    """What a dispatch.yaml says."""

    file: str
    rules: tuple[DispatchRule, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]


MAX_RULES: Final = 20
"""The most rules that App Engine's documentation grants."""
MAX_PATTERN: Final = 100
"""The longest host, and the longest path, that it grants."""

_TOP: Final = Vocabulary(
    "the top level of a dispatch.yaml",
    ("dispatch", "application"),
    {"cron": "cron entries go into cron.yaml"},
)
_RULE: Final = Vocabulary(
    "a rule",
    ("url", "service", "module"),
    {
        "target": "did you mean 'service'?",
        "host": "did you mean 'url'? It takes host and path: 'example.com/x/*'",
        "path": "did you mean 'url'? It takes host and path: '*/x/*'",
        "<<": "gcloud knows no merge keys; write the values out",
    },
)
_URL: Final = re.compile(r"([^/]+)(/.*)")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_FIRST_AFTER_STAR: Final = re.compile(r"[a-z0-9-]*[a-z0-9]")
_IP_V4: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")
_SERVICE: Final = re.compile(r"(?!-)[a-z\d-]{0,62}[a-z\d]", re.ASCII)


def load_dispatch(text: str, file: str) -> DispatchFile:
    """Read a dispatch.yaml. Never raises for what the text says: see `faults`."""
    report = Report()
    rules: list[DispatchRule] = []
    if re.match(r"\ufeff?\s*<(?:\?xml|dispatch-entries|!--)", text):
        report.fault(
            "xml",
            Place(file, 1, 1),
            "this is Java's dispatch.xml, not a dispatch.yaml",
            "write each <dispatch> as '- url: …' and 'service: …' under 'dispatch:'",
        )
    else:
        tree = read(text, file, report)
        if tree.documents:
            rules = _top(tree.documents[0], report)
        elif tree.complete:
            _no_rules(Place(file, 1, 1), "the file has nothing in it", report)
    if len(rules) > MAX_RULES:
        report.remark(
            "too-many-rules",
            rules[MAX_RULES].place,
            f"{len(rules)} rules; App Engine documents {MAX_RULES} as the most",
        )
    return DispatchFile(file, tuple(rules), report.faults(), report.remarks())


def _no_rules(place: Place, why: str, report: Report) -> None:
    report.remark(
        "deletes-all", place, f"{why}: deploying it removes all dispatch rules"
    )


def _top(top: Node, report: Report) -> list[DispatchRule]:
    match top:
        case Broken():
            return []
        case Mapping():
            return _mapping(top, report)
        case Sequence(items=[]):
            _no_rules(top.place, "there are no rules", report)
        case Scalar() if top.value is None:
            _no_rules(top.place, "there are no rules", report)
        case Sequence() | Scalar():
            report.fault(
                "not-a-dispatch-file",
                top.place,
                f"not a dispatch file: its top level is {kind(top)}, no 'dispatch:'",
                "a dispatch.yaml has the one key 'dispatch:' and a list of rules below",
            )
    return []


def _mapping(top: Mapping, report: Report) -> list[DispatchRule]:
    names = [key.text for key, _ in top.pairs if isinstance(key, Scalar)]
    if (
        names
        and top.complete
        and not any(n in _TOP.keys or near(n, ["dispatch"]) for n in names[:20])
    ):
        report.fault(
            "not-a-dispatch-file",
            top.place,
            "not a dispatch file: its top-level keys must be 'dispatch' (and the old "
            f"'application'), got {', '.join(shown(name) for name in names[:5])}",
        )
        return []
    fields = read_fields(top, _TOP, report)
    read_application(fields, report)
    dispatch = fields.get("dispatch")
    if dispatch is None:
        if top.complete and not report.count:
            _no_rules(top.place, "there is no 'dispatch'", report)
        return []
    match dispatch.node:
        case Sequence(items=[]) as rules:
            if rules.complete:
                _no_rules(dispatch.key_place, "there are no rules", report)
        case Sequence() as rules:
            return _rules(rules, report)
        case node if is_null(node):
            _no_rules(dispatch.key_place, "there are no rules", report)
        case Broken():
            pass
        case node:
            report.fault(
                "wrong-type",
                dispatch.place,
                f"'dispatch' must hold a list of rules, not {kind(node)}",
                "start each rule with '- '",
            )
    return []


def _rules(nodes: Sequence, report: Report) -> list[DispatchRule]:
    rules = []
    for index, (node, dash) in enumerate(nodes.items):
        if report.full:
            break
        if isinstance(node, Mapping):
            rule = _rule(node, index, dash, report)
            if rule:
                rules.append(rule)
        elif not isinstance(node, Broken):
            report.fault(
                "wrong-type",
                node.place,
                f"a rule must hold 'url' and 'service', not {kind(node)}",
            )
    return rules


def _rule(
    node: Mapping, index: int, dash: Place, report: Report
) -> DispatchRule | None:
    before = report.count
    fields = read_fields(node, _RULE, report)
    given = {key: one for key, one in fields.items() if not is_null(one.node)}
    missing(node, dash, ("url",), fields, report)
    pattern = _pattern(given.get("url"), report)
    name = given.get("service") or given.get("module")
    if name is None:
        missing(node, dash, ("service",), fields, report)
        return None
    if "service" in given and "module" in given:
        report.fault(
            "two-names",
            given["module"].key_place,
            "'module' is the old name of 'service'; only one may be given",
            "remove 'module'",
        )
    elif "module" in given:
        report.remark(
            "module",
            name.key_place,
            "'module' is the old name of 'service'",
            "write 'service'",
        )
    service = _service(name, report)
    if pattern is None or service is None or report.count > before:
        return None
    return DispatchRule(*pattern, service, index, dash)


def _service(field: Field, report: Report) -> str | None:
    node = field.node
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        report.fault(
            "bad-service",
            field.place,
            f"YAML takes the unquoted {shown(node.text)} for a boolean",
            f"put it in quotes: {field.key}: '{node.text}'",
        )
        return None
    service = cast(field, report)
    if service is None or _SERVICE.fullmatch(service):
        return service
    report.fault(
        "bad-service",
        field.place,
        f"{shown(service)} is no service's name: 1 to 63 small letters, digits and "
        "'-', which stands neither first nor last",
    )
    return None


def _pattern(field: Field | None, report: Report) -> tuple[str, str] | None:
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
