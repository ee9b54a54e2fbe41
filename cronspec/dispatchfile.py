"""dispatch.yaml: its rules, and everything that is wrong with them.

As strict as gcloud's loader (dispatchinfo.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cronspec.faults import Place, Report
from cronspec.fields import (
    cast,
    is_null,
    kind,
    missing,
    near,
    read_application,
    read_fields,
    shown,
)
from cronspec.nodes import Broken, Mapping, Scalar, Sequence
from cronspec.pattern import read_pattern
from cronspec.tree import read
from cronspec.vocabulary import DISPATCH_TOP, RULE

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
    """What a dispatch.yaml says; `rules` are those that can be read, faulty or not."""

    file: str
    rules: tuple[DispatchRule, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]


MAX_RULES: Final = 20
"""The most rules that App Engine's documentation grants."""
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
            _no_rules(
                replace(top.place, line=1, column=1), "there are no rules", report
            )
        case _:
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
        and not any(n in DISPATCH_TOP.keys or near(n, ["dispatch"]) for n in names[:9])
    ):
        report.fault(
            "not-a-dispatch-file",
            top.place,
            "not a dispatch file: its top-level keys must be 'dispatch' (and the old "
            f"'application'), got {', '.join(shown(name) for name in names[:5])}",
        )
        return []
    fields = read_fields(top, DISPATCH_TOP, report)
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
    """Read a rule. One whose meaning is plain counts for routes, faults and all."""
    fields = read_fields(node, RULE, report)
    given = {key: one for key, one in fields.items() if not is_null(one.node)}
    missing(node, dash, ("url",), fields, report)
    pattern = read_pattern(given.get("url"), report)
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
    if pattern is None or service is None:
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
        return node.text if _SERVICE.fullmatch(node.text) else None
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
