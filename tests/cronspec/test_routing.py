"""Where a cron request goes, dispatch.yaml counted in."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cronspec.config import DispatchRule, Place, load_dispatch
from cronspec.routing import Route, Target, effective, matches_path, parse_target

CASES = Path(__file__).parent.parent / "cases"
ROUTES = [
    json.loads(line) for line in (CASES / "routing.jsonl").read_text().splitlines()
]


def rules(*patterns: str) -> tuple[DispatchRule, ...]:
    """Make rules of `host/path service` words."""
    text = "".join(
        f"- url: '{url}'\n  service: {service}\n"
        for url, service in (pattern.split() for pattern in patterns)
    )
    loaded = load_dispatch(f"dispatch:\n{text}", "dispatch.yaml")
    assert loaded.faults == ()
    return loaded.rules


@pytest.mark.parametrize(
    "case", ROUTES, ids=lambda case: f"{case['url']}-{case['rules']}"
)
def test_the_table_of_routes(case: dict[str, object]) -> None:
    text = json.dumps({"dispatch": case["rules"]})
    loaded = load_dispatch(text, "dispatch.yaml")
    assert loaded.faults == ()
    route = effective(str(case["url"]), case["target"], loaded.rules, "demo")  # type: ignore[arg-type]  # the table's
    assert route.service == case["service"]
    assert (route.rule.index if route.rule else None) == case["rule"]


def test_the_documented_example_goes_to_service2_though_target_says_service1() -> None:
    (rule,) = rules("*/tasks/hello_service2 service2")
    route = effective("/tasks/hello_service2", "service1", [rule], "demo")
    assert route == Route("service2", "", rule)


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        (None, Target("default")),
        ("default", Target("default")),
        ("a", Target("a")),
        ("worker:v2", Target("worker", "v2")),
    ],
)
def test_a_target_in_its_parts(target: str | None, parts: Target) -> None:
    assert parse_target(target) == parts


def test_a_pinned_version_is_never_dispatched() -> None:
    route = effective("/t/a", "worker:v2", rules("*/* x"), "demo")
    assert route == Route("worker", "v2", None)


@pytest.mark.parametrize(
    ("host", "target", "project", "sure", "unsure"),
    [
        # host of the rule, target, project: the service that decides; what may
        ("*", None, None, "x", 0),
        ("*.r.appspot.com", "a", None, "x", 0),
        ("*.appspot.com", "a", None, "x", 0),
        ("demo.uc.r.appspot.com", None, "demo", "x", 0),
        ("demo.ew.r.appspot.com", None, "demo", "x", 0),
        ("demo.uc.r.appspot.com", "a", "demo", "a", 0),
        ("a.demo.uc.r.appspot.com", "a", "demo", "x", 0),
        ("other.uc.r.appspot.com", None, "demo", "default", 0),
        ("*demo.uc.r.appspot.com", "a", "demo", "x", 0),
        ("demo.example.com.uc.r.appspot.com", None, "example.com:demo", "x", 0),
        ("demo.appspot.com", None, "demo", "default", 1),
        ("*.demo.appspot.com", "a", "demo", "a", 1),
        ("demo.uc.r.appspot.com", None, None, "default", 1),
        ("demo.appspot.com", None, None, "default", 1),
        ("a.demo.uc.r.appspot.com", "a", None, "a", 1),
        ("demo.uc.r.appspot.com", "a", None, "a", 0),
        ("*demo.uc.r.appspot.com", "a", None, "a", 1),
        ("example.com", None, "demo", "default", 0),
        ("example.com", None, None, "default", 0),
        ("*.example.com", "a", None, "a", 0),
    ],
)
def test_a_host_is_the_apps_own_another_or_perhaps(
    host: str, target: str | None, project: str | None, sure: str, unsure: int
) -> None:
    route = effective("/t", target, rules(f"{host}/t x"), project)
    assert (route.service, len(route.unsure)) == (sure, unsure)


def test_a_rule_that_may_match_does_not_hide_the_next() -> None:
    both = rules("demo.appspot.com/* x", "*/t z")
    route = effective("/t", None, both, "demo")
    assert route == Route("z", "", both[1], (both[0],))


PATHS = st.text("/abt*?#_x", min_size=1, max_size=8).map(lambda text: "/" + text)


@given(PATHS, PATHS)
def test_a_path_pattern_is_a_prefix_or_the_whole(pattern: str, path: str) -> None:
    rule = DispatchRule("*", pattern, "x", 0, Place("f", 1, 1))
    literal = pattern.removesuffix("*")
    wanted = path.startswith(literal) if pattern.endswith("*") else path == pattern
    assert matches_path(rule, path) == wanted


@given(st.lists(PATHS, max_size=6), PATHS)
def test_the_first_rule_that_matches_wins(patterns: list[str], url: str) -> None:
    several = [
        DispatchRule("*", pattern, f"s{index}", index, Place("f", 1, 1))
        for index, pattern in enumerate(patterns)
    ]
    path = re.match(r"[^?#]*", url)[0]  # type: ignore[index]  # always matches
    first = next((rule for rule in several if matches_path(rule, path)), None)
    route = effective(url, "own", several, "demo")
    assert route.rule == first
    assert route.service == (first.service if first else "own")
