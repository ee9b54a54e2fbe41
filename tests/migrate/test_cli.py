"""The command line as its users meet it: output, exit codes, odd terminals."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cronspec.zones import TZDATA_VERSION
from migrate.cli import cli

ROOT = Path(__file__).parents[2]
CRON = """\
cron:
- url: /a
  schedule: every day 09:00
- url: /b
  schedule: every 5 minutes
  target: worker
"""
HTTP = ["--http", "worker=https://w.run.app"]
ACCOUNT = ["--oidc-service-account-email", "cron@demo.iam.gserviceaccount.com"]
HOME = ["--project", "demo", "--location", "europe-west1"]
TRANSLATE_FORMS = ["text", "json", "gcloud", "terraform", "krm"]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLOUDSDK_CORE_PROJECT", raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    made = tmp_path / "an app with a rather long name ÷ è, which no line may break"
    made.mkdir()
    (made / "cron.yaml").write_text(CRON, encoding="utf-8")
    return made


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write(app: Path, name: str, text: str) -> None:
    (app / name).write_text(text, encoding="utf-8")


def document(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--format", "json").stdout)


# --- Exit codes ---------------------------------------------------------------------


@pytest.mark.parametrize("form", TRANSLATE_FORMS)
def test_translate_is_done(app: Path, form: str) -> None:
    result = run("translate", app, *HOME, "--format", form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "/a" in result.stdout


@pytest.mark.parametrize("form", TRANSLATE_FORMS)
def test_translate_says_no_to_a_loss_that_is_not_accepted(app: Path, form: str) -> None:
    clock = ["--intervals", "clock"]
    refused = run("translate", app, *HOME, *clock, "--format", form)
    assert refused.exit_code == 1
    accepted = run(
        "translate", app, *HOME, *clock, "--format", form,
        "--accept", "interval-to-clock",
    )  # fmt: skip
    assert accepted.exit_code == 0
    if form not in {"text", "json"}:
        assert refused.stdout == ""
        assert "/b: loss interval-to-clock" in refused.stderr
        assert "(--accept interval-to-clock)" in refused.stderr


def test_a_block_cannot_be_accepted(app: Path) -> None:
    result = run("translate", app, "--schedules", "unix")
    assert result.exit_code == 1
    assert "block no-unix-twin" in result.stdout
    assert "settled by: --intervals clock" in result.stdout


@pytest.mark.parametrize("form", ["gcloud", "terraform", "krm"])
@pytest.mark.parametrize("home", [[], HOME[:2], HOME[2:]])
def test_what_will_be_executed_wants_project_and_location(
    app: Path, form: str, home: list[str]
) -> None:
    result = run("translate", app, *home, "--format", form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--project and --location" in result.stderr


def test_offline_names_hold_placeholders(app: Path) -> None:
    (first, _) = document("translate", app)["jobs"]
    assert first["job"]["name"].startswith("projects/PROJECT/locations/LOCATION/jobs/")
    assert "give --project and --location" in run("translate", app).stdout


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", ["translate", "prove", "next"])
def test_faults_in_a_file_end_every_command_with_2(
    app: Path, command: str, form: str
) -> None:
    write(app, "cron.yaml", "cron:\n- url: a\n  schedule: every 1 hour\n")
    result = run(command, app, "--format", form)
    assert result.exit_code == 2
    told = result.stderr.splitlines()
    assert told[0].startswith(f"{app}/cron.yaml:2:8: ")
    assert told[1].startswith(f"{app}/cron.yaml:3:21: ")
    assert told[2] == "cronshift: 2 faults"
    if form == "text":
        assert result.stdout == ""
        return
    found = json.loads(result.stdout)
    assert [(one["line"], one["column"]) for one in found["faults"]] == [
        (2, 8),
        (3, 21),
    ]
    shape = {"translate": "jobs", "prove": "entries", "next": "entries"}[command]
    assert found[shape] == []


@pytest.mark.parametrize("command", ["audit", "translate", "prove", "next"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_faults_in_the_settings_end_every_command_with_2(
    app: Path, command: str, form: str
) -> None:
    write(app, "cronshift.toml", 'project = "demo"\nshedules = "groc"\n')
    result = run(command, app, "--format", form)
    assert result.exit_code == 2
    place = f"{app}/cronshift.toml:2:1: 'shedules' is no setting"
    assert f"{place} (did you mean 'schedules'?)" in result.stderr
    if form == "json":
        assert json.loads(result.stdout)["faults"][0]["line"] == 2


@pytest.mark.parametrize("command", ["audit", "translate", "prove", "next"])
def test_what_cannot_be_read_ends_every_command_with_2(app: Path, command: str) -> None:
    result = run(command, app / "gone.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"cronshift: {app}/gone.yaml: no such file or folder\n"


@pytest.mark.parametrize("command", ["audit", "translate", "prove", "next"])
@pytest.mark.parametrize("wrong", [["--nonsense"], ["--format", "yaml"], []])
def test_bad_usage_ends_every_command_with_2(command: str, wrong: list[str]) -> None:
    assert run(command, *wrong, *(["."] if wrong else [])).exit_code == 2


def test_prove_says_no_where_something_differs(app: Path) -> None:
    assert run("prove", app).exit_code == 0
    changed = run("prove", app, "--intervals", "clock")
    assert changed.exit_code == 1
    assert changed.stdout.splitlines()[-1] == (
        "1 of 2 entries do what they do today; 1 do not"
    )


def test_next_is_done(app: Path) -> None:
    since = ["--from", "2026-03-01", "--count", "2"]
    found = document("next", app, *since)["entries"]
    assert [tick["utc"] for tick in found[0]["ticks"]] == [
        "2026-03-01T09:00:00+00:00",
        "2026-03-02T09:00:00+00:00",
    ]
    assert found[1]["ticks"] == []
    assert found[1]["why_none"]
    assert run("next", app, *since, "--until", "2026-03-01").exit_code == 0


def test_a_file_that_deletes_all_is_done_and_remarked(app: Path) -> None:
    write(app, "cron.yaml", "cron:\n")
    for command in ("translate", "prove", "next"):
        result = run(command, app)
        assert result.exit_code == 0
        assert "it deletes all cron jobs" in result.stderr


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_an_audit_says_no_to_errors_in_every_form(app: Path, form: str) -> None:
    write(app, "dispatch.yaml", "dispatch:\n- url: '*/b'\n  service: api\n")
    for fail_on, code in (("error", 1), ("never", 0)):
        result = run("audit", app, "--format", form, "--fail-on", fail_on)
        assert result.exit_code == code
        assert "route-conflict" in result.stdout


def test_faults_are_findings_of_an_audit(app: Path) -> None:
    write(app, "cron.yaml", "cron:\n- url: a\n  schedule: every 1 hour\n")
    result = run("audit", app)
    assert result.exit_code == 1
    assert f"{app}/cron.yaml:2:8: error bad-url" in result.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 25 1 1 1", "hour: '25' is not in 0-23"),
        ("0 9 1 1", "expected five fields"),
        ("* *", "expected five fields"),
        ("@daily", "write the five fields"),
        ("1,15 of month", "a time of day is missing"),
        ("5", "expected 'of'"),
    ],
)
def test_explain_tells_the_fault_of_the_likelier_language(text: str, told: str) -> None:
    result = run("explain", text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_explain_is_done_or_could_not() -> None:
    explained = document("explain", "every day 09:00", "--time-zone", "Europe/Rome")
    assert explained["twin"] == ["0 9 * * *"]
    assert run("explain", "0 9 * * 1").exit_code == 0
    for wrong in (["every hour"], ["every day 09:00", "--time-zone", "Mars/Phobos"]):
        result = run("explain", *wrong)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("cronshift: ")


def test_import_blocks_go_with_terraform_alone(app: Path) -> None:
    blocks = ["--import-blocks", "--format", "terraform"]
    assert "\nimport {" in run("translate", app, *HOME, *blocks).stdout
    result = run("translate", app, *HOME, "--import-blocks")
    assert result.exit_code == 2
    assert "--import-blocks goes with --format terraform" in result.stderr


# --- Settings and options -----------------------------------------------------------


def test_http_targets_want_a_service_account(app: Path) -> None:
    result = run("translate", app, *HTTP)
    assert result.exit_code == 2
    assert "[SERVICE=]EMAIL for worker" in result.stderr
    assert run("translate", app, *HTTP, *ACCOUNT).exit_code == 0


def test_a_service_that_nothing_reaches_is_remarked(app: Path) -> None:
    result = run("translate", app, "--http", "woker=https://w", *ACCOUNT)
    assert result.exit_code == 0
    assert "no entry reaches the service 'woker' (did you mean 'worker'?)" in (
        result.stderr
    )


@pytest.mark.parametrize(
    ("scaling", "deadline", "code"),
    [
        ("", "600s", 0),
        ("automatic_scaling: {}\n", "600s", 0),
        ("basic_scaling: {}\n", "1800s", 1),
        ("manual_scaling: {}\n", "1800s", 1),
        ("env: flex\n", "1800s", 1),
    ],
)
def test_an_http_target_s_deadline_is_the_service_s_limit_today(
    app: Path, scaling: str, deadline: str, code: int
) -> None:
    write(app, "worker.yaml", f"runtime: python313\nservice: worker\n{scaling}")
    result = run("translate", app, *HTTP, *ACCOUNT, "--format", "json")
    assert result.exit_code == code
    job = json.loads(result.stdout)["jobs"][1]
    assert job["job"]["attemptDeadline"] == deadline
    assert ("deadline-cut" in {note["code"] for note in job["notes"]}) is bool(code)


def test_of_two_app_yamls_for_a_service_the_longer_limit_counts(app: Path) -> None:
    write(app, "a.yaml", "runtime: python313\nservice: worker\nbasic_scaling: {}\n")
    write(app, "b.yaml", "runtime: python313\nservice: worker\n")
    assert run("translate", app, *HTTP, *ACCOUNT).exit_code == 1


@pytest.mark.parametrize("form", TRANSLATE_FORMS)
def test_an_old_location_id_is_renamed_with_a_note(app: Path, form: str) -> None:
    old = ["--project", "demo", "--location", "us-central", "--format", form]
    result = run("translate", app, *old)
    assert result.exit_code == 0
    assert "us-central1" in result.stdout
    assert "us-central is called us-central1" in result.stdout + result.stderr


def test_an_environment_without_settings_is_told(app: Path) -> None:
    result = run("translate", app, "--env", "qa")
    assert result.exit_code == 2
    assert "--env qa needs a cronshift.toml beside cron.yaml" in result.stderr


# --- Odd terminals ------------------------------------------------------------------


def command(
    *arguments: object, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "migrate", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )


def test_a_terminal_without_unicode_gets_what_it_can_show(app: Path) -> None:
    (app / "cron.yaml").rename(app / "cron-\N{SNOWMAN}.yaml")
    file = app / "cron-\N{SNOWMAN}.yaml"
    result = command("translate", file, PYTHONIOENCODING="latin-1")
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.decode("latin-1")
    assert f"{app}/cron-\\u2603.yaml:2" in shown
    assert "every day 09:00 -> 0 9 * * *" in shown


def test_json_is_utf_8_whatever_the_terminal(app: Path) -> None:
    result = command("translate", app, "--format", "json", PYTHONIOENCODING="latin-1")
    assert result.returncode == 0
    assert json.loads(result.stdout.decode())["jobs"][0]["entry"]["file"] == (
        f"{app}/cron.yaml"
    )


def test_a_file_s_name_may_hold_bytes_that_are_no_text(app: Path) -> None:
    odd = os.fsencode(app) + b"/cron-\xff.yaml"
    Path(os.fsdecode(odd)).write_text(CRON, encoding="utf-8")
    arguments = [sys.executable, "-m", "migrate", "translate", odd]
    for form in (b"text", b"json"):
        result = subprocess.run(
            [*arguments, b"--format", form], cwd=ROOT, capture_output=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, b"")
        assert b"cron-\\udcff.yaml" in result.stdout


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_who_has_read_enough_is_no_failure(app: Path, form: str) -> None:
    many = "".join(f"- url: /{n}\n  schedule: every 1 minutes\n" for n in range(3000))
    write(app, "cron.yaml", f"cron:\n{many}")
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate", "next", str(app), "--format", form],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Run the command with its output on a narrow terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate", *arguments],
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "40"} | environment,
        stdout=theirs,
    )
    os.close(theirs)
    read = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not chunk:
            break
        read += chunk
    os.close(ours)
    process.wait()
    return read.decode()


def test_colours_are_for_terminals_only(app: Path) -> None:
    assert "\x1b[3" in on_a_terminal("translate", str(app))
    assert "\x1b[3" not in on_a_terminal("translate", str(app), NO_COLOR="1")
    assert b"\x1b" not in command("translate", app).stdout


def test_a_path_is_never_broken_over_lines(app: Path) -> None:
    shown = on_a_terminal("translate", str(app), NO_COLOR="1")
    assert f"{app}/cron.yaml:2" in shown


# --- Version and completion ---------------------------------------------------------


def test_the_version_names_all_that_results_depend_on() -> None:
    result = run("--version")
    assert result.exit_code == 0
    python = ".".join(map(str, sys.version_info[:3]))
    assert result.stdout.startswith("cronshift ")
    assert f"tzdata {TZDATA_VERSION}, Python {python}" in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_s_completion_calls_the_command(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_CRONSHIFT_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("cronshift tr", {"translate"}),
        ("cronshift translate --sche", {"--schedules"}),
        ("cronshift translate --schedules ", {"auto", "groc", "unix"}),
        ("cronshift audit --fail-on w", {"warning"}),
    ],
)
def test_commands_options_and_values_are_completed(
    words: str, wanted: set[str]
) -> None:
    result = command(
        _CRONSHIFT_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    assert {line.split(b",")[1].decode() for line in result.stdout.split()} == wanted
