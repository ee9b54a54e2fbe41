"""The rooms of the house: who imports whom, and which files alone touch the world."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
ROOMS = ("cronspec", "handlers", "migrate", "emulator")
MAY_IMPORT = {
    "cronspec": {"cronspec"},
    "handlers": {"handlers", "cronspec"},
    "migrate": {"migrate", "cronspec"},
    "emulator": {"emulator", "cronspec"},
}
# What each edge file may touch of the world; any other file touches nothing.
EDGES: dict[str, set[str]] = {
    "main.py": {"stdout"},
    "cronspec/zones.py": {"files"},  # the zones of the pinned tzdata package
    "emulator/__main__.py": {"environment", "sqlite3", "stdout"},
    "emulator/clock.py": {"clock"},
    "emulator/server.py": {"network"},
    "emulator/store.py": {"sqlite3"},
    "handlers/attempt.py": {"clock"},  # the lease's renewal
    "handlers/claims.py": {"clock"},  # a wait for another's lease
    "handlers/delivery.py": {"clock"},  # how long an answer took
    "handlers/firestore.py": {"google"},
    "handlers/log.py": {"clock", "stdout"},
    "handlers/oidc.py": {"clock", "google", "network"},
    "handlers/once.py": {"clock"},
    "handlers/proxy.py": {"google", "network"},
    "handlers/redis.py": {"redis"},
    "handlers/sqlite.py": {"clock", "sqlite3"},
    "handlers/startup.py": {"clock", "environment", "files", "processes"},
    "handlers/web.py": {"clock", "flask"},
    "migrate/appfiles.py": {"files"},
    "migrate/appengine.py": {"clock", "environment", "google", "network"},
    "migrate/cli.py": {"clock", "stdout"},
    "migrate/cli_audit.py": {"clock"},
    "migrate/cli_completion.py": {"stdout"},
    "migrate/cli_schedules.py": {"clock"},
    "migrate/cli_live.py": {"files"},
    "migrate/interrupt.py": {"processes"},
    "migrate/cutover/files.py": {"files"},
    "migrate/evidence_files.py": {"files"},
    "migrate/hosts.py": {"network"},
    "migrate/overlay.py": {"environment"},
    "migrate/prepare.py": {"clock"},
    "migrate/scheduler.py": {"clock", "environment", "google", "network"},
    "migrate/sources.py": {"files"},
    "migrate/terminal.py": {"files", "stdin", "stdout"},
}
# How many escapes from the checkers there are; more need a reason to raise this.
CEILING = {"noqa": 60, "type: ignore": 16, "pragma: no cover": 4}


def sources() -> list[Path]:
    """Give the product's own files."""
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return sorted([*found, ROOT / "main.py"] if (ROOT / "main.py").exists() else found)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, within functions too."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom(level=level) if level:
                yield path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("path", sources(), ids=named)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    of_ours = {module.partition(".")[0] for module in imports(path)} & set(ROOMS)
    assert of_ours <= MAY_IMPORT.get(room, {"handlers", "cronspec"})


def modules() -> dict[str, Path]:
    """Give the product's modules by their dotted names."""
    return {
        named(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): (
            path
        )
        for path in sources()
    }


def imported(path: Path, known: Mapping[str, Path]) -> set[str]:
    """Give our own modules that a file imports, for their types or within functions."""
    found = set(imports(path))
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            whole = {f"{node.module}.{alias.name}" for alias in node.names} & set(known)
            if len(whole) == len(node.names):
                found.discard(node.module)
            found |= whole
    return found & set(known)


def circles(edges: Mapping[str, set[str]]) -> list[str]:
    """Give the modules that import themselves by way of others."""
    left = {module: set(needs) for module, needs in edges.items()}
    while free := [module for module, needs in left.items() if not needs & set(left)]:
        for module in free:
            del left[module]
    return sorted(left)


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = modules()
    assert len(known) > 150
    assert circles({name: imported(path, known) for name, path in known.items()}) == []


def test_a_circle_is_seen() -> None:
    edges: dict[str, set[str]] = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}
    assert circles(edges) == ["a", "b", "c"]


# --- The world ----------------------------------------------------------------------

WORLDLY_MODULES = {
    "flask": "flask",
    "google": "google",
    "grpc": "google",
    "redis": "redis",
    "sqlite3": "sqlite3",
    "requests": "network",
    "http": "network",
    "socket": "network",
    "urllib.request": "network",
    "subprocess": "processes",
    "signal": "processes",
}
WORLDLY_CALLS = {
    "open": "files",
    "print": "stdout",
    "input": "stdin",
}
WORLDLY_ATTRIBUTES = {
    "os.environ": "environment",
    "os.getenv": "environment",
    "os.walk": "files",
    "os.open": "files",
    "sys.stdout": "stdout",
    "sys.stderr": "stdout",
    "sys.stdin": "stdin",
    "click.echo": "stdout",
    "datetime.now": "clock",
    "datetime.today": "clock",
    "datetime.utcnow": "clock",
    "time.time": "clock",
    "time.monotonic": "clock",
    "time.sleep": "clock",
    "importlib.resources": "files",
}
WORLDLY_METHODS = dict.fromkeys(
    "read_text read_bytes write_text write_bytes is_file is_dir exists iterdir glob "
    "rglob mkdir unlink stat".split(),
    "files",
)


