"""cutover and rollback as they are typed, against an emulated API over HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cronspec.config import load_cron
from cronspec.naming import entries_digest, entry_keys, identity
from emulator import server
from emulator.app import App
from emulator.jobs import Key
from emulator.timing import rfc3339
from emulator.world import World
from migrate.cli import cli
from migrate.legacy import legacy_job
from migrate.scheduler import EMULATOR
from tests.migrate.live.world import PARENT, WorldApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Far from both, whatever time it is now.
LATER = datetime.now(UTC) + timedelta(hours=6)
CRON = f"""\
# Ours.
cron:
# The daily one.
- url: /daily
  schedule: every day {LATER:%H:%M}
- url: /weekly
  schedule: every {LATER:%A} {LATER:%H:%M}
  target: worker
"""


class Shop:
    """A project with an app, a deployed cron.yaml in a folder, and our command line."""

    def __init__(self, folder: Path, cron: str = CRON) -> None:
        services = {"default": {"v1": 1.0}, "worker": {"v1": 0.5, "v2": 0.5}}
        self.world = World(app=App("shop", "europe-west", services))
        self.api = WorldApi(self.world)
        self.folder = folder
        self.write("cron.yaml", cron)
        for entry in load_cron(cron, "cron.yaml").entries:
            self.api.create(PARENT, legacy_job(entry, LATER), legacy=True)
        self.health: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def run(self, command: str, *options: str, code: int = 0) -> str:
        arguments = [command, *options, "--project", "shop"]
        if command in ("cutover", "rollback"):
            arguments += ["--wait", "0"]
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == code, result.output
        return str(result.output)

    def move(self, command: str, *options: str, code: int = 0) -> str:
        return self.run(command, str(self.folder), "--yes", *options, code=code)

    def json(self, command: str, *options: str, code: int = 0) -> dict[str, Any]:
        text = self.move(command, *options, "--format", "json", code=code)
        found: dict[str, Any] = json.loads(text[text.index("{\n") :])
        return found

    def names(self, *, legacy: bool) -> dict[str, str]:
        """Each job's state by its url."""
        return {
            job.resource["appEngineHttpTarget"]["relativeUri"]: job.state
            for job in self.world.store.page(PARENT, Key(legacy, ""), 100)
        }

    def deliver(self, url: str) -> None:
        """Let our job have run well just now."""
        for job in self.world.store.page(PARENT, Key(legacy=False, name=""), 100):
            if job.resource["appEngineHttpTarget"]["relativeUri"] == url:
                now = rfc3339(datetime.now(UTC) + timedelta(seconds=1))
                fields = {"lastAttemptTime": now, "status": {}}
                self.world.store.change(
                    job.key, lambda found, new=fields: found.with_fields(new)
                )


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    made = Shop(tmp_path)
    with server.start(made.world) as running:
        monkeypatch.setenv(EMULATOR, running.url.removeprefix("http://"))
        yield made


