"""Findings on where requests go: against `target`, off the default, unsure."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from cronspec.routing import DEFAULT_SERVICE, parse_target, path_of
from migrate.audit.evidence import lines
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.config import DispatchRule
    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell where requests go elsewhere than the entries say."""
    for one in routed:
        yield from _overridden(one)
        yield from _unsure(one, evidence.project)
        yield from _never_dispatched(one, evidence.rules)
        yield from _pinned(one, evidence.rules)
    yield from _meeting(routed)


def _overridden(one: Routed) -> Iterator[Finding]:
    url, target = one.destination.url, one.destination.target
    rule, service = one.route.rule, one.route.service
    if rule is None or service == parse_target(target).service:
        return
    by = f"the rule {pattern(rule)} ({where(rule)})"
    if target is None:
        yield told(
            "route-rerouted",
            one.place,
            f"no target, and {by} sends it to {service}, not to {DEFAULT_SERVICE}",
            f"write `target: {service}` to say so",
        )
        return
    yield told(
        "route-conflict",
        one.place,
        f"target says {target}, but {by} sends {url} to {service}",
        f"write `target: {service}`, or put a rule that sends {path_of(url)} to "
        f"{target} above it",
    )


def _unsure(one: Routed, project: str | None) -> Iterator[Finding]:
    other = [rule for rule in one.route.unsure if rule.service != one.route.service]
    if not other:
        return
    yield told(
        "route-unsure",
        one.place,
        f"{one.destination.url} goes to {one.route.service}, unless the host of "
        f"{pattern(other[0])} ({where(other[0])}) is this app's own: then to "
        f"{other[0].service}",
        "name the project with --project" if project is None else "",
    )


def _never_dispatched(one: Routed, rules: Sequence[DispatchRule]) -> Iterator[Finding]:
    path = path_of(one.destination.url)
    if not path.startswith("/_ah/"):
        return
    for rule in rules:
        wants = rule.path.startswith("/_ah/") and (
            path.startswith(rule.path[:-1])
            if rule.path.endswith("*")
            else path == rule.path
        )
        if wants and rule.service != one.route.service:
            yield told(
                "never-dispatched",
                one.place,
                f"{path} stays with {one.route.service}: the rule {pattern(rule)} "
                f"({where(rule)}) is never applied to it",
                f"write `target: {rule.service}`",
            )


def _pinned(one: Routed, rules: Sequence[DispatchRule]) -> Iterator[Finding]:
    target = parse_target(one.destination.target)
    if target.version:
        passed_by = ", and dispatch rules pass it by" if rules else ""
        yield told(
            "version-pinned",
            one.place,
            f"target {one.destination.target} pins the entry to one version: it does "
            f"not follow the traffic{passed_by}",
            f"name the service alone, {target.service or target.version!r}, unless "
            "that is meant",
        )


def _meeting(routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell entries of one url whose different targets come to one service."""
    first: dict[tuple[str, str, str], Routed] = {}
    for one in routed:
        key = (one.destination.url, one.route.service, one.route.version)
        before = first.setdefault(key, one)
        declared = parse_target(one.destination.target)
        if declared != parse_target(before.destination.target):
            there = before.destination.target or DEFAULT_SERVICE
            yield told(
                "same-destination",
                one.place,
                f"{one.destination.url} with target "
                f"{one.destination.target or DEFAULT_SERVICE} and with target {there} "
                f"({lines([before.place])}) both reach {one.route.service}",
                "keep one of the entries, or change the dispatch rule",
            )


def where(rule: DispatchRule) -> str:
    """Give a rule's place; an app has one dispatch.yaml, so that its name will do."""
    return f"{PurePath(rule.place.file).name}:{rule.place.line}"


def pattern(rule: DispatchRule) -> str:
    """Give a rule's url as dispatch.yaml has it, quoted."""
    return f"'{rule.host}{rule.path}'"
