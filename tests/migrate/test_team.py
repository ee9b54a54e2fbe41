"""A team's repository: 60 entries, four services, dispatch rules, two environments.

One settings file; every command agrees with it; an option beats it; a misspelt key is
told with its place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from migrate.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

SERVICES = ("default", "api", "worker", "reports")
SCHEDULES = (
    "every 10 minutes",
    "every 1 hours synchronized",
    "every day 04:15",
    "every monday 09:00",
    "1 of month 06:00",
)
SETTINGS = """\
project = "shop"
location = "europe-west"
set = "shop-cron"
missing-retry-limit = 5
fail-on = "warning"
ignore = ["no-retries", "interval-drifts"]

[services."*"]
oidc-service-account-email = "cron@shop.iam.gserviceaccount.com"

[services.reports]           # moved to Cloud Run already
url = "https://reports-x.a.run.app"

[[entries]]
url = "/tasks/job-00"
intervals = "clock"
accept = ["interval-to-clock"]

[[entries]]
url = "/tasks/job-03"        # stays with App Engine for now
to = "app-engine"

[[entries]]
url = "/tasks/shared"
target = "worker"
schedules = "groc"
attempt-deadline = "15m"

[env.prod]

[env.staging]
project = "shop-staging"
location = "us-central1"

[env.staging.services.reports]
url = "https://reports-staging.a.run.app"
oidc-service-account-email = "cron@shop-staging.iam.gserviceaccount.com"

