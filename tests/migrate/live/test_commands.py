"""plan, apply and adopt as they are typed, against an emulated API over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from emulator import server
from emulator.app import App
from emulator.faults import Cut, Fail, Fault
from emulator.jobs import Key
from emulator.wire import Reply, Request
from migrate.cli import cli
from migrate.livejob import LiveJob, State
from migrate.scheduler import EMULATOR
from tests.migrate.live.world import PARENT, job, ours

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emulator.world import World

CRON = """\
cron:
- url: /tasks/summary
  schedule: every monday 09:00
  timezone: Europe/Rome
- url: /tasks/heartbeat
  schedule: every 5 minutes
- url: /tasks/import
  target: worker
  schedule: every day 04:00
  retry_parameters: {job_retry_limit: 3}
"""
SUMMARY = "tasks-summary-31d0d0822e36"


class Shop:
    """A project with an app, a folder with its cron.yaml, and our command line."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.write(CRON)

    def write(self, text: str, name: str = "cron.yaml") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, command: str, *options: str, code: int = 0) -> str:
        result = self.invoke(command, str(self.folder), "--project", "shop", *options)
        assert result.exit_code == code, result.output
        return result.output

    def invoke(self, *arguments: str, answer: str = "") -> Result:
        return CliRunner().invoke(cli, arguments, input=answer)

    def plan(self, *options: str, code: int = 0) -> dict[str, Any]:
        result = CliRunner().invoke(
            cli,
            ["plan", str(self.folder), "--project", "shop", "--format=json", *options],
        )
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        reply = self.world.reply(Request(method, path, query, body))
        assert isinstance(reply, Reply)
        assert reply.status == 200, reply.body
        return reply.body

    def jobs(self) -> dict[str, LiveJob]:
        found = self.ask("GET", f"/v1/{PARENT}/jobs").get("jobs", [])
        return {one.job_id: one for one in map(LiveJob, found)}

    def make(self, sent: dict[str, Any]) -> None:
        self.ask("POST", f"/v1/{PARENT}/jobs", sent)

    def writes(self) -> int:
        return sum(e.request.writes for e in self.world.journal.exchanges())