@pytest.fixture
def host(shop: Shop) -> Iterator[str]:
    """The url of a host that has this list of entries."""
    entries = [identity(one) for one in load_cron(CRON, "cron.yaml").entries]
    digest = entries_digest(
        (key, known.schedule, known.timezone)
        for key, known in zip(entry_keys(entries), entries, strict=True)
    )
    shop.health = {"version": "0.1.0", "entries": digest, "store": "ab" * 32}

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(shop.health).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Health)
    thread = Thread(target=httpd.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


NO_HOST = ("--host", "http://127.0.0.1:9")


def test_a_move_there_and_back_leaves_both_lists_as_they_were(shop: Shop) -> None:
    output = shop.move("cutover", *NO_HOST)
    assert "gap: default has no host of ours" in output
    assert "gap: the traffic of worker is split (v1, v2)" in output
    assert "2 of 2 entries moved" in output
    assert shop.names(legacy=True) == {}
    assert shop.names(legacy=False) == {"/daily": "ENABLED", "/weekly": "ENABLED"}
    assert shop.read("cron.yaml") == "# Ours.\ncron:\n"
    assert "# The daily one.\n- url: /daily\n" in shop.read("jobs.yaml")
    assert len(shop.read("cronshift-backup.jsonl").splitlines()) == 2
    assert output.index("now   /daily: delete the legacy") < output.rindex("done")
    shop.run("status", str(shop.folder))
    again = shop.move("cutover", *NO_HOST)
    assert "2 of 2 entries moved" in again
    assert "written" not in again

    output = shop.move("rollback", *NO_HOST)
    assert "2 of 2 entries back" in output
    assert shop.names(legacy=True) == {"/daily": "ENABLED", "/weekly": "ENABLED"}
    assert shop.names(legacy=False) == {"/daily": "PAUSED", "/weekly": "PAUSED"}
    assert shop.read("cron.yaml") == CRON
    shop.run("status", str(shop.folder))


def test_what_moved_to_jobs_yaml_is_no_deletion_to_a_plan(shop: Shop) -> None:
    shop.move("cutover", *NO_HOST, "--only", "/daily")
    assert "/weekly" in shop.read("cron.yaml")
    for path in (shop.folder, shop.folder / "cron.yaml"):
        output = shop.run("plan", str(path), "--format", "json")
        plan = json.loads(output[output.index("{\n") :])
        assert [one["action"] for one in plan["changes"]] == ["create"]
    shop.move("cutover", *NO_HOST)
    for path in (shop.folder, shop.folder / "cron.yaml"):
        shop.run("plan", str(path), "--detailed-exitcode")
    (shop.folder / "cron.yaml").unlink()
    shop.run("plan", str(shop.folder), "--detailed-exitcode")
    shop.move("rollback", *NO_HOST)
    assert set(shop.names(legacy=True)) == {"/daily", "/weekly"}
    assert "/daily" in shop.read("cron.yaml")


def test_what_did_not_move_is_no_deletion_either_where_jobs_yaml_is_named(
    shop: Shop,
) -> None:
    shop.move("cutover", *NO_HOST, "--only", "/daily")
    shop.run("apply", str(shop.folder), "--paused", "--yes")
    output = shop.run("plan", str(shop.folder / "jobs.yaml"))
    assert "nothing to change, 2 as they should be" in output


def test_overlap_waits_for_ours_to_deliver_and_goes_on_then(
    shop: Shop, host: str
) -> None:
    found = shop.json("cutover", "--host", host, "--only", "/daily", code=1)
    (entry,) = found["entries"]
    assert (entry["way"], entry["state"]) == ("overlap", "wait")
    assert "ours is to be seen delivering" in entry["text"]
    assert entry["until"] is not None
    assert [step["problem"] for step in found["steps"]] == [None]
    assert not found["complete"]
    assert found["written"] == []
    shop.deliver("/daily")
    found = shop.json("cutover", "--host", host, "--only", "/daily")
    assert found["complete"]
    assert [step["do"].partition(" /")[0] for step in found["steps"]] == [
        f"delete the legacy job {_legacy_id(found)}"
    ]
    assert set(shop.names(legacy=True)) == {"/weekly"}


def _legacy_id(found: dict[str, Any]) -> str:
    return str(found["steps"][0]["do"].rpartition(" ")[2])


def test_a_host_with_another_list_or_another_answer_is_no_ground_for_overlap(
    shop: Shop, host: str
) -> None:
    shop.health["entries"] = "cd" * 32
    output = shop.run("cutover", str(shop.folder), "--host", host, code=2)
    assert "the host of default has another list of entries" in output
    shop.health = {"entries": "x"}
    output = shop.run("cutover", str(shop.folder), "--host", f"default={host}", code=2)
    assert "not as a host does" in output


def test_lists_that_are_lost_are_had_back_from_our_jobs_and_the_way_back_is_open(
    shop: Shop,
) -> None:
    shop.move("cutover", *NO_HOST)
    (shop.folder / "jobs.yaml").unlink()
    (shop.folder / "cronshift-backup.jsonl").unlink()
    output = shop.move("rollback", *NO_HOST, code=1)
    assert "0 of 0 entries back" in output
    assert "our jobs of no entry, left alone" in output
    found = shop.json("rollback", *NO_HOST, code=1)
    assert {one["url"] for one in found["orphans"]} == {"/daily", "/weekly"}
    shop.write("cron.yaml", shop.run("export-cron", "--set", "default"))
    output = shop.move("rollback", *NO_HOST)
    assert "2 of 2 entries back" in output
    assert shop.names(legacy=True) == {"/daily": "ENABLED", "/weekly": "ENABLED"}
    assert shop.names(legacy=False) == {"/daily": "PAUSED", "/weekly": "PAUSED"}


def test_a_service_whose_healthz_dispatch_yaml_sends_elsewhere_must_be_named(
    shop: Shop, host: str
) -> None:
    shop.write("dispatch.yaml", "dispatch:\n- {url: '*/healthz', service: worker}\n")
    output = shop.run("cutover", str(shop.folder), code=2)
    assert "sends its /healthz to worker" in output
    assert "--host default=URL" in output
    output = shop.run("cutover", str(shop.folder), "--host", f"default={host}", code=2)
    assert "overlap: " in output


def test_without_anybody_to_ask_it_shows_what_it_would_do_and_does_nothing(
    shop: Shop,
) -> None:
    output = shop.run("cutover", str(shop.folder), *NO_HOST, code=2)
    assert "-> make daily-" in output
    assert "--yes" in output
    assert shop.names(legacy=False) == {}
    assert not (shop.folder / "cronshift-backup.jsonl").exists()


def test_http_targets_elsewhere_take_over_from_legacy_jobs_where_the_app_is(
    shop: Shop,
) -> None:
    there = "projects/shop/locations/us-east1"
    options = ("--http", "*=https://x.a.run.app", "--location", "us-east1")
    options += ("--oidc-service-account-email", "c@x.test", "--accept", "deadline-cut")
    shop.move("cutover", *NO_HOST, *options)
    assert shop.names(legacy=True) == {}
    jobs = shop.world.store.page(there, Key(legacy=False, name=""), 9)
    assert [job.state for job in jobs] == ["ENABLED", "ENABLED"]
    shop.move("rollback", *NO_HOST, *options)
    assert shop.names(legacy=True) == {"/daily": "ENABLED", "/weekly": "ENABLED"}


def test_a_list_that_is_a_link_stays_one_and_keeps_its_rights(shop: Shop) -> None:
    real = shop.folder / "real.yaml"
    (shop.folder / "cron.yaml").rename(real)
    real.chmod(0o660)
    (shop.folder / "cron.yaml").symlink_to(real)
    shop.move("cutover", *NO_HOST, "--only", "/daily")
    assert (shop.folder / "cron.yaml").is_symlink()
    assert "/daily" not in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o660


def test_no_backup_no_deletion(shop: Shop) -> None:
    nowhere = str(shop.folder / "none" / "backup.jsonl")
    output = shop.move("cutover", *NO_HOST, "--backup", nowhere, code=2)
    assert "No such file or directory" in output
    assert len(shop.names(legacy=True)) == 2


def test_a_broken_backup_line_is_told_and_passed_over(shop: Shop) -> None:
    lines = [
        {"name": 3},
        "name",
        {"name": "x", "state": []},
        {"name": "x", "appEngineHttpTarget": []},
    ]
    broken = [json.dumps({"format": "cronshift-legacy-job", "job": x}) for x in lines]
    broken += ["3", "[]", "no JSON", '{"format": "cronshift-leg']
    shop.write("cronshift-backup.jsonl", "\n".join(broken))
    output = shop.move("cutover", *NO_HOST)
    assert "8 broken lines" in output
    added = shop.read("cronshift-backup.jsonl").splitlines()[8:]
    assert len(added) == 2
    assert all(json.loads(line)["job"]["name"] for line in added)


def test_an_unaccepted_loss_ends_a_cutover_before_any_write_but_no_rollback(
    shop: Shop,
) -> None:
    shop.write("cron.yaml", "cron:\n- {url: /daily, schedule: every 5 minutes}\n")
    output = shop.move("cutover", "--intervals", "clock", *NO_HOST, code=1)
    assert "--accept interval-to-clock" in output
    assert shop.names(legacy=False) == {}
    output = shop.move("rollback", "--intervals", "clock", *NO_HOST, code=1)
    assert "the live legacy job is not as the file says" in output


def test_a_differing_legacy_job_is_shown_with_what_the_file_says(shop: Shop) -> None:
    changed = CRON.replace(f"every day {LATER:%H:%M}", "every day 00:01")
    shop.write("cron.yaml", changed)
    output = shop.move("cutover", *NO_HOST, code=1)
    assert f"schedule: live 'every day {LATER:%H:%M}', file 'every day 00:01'" in output
    assert "1 of 2 entries moved" in output
    assert "/daily" in shop.read("cron.yaml")
    assert "/daily" not in shop.read("jobs.yaml")


def test_a_legacy_job_for_another_service_than_the_file_says_stops_its_entry(
    shop: Shop,
) -> None:
    shop.write("cron.yaml", CRON.replace("target: worker", "target: other"))
    for _ in range(2):  # the second time our job is there as well, and fires
        output = shop.move("cutover", *NO_HOST, "--only", "/weekly", code=1)
        assert "service: live 'worker', file 'other'" in output
        assert not (shop.folder / "jobs.yaml").exists()
        shop.run("apply", str(shop.folder), "--only", "/weekly", "--yes")


def test_what_was_paused_before_the_move_does_not_come_back_for_gcloud_to_fire(
    shop: Shop,
) -> None:
    (first, *_) = shop.world.store.page(PARENT, Key(legacy=True, name=""), 9)
    shop.world.store.change(
        first.key, lambda found: found.with_fields({"state": "PAUSED"})
    )
    url = first.resource["appEngineHttpTarget"]["relativeUri"]
    shop.move("cutover", *NO_HOST)
    assert shop.names(legacy=False)[url] == "PAUSED"
    shop.move("rollback", *NO_HOST)
    assert url not in shop.names(legacy=True)
    assert url in shop.read("jobs.yaml")
    assert url not in shop.read("cron.yaml")


def test_a_roll_back_tells_of_legacy_jobs_that_are_too_many(shop: Shop) -> None:
    shop.move("cutover", *NO_HOST)
    for entry in load_cron(CRON, "cron.yaml").entries:
        for _ in range(2):
            shop.api.create(PARENT, legacy_job(entry, LATER), legacy=True)
    output = shop.move("rollback", *NO_HOST, code=1)
    assert output.count("1 more legacy jobs like it fire it too") == 2
    assert shop.names(legacy=False) == {"/daily": "PAUSED", "/weekly": "PAUSED"}


def test_legacy_jobs_of_no_entry_are_told_and_left_alone(shop: Shop) -> None:
    stray = {
        "schedule": "every day 01:00",
        "appEngineHttpTarget": {"relativeUri": "/x"},
    }
    shop.api.create(PARENT, stray, legacy=True)
    output = shop.move("cutover", *NO_HOST)
    assert "legacy jobs of no entry, left alone: /x (every day 01:00" in output
    assert set(shop.names(legacy=True)) == {"/x"}


def test_terraform_s_half_is_left_to_terraform(shop: Shop) -> None:
    shop.write("cronshift.toml", 'owner = "terraform"\n')
    output = shop.move("cutover", *NO_HOST, code=1)
    assert output.count("our job is not there: terraform apply makes it") == 2
    assert shop.names(legacy=False) == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "/none"], "no entry has that url"),
        (["--host", "default=ftp://x"], "is not [SERVICE=]URL"),
    ],
)
def test_a_wrong_option_is_told(shop: Shop, options: list[str], said: str) -> None:
    assert said in shop.move("cutover", *options, code=2)


def test_two_paths_are_one_too_many(shop: Shop) -> None:
    other = shop.folder / "other.yaml"
    other.write_text(CRON)
    output = shop.run("cutover", str(shop.folder), str(other), "--yes", code=2)
    assert "name one folder" in output
