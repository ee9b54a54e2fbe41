"""Every code of an audit: files that show it, and the nearest that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cronspec.config import FAULTS, REMARKS
from migrate.audit import CODES, Severity, audit, examine

if TYPE_CHECKING:
    from collections.abc import Callable


def cron(*entries: str) -> dict[str, Any]:
    return {"cron": "cron:\n" + "".join(f"- {{{entry}}}\n" for entry in entries)}


def dispatch(*rules: str) -> dict[str, Any]:
    written = (rule.split(" ") for rule in rules)
    lines = (f'- {{url: "{url}", service: {service}}}\n' for url, service in written)
    return {"dispatch": "dispatch:\n" + "".join(lines)}


def app(handlers: str, runtime: str = "python312", more: str = "") -> dict[str, Any]:
    return {"apps": [f"runtime: {runtime}\n{more}\nhandlers:\n{handlers}\n"]}


A = "url: /t/a, schedule: every day 09:00"
TO_A = f"{A}, target: a"
ROME = "timezone: Europe/Rome"
NEW_YORK = "timezone: America/New_York"
MANY = [f"url: /t/{n}, schedule: every day 09:00" for n in range(251)]
ADMIN = "- {url: /t/.*, script: auto, login: admin}"
REQUIRED = "- {url: /t/.*, script: auto, login: required}"


def retry(block: str, schedule: str = "every day 09:00") -> dict[str, Any]:
    return cron(f"url: /t/a, schedule: {schedule}, retry_parameters: {{{block}}}")


def task(url: str) -> dict[str, Any]:
    return {"tasks": f"@tasks.task({url!r})\ndef work(run): ...\n"}


def source(file: str, text: str) -> dict[str, Any]:
    return {"sources": {file: text}}


# code, files that show it, files that do not
TABLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "route-conflict",
        cron(TO_A) | dispatch("*/t/* b"),
        cron(TO_A) | dispatch("*/t/* a"),
    ),
    ("route-rerouted", cron(A) | dispatch("*/t/* b"), cron(A) | dispatch("*/u/* b")),
    (
        "route-unsure",
        cron(A) | dispatch("demo.uc.r.appspot.com/t/* b") | {"project": None},
        cron(A) | dispatch("demo.uc.r.appspot.com/t/* b"),
    ),
    (
        "never-dispatched",
        cron("url: /_ah/x, schedule: every day 09:00") | dispatch("*/_ah/* b"),
        cron("url: /_ah/x, schedule: every day 09:00") | dispatch("*/* b"),
    ),
    ("version-pinned", cron(f"{A}, target: 'worker:v2'"), cron(f"{A}, target: worker")),
    (
        "same-destination",
        cron(TO_A, f"{A}, target: b") | dispatch("*/t/* c"),
        cron(TO_A, f"{A}, target: b") | dispatch("*/u/* c"),
    ),
    (
        "target-unknown",
        cron(TO_A) | {"services": ["b"]},
        cron(TO_A) | {"services": ["a"]},
    ),
    (
        "target-unseen",
        cron(TO_A) | app(ADMIN),
        cron(TO_A) | app(ADMIN, more="service: a"),
    ),
    (
        "rule-service-unknown",
        cron(A) | dispatch("*/u/* c") | {"services": ["b"]},
        cron(A) | dispatch("*/u/* default") | {"services": ["b"]},
    ),
    (
        "rule-service-unseen",
        cron(A) | dispatch("*/u/* c") | app(ADMIN),
        cron(A) | dispatch("*/u/* c"),
    ),
    (
        "rule-contradicted",
        dispatch("*/t/* a", "*/t/* b"),
        dispatch("*/t/* a", "x.example.com/t/* b"),
    ),
    ("rule-shadowed", dispatch("*/* a", "*/t/* b"), dispatch("*/t/* b", "*/* a")),
    ("rule-repeated", dispatch("*/* a", "x.com/t/* a"), dispatch("x.com/* a", "*/* a")),
    ("rule-inner-star", dispatch("*/t/*/x a"), dispatch("*/t/* a")),
    ("rule-query", dispatch("*/t?x=1 a"), dispatch("*/t a")),
    (
        "rule-passes-cron-by",
        cron(A) | dispatch("www.example.com/t/* a"),
        cron(A) | dispatch("www.example.com/* a"),
    ),
    (
        "fires-twice",
        cron(A, f"{A}, timezone: utc, description: again"),
        cron(A, f"{A}, {ROME}"),
    ),
    (
        "overlapping-entries",
        cron(A, "url: /t/a, schedule: every 1 hours synchronized"),
        cron(A, "url: /t/a, schedule: every 1 hours from 10:00 to 12:00"),
    ),
    (
        "same-url",
        cron(A, "url: /t/a, schedule: every day 10:00"),
        cron(A, "url: '/t/a?x=1', schedule: every day 10:00"),
    ),
    (
        "clock-change-skipped",
        cron(f"url: /t/a, schedule: every day 02:30, {NEW_YORK}"),
        cron(f"url: /t/a, schedule: every monday 02:30, {NEW_YORK}"),
    ),
    (
        "clock-change-doubled",
        cron(f"url: /t/a, schedule: every day 01:30, {NEW_YORK}"),
        cron(f"url: /t/a, schedule: every day 02:30, {NEW_YORK}"),
    ),
    (
        "clock-change-window",
        cron(f"url: /t/a, schedule: every 30 mins from 01:00 to 03:00, {NEW_YORK}"),
        cron(f"url: /t/a, schedule: every 30 mins from 04:00 to 06:00, {NEW_YORK}"),
    ),
    (
        "clock-change-shifted",
        cron(f"url: /t/a, schedule: every 6 hours synchronized, {NEW_YORK}"),
        cron(f"url: /t/a, schedule: every 1 hours synchronized, {NEW_YORK}"),
    ),
    (
        "rarely-fires",
        cron("url: /t/a, schedule: '29 of feb 09:00'"),
        cron("url: /t/a, schedule: '28 of feb 09:00'"),
    ),
    (
        "months-passed-over",
        cron("url: /t/a, schedule: '31 of apr,may 09:00'"),
        cron("url: /t/a, schedule: '30 of apr,may 09:00'"),
    ),
    (
        "interval-drifts",
        cron("url: /t/a, schedule: every 5 minutes"),
        cron("url: /t/a, schedule: every 5 minutes synchronized"),
    ),
    (
        "zone-missing",
        cron(A, f"url: /t/b, schedule: every day 09:00, {ROME}"),
        cron(
            f"url: /t/b, schedule: every day 09:00, {ROME}",
            "url: /t/a, schedule: every 1 hours synchronized",
        ),
    ),
    ("no-retries", cron(A), retry("job_retry_limit: 3")),
    ("retry-limit-missing", retry("max_doublings: 3"), retry("job_retry_limit: 3")),
    (
        "retry-without-effect",
        retry("job_retry_limit: 0, max_doublings: 3"),
        retry("job_retry_limit: 0"),
    ),
    (
        "age-limit-alone",
        retry("job_age_limit: 1h"),
        retry("job_age_limit: 1h, job_retry_limit: 2"),
    ),
    (
        "retry-until-both",
        retry("job_age_limit: 1h, job_retry_limit: 2"),
        retry("job_age_limit: 1s, job_retry_limit: 5"),
    ),
    (
        "retries-outlast-period",
        retry(
            "job_retry_limit: 2, min_backoff_seconds: 240", "every 5 mins synchronized"
        ),
        retry("job_retry_limit: 2, min_backoff_seconds: 240", "every 5 mins"),
    ),
    (
        "deadline-outlasts-period",
        cron(
            "url: /t/a, schedule: every 5 mins synchronized, attempt_deadline: 600.0s"
        ),
        cron("url: /t/a, schedule: every 1 hours synchronized, attempt_deadline: 600s"),
    ),
    (
        "deadline-beyond-scaling",
        cron(f"{A}, attempt_deadline: 900.0s") | app(ADMIN),
        cron(f"{A}, attempt_deadline: 900.0s")
        | app(ADMIN, more="basic_scaling: {max_instances: 1}"),
    ),
    (
        "deadline-out-of-range",
        cron(f"{A}, attempt_deadline: 10.0s"),
        cron(f"{A}, attempt_deadline: 15.0s"),
    ),
    ("login-not-enforced", cron(A) | app(ADMIN), cron(A) | app(ADMIN, "python27")),
    (
        "login-refuses-cron",
        cron(A) | app(REQUIRED, "python27"),
        cron(A) | app(f"{ADMIN}\n{REQUIRED}", "python27"),
    ),
    ("too-many-entries", cron(*MANY), cron(*MANY[:250])),
    ("over-free-limit", cron(*MANY[:21]), cron(*MANY[:20])),
    ("file-name", cron(A) | {"file": "x/cron-prod.yaml"}, cron(A)),
    (
        "cron-header-checked",
        source("main.py", "if request.headers.get('x-appengine-CRON') != 'true':\n"),
        source("main.py", "# X-Appengine-Cron is not sent\n"),
    ),
    ("entry-without-task", cron(A) | task("/t/b"), cron(A) | task("/t/a")),
    ("task-without-entry", cron(A) | task("/t/b"), cron(A) | task("/t/a")),
    (
        "deploys-cron-yaml",
        source(".github/workflows/x.yml", "run: gcloud app deploy app.yaml cron.yaml"),
        source(".github/workflows/x.yml", "run: gcloud app deploy app.yaml"),
    ),
    (
        "ignore-unused",
        {"cron": f"cron:\n# cronshift: ignore route-conflict why\n- {{{A}}}\n"},
        {"cron": f"cron:\n# cronshift: ignore no-retries why\n- {{{A}}}\n"},
    ),
    (
        "ignore-unknown",
        {"cron": f"cron:\n# cronshift: ignore no-such-code why\n- {{{A}}}\n"},
        {"cron": f"cron:\n# cronshift: ignore same-url why\n- {{{A}}}\n"},
    ),
]


def test_each_code_of_an_audit_has_a_row_and_the_loaders_have_theirs() -> None:
    assert {code for code, _, _ in TABLE} == CODES.keys() - FAULTS.keys() - (
        REMARKS.keys()
    )


@pytest.mark.parametrize(
    ("code", "shows", "does_not"), TABLE, ids=lambda v: str(v)[:30]
)
def test_a_code_is_told_of_the_files_that_show_it_and_of_no_others(
    evidence: Callable[..., Any],
    code: str,
    shows: dict[str, Any],
    does_not: dict[str, Any],
) -> None:
    told = [f for f in examine(evidence(**shows)).findings if f.code == code]
    assert told
    assert {finding.severity for finding in told} == {CODES[code].severity}
    assert all(finding.place.line >= 1 and finding.text for finding in told)
    assert code not in {f.code for f in examine(evidence(**does_not)).findings}


@pytest.mark.parametrize(
    ("_code", "_shows", "does_not"), TABLE, ids=lambda v: str(v)[:30]
)
def test_the_files_of_the_table_have_no_faults(
    evidence: Callable[..., Any], _code: str, _shows: Any, does_not: dict[str, Any]
) -> None:
    given = evidence(**does_not)
    faults = [fault for one in given.crons for fault in one.faults]
    assert faults + list(given.dispatch.faults if given.dispatch else ()) == []


def test_faults_are_errors_in_their_own_words(evidence: Callable[..., Any]) -> None:
    given = evidence(cron="cron:\n- {url: t/a, schedule: every 1 hour, frob: 1}\n")
    faults = {(f.code, f.place, f.text, f.fix) for f in given.crons[0].faults}
    told = audit(given)
    assert len(faults) == 3
    assert faults <= {(f.code, f.place, f.text, f.fix) for f in told}
    assert all(CODES[code].severity is Severity.ERROR for code in FAULTS)


def test_remarks_of_both_files_and_faults_of_app_yamls_are_told(
    evidence: Callable[..., Any],
) -> None:
    given = evidence(
        cron="cron: []\n",
        dispatch="dispatch:\n- {url: '*/t', module: a}\n",
        apps=["runtime: python312\nservice: a\nservice: b\n"],
    )
    assert [(f.code, f.severity, f.place.file) for f in audit(given)][:2] == [
        ("deletes-all", Severity.WARNING, "cron.yaml"),
        ("module", Severity.INFO, "dispatch.yaml"),
    ]
