"""What an audit finds in code and scripts, and which files it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from migrate import evidence_files, sources
from migrate.audit import examine
from migrate.audit.code import is_code
from migrate.audit.scripts import is_script
from migrate.evidence_files import gather

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHECKS = [
    ("main.py", "if 'X-Appengine-Cron' not in request.headers:"),
    ("main.py", "ok = environ.get('HTTP_X_APPENGINE_CRON') == 'true'"),
    ("main.py", "if request.META['HTTP_X_APPENGINE_CRON']:  # cron"),
    ("cron.go", 'if r.Header.Get("X-Appengine-Cron") != "true" {'),
    ("Cron.java", 'String cron = req.getHeader("X-AppEngine-Cron");'),
    ("Cron.kt", 'call.request.header("X-AppEngine-Cron") ?: return'),
    ("app.js", "if (req.get('x-appengine-cron') !== 'true') return"),
    ("app.ts", "const cron = req.headers['x-appengine-cron'];"),
    ("cron.php", "if (empty($_SERVER['HTTP_X_APPENGINE_CRON'])) {"),
    ("cron.rb", "halt 403 unless env['HTTP_X_APPENGINE_CRON'] == 'true'"),
    ("Cron.cs", 'if (!Request.Headers.ContainsKey("X-Appengine-Cron"))'),
]


@pytest.mark.parametrize(("file", "line"), CHECKS)
def test_a_line_that_checks_the_header_is_told_where_it_stands(
    evidence: Callable[..., Any], file: str, line: str
) -> None:
    text = f"first\n{line}\nlast\n"
    (found,) = examine(evidence(sources={file: text})).findings
    assert found.code == "cron-header-checked"
    assert (found.place.file, found.place.line) == (file, 2)
    assert line[found.place.column - 1 :].lower().startswith("x")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("main.py", "# X-Appengine-Cron is what cron sends\n"),
        ("main.go", "// X-Appengine-Cron is what cron sends\n"),
        ("Main.java", "/**\n * X-Appengine-Cron is what cron sends\n */\n"),
        ("main.py", "get('X-Appengine-Cron-Extra') or get('X-Appengine-Cronology')\n"),
        ("main.py", "get('X-Appengine-Cron') or get('X-CloudScheduler')\n"),
        ("main.py", "get('X-Appengine-Queuename')\n"),
        ("notes.md", "get('X-Appengine-Cron')\n"),
    ],
)
def test_comments_other_headers_and_code_that_is_ready_are_not_told(
    evidence: Callable[..., Any], file: str, text: str
) -> None:
    assert examine(evidence(sources={file: text})).findings == ()


DEPLOYS = [
    ("deploy.sh", "gcloud app deploy cron.yaml\n"),
    ("deploy.sh", "gcloud app deploy config/*.yaml\n"),
    (
        "deploy.sh",
        "gcloud --project p app deploy app.yaml dispatch.yaml ./cron.yml -q\n",
    ),
    ("deploy.sh", "gcloud beta app deploy \\\n  app.yaml \\\n  config/cron.yaml\n"),
    ("Makefile", "deploy:\n\tgcloud app deploy app.yaml cron.yaml --quiet\n"),
    ("package.json", '{"scripts": {"d": "gcloud app deploy app.yaml cron.yaml"}}\n'),
    (
        "cloudbuild.yaml",
        "- name: x\n  args: ['app', 'deploy', 'app.yaml', 'cron.yaml']\n",
    ),
    ("cloudbuild.yaml", "- name: x\n  args:\n  - app\n  - deploy\n  - cron.yaml\n"),
    (".github/workflows/d.yml", "run: |\n  gcloud app deploy app.yaml cron.yaml\n"),
    (".github/workflows/d.yml", "with:\n  deliverables: app.yaml cron.yaml\n"),
    (
        ".github/workflows/d.yml",
        "with:\n  deliverables: |-\n    app.yaml\n    cron.yaml\n",
    ),
    (".gitlab-ci.yml", "script:\n  - gcloud app deploy cron.yaml\n"),
    ("deploy.sh", "appcfg.py -A app update_cron .\n"),
    ("build.gradle", "tasks.getByName('appengineDeployCron')\n"),
    ("deploy.sh", "mvn appengine:deployCron\n"),
]


@pytest.mark.parametrize(("file", "text"), DEPLOYS)
def test_a_command_that_deploys_cron_yaml_is_told_where_it_begins(
    evidence: Callable[..., Any], file: str, text: str
) -> None:
    (found,) = examine(evidence(sources={file: f"\n{text}"})).findings
    assert found.code == "deploys-cron-yaml"
    line = f"\n{text}".splitlines()[found.place.line - 1]
    start = ("app", "deliverables", "deploy")
    assert line[found.place.column - 1 :].lower().startswith(start)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("deploy.sh", "gcloud app deploy app.yaml dispatch.yaml\n"),
        ("deploy.sh", "# gcloud app deploy cron.yaml\n"),
        ("deploy.sh", "gcloud app deploy app.yaml\ncat cron.yaml\n"),
        ("deploy.sh", "gcloud app deploy app.yaml && cat cron.yaml\n"),
        ("deploy.sh", "gcloud app deploy app.yaml  # not cron.yaml\n"),
        ("deploy.sh", "gcloud app deploy app-*.yaml\n"),
        ("deploy.sh", "gcloud app deploy my-cron.yaml.bak\n"),
        (
            "cloudbuild.yaml",
            "- args: ['app', 'deploy', 'app.yaml']\n- args: ['cron.yaml']\n",
        ),
        (
            ".github/workflows/d.yml",
            "with:\n  deliverables: app.yaml\n  x: cron.yaml\n",
        ),
        ("README.md", "gcloud app deploy cron.yaml\n"),
    ],
)
def test_commands_that_deploy_something_else_are_not_told(
    evidence: Callable[..., Any], file: str, text: str
) -> None:
    assert examine(evidence(sources={file: text})).findings == ()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("main.py", True),
        ("app/cron.go", True),
        ("web/app.min.js", False),
        ("tests/test_cron.py", False),
        ("test_cron.py", False),
        ("cron_test.go", False),
        ("src/CronTest.java", False),
        ("src/Contest.java", True),
        ("cron.spec.ts", False),
        ("README.md", False),
    ],
)
def test_code_is_told_from_tests_and_other_files(file: str, *, expected: bool) -> None:
    assert is_code(file) is expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("deploy.sh", True),
        ("bin/release", True),
        ("Makefile", True),
        ("ci/prod-cloudbuild.yaml", True),
        (".github/workflows/x.yml", True),
        (".circleci/config.yml", True),
        ("config/x.yml", False),
        ("cron.yaml", False),
        (".github/README.md", False),
    ],
)
def test_scripts_are_told_by_their_names(file: str, *, expected: bool) -> None:
    assert is_script(file) is expected


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CHECK = "get('X-Appengine-Cron')\n"


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_below_a_folder_code_scripts_and_app_yamls_are_read(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "cron.yaml": "cron:\n- {url: /t/a, schedule: every day 09:00}\n",
            "dispatch.yaml": "dispatch:\n- {url: '*/t/a', service: worker}\n",
            "worker/app.yaml": "runtime: python312\nservice: worker\n",
            "worker/main.py": CHECK,
            ".github/workflows/d.yml": "run: gcloud app deploy cron.yaml\n",
            # and what is passed over
            ".git/hooks/x.py": CHECK,
            "node_modules/x/index.js": CHECK,
            "env1/pyvenv.cfg": "",
            "env1/x.py": CHECK,
            "vendor/x.go": CHECK,
            "tests/test_main.py": CHECK,
            "large.py": CHECK + "#" * 600_000,
            "binary.py": b"\xff\xfe X-Appengine-Cron",
            "other.py": "print('hello')\n",
        },
    )
    evidence = gather(sources.read([tmp_path]), NOW, ["worker"], "demo")
    assert [app.service for app in evidence.apps] == ["worker"]
    assert evidence.services == {"worker"}
    assert set(evidence.texts) == {
        str(tmp_path / name) for name in ("cron.yaml", "dispatch.yaml")
    }
    told = {
        (f.code, f.place.file.removeprefix(f"{tmp_path}/"))
        for f in examine(evidence).findings
        if f.code in {"cron-header-checked", "deploys-cron-yaml"}
    }
    assert told == {
        ("cron-header-checked", "worker/main.py"),
        ("cron-header-checked", "binary.py"),
        ("deploys-cron-yaml", ".github/workflows/d.yml"),
    }


def test_of_a_file_alone_nothing_around_it_is_read(tmp_path: Path) -> None:
    cron = "cron:\n- {url: /t/a, schedule: every day 09:00}\n"
    put(tmp_path, {"cron.yaml": cron, "main.py": CHECK})
    evidence = gather(sources.read([tmp_path / "cron.yaml"]), NOW, [], None)
    assert (evidence.sources, evidence.apps) == ((), ())


def test_a_folder_that_lies_among_tests_is_read_all_the_same(tmp_path: Path) -> None:
    app = tmp_path / "tests/app"
    cron = "cron:\n- {url: /t/a, schedule: every day 09:00}\n"
    put(app, {"cron.yaml": cron, "main.py": CHECK})
    report = examine(gather(sources.read([app]), NOW, [], None))
    assert "cron-header-checked" in {f.code for f in report.findings}


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    cron = "cron:\n- {url: /t/a, schedule: every day 09:00}\n"
    put(tmp_path, {"cron.yaml": cron})
    (tmp_path / "main.py").symlink_to(tmp_path / "gone.py")
    files = sources.read([tmp_path])
    (tmp_path / "cron.yaml").unlink()
    evidence = gather(files, NOW, [], None)
    assert evidence.sources == ()
    assert evidence.texts == {str(tmp_path / "cron.yaml"): ""}


def test_of_a_huge_folder_no_more_than_a_number_of_files_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_files, "_MAX_FILES", 3)
    cron = "cron:\n- {url: /t/a, schedule: every day 09:00}\n"
    put(tmp_path, {"cron.yaml": cron} | {f"m{n}.py": CHECK for n in range(5)})
    assert len(gather(sources.read([tmp_path]), NOW, [], None).sources) == 2
