"""A wrong setting stops the service with a way out; none opens a door."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from handlers import Settings, SettingsError, Tasks, create_app
from handlers.request import Mode
from handlers.settings import StoreDown
from tests.handlers.support import APP_ENGINE, ROOT, utc, without

STANDARD = without(APP_ENGINE, "CRON_ALLOW_LOCAL_STORE", "CRON_DEADLINE_SECONDS")
FIRESTORE = {"CRON_STORE": "firestore://shop/runs"}
NOW = utc("2026-11-30T08:00:00")
CRON = "cron:\n- {url: /a, schedule: every day 09:00}\n"


def test_the_defaults_are_those_of_the_documentation() -> None:
    settings = Settings.from_environ({})
    assert settings.store == "sqlite:///runs.db"
    assert settings.cron_yaml == Path("cron.yaml")
    assert settings.door.mode is Mode.BOTH
    assert settings.door.origins == {"0.1.0.2"}
    assert settings.lease == 30
    assert settings.busy_wait == 30
    assert settings.deadline is None
    assert settings.store_down is StoreDown.RETRY
    assert settings.scope == "local"
    assert settings.service == "default"
    assert settings.threads == 8


def test_settings_are_read() -> None:
    settings = Settings.from_environ(
        {
            **STANDARD,
            "CRON_STORE": "firestore://shop/runs?database=cron",
            "CRON_YAML": "conf/cron.yaml",
            "CRON_MODE": "legacy",
            "CRON_LEASE_SECONDS": "12.5",
            "CRON_DEADLINE_SECONDS": "86400",
            "CRON_STORE_DOWN": "refuse",
            "CRON_SCOPE": "shop/europe-west1",
            "CRON_OLD_ORIGIN": "1",
            "CRON_THREADS": "4",
            "GAE_SERVICE": "worker",
        }
    )
    assert settings.cron_yaml == Path("conf/cron.yaml")
    assert settings.door.mode is Mode.LEGACY
    assert settings.door.origins == {"0.1.0.1", "0.1.0.2"}
    assert settings.lease == 12.5
    assert settings.busy_wait == 12.5  # one lease
    assert settings.deadline == timedelta(days=1)
    assert settings.store_down is StoreDown.REFUSE
    assert settings.scope == "shop/europe-west1"
    assert settings.service == "worker"
    assert settings.threads == 4


def test_without_a_scope_it_is_the_project() -> None:
    assert Settings.from_environ({**STANDARD, **FIRESTORE}).scope == "shop"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"CRON_MODE": "none"}, "say one of legacy, scheduler, both"),
        ({"CRON_MODE": ""}, "say one of"),
        ({"CRON_MODES": "legacy"}, "did you mean CRON_MODE?"),
        ({"CRON_OIDC_EMAIL": "a@b"}, "did you mean CRON_OIDC_EMAILS?"),
        ({"CRON_LEASE_SECONDS": "0"}, "at least 1"),
        ({"CRON_LEASE_SECONDS": "30s"}, "say a number"),
        ({"CRON_LEASE_SECONDS": "nan"}, "say a number"),
        ({"CRON_BUSY_WAIT": "-1"}, "say a number"),
        ({"CRON_DEADLINE_SECONDS": "soon"}, "say a number"),
        ({"CRON_STORE_DOWN": "maybe"}, "retry, refuse"),
        ({"CRON_STORE": "mysql://x"}, "sqlite:///FILE"),
        ({"CRON_STORE": ""}, "is empty"),
        ({"CRON_YAML": " "}, "is empty"),
        ({"CRON_SCOPE": ""}, "is empty"),
        ({"CRON_LOCAL": "yes"}, "say 1"),
        ({"CRON_LOCAL": "1", "GAE_ENV": "standard", **FIRESTORE}, "let others in"),
        ({"CRON_LOCAL": "1", "K_SERVICE": "x"}, "let others in"),
        ({"CRON_LOCAL": "1", "K_REVISION": "x"}, "K_REVISION says"),
        ({"CRON_LOCAL": "1", "FUNCTION_TARGET": "x"}, "FUNCTION_TARGET says"),
        (
            {"CRON_LOCAL": "1", "GAE_ENV": "localdev", "K_SERVICE": "x"},
            "K_SERVICE says",
        ),
        ({"CRON_LOCAL": "1", "GAE_SERVICE": "x"}, "GAE_SERVICE says"),
        ({"CRON_LOCAL": "1", "GAE_INSTANCE": "x"}, "GAE_INSTANCE says"),
        ({"CRON_FLEXIBLE": "1"}, "GAE_SERVICE and GAE_INSTANCE"),
        ({"CRON_OIDC_AUDIENCE": "https://x"}, "go together"),
        ({"CRON_OIDC_EMAILS": "a@b"}, "go together"),
        (
            {"CRON_OIDC_EMAILS": "undefined", "CRON_OIDC_AUDIENCE": "https://x"},
            "no e-mail",
        ),
        ({"CRON_OIDC_CERTS_URL": "http://evil.example/certs"}, "say https"),
        (
            {"CRON_OIDC_CERTS_URL": "http://localhost:1/", "K_SERVICE": "x"},
            "say https",
        ),
        ({"GAE_ENV": "standard"}, "CRON_ALLOW_LOCAL_STORE=1"),
    ],
)
def test_a_wrong_setting_stops_the_service_and_says_what_to_do(
    variables: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environ(variables)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"GAE_ENV": "localdev", "GAE_SERVICE": "default"},  # the development server
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},  # CI, or a developer's pod
    ],
)
def test_local_mode_may_be_switched_on_where_people_develop(
    variables: dict[str, str],
) -> None:
    assert Settings.from_environ({"CRON_LOCAL": "1", **variables}).door.local


def test_all_faults_are_told_at_once() -> None:
    wrong = {"CRON_MODE": "x", "CRON_LEASE_SECONDS": "x", "CRON_STORE": "x"}
    with pytest.raises(SettingsError) as caught:
        Settings.from_environ(wrong)
    assert len(caught.value.faults) == 3


def test_a_password_in_a_wrong_store_url_is_not_told() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environ({"CRON_STORE": "mysql://user:secret@host/x"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "warning"),
    [
        ({}, "nobody can come in"),
        ({"K_SERVICE": "x"}, "a file keeps nobody from running twice"),
        (
            {"GAE_SERVICE": "a", "GAE_INSTANCE": "b", "CRON_FLEXIBLE": "1"},
            "whoever reaches its port directly comes in",
        ),
        (
            {"GAE_SERVICE": "a", "GAE_INSTANCE": "b", "CRON_FLEXIBLE": "1"},
            "a file keeps nobody from running twice",
        ),
        ({"CRON_OIDC_IAM": "1"}, "has no effect"),
        ({"CRON_SECRET": "x"}, "CRON_SECRET is no setting"),
        (
            {
                **STANDARD,
                **FIRESTORE,
                "CRON_OIDC_AUDIENCE": "https://x",
                "CRON_OIDC_EMAILS": "a@b",
            },
            "CRON_SCOPE is not set",
        ),
    ],
)
def test_what_costs_something_is_told(variables: dict[str, str], warning: str) -> None:
    told = Settings.from_environ(variables).warnings
    assert any(warning in line for line in told)


# --- Start-up ------------------------------------------------------------


def start(folder: Path, cron: str | None = CRON, **variables: str) -> None:
    if cron is not None:
        (folder / "cron.yaml").write_text(cron)
    store = f"sqlite:///{folder / 'runs.db'}"
    environ = {
        "CRON_YAML": str(folder / "cron.yaml"),
        "CRON_STORE": store,
        "CRON_DEADLINE_SECONDS": "600",
        **variables,
    }
    tasks = Tasks()
    tasks.task("/a")(lambda _: None)
    create_app(Settings.from_environ(environ), tasks)


def test_a_missing_cron_yaml_stops_the_service(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="name the file that lists the jobs"):
        start(tmp_path, None)


def test_faults_of_the_files_stop_the_service_with_their_places(
    tmp_path: Path,
) -> None:
    two = "cron:\n- {url: a, schedule: every day 09:00}\n- {url: /b, schedule: daily}\n"
    with pytest.raises(SettingsError) as caught:
        start(tmp_path, two)
    assert len(caught.value.faults) == 2
    assert "cron.yaml:2:" in str(caught.value)
    assert "cron.yaml:3:" in str(caught.value)


def test_faults_of_dispatch_yaml_stop_the_service(tmp_path: Path) -> None:
    (tmp_path / "dispatch.yaml").write_text("dispatch:\n- {url: '*', service: x}\n")
    with pytest.raises(SettingsError, match=r"dispatch\.yaml:2:"):
        start(tmp_path)


@pytest.mark.parametrize(
    ("app_yaml", "seconds"),
    [
        ("runtime: python313\n", 600),
        ("runtime: python313\nautomatic_scaling: {max_instances: 1}\n", 600),
        ("runtime: python313\nbasic_scaling: {max_instances: 1}\n", 86_400),
        ("runtime: python313\nmanual_scaling: {instances: 1}\n", 86_400),
        ("runtime: python\nenv: flex\n", 3_600),
    ],
)
def test_the_deadline_is_that_of_the_scaling_in_app_yaml(
    tmp_path: Path, app_yaml: str, seconds: int
) -> None:
    (tmp_path / "app.yaml").write_text(app_yaml)
    (tmp_path / "cron.yaml").write_text(CRON)
    deadlines = []
    tasks = Tasks()
    tasks.task("/a")(lambda run: deadlines.append(run.deadline))
    environ = {
        **APP_ENGINE,
        "CRON_YAML": str(tmp_path / "cron.yaml"),
        "CRON_STORE": f"sqlite:///{tmp_path / 'runs.db'}",
    }
    del environ["CRON_DEADLINE_SECONDS"]
    app = create_app(Settings.from_environ(environ), tasks, lambda: NOW)
    headers = {"X-Appengine-Cron": "true", "X-Appengine-User-IP": "0.1.0.2"}
    assert app.test_client().get("/a", headers=headers).status_code == 200
    assert deadlines == [NOW + timedelta(seconds=seconds)]


def test_faults_of_app_yaml_stop_the_service(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("runtime: [python313\n")
    (tmp_path / "cron.yaml").write_text(CRON)
    environ = {
        "CRON_YAML": str(tmp_path / "cron.yaml"),
        "CRON_STORE": f"sqlite:///{tmp_path / 'runs.db'}",
    }
    with pytest.raises(SettingsError, match=r"app\.yaml"):
        create_app(Settings.from_environ(environ), Tasks())


@pytest.mark.parametrize("name", ["jobs.yaml", "dispatch.yaml"])
def test_a_file_beside_that_cannot_be_read_stops_the_service(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(SettingsError, match=name):
        start(tmp_path)


def test_an_unknown_deadline_stops_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cron.yaml").write_text(CRON)
    environ = {"CRON_STORE": f"sqlite:///{tmp_path / 'runs.db'}"}
    with pytest.raises(SettingsError, match="set CRON_DEADLINE_SECONDS"):
        create_app(Settings.from_environ(environ), Tasks())


def test_a_store_that_can_never_serve_stops_the_service(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="folder must exist"):
        start(tmp_path, CRON_STORE=f"sqlite:///{tmp_path}/missing/runs.db")


def test_a_store_that_does_not_answer_yet_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start(tmp_path, CRON_STORE="redis://127.0.0.1:1/0")
    assert "the store does not answer at start-up" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cron", "told"),
    [
        ("cron:\n- {url: /b, schedule: every day 09:00}\n", "no task has this url"),
        ("cron:\n", "the task /a has no entry"),
        (
            "cron:\n- {url: /a, schedule: every 5 minutes synchronized}\n",
            "two runs may overlap",
        ),
        (
            "cron:\n- {url: /healthz, schedule: every 5 minutes synchronized}\n",
            "the host itself answers this url",
        ),
    ],
)
def test_start_up_tells_what_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cron: str, told: str
) -> None:
    start(tmp_path, cron)
    assert told in capsys.readouterr().out


def test_start_up_tells_nothing_where_all_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start(tmp_path, GAE_ENV="standard", CRON_ALLOW_LOCAL_STORE="1")
    assert capsys.readouterr().out == ""


STOPPED = """
import os, signal, sys
from handlers import Tasks, create_app
if sys.argv[1] == "ignored":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
app = create_app(tasks=Tasks())
os.kill(os.getpid(), signal.SIGTERM)
print("goes on")
"""


@pytest.mark.parametrize(("before", "code"), [("default", -15), ("ignored", 0)])
def test_a_service_told_to_stop_ends_as_it_would_have_without_us(
    tmp_path: Path, before: str, code: int
) -> None:
    (tmp_path / "cron.yaml").write_text(CRON)
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CRON_DEADLINE_SECONDS": "60",
        "CRON_STORE": f"sqlite:///{tmp_path / 'runs.db'}",
    }
    command = [sys.executable, "-c", STOPPED, before]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, check=False
    )
    assert done.returncode == code
    assert (b"goes on" in done.stdout) == (code == 0)


def test_an_app_made_in_a_thread_leaves_signals_alone(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(start, tmp_path).result()
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_entry_of_another_service_needs_no_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = CRON + "- {url: /b, schedule: every day 09:00, target: worker}\n"
    start(tmp_path, other, GAE_ENV="standard", CRON_ALLOW_LOCAL_STORE="1")
    assert capsys.readouterr().out == ""


def test_an_entry_in_both_lists_counts_once_and_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jobs.yaml").write_text(CRON)
    start(tmp_path)
    assert "stands in" in capsys.readouterr().out