@pytest.fixture
def shop(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with server.start(world) as running:
        monkeypatch.setenv(EMULATOR, running.url.removeprefix("http://"))
        yield Shop(world, tmp_path)


def actions(plan: dict[str, Any]) -> list[str]:
    return [f"{one['action']} {one['url']}" for one in plan["changes"]]


# --- Making and changing ------------------------------------------------------------


@pytest.mark.parametrize("trouble", [Fail(503), Fail(429), Cut()])
def test_a_passing_trouble_of_the_app_s_api_keeps_no_plan_from_being_made(
    shop, trouble
):
    shop.world.faults.add(Fault(trouble, path="^/v1/apps/", times=2))
    assert len(shop.plan()["changes"]) == 3


def test_apply_makes_what_plan_shows_and_a_second_plan_is_empty(shop):
    assert "3 to create, 0 unchanged" in shop.run("plan")
    assert shop.writes() == 0
    output = shop.run("apply", "--yes")
    assert "All 3 changes are made." in output
    assert {one.url for one in shop.jobs().values()} == {
        "/tasks/summary",
        "/tasks/heartbeat",
        "/tasks/import",
    }
    assert "nothing to change, 3 as they should be" in shop.run("plan")
    written = shop.writes()
    shop.run("apply", "--yes")
    assert shop.writes() == written


def test_reordering_the_file_changes_nothing(shop):
    shop.run("apply", "--yes")
    head, *entries = CRON.split("- url")
    shop.write("- url".join([head, *reversed(entries)]))
    assert actions(shop.plan()) == []


def test_urls_that_differ_in_a_sign_or_a_query_make_jobs_of_their_own(shop):
    entry = "- {{url: '{}', schedule: every day 09:00}}\n"
    urls = ("/t/a-b", "/t/a_b", "/t/a?x=1", "/t/a?x=2")
    shop.write("cron:\n" + "".join(entry.format(url) for url in urls))
    shop.run("apply", "--yes")
    assert {one.url for one in shop.jobs().values()} == set(urls)


def test_a_schedule_s_edit_is_one_masked_update_in_place(shop):
    shop.run("apply", "--yes")
    made = shop.jobs()[SUMMARY]
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    (change,) = shop.plan()["changes"]
    assert change["action"] == "update"
    assert change["mask"] == ["appEngineHttpTarget.headers", "schedule"]
    output = shop.run("apply", "--yes")
    assert "schedule: 0 9 * * 1 → 0 10 * * 1" in output
    assert "next runs before: " in output
    assert "next runs after:  " in output
    now = shop.jobs()[SUMMARY]
    assert now.name == made.name
    assert now.schedule == "0 10 * * 1"


def test_an_interval_s_update_says_that_it_restarts(shop):
    shop.run("apply", "--yes")
    shop.write(CRON.replace("every 5 minutes", "every 5 minutes\n  description: beat"))
    assert "restarts its interval; next run about 20" in shop.run("plan")


def test_a_paused_job_stays_paused_and_the_plan_says_so(shop):
    shop.run("apply", "--yes")
    shop.ask("POST", f"/v1/{PARENT}/jobs/{SUMMARY}:pause")
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    assert "paused, kept" in shop.run("plan")
    shop.run("apply", "--yes")
    assert shop.jobs()[SUMMARY].state is State.PAUSED
    assert shop.jobs()[SUMMARY].schedule == "0 10 * * 1"


def test_a_deadline_that_some_server_fills_in_is_no_change(shop):
    shop.run("apply", "--yes")
    key = Key(legacy=False, name=f"{PARENT}/jobs/{SUMMARY}")
    shop.world.store.change(key, lambda j: j.with_fields({"attemptDeadline": "180s"}))
    assert actions(shop.plan()) == []


def test_headers_that_servers_add_are_no_change(shop):
    shop.run("apply", "--yes")
    key = Key(legacy=False, name=f"{PARENT}/jobs/{SUMMARY}")
    target = shop.jobs()[SUMMARY].resource["appEngineHttpTarget"]
    more = {"X-CloudScheduler": "true", "X-Google-X": "1"}
    added = target | {"headers": target["headers"] | more}
    shop.world.store.change(
        key, lambda j: j.with_fields({"appEngineHttpTarget": added})
    )
    assert actions(shop.plan()) == []


def test_a_failed_update_of_google_s_is_sent_again(shop):
    shop.run("apply", "--yes")
    key = Key(legacy=False, name=f"{PARENT}/jobs/{SUMMARY}")
    shop.world.store.change(key, lambda j: j.with_fields({"state": "UPDATE_FAILED"}))
    assert actions(shop.plan()) == ["update /tasks/summary"]
    shop.run("apply", "--yes")
    assert shop.jobs()[SUMMARY].state is State.ENABLED
    assert actions(shop.plan()) == []


def test_jobs_can_be_made_so_that_none_fires(shop):
    output = shop.run("apply", "--yes", "--paused")
    assert "made paused: " in output
    for one in shop.jobs().values():
        assert one.state is State.PAUSED
        assert one.pause_is_ours
        assert not one.unborn
    assert actions(shop.plan()) == []
    assert actions(shop.plan("--paused")) == []


# --- What is not ours ---------------------------------------------------------------


def test_strangers_are_listed_and_left_alone(shop):
    shop.make(job("finops-report"))
    shop.make(ours("theirs", "billing"))
    before = shop.jobs()
    shop.write("cron: []")
    output = shop.run("apply", "--yes")
    assert "Not ours, left alone: finops-report, theirs" in output
    assert shop.jobs() == before


def test_two_sets_share_a_project(shop):
    shop.run("apply", "--yes", "--set", "one")
    shop.write("cron:\n- {url: /other, schedule: every day 09:00}")
    assert actions(shop.plan("--set", "two")) == ["create /other"]
    shop.run("apply", "--yes", "--set", "two")
    assert len(shop.jobs()) == 4


def test_a_stranger_on_a_name_that_is_needed_stops_everything(shop):
    shop.make(job(SUMMARY))
    plan = shop.plan(code=1)
    assert plan["conflicts"] == [f"{PARENT}/jobs/{SUMMARY}"]
    written = shop.writes()
    output = shop.run("apply", "--yes", code=1)
    assert f"cronshift adopt {SUMMARY}" in output
    assert shop.writes() == written


def test_a_hand_made_job_is_taken_over_in_place(shop):
    theirs = job("weekly", appEngineHttpTarget={"relativeUri": "/tasks/summary"})
    shop.make(theirs)
    shop.ask("POST", f"/v1/{PARENT}/jobs/weekly:pause")
    options = ("--path", str(shop.folder), "--project", "shop")
    result = shop.invoke("adopt", "weekly", *options, "--yes")
    assert result.exit_code == 0, result.output
    assert "appEngineHttpTarget.httpMethod: POST → GET" in result.output
    assert "paused, kept" in result.output
    adopted = shop.jobs()["weekly"]
    assert adopted.state is State.PAUSED
    assert adopted.belongs_to("default")
    assert actions(shop.plan()) == ["create /tasks/heartbeat", "create /tasks/import"]
    again = shop.invoke("adopt", "weekly", *options, "--yes")
    assert again.exit_code == 1
    assert "it is ours already" in again.output


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone", "there is no job of that id"),
        ("odd", "no entry without a job asks for"),
    ],
)
def test_what_fits_no_entry_is_not_taken_over(shop, name, why):
    shop.make(job("odd"))
    options = ("--path", str(shop.folder), "--project", "shop")
    result = shop.invoke("adopt", name, *options, "--yes")
    assert result.exit_code == 1
    assert why in result.output


