"""The pages say what is so: commands, codes, settings, examples and links."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner

from cronspec import retry
from migrate.cli import cli
from migrate.notes import CODES
from migrate.settings_file import load_settings
from migrate.settings_schema import ENTRY, SERVICE, TOP

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def of_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "script" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCS_SCRIPT = of_script("docs")
PAGES = sorted(
    {ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"}
    | set(DOCS.rglob("*.md"))
)


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CLOUDSDK_CORE_PROJECT", raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- Generated ----------------------------------------------------------------------


def test_the_command_line_s_page_is_what_the_commands_say() -> None:
    assert page("cli.md") == DOCS_SCRIPT.page(), "run script/docs"


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_example_prints_what_its_page_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == DOCS_SCRIPT.refreshed(text), "run script/docs"


def test_an_example_that_is_no_longer_true_is_found() -> None:
    stale = "```console\n$ cronshift --help\nUsage: something else\n```\n"
    assert "Usage: cronshift [OPTIONS]" in DOCS_SCRIPT.refreshed(stale)
    left = f"<!-- illustrative -->\n{stale}"
    assert DOCS_SCRIPT.refreshed(left) == left
    pipe = "```console\n$ cronshift next . | head -1\nsomething\n$ ls\nx\n```\n"
    assert DOCS_SCRIPT.refreshed(pipe) == pipe


# --- Links --------------------------------------------------------------------------

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(path: Path) -> set[str]:
    """Give the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for file, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), file
        assert not anchor or anchor in anchors(found), f"{file}#{anchor}"


def test_the_readme_leads_to_every_page() -> None:
    linked = {
        (ROOT / file).resolve()
        for file, _ in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    }
    from_cli = {DOCS / "json.md"}  # the command line's page leads on to it
    assert set(DOCS.glob("*.md")) - linked - from_cli == set()


# --- Tables -------------------------------------------------------------------------


def rows(text: str, header: str) -> list[list[str]]:
    """Give the cells of the table below a header line."""
    lines = text[text.index(f"\n{header}\n") + 1 :].splitlines()[2:]
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def test_every_note_is_listed_with_its_level_and_reason() -> None:
    listed = rows(page("translation.md"), "| code | level | reason |")
    assert listed == [
        [f"`{code}`", str(known.level), known.reason] for code, known in CODES.items()
    ]


def test_the_waits_are_those_of_the_formula() -> None:
    header = (
        "| `min_backoff_seconds` | `max_backoff_seconds` | `max_doublings` | "
        "waits, in seconds |"
    )
    table = rows(page("translation.md"), header)
    assert len(table) == 5
    for least, most, doublings, waits in table:
        params = retry.RetryParameters(
            job_retry_limit=5,
            min_backoff_seconds=float(least),
            max_backoff_seconds=float(most),
            max_doublings=int(doublings),
        )
        shown = [float(wait) for wait in waits.split(",")]
        found = [
            wait.total_seconds()
            for wait, _ in zip(retry.waits(params), shown, strict=False)
        ]
        assert found == shown


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("For all entries", TOP.keys() - {"services", "entries"}),
        ("`[services.NAME]`", SERVICE.keys()),
        ("`[[entries]]`", ENTRY.keys()),
    ],
    ids=["all", "services", "entries"],
)
def test_every_setting_is_documented(heading: str, keys: set[str]) -> None:
    section = page("settings.md").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line.split("|")[1] for line in section.splitlines() if line[:3] == "| `"]
    assert set(re.findall(r"`([^`]+)`", " ".join(table))) == keys


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_toml_on_a_page_is_settings_that_can_be_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        assert load_settings(block, str(path), None)[1] == ()


def test_the_examples_settings_are_those_on_their_pages() -> None:
    for name in ("environments", "cloud-run"):
        settings = (DOCS / f"examples/{name}/cronshift.toml").read_text("utf-8")
        (shown,) = re.findall(
            r"^```toml\n(.*?)^```", page(f"howto-{name}.md"), re.MULTILINE | re.DOTALL
        )
        assert shown in settings


# --- JSON ---------------------------------------------------------------------------


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Give the path of every key in a document; a job is Google's to describe."""
    match value:
        case dict():
            for key, inner in value.items():
                here = f"{path}.{key}" if path else key
                yield here
                if key != "job":
                    yield from paths(inner, here)
        case list():
            for inner in value:
                yield from paths(inner, f"{path}[]")


AS_ELSEWHERE = {
    "entries[].entry.": "jobs[].entry.",
    "entries[].verdict.": "jobs[].verdict.",
    "entries[].notes[].": "jobs[].notes[].",
    "clashes[].entries[].": "jobs[].entry.",
    "ignored[].": "findings[].",
}


def documented(path: str, section: set[str], everywhere: set[str]) -> bool:
    """Tell whether a key is described in its section, or where that points to."""
    if path in section:
        return True
    return any(
        path.startswith(here) and path.replace(here, there, 1) in everywhere
        for here, there in AS_ELSEWHERE.items()
    )


@pytest.mark.parametrize(
    "command",
    [
        "translate .",
        "translate . --intervals clock --schedules unix",
        "translate docs/examples/cloud-run",
        "translate docs/examples/misspelt",
        "prove .",
        "prove docs/examples/cloud-run",
        "next . --from 2026-11-30 --count 3",
        (
            "next docs/examples/misspelt docs/examples/ci docs/examples/cloud-run "
            "--from 2026-11-30 --dispatch none"
        ),
        "audit .",
        "audit . --ignore no-retries",
        "explain 'every day 09:00'",
        "explain 'every 5 minutes'",
    ],
)
def test_every_key_of_the_json_is_documented(command: str) -> None:
    sections = re.split(r"^## ", page("json.md"), flags=re.MULTILINE)
    tables = {
        section.partition("\n")[0].strip("`"): set(re.findall(r"`([^`]+)`", section))
        for section in sections
    }
    arguments = DOCS_SCRIPT.shlex.split(command)
    result = CliRunner().invoke(cli, [*arguments, "--format", "json"])
    found = set(paths(json.loads(result.stdout)))
    assert found
    own = tables[arguments[0]] | set(re.findall(r"`([^`]+)`", sections[0]))
    everywhere = set().union(*tables.values())
    assert {path for path in found if not documented(path, own, everywhere)} == set()


# --- Files to copy --------------------------------------------------------------------


def test_the_workflow_to_copy_runs_commands_that_exist() -> None:
    workflow = yaml.safe_load((DOCS / "examples/cronshift.yml").read_text("utf-8"))
    steps = workflow["jobs"]["audit"]["steps"]
    lines = [step["run"] for step in steps if "run" in step]
    ours = [line for line in lines if line.startswith("cronshift ")]
    assert len(ours) == 3
    for line in ours:
        arguments = DOCS_SCRIPT.shlex.split(line.partition(">")[0])[1:]
        arguments[1] = "docs/examples/environments"
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == 0, result.output


def test_the_pre_commit_hooks_run_commands_that_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [hook["id"] for hook in hooks] == ["cronshift-audit", "cronshift-prove"]
    for hook in hooks:
        command, name = hook["entry"].split()
        assert command == "cronshift"
        result = CliRunner().invoke(cli, [name, *hook["args"]])
        assert result.exit_code in {0, 1}, result.output
        for file in ("cron.yaml", "services/shop/dispatch.yml", "cronshift.toml"):
            assert re.search(hook["files"], file)
        assert not re.search(hook["files"], "mycron.yaml.txt")
