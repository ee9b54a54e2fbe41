"""status and export-cron: who fires what, and live jobs back as a cron.yaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cronspec.config import load_cron
from emulator import server
from migrate.cli import cli
from migrate.export.cron import cron_yaml
from migrate.job import from_api, to_api
from migrate.legacy import legacy_job, pair
from migrate.livejob import LiveJob
from migrate.normal import normal
from migrate.scheduler import EMULATOR
from tests.migrate.live.world import NOW, PARENT, WorldApi, job, ours, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.world import World
    from migrate.store import JobStore

CRON = """\
cron:
- url: /a
  schedule: every monday 09:00
  timezone: Europe/Rome
- url: /b
  schedule: every 5 minutes
  retry_parameters: {job_retry_limit: 3, min_backoff_seconds: 2.5}
"""
CORPUS = sorted((Path(__file__).parents[2] / "cases/corpus/cron").glob("*.yaml"))


class Shop:
    """A project, a cron.yaml, and what of it is live."""

    def __init__(self, world: World, folder: Path) -> None:
        self.store: JobStore = store_of(WorldApi(world))
        self.folder = folder
        self.write(CRON)

    def write(self, text: str) -> None:
        (self.folder / "cron.yaml").write_text(text)
        self.entries = load_cron(text, "cron.yaml").entries

    def deploy(self, *, leave_out: int = 0) -> None:
        """Do as `gcloud app deploy cron.yaml` does."""
        for entry in self.entries[leave_out:]:
            self.store.create_legacy(PARENT, legacy_job(entry, NOW))

    def apply(self, *options: str) -> None:
        result = self.run("apply", str(self.folder), "--yes", *options)
        assert result.exit_code == 0, result.output

    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(cli, [*arguments, "--project", "shop"])

    def status(self) -> tuple[int, dict[str, Any]]:
        result = self.run("status", str(self.folder), "--format", "json")
        assert not result.stderr, result.stderr
        return result.exit_code, json.loads(result.stdout)

    def text(self) -> str:
        return self.run("status", str(self.folder)).output


@pytest.fixture
def shop(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with server.start(world) as running:
        monkeypatch.setenv(EMULATOR, running.url.removeprefix("http://"))
        yield Shop(world, tmp_path)


def fired_by(told: dict[str, Any]) -> list[list[str]]:
    return [one["fired_by"] for one in told["entries"]]


def troubles(told: dict[str, Any]) -> list[list[str]]:
    return [[each["code"] for each in one["troubles"]] for one in told["entries"]]


def test_before_the_first_deployment_nobody_fires(shop):
    code, told = shop.status()
    assert code == 1
    assert told["never_deployed"]
    assert troubles(told) == [["nobody-fires"]] * 2
    assert "cron.yaml was never deployed" in shop.text()


def test_what_gcloud_deployed_is_well(shop):
    shop.deploy()
    code, told = shop.status()
    assert code == 0, told
    assert fired_by(told) == [["legacy"]] * 2
    assert told["well"]
    assert "fired by legacy" in shop.text()


def test_what_apply_made_is_well(shop):
    shop.apply()
    code, told = shop.status()
    assert (code, fired_by(told)) == (0, [["ours"]] * 2)


def test_both_at_once_fire_twice(shop):
    shop.deploy()
    shop.apply()
    code, told = shop.status()
    assert code == 1
    assert fired_by(told) == [["legacy", "ours"]] * 2
    assert troubles(told) == [["fires-twice"]] * 2
    assert "twice each tick" in shop.text()


def test_ours_made_paused_beside_the_legacy_ones_are_well(shop):
    shop.deploy()
    shop.apply("--paused")
    code, told = shop.status()
    assert (code, fired_by(told)) == (0, [["legacy"]] * 2)


def test_paused_alone_nobody_fires(shop):
    shop.apply("--paused")
    code, told = shop.status()
    assert code == 1
    assert troubles(told) == [["nobody-fires"]] * 2
    assert "its job is PAUSED" in shop.text()


def test_an_edit_since_the_deployment_is_drift_of_the_legacy_job(shop):
    shop.deploy()
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    code, told = shop.status()
    assert code == 1
    assert fired_by(told) == [["legacy"]] * 2
    assert troubles(told) == [["drift"], []]
    assert "edited since the last deploy" in shop.text()


def test_an_edit_since_the_apply_is_drift_of_ours(shop):
    shop.apply()
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    assert troubles(shop.status()[1]) == [["drift"], []]


def test_jobs_of_no_entry_are_told(shop):
    shop.deploy()
    shop.apply("--only", "/a")
    shop.write("cron:\n- {url: /c, schedule: every 5 minutes}\n")
    code, told = shop.status()
    assert code == 1
    texts = [one["text"] for one in told["others"]]
    assert sorted(texts) == [
        "a legacy job whose entry is not in the file",
        "a legacy job whose entry is not in the file",
        "ours, and no entry wants it: plan",
    ]


def test_a_foreign_job_for_an_entry_s_url_is_told(shop):
    shop.store.create(job("a"))
    _, told = shop.status()
    assert fired_by(told) == [["foreign"], []]
    assert told["foreign"] == [f"{PARENT}/jobs/a"]


def test_the_last_result_is_told(shop, world):
    shop.deploy()
    shop.apply("--paused")
    (made, *_) = shop.store.jobs(PARENT)
    failed = {
        "lastAttemptTime": "2026-03-04T10:00:00.123456789Z",
        "status": {"code": 4},
    }
    key = next(key for key in world.store._jobs if key.name == made.name)
    world.store.change(key, lambda one: one.with_fields(failed))
    assert "last 2026-03-04 10:00 UTC: deadline exceeded" in shop.text()


def test_identical_entries_have_a_legacy_job_each(shop):
    twice = "- {url: /a, schedule: every 5 minutes}\n"
    shop.write(f"cron:\n{twice}{twice}")
    shop.deploy(leave_out=1)
    first, second = pair(
        shop.entries, list(shop.store.legacy_jobs(PARENT)), NOW
    ).of_entries
    assert first is not None
    assert second is None


def test_legacy_jobs_are_looked_for_where_the_app_is(shop):
    shop.deploy()
    options = "--http *=https://x.test --oidc-service-account-email a@x.test".split()
    elsewhere = ["--location", "us-east1", *options]
    result = shop.run("status", str(shop.folder), *elsewhere)
    assert result.exit_code == 0, result.output
    result = shop.run("apply", str(shop.folder), *elsewhere, "--yes")
    assert "both would from then on: /a, /b." in result.output
    result = shop.run("status", str(shop.folder), *elsewhere)
    assert "twice each tick" in result.output
    text = shop.run("export-cron", "--legacy", "--location", "us-east1").output
    assert len(load_cron(text, "").entries) == 2


# --- export-cron ------------------------------------------------------------------


def test_what_was_applied_comes_back_as_a_cron_yaml_that_wants_the_same(shop):
    shop.apply()
    text = shop.run("export-cron").output
    shop.write(text)
    result = shop.run("plan", str(shop.folder))
    assert "nothing to change, 2 as they should be" in result.output


def test_legacy_jobs_come_back_as_they_were_deployed(shop):
    shop.deploy()
    text = shop.run("export-cron", "--legacy").output
    back = [legacy_job(one, NOW) for one in load_cron(text, "cron.yaml").entries]
    sent = [legacy_job(one, NOW) for one in shop.entries]
    assert sorted(map(str, map(normal, back))) == sorted(map(str, map(normal, sent)))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_real_files_survive_being_deployed_and_exported(path: Path):
    file = load_cron(path.read_text(encoding="utf-8"), str(path))
    if file.faults:
        return
    jobs = [legacy_job(entry, NOW) for entry in file.entries]
    live = [
        LiveJob({**one, "name": f"{PARENT}/jobs/{n}"}, legacy=True)
        for n, one in enumerate(jobs)
    ]
    back = load_cron(cron_yaml(live), "cron.yaml")
    assert not back.faults
    assert [normal(legacy_job(one, NOW)) for one in back.entries] == [
        normal(one) for one in jobs
    ]


@pytest.mark.parametrize(
    ("live", "note"),
    [
        (job("a", schedule="0 9 1 * 1"), "no groc schedule ticks as '0 9 1 * 1' does"),
        (
            job("a", appEngineHttpTarget={"relativeUri": "/a", "httpMethod": "POST"}),
            "cron.yaml sends GET, this job POST",
        ),
        (
            job(
                "a",
                appEngineHttpTarget=None,
                httpTarget={"uri": "https://a.test/", "httpMethod": "GET"},
            ),
            "cron.yaml cannot say a request to https://a.test/",
        ),
        (
            job(
                "a",
                appEngineHttpTarget=None,
                pubsubTarget={"topicName": "projects/shop/topics/t", "data": "eA=="},
            ),
            "cron.yaml cannot say pubsubTarget",
        ),
    ],
)
def test_what_cron_yaml_cannot_say_is_left_out_with_a_note(live, note):
    text = cron_yaml([LiveJob({**live, "state": "ENABLED"})])
    assert text.startswith("cron: []\n")
    assert f"# a: {note}\n# a is left out\n" in text


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"state": "PAUSED"}, "it is PAUSED; cron.yaml cannot say so"),
        ({"attemptDeadline": "600s"}, "its deadline of 600 s is lost"),
        (
            {
                "appEngineHttpTarget": {
                    "relativeUri": "/a",
                    "httpMethod": "GET",
                    "headers": {"X-Mine": "1", "User-Agent": "AppEngine-Google"},
                }
            },
            "its headers are lost: X-Mine",
        ),
    ],
)
def test_what_is_lost_on_the_way_is_noted(more, note):
    text = cron_yaml([LiveJob({**job("a"), "state": "ENABLED", **more})])
    assert f"# a: {note}" in text
    assert load_cron(text, "").entries[0].url == "/a"


def test_a_job_being_made_paused_comes_back_with_its_true_schedule():
    made = ours("a", schedule="every 5 minutes")
    made["appEngineHttpTarget"]["headers"]["X-Cron-Unborn"] = "2026-03-04T10:20:30Z"
    text = cron_yaml([LiveJob({**made, "schedule": "0 0 1 2 *", "state": "PAUSED"})])
    assert "schedule: every 5 minutes" in text


@pytest.mark.parametrize("path", CORPUS[:20], ids=lambda path: path.stem)
def test_a_job_is_read_from_the_api_as_it_was_sent(path: Path):
    from migrate.choices import EntryChoices, Home  # noqa: PLC0415 - here alone
    from migrate.translate import translate  # noqa: PLC0415 - as above

    entries = load_cron(path.read_text(encoding="utf-8"), str(path)).entries
    home = Home("shop", "europe-west1")
    for one in translate(entries, (), home, lambda _e, _r: EntryChoices(), NOW):
        for made in one.jobs:
            assert from_api(to_api(made)) == made