def test_a_job_of_another_set_is_not_taken_over_and_programs_are_told_so(shop):
    target = {"relativeUri": "/tasks/summary", "httpMethod": "GET"}
    made = ours("weekly", job_set="other", appEngineHttpTarget=target)
    shop.make(made)
    options = ("--path", str(shop.folder), "--project", "shop", "--format", "json")
    result = shop.invoke("adopt", "weekly", *options, "--yes")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["adopted"] == []
    assert "it is of the set 'other'" in told["misfits"][0]["why"]
    assert shop.jobs()["weekly"].belongs_to("other")


def test_programs_are_told_what_was_taken_over(shop):
    shop.make(job("weekly", appEngineHttpTarget={"relativeUri": "/tasks/summary"}))
    options = ("--path", str(shop.folder), "--project", "shop", "--format", "json")
    result = shop.invoke("adopt", "weekly", *options, "--yes")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    (adopted,) = told["adopted"]
    assert adopted["name"] == f"{PARENT}/jobs/weekly"
    assert "appEngineHttpTarget.httpMethod" in {
        one["path"] for one in adopted["fields"]
    }
    assert told["misfits"] == []


def test_programs_are_told_live_jobs_as_entries(shop):
    shop.make(
        job("weekly", appEngineHttpTarget={"relativeUri": "/t", "httpMethod": "GET"})
    )
    shop.make(job("odd", schedule="0 9 1 * 1"))
    result = shop.invoke("export-cron", "--project", "shop", "--format", "json")
    assert result.exit_code == 0, result.output
    told = {one["job"]: one for one in json.loads(result.stdout)["jobs"]}
    assert told["weekly"]["entry"]["url"] == "/t"
    assert told["odd"]["entry"] is None
    assert told["odd"]["notes"]


def test_legacy_jobs_that_would_fire_as_well_are_told(shop):
    legacy = {"schedule": "every 5 minutes", "legacyAppEngineCron": True}
    for url in ("/tasks/heartbeat", "/elsewhere"):
        target = {"relativeUri": url, "httpMethod": "GET"}
        body = legacy | {"appEngineHttpTarget": target}
        shop.ask("POST", f"/v1beta1/{PARENT}/jobs", body)
    assert shop.plan()["fires_twice"] == ["/tasks/heartbeat"]
    assert "both would from then on: /tasks/heartbeat." in shop.run("plan")
    assert shop.plan("--paused")["fires_twice"] == []
    shop.run("apply", "--yes")
    assert shop.plan()["fires_twice"] == []  # that is what status is for


def test_jobs_that_do_not_fire_are_told_though_nothing_changes(shop):
    shop.run("apply", "--yes")
    shop.ask("POST", f"/v1/{PARENT}/jobs/{SUMMARY}:pause")
    assert f"Not firing, and left so: {SUMMARY}" in shop.run("plan")


# --- Limits -------------------------------------------------------------------------


def test_one_deletion_goes_and_more_need_the_option_that_is_told(shop):
    shop.run("apply", "--yes")
    shop.write(CRON.partition("- url: /tasks/heartbeat")[0])
    output = shop.run("apply", "--yes", code=1)
    assert "2 of 3 jobs would be deleted" in output
    assert "--max-deletes 2" in output
    assert len(shop.jobs()) == 3
    shop.run("plan", code=1)
    shop.run("apply", "--yes", "--max-deletes", "2")
    assert len(shop.jobs()) == 1
    shop.write("cron: []")
    output = shop.run("apply", "--yes", code=1)
    assert "1 of 1 jobs would be deleted (no entry is left)" in output


def test_an_entry_that_went_to_jobs_yaml_is_no_deletion(shop):
    shop.run("apply", "--yes")
    first, others = CRON.split("- url: /tasks/heartbeat")
    shop.write(first)
    shop.write(f"cron:\n- url: /tasks/heartbeat{others}", "jobs.yaml")
    assert actions(shop.plan()) == []
    shop.write("cron: []")
    shop.write(CRON, "jobs.yaml")
    assert actions(shop.plan()) == []