[[env.staging.entries]]
url = "/tasks/job-03"
to = "http"
"""


def cron_yaml() -> str:
    """Give 60 entries: /tasks/job-NN over the services in turn, two of one url."""
    lines = ["cron:"]
    for number in range(58):
        service = SERVICES[number % 4]
        lines += [
            f"- url: /tasks/job-{number:02}",
            f"  schedule: {SCHEDULES[number % 5]}",
            f"  description: job {number} of {service}",
        ]
        lines += [] if service == "default" else [f"  target: {service}"]
        lines += ["  retry_parameters:", "    min_backoff_seconds: 5"] * (number == 8)
    for service in ("api", "worker"):
        lines += ["- url: /tasks/shared", "  schedule: every day 05:00"]
        lines += [f"  target: {service}"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLOUDSDK_CORE_PROJECT", raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    files = {
        "cron.yaml": cron_yaml(),
        "cronshift.toml": SETTINGS,
        # What worker's entry 02 does has moved to the reports service.
        "dispatch.yaml": "dispatch:\n- url: '*/tasks/job-02'\n  service: reports\n",
        "app.yaml": "runtime: python313\n",
        "api/app.yaml": "runtime: python313\nservice: api\n",
        "worker/app.yaml": "runtime: python313\nservice: worker\nbasic_scaling: {}\n",
        "reports/app.yaml": "runtime: python313\nservice: reports\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def jobs(*arguments: object) -> dict[tuple[str, str | None], dict[str, Any]]:
    """Translate, and give the jobs by url and target."""
    result = run("translate", *arguments, "--format", "json")
    assert result.exit_code in {0, 1}, result.stderr
    found = json.loads(result.stdout)["jobs"]
    assert len(found) == 60
    return {(one["entry"]["url"], one["entry"]["target"]): one for one in found}


def test_one_settings_file_decides_all(repository: Path) -> None:
    made = jobs(repository)
    for one in made.values():
        job = one["job"]
        home = "projects/shop/locations/europe-west1/jobs/"
        assert job["name"].startswith(home)
        target = job.get("appEngineHttpTarget") or job["httpTarget"]
        assert target["headers"]["X-Cron-Set"] == "shop-cron"
        assert target["headers"]["X-Cron-Scope"] == "shop/europe-west1"
    http = {url for (url, _), one in made.items() if "httpTarget" in one["job"]}
    reports = {f"/tasks/job-{number:02}" for number in range(3, 58, 4)}
    assert http == (reports | {"/tasks/job-02"}) - {"/tasks/job-03"}
    moved = made["/tasks/job-07", "reports"]["job"]
    assert moved["attemptDeadline"] == "600s"
    assert moved["httpTarget"]["uri"] == "https://reports-x.a.run.app/tasks/job-07"
    assert moved["httpTarget"]["oidcToken"] == {
        "serviceAccountEmail": "cron@shop.iam.gserviceaccount.com",
        "audience": "https://reports-x.a.run.app",
    }
    assert made["/tasks/job-00", None]["job"]["schedule"] == "*/10 * * * *"
    assert made["/tasks/job-05", "api"]["job"]["schedule"] == "every 10 minutes"
    assert made["/tasks/job-08", None]["job"]["retryConfig"]["retryCount"] == 5


def test_settings_of_one_entry_are_for_its_target_alone(repository: Path) -> None:
    made = jobs(repository)
    own, other = (made["/tasks/shared", name] for name in ("worker", "api"))
    assert own["job"]["schedule"] == "every day 05:00"
    assert own["job"]["attemptDeadline"] == "900s"
    assert "deadline-cut" in {note["code"] for note in own["notes"]}
    assert other["job"]["schedule"] == "0 5 * * *"
    assert "attemptDeadline" not in other["job"]


def test_an_environment_moves_the_whole_set(repository: Path) -> None:
    made = jobs(repository, "--env", "staging")
    home = "projects/shop-staging/locations/us-central1/jobs/"
    assert all(one["job"]["name"].startswith(home) for one in made.values())
    job = made["/tasks/job-03", "reports"]["job"]
    assert job["httpTarget"]["uri"].startswith("https://reports-staging.a.run.app/")
    assert job["httpTarget"]["oidcToken"]["serviceAccountEmail"] == (
        "cron@shop-staging.iam.gserviceaccount.com"
    )
    assert made["/tasks/job-00", None]["job"]["schedule"] == "*/10 * * * *"
    assert jobs(repository, "--env", "prod") == jobs(repository)


def test_prove_and_the_exports_agree_with_translate(repository: Path) -> None:
    accept = ["--accept", "deadline-cut"]
    made = jobs(repository, *accept)
    proof = run("prove", repository, *accept, "--format", "json")
    proven = {
        (one["entry"]["url"], one["entry"]["target"]): one
        for one in json.loads(proof.stdout)["entries"]
    }
    for key, one in made.items():
        assert proven[key]["schedules"] == [one["job"]["schedule"]]
        assert proven[key]["notes"] == one["notes"]
        assert proven[key]["verdict"] == one["verdict"]
    names = {one["job"]["name"].rpartition("/")[2] for one in made.values()}
    for form in ("gcloud", "terraform", "krm"):
        export = run("translate", repository, *accept, "--format", form)
        assert export.exit_code == 0, export.stderr
        for name in names:
            assert name in export.stdout


def test_a_loss_that_no_settings_accept_stops_every_command(repository: Path) -> None:
    for command in ("translate", "prove"):
        assert run(command, repository).exit_code == 1
    export = run("translate", repository, "--format", "terraform")
    assert (export.exit_code, export.stdout) == (1, "")
    assert "deadline-cut" in export.stderr
    assert "interval-to-clock" not in export.stderr


def test_an_audit_ignores_and_fails_as_the_settings_say(repository: Path) -> None:
    audit = run("audit", repository, "--format", "json")
    assert audit.exit_code == 1
    told = {finding["code"] for finding in json.loads(audit.stdout)["findings"]}
    assert "route-conflict" in told
    assert not told & {"no-retries", "interval-drifts"}
    all_told = run("audit", repository, "--ignore", "dialect", "--format", "json")
    codes = {finding["code"] for finding in json.loads(all_told.stdout)["findings"]}
    assert {"no-retries", "interval-drifts"} <= codes
    assert run("audit", repository, "--fail-on", "never").exit_code == 0


def test_an_audit_shows_where_every_request_goes(repository: Path) -> None:
    audit = run("audit", repository, "--format", "json")
    routes = json.loads(audit.stdout)["routes"]
    assert len(routes) == 60
    assert (routes[2]["declared"], routes[2]["effective"]) == ("worker", "reports")


@pytest.mark.parametrize(
    ("options", "url", "target", "path", "expected"),
    [
        (["--schedules", "groc"], "/tasks/job-01", "api", "schedule", SCHEDULES[1]),
        (["--intervals", "keep"], "/tasks/job-00", None, "schedule", SCHEDULES[0]),
        (["--schedules", "auto"], "/tasks/shared", "worker", "schedule", "0 5 * * *"),
        (
            ["--missing-retry-limit", "0"],
            "/tasks/job-08",
            None,
            "retryConfig.retryCount",
            0,
        ),
        (
            ["--http", "reports=https://other"],
            "/tasks/job-07",
            "reports",
            "httpTarget.uri",
            "https://other/tasks/job-07",
        ),
        (
            ["--set", "mine"],
            "/tasks/job-01",
            "api",
            "appEngineHttpTarget.headers.X-Cron-Set",
            "mine",
        ),
        (
            ["--project", "p", "--location", "l"],
            "/tasks/job-01",
            "api",
            "appEngineHttpTarget.headers.X-Cron-Scope",
            "p/l",
        ),
    ],
)
def test_an_option_beats_the_settings(
    repository: Path,
    options: list[str],
    url: str,
    target: str | None,
    path: str,
    expected: object,
) -> None:
    value = jobs(repository, *options)[url, target]["job"]
    for key in path.split("."):
        value = value[key]
    assert value == expected


@pytest.mark.parametrize("command", ["audit", "translate", "prove", "next"])
@pytest.mark.parametrize(
    ("right", "misspelt", "told"),
    [
        ("set =", "sets =", "3:1: 'sets' is no setting (did you mean 'set'?)"),
        (
            'url = "https://reports-x',
            'ulr = "https://reports-x',
            "12:1: 'ulr' is no setting of service 'reports' (did you mean 'url'?)",
        ),
        (
            "intervals =",
            "interval =",
            "16:1: 'interval' is no setting of an entry (did you mean 'intervals'?)",
        ),
        (
            'location = "us-central1"',
            'loction = "us-central1"',
            (
                "33:1: 'loction' is no setting of [env.staging] "
                "(did you mean 'location'?)"
            ),
        ),
    ],
)
def test_a_misspelt_key_is_told_with_its_place(
    repository: Path, command: str, right: str, misspelt: str, told: str
) -> None:
    file = repository / "cronshift.toml"
    file.write_text(SETTINGS.replace(right, misspelt, 1), encoding="utf-8")
    result = run(command, repository)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{file}:{told}\n" in result.stderr


@pytest.mark.parametrize("command", ["audit", "translate", "prove"])
def test_an_entry_that_is_gone_is_told_with_its_place(
    repository: Path, command: str
) -> None:
    file = repository / "cronshift.toml"
    file.write_text(SETTINGS.replace("job-03", "jobb-03"), encoding="utf-8")
    result = run(command, repository)
    assert result.exit_code == 2
    assert f"{file}:19:1: no entry of cron.yaml has the url '/tasks/jobb-03' " in (
        result.stderr
    )
