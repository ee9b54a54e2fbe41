"""What an audit found, as text, JSON, SARIF and annotations."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cronspec.config import Place, load_cron, load_dispatch
from migrate.audit import Evidence, Report, audit, examine
from migrate.audit.finding import told
from migrate.report.annotations import as_annotations
from migrate.report.findings import as_json, as_text
from migrate.report.sarif import as_sarif

CASES = Path(__file__).parents[2] / "cases"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SARIF = jsonschema.Draft4Validator(
    json.loads((CASES / "sarif/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
)
CRON = """\
cron:
- url: /t/a
  schedule: every 5 minutes
  target: a
# cronshift: ignore interval-drifts it may drift
- url: /t/b
  schedule: every 5 minutes
- url: /t/c
  schedule: every 5 minutes
- schedule: every 5 minutes
"""
DISPATCH = """\
dispatch:
- {url: "*/t/a", service: b}
"""


def report(cron: str = CRON, dispatch: str = DISPATCH) -> Report:
    files = {"x/cron.yaml": cron, "x/dispatch.yaml": dispatch}
    return examine(
        Evidence(
            now=NOW,
            crons=(load_cron(cron, "x/cron.yaml"),),
            dispatch=load_dispatch(dispatch, "x/dispatch.yaml"),
            project="demo",
            texts=files,
        )
    )


def of(*findings: Any) -> Report:
    return Report(tuple(findings), (), ())


TEXT = """\
x/cron.yaml:2:1: info no-retries: no entry has retry_parameters: a failed run is not \
tried again, but one answered with 503 is, by App Engine itself and without limit
    write retry_parameters where a lost run matters, and never answer 503
x/cron.yaml:3:13: info interval-drifts: counted from the end of each run: no fixed \
time of day, and the count starts anew when the changed entry is deployed (also line 9)
    `every 5 minutes synchronized` keeps to the clock
x/cron.yaml:4:11: error route-conflict: target says a, but the rule '*/t/a' \
(dispatch.yaml:2) sends /t/a to b
    write `target: b`, or put a rule that sends /t/a to a above it
x/cron.yaml:10:1: error missing-key: 'url' is missing here