def test_only_touches_what_it_names(shop):
    shop.run("apply", "--yes")
    shop.write("cron:\n- {url: /tasks/summary, schedule: every day 09:00}\n")
    assert actions(shop.plan("--only", "/tasks/summary")) == ["update /tasks/summary"]
    assert actions(shop.plan("--only", "/tasks/import")) == ["delete /tasks/import"]
    output = shop.run("plan", "--only", "/tasks/sumary", code=2)
    assert "no entry and no job of this set has that url" in output


def test_a_refused_plan_tells_programs_which_notes_are_in_the_way(shop):
    options = ("--project", "shop", "--intervals", "clock", "--format", "json")
    result = shop.invoke("plan", str(shop.folder), *options)
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    (refused,) = told.pop("refused")
    assert told == {"changes": []}
    assert refused["code"] == "interval-to-clock"
    assert refused["level"] == "loss"
    assert refused["entry"]["url"] == "/tasks/heartbeat"


def test_a_loss_nobody_accepted_ends_it_before_any_write(shop):
    output = shop.run("apply", "--yes", "--intervals", "clock", code=1)
    assert "--accept interval-to-clock" in output
    assert shop.writes() == 0
    shop.run("plan", "--intervals", "clock", code=1)
    shop.run("apply", "--yes", "--intervals=clock", "--only", "/tasks/summary")
    assert list(shop.jobs()) == [SUMMARY]


def test_terraform_s_jobs_are_compared_and_not_changed(shop):
    shop.write('owner = "terraform"\n', "cronshift.toml")
    assert len(actions(shop.plan())) == 3
    assert "Terraform's to change" in shop.run("apply", "--yes", code=2)
    assert "apply" in shop.run("plan", "--out", str(shop.folder / "p"), code=2)
    assert shop.writes() == 0


# --- Saved plans --------------------------------------------------------------------


def test_a_saved_plan_is_carried_out_exactly(shop):
    file = shop.folder / "plan.json"
    shop.run("plan", "--out", str(file))
    shop.write("cron: []")  # what the file says now has no say any more
    result = shop.invoke("apply", str(file), "--yes")
    assert result.exit_code == 0, result.output
    assert len(shop.jobs()) == 3


def test_a_saved_plan_is_stale_once_a_job_of_it_changed(shop):
    shop.run("apply", "--yes")
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    file = shop.folder / "plan.json"
    shop.run("plan", "--out", str(file))
    shop.ask("POST", f"/v1/{PARENT}/jobs/{SUMMARY}:pause")
    written = shop.writes()
    result = shop.invoke("apply", str(file), "--yes")
    assert result.exit_code == 1
    assert f"stale: {SUMMARY} changed since" in result.output
    assert "plan again" in result.output
    assert shop.writes() == written


def test_a_saved_plan_outlives_what_changes_by_itself(shop):
    shop.run("apply", "--yes")
    shop.write(CRON.replace("monday 09:00", "monday 10:00"))
    file = shop.folder / "plan.json"
    shop.run("plan", "--out", str(file))
    shop.ask("POST", f"/v1/{PARENT}/jobs/{SUMMARY}:run")  # its last attempt moves
    assert shop.invoke("apply", str(file), "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda text: text.replace("/tasks/summary", "/tasks/other"), "changed since"),
        (lambda text: text[:-20], "not a whole plan"),
        (
            lambda text: text.replace('"version": 1', '"version": 9'),
            "a plan of format 9",
        ),
    ],
)
def test_a_saved_plan_that_is_not_whole_is_refused(shop, spoil, why):
    file = shop.folder / "plan.json"
    shop.run("plan", "--out", str(file))
    file.write_text(spoil(file.read_text()))
    result = shop.invoke("apply", str(file), "--yes")
    assert result.exit_code == 2
    assert why in result.output
    assert shop.writes() == 0


@pytest.mark.parametrize(("option", "value"), [("--set", "b"), ("--max-deletes", "0")])
def test_no_option_changes_a_saved_plan(shop, option, value):
    file = shop.folder / "plan.json"
    shop.run("plan", "--out", str(file))
    result = shop.invoke("apply", str(file), "--yes", option, value)
    assert result.exit_code == 2
    assert f"{option} has no say in a saved plan" in result.output


# --- Asking, failing, stopping ------------------------------------------------------


def test_nobody_to_ask_is_no_yes(shop):
    output = shop.run("apply", code=2)
    assert "--yes" in output
    assert shop.writes() == 0


