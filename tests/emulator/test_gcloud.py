"""The real gcloud against the emulator; each command costs most of a second."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.emulator import gcloud as real

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [real.NEEDED, pytest.mark.slow]

PARENT = "projects/shop/locations/europe-west1"
LOCATION = "--location=europe-west1"


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    """A folder for gcloud's files: its first use costs a second more."""
    return tmp_path_factory.mktemp("gcloud")


@pytest.fixture
def gcloud(running, config) -> Callable[..., str]:
    """Run a command that succeeds, and give what it printed."""

    def run(*arguments: str) -> str:
        ended = real.gcloud(running, config, *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_scheduler_jobs_live_through_every_command(running, gcloud):
    jobs = ("scheduler", "jobs")
    gcloud(
        *jobs, "create", "app-engine", "a", LOCATION, "--schedule=0 9 * * 1",
        "--time-zone=Europe/Rome", "--relative-url=/a?x=1", "--http-method=get",
        "--service=worker", "--headers=X-Cron-Entry=e", "--max-retry-attempts=3",
        "--min-backoff=0.1s", "--attempt-deadline=600s", "--description=d",
    )  # fmt: skip
    made = json.loads(gcloud(*jobs, "describe", "a", LOCATION, "--format=json"))
    assert made == {
        "name": f"{PARENT}/jobs/a",
        "description": "d",
        "schedule": "0 9 * * 1",
        "timeZone": "Europe/Rome",
        "attemptDeadline": "600s",
        "appEngineHttpTarget": {
            "httpMethod": "GET",
            "relativeUri": "/a?x=1",
            "appEngineRouting": {
                "service": "worker",
                "host": "worker.shop.ew.r.appspot.com",
            },
            "headers": {
                "User-Agent": "AppEngine-Google; (+http://code.google.com/appengine)",
                "X-Cron-Entry": "e",
            },
        },
        "retryConfig": {
            "retryCount": 3,
            "minBackoffDuration": "0.100s",
            "maxBackoffDuration": "3600s",
            "maxDoublings": 5,
            "maxRetryDuration": "0s",
        },
        "scheduleTime": "2026-03-09T08:00:00Z",
        "state": "ENABLED",
        "userUpdateTime": "2026-03-04T10:20:30Z",
    }
    gcloud(*jobs, "update", "app-engine", "a", LOCATION, "--schedule=every 5 minutes")
    gcloud(*jobs, "pause", "a", LOCATION)
    # No location named: gcloud asks for the app, and takes the first location.
    listed = json.loads(gcloud(*jobs, "list", "--format=json"))
    assert [(job["schedule"], job["state"]) for job in listed] == [
        ("every 5 minutes", "PAUSED")
    ]
    gcloud(*jobs, "resume", "a", LOCATION)
    gcloud(*jobs, "run", "a", LOCATION)
    gcloud(*jobs, "delete", "a", LOCATION)
    said = Counter(found.request.method for found in running.world.journal.exchanges())
    assert (said["PATCH"], said["DELETE"]) == (1, 1)


CRON = """\
cron:
- {url: /a, schedule: every 5 minutes, description: first}
- {url: /b, schedule: 'every monday 09:00', timezone: Europe/Rome, target: worker,
   retry_parameters: {job_retry_limit: 3}}
- {url: /b, schedule: 'every monday 09:00', timezone: Europe/Rome, target: worker,
   retry_parameters: {job_retry_limit: 3}}
"""


def test_app_deploy_creates_and_deletes_and_leaves_what_is_unchanged(
    running, gcloud, tmp_path
):
    def deploy(text: str) -> Counter[str]:
        (tmp_path / "cron.yaml").write_text(text)
        running.world.journal.clear()
        gcloud("app", "deploy", str(tmp_path / "cron.yaml"))
        calls = running.world.journal.exchanges()
        return Counter(call.request.method for call in calls if call.request.writes)

    assert deploy(CRON) == {"POST": 3}
    assert deploy(CRON.replace("first", "second")) == {"POST": 1, "DELETE": 1}
    assert deploy("cron:\n") == {"DELETE": 3}
