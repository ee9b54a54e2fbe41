"""Findings on dispatch.yaml's own rules: shadowed, contradicted, dead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cronspec.routing import effective, matches_path, parse_target, path_of
from migrate.audit.finding import told
from migrate.audit.routes import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.config import DispatchRule
    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding

_LOOKED_AT: Final = 200


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell the rules that do not do what they seem to."""
    # App Engine takes 20; of a file with far more, these are enough to look at.
    rules = evidence.rules[:_LOOKED_AT]
    for number, rule in enumerate(rules):
        dead = list(_dead(rule))
        yield from dead
        if not dead:
            yield from _against_earlier(rule, rules[:number])
            yield from _passes_by(rule, routed, evidence.project)


def _dead(rule: DispatchRule) -> Iterator[Finding]:
    if "?" in rule.path or "#" in rule.path:
        yield told(
            "rule-query",
            rule.place,
            f"{pattern(rule)} never matches: a rule sees the path, and no query",
            f"end the path before the mark: '{rule.host}{path_of(rule.path)}'",
        )
    elif "*" in rule.path[:-1]:
        upto = rule.path[: rule.path.index("*") + 1]
        yield told(
            "rule-inner-star",
            rule.place,
            f"{pattern(rule)} matches no real request: '*' is a wildcard only at the "
            "very end of a path",
            f"'{rule.host}{upto}' covers these paths, and more",
        )


def _against_earlier(
    rule: DispatchRule, earlier: Sequence[DispatchRule]
) -> Iterator[Finding]:
    """Tell the first earlier rule that takes every request of this one."""
    for other in earlier:
        if not (_host_covers(other.host, rule.host) and _path_covers(other, rule)):
            continue
        where = f"{pattern(other)} (line {other.place.line})"
        if other.service == rule.service:
            yield told(
                "rule-repeated",
                rule.place,
                f"{pattern(rule)} adds nothing: {where} sends its requests to "
                f"{other.service} already",
                "take one of them out",
            )
        elif pattern(other) == pattern(rule):
            yield told(
                "rule-contradicted",
                rule.place,
                f"{pattern(rule)} goes to {other.service} by line "
                f"{other.place.line}, never to {rule.service}",
                "take one of them out",
            )
        else:
            yield told(
                "rule-shadowed",
                rule.place,
                f"{pattern(rule)} never sends anything to {rule.service}: {where} "
                f"takes it all to {other.service} first",
                f"move it above line {other.place.line}",
            )
        return


def _host_covers(wide: str, narrow: str) -> bool:
    if wide.startswith("*"):
        return narrow.removeprefix("*").endswith(wide[1:])
    return wide == narrow


def _path_covers(wide: DispatchRule, narrow: DispatchRule) -> bool:
    if wide.path.endswith("*"):
        return narrow.path.removesuffix("*").startswith(wide.path[:-1])
    return wide.path == narrow.path


def _passes_by(
    rule: DispatchRule, routed: Sequence[Routed], project: str | None
) -> Iterator[Finding]:
    """Tell a rule that has the path of entries, but a host that none comes with.

    One for all of a host's paths is meant for web requests, and not told.
    """
    if rule.path == "/*":
        return
    passed = []
    for one in routed:
        url, target = one.destination.url, one.destination.target
        path = path_of(url)
        pinned = parse_target(target).version
        if pinned or path.startswith("/_ah/") or not matches_path(rule, path):
            continue
        alone = effective(url, target, (rule,), project)
        if alone.rule is not None or alone.unsure:
            return
        if one.route.service != rule.service:
            passed.append(path)
    if passed:
        more = f" and {len(passed) - 1} more" if len(passed) > 1 else ""
        yield told(
            "rule-passes-cron-by",
            rule.place,
            f"{pattern(rule)} does not catch the cron requests for {passed[0]}{more}: "
            "they come with the app's own appspot.com host",
            f"write `target: {rule.service}` in cron.yaml if they belong there",
        )
