"""Findings on names of services that do not exist, or that nothing here declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.routing import DEFAULT_SERVICE, parse_target
from migrate.audit.finding import told
from migrate.audit.routes import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell unknown services: for sure with `--services`, else by the app yamls."""
    certain = bool(evidence.services)
    declared = {app.service for app in evidence.apps}
    known = (evidence.services or declared) | {DEFAULT_SERVICE}
    if not (certain or declared):
        return
    which = ", ".join(sorted(known))
    whose = "the services are" if certain else "the app yamls here declare"
    for one in routed:
        service = parse_target(one.destination.target).service
        if service not in known:
            yield told(
                "target-unknown" if certain else "target-unseen",
                one.place,
                f"target {service}: {whose} {which}; a request for a service that "
                f"does not exist goes to {DEFAULT_SERVICE}",
                "" if certain else "name all services with --services",
            )
    for rule in evidence.rules:
        if rule.service not in known:
            yield told(
                "rule-service-unknown" if certain else "rule-service-unseen",
                rule.place,
                f"{pattern(rule)} goes to {rule.service}: {whose} {which}",
                "deploy the service before dispatch.yaml"
                if certain
                else "name all services with --services",
            )
