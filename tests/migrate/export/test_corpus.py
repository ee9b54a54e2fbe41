"""Real files: every one passes through every format, and all tell the same jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import pytest

from cronspec.config import load_cron, load_dispatch
from migrate.choices import EntryChoices, Home, ToAppEngine, ToHttp
from migrate.export.gcloud import script
from migrate.export.krm import manifests
from migrate.export.terraform import hcl
from migrate.job import Job, to_api
from migrate.translate import translate
from tests.migrate.export import reading
from tests.migrate.export.samples import LOCATION, PROJECT
from tests.migrate.export.standin import commands

CORPUS = Path(__file__).parents[2] / "cases" / "corpus"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TO_HTTP = ToHttp("https://x.run.app", "a@demo.iam.gserviceaccount.com", "https://x")


def jobs_of(cron: Path, destination: ToAppEngine | ToHttp) -> list[Job]:
    beside = cron.with_name("dispatch.yaml")
    dispatch = beside.read_text("utf-8") if beside.exists() else "dispatch: []"
    entries = load_cron(cron.read_text("utf-8"), cron.name).entries
    rules = load_dispatch(dispatch, "dispatch.yaml").rules
    choices = EntryChoices(destination=destination)
    home = Home(PROJECT, LOCATION)
    done = translate(entries, rules, home, lambda _entry, _route: choices, NOW)
    return [job for translation in done for job in translation.jobs]


@pytest.mark.slow
def test_every_real_file_tells_the_same_jobs_in_every_format(tmp_path: Path):
    files = sorted([*CORPUS.glob("cron/*.yaml"), *CORPUS.glob("pairs/*/cron.yaml")])
    told = 0
    for file, destination in zip(files, cycle([ToAppEngine(), TO_HTTP])):
        jobs = jobs_of(file, destination)
        meant = reading.by_name([to_api(job) for job in jobs])
        argvs = commands(script(jobs), tmp_path)
        assert reading.by_name([reading.from_argv(a) for a in argvs]) == meant, file
        assert reading.by_name(reading.from_hcl(hcl(jobs))) == meant, file
        assert reading.by_name(reading.from_manifests(manifests(jobs))) == meant, file
        told += len(meant)
    assert told > 300
