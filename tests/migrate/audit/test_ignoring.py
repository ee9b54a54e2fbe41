"""Comments and options that leave findings out: how far they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from migrate.audit import examine

if TYPE_CHECKING:
    from collections.abc import Callable

IGNORE = "# cronshift: ignore interval-drifts it may drift"


def marked(spot: int, comment: str) -> str:
    """Give two entries with a comment put in before a line, or at the end of one."""
    lines = [
        "cron:",
        "- url: /t/a",
        "  schedule: every 5 minutes",
        "- url: /t/b",
        "  schedule: every 5 minutes",
    ]
    lines.insert(spot, comment)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("spot", "indent", "left"),
    [
        (0, "", []),  # above the first key: the whole file
        (1, "", ["/t/b"]),
        (2, "  ", ["/t/b"]),
        (3, "  ", ["/t/b"]),  # deeper than the dash: the entry above
        (3, "", ["/t/a"]),
        (4, "  ", ["/t/a"]),
        (5, "  ", ["/t/a"]),
        (5, "", ["/t/a"]),
    ],
)
def test_a_comment_holds_for_the_entry_it_stands_in_or_above(
    evidence: Callable[..., Any], spot: int, indent: str, left: list[str]
) -> None:
    given = evidence(cron=marked(spot, indent + IGNORE))
    report = examine(given)
    told = [f.place.line for f in report.findings if f.code == "interval-drifts"]
    places = {entry.url: entry.places["schedule"].line for entry in given.entries}
    assert told == [places[url] for url in left]
    assert len(report.ignored) == 2 - len(left)
    assert {one.by.reason for one in report.ignored} == {"it may drift"}
    assert "ignore-unused" not in {f.code for f in report.findings}


def test_a_comment_may_stand_at_the_end_of_a_line_and_name_several_codes(
    evidence: Callable[..., Any],
) -> None:
    text = (
        "cron:\n- url: /t/a  # cronshift: ignore no-retries, interval-drifts\n"
        "  schedule: every 5 minutes\n"
    )
    report = examine(evidence(cron=text))
    assert report.findings == ()
    assert [one.finding.code for one in report.ignored] == [
        "no-retries",
        "interval-drifts",
    ]


def test_a_flow_list_has_no_dashes_so_a_comment_holds_for_all_of_it(
    evidence: Callable[..., Any],
) -> None:
    entry = "{url: /t/a, schedule: every 5 minutes}"
    text = f"cron: [{entry}]  # cronshift: ignore interval-drifts, no-retries\n"
    assert examine(evidence(cron=text)).findings == ()


def test_a_comment_in_dispatch_yaml_holds_for_its_rule(
    evidence: Callable[..., Any],
) -> None:
    rules = (
        "dispatch:\n- {url: '*/*', service: a}\n"
        "# cronshift: ignore rule-shadowed on purpose\n- {url: '*/t', service: b}\n"
        "- {url: '*/u', service: b}\n"
    )
    report = examine(evidence(dispatch=rules))
    assert [(f.code, f.place.line) for f in report.findings] == [("rule-shadowed", 5)]


@pytest.mark.parametrize("mark", ["#", "//", "/*"])
def test_a_comment_in_code_holds_for_its_line_and_the_next(
    evidence: Callable[..., Any], mark: str
) -> None:
    code = (
        f"{mark} cronshift: ignore cron-header-checked until the move\n"
        'get("X-Appengine-Cron")\nget("X-Appengine-Cron")\n'
    )
    report = examine(evidence(sources={"main.py": code}))
    assert [f.place.line for f in report.findings] == [3]


def test_an_option_holds_everywhere(evidence: Callable[..., Any]) -> None:
    report = examine(evidence(cron=marked(5, "")), ["interval-drifts", "no-retries"])
    assert report.findings == ()
    assert len(report.ignored) == 3
    assert {one.by.place for one in report.ignored} == {None}


def test_what_ignores_nothing_is_told_at_its_place(
    evidence: Callable[..., Any],
) -> None:
    cron = marked(1, "# cronshift: ignore same-url, nonsense")
    report = examine(evidence(cron=cron), ["route-conflict", "more-nonsense"])
    told = {
        (f.code, f.place.line, f.text.split()[0] + f.text.split()[-1])
        for f in report.findings
        if f.code.startswith("ignore-")
    }
    assert {(code, line) for code, line, _ in told} == {
        ("ignore-unused", 2),
        ("ignore-unknown", 2),
        ("ignore-unused", 1),
        ("ignore-unknown", 1),
    }


@pytest.mark.parametrize("code", ["ignore-unused", "ignore-unknown"])
def test_even_these_can_be_ignored(evidence: Callable[..., Any], code: str) -> None:
    cron = marked(1, "# cronshift: ignore same-url, nonsense")
    told = {f.code for f in examine(evidence(cron=cron), [code]).findings}
    assert {"ignore-unused", "ignore-unknown"} - told == {code}
