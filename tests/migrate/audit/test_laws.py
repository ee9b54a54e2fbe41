"""Whatever files say, an audit has an answer, and the same one each time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cronspec.config import load_app, load_cron, load_dispatch
from migrate.audit import CODES, Evidence, SourceText, examine
from migrate.report.annotations import as_annotations
from migrate.report.findings import as_text

CORPUS = Path(__file__).parents[2] / "cases/corpus"
LINES = [
    *sorted(
        {
            line
            for path in (*CORPUS.glob("pairs/*/*.yaml"), *CORPUS.glob("broken/*.yaml"))
            for line in path.read_text(encoding="utf-8").splitlines()
        }
    ),
    "  # cronshift: ignore interval-drifts, same-url why",
    "# cronshift: ignore",
    "  schedule: 29 of feb 02:30",
    "  timezone: America/New_York",
    "  target: v1:a",
    "  url: /_ah/x",
    "  attempt_deadline: 99999.0s",
    "  retry_parameters: {job_retry_limit: 5, job_age_limit: 99999d}",
    "handlers: [{url: '/(', login: required}]",
    "runtime: python27",
]
FILES = st.lists(st.sampled_from(LINES), max_size=12).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(
    cron=FILES.map("cron:\n{}".format) | FILES,
    dispatch=FILES.map("dispatch:\n{}".format) | FILES,
    other=FILES | st.text(max_size=50),
    seconds=st.integers(10**9, 7 * 10**9),
)
def test_any_files_are_audited_alike_each_time(
    cron: str, dispatch: str, other: str, seconds: int
) -> None:
    app = load_app(other, "app.yaml")
    evidence = Evidence(
        now=datetime.fromtimestamp(seconds, UTC),
        crons=(load_cron(cron, "cron.yaml"),),
        dispatch=load_dispatch(dispatch, "dispatch.yaml"),
        apps=() if app is None else (app,),
        texts={"cron.yaml": cron, "dispatch.yaml": dispatch},
        sources=(SourceText("main.py", other), SourceText("deploy.sh", cron)),
    )
    report = examine(evidence)
    assert examine(evidence) == report
    assert {finding.code for finding in report.findings} <= CODES.keys()
    assert as_text(report).endswith(".\n")
    assert all(line.startswith("::") for line in as_annotations(report).splitlines())
