"""The gcloud script: read by bash, seen by a stand-in, and run by the real gcloud."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from migrate.export import ExportError
from migrate.export.gcloud import script
from migrate.job import AppEngineHttpTarget, to_api
from tests.migrate.export import reading
from tests.migrate.export.samples import (
    EVERYTHING,
    HTTP,
    JOBS,
    NASTY,
    PLAIN,
    SAMPLES,
    nasty,
)
from tests.migrate.export.standin import commands, recorded, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bin")


def marks_of(schedule: str) -> list[str]:
    return [
        "X-Cron-Entry=tasks-a-31d0d0822e36",
        f"X-Cron-Schedule={schedule}; UTC",
        "X-Cron-Scope=demo/us-central1",
        "X-Cron-Set=default",
    ]


def test_gcloud_sees_exactly_the_words_that_are_meant(folder):
    common = ["--quiet", "--project=demo", "--location=us-central1"]
    create = ["scheduler", "jobs", "create"]
    assert commands(script([EVERYTHING, HTTP]), folder) == [
        [
            *create,
            "app-engine",
            "everything-31d0d0822e37",
            *common,
            "--schedule=1,15 of jan,jul 09:00",
            "--time-zone=America/New_York",
            "--relative-url=/t/a?x=1&y=$(id)%20'b'",
            "--http-method=get",
            "--service=worker",
            "--version=v2",
            "--headers=^|^" + "|".join(marks_of("1,15 of jan,jul 09:00")),
            '--description=Größe: it\'s 100% "done", for $5 & more!',
            "--attempt-deadline=600s",
            "--max-retry-attempts=3",
            "--max-retry-duration=129600s",
            "--min-backoff=0.1s",
            "--max-backoff=3600s",
            "--max-doublings=16",
        ],
        [
            *create,
            "http",
            "http-31d0d0822e38",
            *common,
            "--schedule=*/5 * * * *",
            "--time-zone=Europe/Rome",
            "--uri=https://worker-uc.a.run.app/t/d?x=1,2",
            "--http-method=get",
            "--oidc-service-account-email=caller@demo.iam.gserviceaccount.com",
            "--oidc-token-audience=https://worker-uc.a.run.app",
            "--headers=" + ",".join(marks_of("*/5 * * * *")),
            "--attempt-deadline=180s",
            "--max-retry-attempts=2",
            "--max-retry-duration=90s",
            "--min-backoff=2.5s",
            "--max-backoff=7.125s",
            "--max-doublings=3",
        ],
    ]


def test_nasty_strings_pass_through_bash_unchanged(folder):
    jobs = [nasty(text, f"j{i}") for i, text in enumerate(NASTY)]
    told = [reading.from_argv(argv) for argv in commands(script(jobs), folder)]
    assert told == [to_api(job) for job in jobs]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=JOBS)
def test_the_script_tells_the_jobs_that_the_rest_json_tells(folder, jobs):
    told = [reading.from_argv(argv) for argv in commands(script(jobs), folder)]
    assert reading.by_name(told) == reading.by_name([to_api(job) for job in jobs])


def test_no_flag_is_given_that_a_job_does_not_ask_for(folder):
    (argv,) = commands(script([PLAIN]), folder)
    flags = {word.partition("=")[0] for word in argv if word.startswith("--")}
    assert flags == {
        *"--quiet --project --location --schedule --time-zone".split(),
        *"--relative-url --http-method --headers".split(),
    }


def test_the_script_stops_at_the_first_command_that_fails(tmp_path: Path):
    ran = run(script(SAMPLES), tmp_path, fails_with=3)
    assert ran.returncode == 3
    assert len(recorded(tmp_path)) == 1


def test_the_script_says_at_its_top_what_it_does():
    head, _, rest = script(SAMPLES).partition("set -euo pipefail\n")
    assert head.startswith("#!/usr/bin/env bash\n# Makes 6 Cloud Scheduler jobs with")
    assert "Every command is one job" in head
    assert rest.count("gcloud scheduler jobs create ") == 6
    assert "# Makes 1 Cloud Scheduler job with" in script([PLAIN])


def test_a_script_without_jobs_does_nothing(folder):
    assert commands(script([]), folder) == []


def headers(**changed: str) -> AppEngineHttpTarget:
    return AppEngineHttpTarget("/t", headers=changed)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (replace(PLAIN, description="--"), "description '--': gcloud takes it for"),
        (replace(PLAIN, description="a\0b"), r"description 'a.x00b': .* holds NUL"),
        (replace(PLAIN, target=headers(**{"a=b": "c"})), "header 'a=b': gcloud splits"),
        (
            replace(PLAIN, attempt_deadline=timedelta(seconds=15.00001)),
            "duration 15.00001s: gcloud rounds it",
        ),
        (
            replace(
                EVERYTHING,
                retry_config=replace(EVERYTHING.retry_config, min_backoff=0.00001),
            ),
            "duration 0.00001s: gcloud rounds it",
        ),
    ],
)
def test_what_gcloud_cannot_carry_is_refused_by_name(job, message):
    with pytest.raises(ExportError, match=f"job {job.name.job_id}: {message}"):
        script([HTTP, job])


def test_all_that_cannot_be_carried_is_told_at_once():
    jobs = [replace(PLAIN, description="--"), replace(HTTP, description="--")]
    with pytest.raises(ExportError) as caught:
        script(jobs)
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        "job plain-31d0d0822e36",
        "job http-31d0d0822e38",
    ]
