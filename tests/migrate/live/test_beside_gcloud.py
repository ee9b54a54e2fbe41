"""Beside the real gcloud: its legacy jobs are known, and ours are taken for its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cronspec.config import load_cron
from emulator import server
from migrate.cli import cli
from migrate.legacy import legacy_job
from migrate.scheduler import EMULATOR
from tests.emulator import gcloud as real
from tests.migrate.live.world import NOW, PARENT, WorldApi, store_of

if TYPE_CHECKING:
    from pathlib import Path

    from emulator.world import World

CRON = """\
cron:
- url: /a?x=1
  schedule: every monday 09:00
  timezone: Europe/Rome
  description: with all that there is
  target: worker
  retry_parameters: {job_retry_limit: 3, job_age_limit: 2h, min_backoff_seconds: 2.5}
- {url: /b, schedule: "EVERY 5 minutes"}
- {url: /b, schedule: "EVERY 5 minutes"}
- {url: /c, schedule: every day 09:00, retry_parameters: {max_doublings: 2}}
"""


@real.NEEDED
@pytest.mark.slow
def test_gcloud_s_jobs_are_known_and_ours_like_them_are_gcloud_s(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cron.yaml"
    file.write_text(CRON)
    store = store_of(WorldApi(world))
    with server.start(world) as running:
        config = tmp_path / "gcloud"
        done = real.gcloud(running, config, "app", "deploy", str(file))
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv(EMULATOR, running.url.removeprefix("http://"))
        arguments = ["status", str(tmp_path), "--project", "shop", "--format", "json"]
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert [one["fired_by"] for one in told["entries"]] == [["legacy"]] * 4

        # Made again by us, as after a rollback, gcloud finds nothing to change.
        deployed = list(store.legacy_jobs(PARENT))
        for one in deployed:
            store.delete(one.name, legacy=True)
        for entry in load_cron(CRON, "cron.yaml").entries:
            store.create_legacy(PARENT, legacy_job(entry, NOW))
        made = list(store.legacy_jobs(PARENT))
        done = real.gcloud(running, config, "app", "deploy", str(file))
        assert done.returncode == 0, done.stderr
        assert list(store.legacy_jobs(PARENT)) == made