2 errors, 3 info; 1 ignored.
"""


def test_text_tells_findings_that_say_the_same_once_and_counts_them_all() -> None:
    written = as_text(report())
    assert (
        re.sub(r"(missing-key: ).*\n(    .*\n)?", r"\1'url' is missing here\n", written)
        == TEXT
    )


def test_text_lists_on_request_what_was_ignored_and_why() -> None:
    written = as_text(report(), show_ignored=True)
    assert (
        "x/cron.yaml:7:13: ignored interval-drifts (by x/cron.yaml:5: it may drift): "
    ) in written


def test_text_says_so_where_there_is_nothing_to_tell() -> None:
    assert as_text(of()) == "Nothing to tell.\n"


def test_json_has_every_finding_route_count_and_what_was_ignored() -> None:
    found = json.loads(json.dumps(as_json(report())))
    assert [(f["code"], f["line"], f["column"]) for f in found["findings"]] == [
        ("no-retries", 2, 1),
        ("interval-drifts", 3, 13),
        ("route-conflict", 4, 11),
        ("interval-drifts", 9, 13),
        ("missing-key", 10, 1),
    ]
    assert found["findings"][2] == {
        "code": "route-conflict",
        "severity": "error",
        "file": "x/cron.yaml",
        "line": 4,
        "column": 11,
        "text": "target says a, but the rule '*/t/a' (dispatch.yaml:2) sends /t/a to b",
        "fix": "write `target: b`, or put a rule that sends /t/a to a above it",
    }
    assert found["routes"] == [
        {
            "file": "x/cron.yaml",
            "line": 2,
            "url": "/t/a",
            "declared": "a",
            "effective": "b",
            "rule": {"file": "x/dispatch.yaml", "line": 2, "index": 0},
        },
        *(
            {
                "file": "x/cron.yaml",
                "line": line,
                "url": url,
                "declared": None,
                "effective": "default",
                "rule": None,
            }
            for line, url in ((6, "/t/b"), (8, "/t/c"))
        ),
    ]
    assert found["counts"] == {"error": 2, "warning": 0, "info": 3}
    (ignored,) = found["ignored"]
    assert (ignored["code"], ignored["line"]) == ("interval-drifts", 7)
    assert ignored["by"] == {"file": "x/cron.yaml", "line": 5}
    assert ignored["reason"] == "it may drift"


ROUTING = [
    json.loads(line)
    for line in (CASES / "routing.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", ROUTING, ids=lambda case: case["url"])
def test_routes_are_those_of_the_collected_cases(case: dict[str, Any]) -> None:
    entry = {"url": case["url"], "schedule": "every day 09:00"}
    if case["target"] is not None:
        entry["target"] = case["target"]
    routes = as_json(
        report(json.dumps({"cron": [entry]}), json.dumps({"dispatch": case["rules"]}))
    )["routes"]
    (route,) = routes
    assert route["declared"] == case["target"]
    assert route["effective"] == case["service"]
    assert (route["rule"] and route["rule"]["index"]) == case["rule"]


# --- SARIF ------------------------------------------------------------------------


def test_sarif_is_valid_and_has_one_result_a_finding() -> None:
    told_here = report()
    log = json.loads(json.dumps(as_sarif(told_here, "1.2.3")))
    SARIF.validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result, finding in zip(run["results"], told_here.findings, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.code
        (location,) = result["locations"]
        assert location["physicalLocation"] == {
            "artifactLocation": {"uri": finding.place.file},
            "region": {
                "startLine": finding.place.line,
                "startColumn": finding.place.column,
            },
        }
    assert {result["level"] for result in run["results"]} == {"error", "note"}


def test_a_sarif_log_of_nothing_is_valid() -> None:
    SARIF.validate(as_sarif(of(), "1.2.3"))


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/c%d/è.yaml", "a%20b/c%25d/%C3%A8.yaml"),
        ("/srv/a b/cron.yaml", "file:///srv/a%20b/cron.yaml"),
        ("x:y.yaml", "x%3Ay.yaml"),
    ],
)
def test_sarif_names_files_by_uris(file: str, uri: str) -> None:
    log = as_sarif(of(told("same-url", Place(file, 1, 1), "text")), "1")
    SARIF.validate(log)
    (result,) = log["runs"][0]["results"]
    where = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert where == {"uri": uri}


# --- GitHub -----------------------------------------------------------------------


def test_annotations_give_each_severity_its_level_and_place() -> None:
    place = Place("x/cron.yaml", 3, 13)
    codes = ("route-conflict", "fires-twice", "same-url")
    assert as_annotations(of(*(told(code, place, "t") for code in codes))) == (
        "::error file=x/cron.yaml,line=3,col=13,title=cronshift route-conflict::t\n"
        "::warning file=x/cron.yaml,line=3,col=13,title=cronshift fires-twice::t\n"
        "::notice file=x/cron.yaml,line=3,col=13,title=cronshift same-url::t\n"
    )


@pytest.mark.parametrize(
    ("raw", "in_a_property", "in_the_text"),
    [
        ("100%", "100%25", "100%25"),
        ("a,b:c", "a%2Cb%3Ac", "a,b:c"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("::error::x", "%3A%3Aerror%3A%3Ax", "::error::x"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_annotations_escape_what_would_end_or_change_them(
    raw: str, in_a_property: str, in_the_text: str
) -> None:
    line = as_annotations(of(told("same-url", Place(raw, 1, 2), raw, raw)))
    assert line == (
        f"::notice file={in_a_property},line=1,col=2,title=cronshift same-url::"
        f"{in_the_text}%0A{in_the_text}\n"
    )


# --- Real files -------------------------------------------------------------------

CORPUS = sorted(
    path for path in (CASES / "corpus").rglob("*.yaml") if path.name != "dispatch.yaml"
)


def test_there_are_real_files() -> None:
    assert len(CORPUS) > 290


@cache
def real(path: Path) -> Report:
    beside = path.parent / "dispatch.yaml"
    text = path.read_text(encoding="utf-8")
    rules = beside.read_text(encoding="utf-8") if beside.is_file() else None
    return examine(
        Evidence(
            now=NOW,
            crons=(load_cron(text, path.name),),
            dispatch=load_dispatch(rules, beside.name) if rules is not None else None,
            texts={path.name: text},
        )
    )


def test_real_files_are_audited_in_every_format_and_all_formats_tell_the_same() -> None:
    for path in CORPUS:
        found = real(path)
        log = as_sarif(found, "1")
        data = as_json(found)
        codes = [finding.code for finding in found.findings]
        assert [one["code"] for one in data["findings"]] == codes
        assert [one["ruleId"] for one in log["runs"][0]["results"]] == codes
        assert len(as_annotations(found).splitlines()) <= len(codes)
        assert set(
            re.findall(r": (?:error|warning|info) ([\w-]+): ", as_text(found))
        ) == (set(codes))


def test_the_sarif_of_all_real_files_together_is_valid() -> None:
    findings = [finding for path in CORPUS for finding in real(path).findings]
    SARIF.validate(as_sarif(of(*findings), "1"))


def test_real_files_do_not_drown_in_findings() -> None:
    lines = sorted(as_text(real(path)).count("\n") for path in CORPUS)
    assert lines[len(lines) // 2] <= 9
    assert lines[-len(lines) // 20] <= 30


def test_an_audit_is_in_the_order_of_the_file() -> None:
    for path in CORPUS:
        places = [
            (f.place.line, f.place.column)
            for f in real(path).findings
            if f.place.file == path.name
        ]
        assert places == sorted(places)


def test_audit_gives_all_findings_and_examine_those_that_are_left() -> None:
    given = Evidence(now=NOW, crons=(load_cron(CRON, "cron.yaml"),))
    assert set(examine(given, ["no-retries"]).findings) < set(audit(given))