def test_a_failed_change_keeps_no_other_back_and_the_next_run_converges(shop):
    path = r"/jobs(\?|$)"
    shop.world.faults.add(Fault(Fail(400, "no"), method="POST", path=path, skip=1))
    result = shop.invoke(
        "apply", str(shop.folder), "--project=shop", "--yes", "--format=json"
    )
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert not told["complete"]
    assert sorted(one["result"] for one in told["results"]) == [
        "done",
        "done",
        "failed",
    ]
    assert len(shop.jobs()) == 2
    assert "All 1 changes are made." in shop.run("apply", "--yes")


def test_a_job_is_kept_while_its_successor_could_not_be_made(shop):
    twice = "- {{url: /t, schedule: every day {}}}\n"
    shop.write("cron:\n" + twice.format("09:00") + twice.format("10:00"))
    shop.run("apply", "--yes")
    shop.write("cron:\n" + twice.format("09:00") + twice.format("11:00"))
    assert actions(shop.plan()) == ["create /t", "delete /t"]
    shop.world.faults.add(Fault(Fail(400, "no"), method="POST", path=r"/jobs(\?|$)"))
    output = shop.run("apply", "--yes", code=1)
    assert "this one stays" in output
    assert len(shop.jobs()) == 2
    shop.run("apply", "--yes")
    assert {one.schedule for one in shop.jobs().values()} == {"0 9 * * *", "0 11 * * *"}


def test_what_every_call_would_meet_is_met_once(shop):
    shop.world.faults.add(Fault(Fail(403, "no"), method="POST", times=None))
    shop.write(
        "cron:\n"
        + "".join(f"- {{url: /t{n}, schedule: every day 09:00}}\n" for n in range(40))
    )
    output = shop.run("apply", "--yes", code=1)
    assert "permission cloudscheduler.jobs.create is missing" in output
    assert output.count("it would meet the same") > 20 * 2 - 2


# --- Places -------------------------------------------------------------------------


def test_jobs_go_where_the_app_is_whatever_it_is_called_there(shop):
    shop.run("apply", "--yes")
    assert shop.jobs()
    assert actions(shop.plan("--location", "europe-west")) == []


def test_another_place_than_the_app_s_is_refused_before_any_write(shop):
    output = shop.run("apply", "--yes", "--location", "us-east1", code=2)
    assert "is in europe-west1" in output
    assert shop.writes() == 0


def test_a_project_without_an_app_is_told_the_way(shop):
    shop.world.app = App("shop", "")
    assert "gcloud app create --project shop" in shop.run("plan", code=2)


def test_without_a_project_nothing_is_asked(shop, monkeypatch):
    monkeypatch.delenv("CLOUDSDK_CORE_PROJECT", raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    result = shop.invoke("plan", str(shop.folder))
    assert result.exit_code == 2
    assert "--project" in result.output


def test_a_service_that_the_app_lacks_is_told(shop):
    result = shop.invoke("plan", str(shop.folder), "--project", "shop")
    assert "the app has no service 'worker'" in result.stderr
    shop.world.app = App("shop", "europe-west", {"default": {}, "worker": {"1": 1.0}})
    result = shop.invoke("plan", str(shop.folder), "--project", "shop")
    assert result.stderr == ""


HTTP = ("--http", "*=https://x.a.run.app", "--oidc-service-account-email", "c@x.test")


def test_http_targets_live_anywhere_and_move_only_when_told_from_where(shop):
    shop.run("apply", "--yes", *HTTP, "--location", "us-east1")
    assert shop.jobs() == {}
    moved = (*HTTP, "--moved-from", "us-east1", "--max-deletes", "3")
    shop.make(job("stranger"))
    output = shop.run("apply", "--yes", *moved)
    assert "3 to create, 3 to delete" in output
    assert "    in us-east1" in output
    assert len(shop.jobs()) == 4
    assert shop.ask("GET", "/v1/projects/shop/locations/us-east1/jobs") == {}
    assert actions(shop.plan(*moved)) == []


def test_an_unknown_project_is_told(shop):
    result = shop.invoke("plan", str(shop.folder), "--project", "nope")
    assert result.exit_code == 2
    assert "apps/nope: not allowed, or the API is off" in result.output


def test_where_the_app_may_not_be_seen_a_location_will_do(shop):
    shop.world.faults.add(Fault(Fail(403, "no"), path="/v1/apps", times=None))
    output = shop.run("plan", "--location", "europe-west1")
    assert "the app was not looked up: " in output
    assert "3 to create" in output
    assert "--location" in shop.run("plan", code=2)


def test_an_emulator_is_asked_past_every_proxy(shop, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    shop.run("apply", "--yes")
    assert len(shop.jobs()) == 3