def touches(path: Path) -> set[str]:
    """Give what a file touches of the world."""
    found = set()
    for module in imports(path):
        for name, kind in WORLDLY_MODULES.items():
            if module == name or module.startswith(f"{name}."):
                found.add(kind)
    for node in ast.walk(tree(path)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in WORLDLY_CALLS:
                found.add(WORLDLY_CALLS[name])
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if (
                f"{owner}.{attribute}" in WORLDLY_ATTRIBUTES
            ):
                found.add(WORLDLY_ATTRIBUTES[f"{owner}.{attribute}"])
            case ast.Call(func=ast.Attribute(attr=method)) if method in WORLDLY_METHODS:
                found.add(WORLDLY_METHODS[method])
    return found


@pytest.mark.parametrize("path", sources(), ids=named)
def test_only_edge_files_touch_the_world(path: Path) -> None:
    assert touches(path) <= EDGES.get(named(path), set())


@pytest.mark.parametrize("name", [n for n in EDGES if (ROOT / n).exists()])
def test_an_edge_file_is_named_for_a_reason(name: str) -> None:
    assert touches(ROOT / name)


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("import flask", {"flask"}),
        ("def f():\n    from google.cloud import firestore", {"google"}),
        ("from urllib.request import urlopen", {"network"}),
        ("from urllib.parse import quote", set()),
        ("print(1)", {"stdout"}),
        ("def f(p): return p.read_text()", {"files"}),
        ("def f(): return datetime.now(UTC)", {"clock"}),
        ("def f(now): return now.date()", set()),
        ("import os\nX = os.environ['X']", {"environment"}),
    ],
)
def test_a_touch_of_the_world_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, kinds: set[str]
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(code, encoding="utf-8")
    assert touches(file) == kinds


# --- Escapes ------------------------------------------------------------------------

ESCAPE = re.compile(
    r"#\s*(noqa|type:\s*ignore|pragma:\s*no cover)\b(.*)$", re.MULTILINE
)
WITH_REASON = {
    "noqa": re.compile(r": [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)* +- \w"),
    "type: ignore": re.compile(r"\[[a-z-]+(?:, ?[a-z-]+)*\] +# +\w"),
    "pragma: no cover": re.compile(r" +- \w"),
}


def escapes(text: str) -> Iterator[tuple[str, str]]:
    """Yield each escape from a checker: its kind, and what follows on its line."""
    for kind, rest in ESCAPE.findall(text):
        yield " ".join(kind.replace(":", ": ").split()), rest


@pytest.mark.parametrize("path", sources(), ids=named)
def test_every_escape_has_its_code_and_its_reason(path: Path) -> None:
    for kind, rest in escapes(path.read_text(encoding="utf-8")):
        assert WITH_REASON[kind].match(rest), f"{kind}{rest}"


@pytest.mark.parametrize(
    ("line", "good"),
    [
        ("x  # noqa: S101 - a reason", True),
        ("x  # noqa: PLR0913, FBT001 - a reason", True),
        ("x  # noqa", False),
        ("x  # noqa: S101", False),
        ("x  # type: ignore[arg-type]  # a reason", True),
        ("x  # type: ignore[arg-type]", False),
        ("x  # type: ignore", False),
        ("x  # pragma: no cover - a reason", True),
        ("x  # pragma: no cover", False),
    ],
)
def test_an_escape_without_a_reason_is_seen(line: str, good: object) -> None:
    ((kind, rest),) = escapes(line)
    assert bool(WITH_REASON[kind].match(rest)) is good


def test_escapes_are_few() -> None:
    counted = Counter(
        kind
        for path in sources()
        for kind, _ in escapes(path.read_text(encoding="utf-8"))
    )
    for kind, most in CEILING.items():
        assert counted[kind] <= most, f"{counted[kind]} of {kind}"


# --- What has no place here ---------------------------------------------------------

MACHINE = re.compile(r"(?<![\w./:*-])/(?:home|Users|root|work|mnt)/\w")
KEY = re.compile("-----BEGIN [A-Z ]*PRIVATE KEY-----\\s+[A-Za-z0-9+/]|AIza[\\w-]{35}")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git's")
def test_no_file_names_a_place_on_one_machine_or_holds_a_key() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    assert "cron.yaml" in names
    found = []
    for name in names:
        if name.startswith("tests/cases/") or not (ROOT / name).is_file():
            continue  # real files of others are as they are
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {hit[0]}" for hit in MACHINE.finditer(text)]
        found += [f"{name}: a key" for _ in KEY.finditer(text)]
    assert found == []


# --- Start-up -----------------------------------------------------------------------

SLOW = ("google", "grpc", "flask", "werkzeug", "jinja2", "requests")


@pytest.mark.parametrize(
    "command",
    [
        ["translate", "."],
        ["translate", ".", "--format", "json"],
        ["prove", "."],
        ["audit", ".", "--fail-on", "never"],
        ["next", "."],
        ["explain", "every day 09:00"],
    ],
    ids=" ".join,
)
def test_offline_commands_load_neither_google_s_clients_nor_flask(
    command: list[str],
) -> None:
    code = (
        "import json, sys\n"
        "try:\n"
        "    from migrate.cli import cli\n"
        f"    cli.main({command!r}, standalone_mode=False)\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in json.loads(result.stderr)}
    assert loaded & {"migrate", "cronspec"} == {"migrate", "cronspec"}
    assert loaded & set(SLOW) == set()
