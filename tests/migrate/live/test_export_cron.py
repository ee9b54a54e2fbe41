"""export-cron, at its edges: versions, other waits, and what no cron.yaml can say."""

from __future__ import annotations

from cronspec.config import load_cron
from migrate.export.cron import cron_yaml
from migrate.livejob import LiveJob
from tests.migrate.live.world import job

RETRIES = {
    "retryCount": 3,
    "maxRetryDuration": "3600s",
    "minBackoffDuration": "2.5s",
    "maxBackoffDuration": "120s",
    "maxDoublings": 2,
}


def exported(**fields: object) -> str:
    return cron_yaml([LiveJob({**job("a"), "state": "ENABLED", **fields})])


def test_a_pinned_version_and_all_retry_values_come_back() -> None:
    target = {
        "httpMethod": "GET",
        "relativeUri": "/a",
        "appEngineRouting": {"service": "worker", "version": "v2"},
    }
    text = exported(appEngineHttpTarget=target, retryConfig=RETRIES)
    (entry,) = load_cron(text, "cron.yaml").entries
    assert entry.target == "worker:v2"
    assert entry.retry is not None
    assert entry.retry.job_retry_limit == 3
    assert entry.retry.max_backoff_seconds == 120
    assert entry.retry.max_doublings == 2


def test_a_url_that_cron_yaml_refuses_leaves_the_job_out_with_the_reason() -> None:
    target = {"httpMethod": "GET", "relativeUri": f"/{'x' * 2000}\u00a0{'y' * 200}"}
    text = exported(appEngineHttpTarget=target)
    assert text.startswith("cron: []\n")
    assert "# a is left out" in text


def test_a_schedule_of_neither_language_leaves_the_job_out_with_the_reason() -> None:
    text = exported(schedule="whenever")
    assert text.startswith("cron: []\n")
    assert "# a: schedule 'whenever'" in text


def test_a_schedule_of_unix_cron_comes_back_as_groc_with_a_note() -> None:
    text = exported(schedule="0 9 * * 1")
    assert "# a: its schedule is '0 9 * * 1'" in text
    assert "schedule: every mon 09:00" in text
