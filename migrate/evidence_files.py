"""The files that an audit reads besides cron.yaml and dispatch.yaml.

App yamls, code and scripts below the folders that the user named; nothing is read of
a folder that they did not name. Of what is large or binary nothing is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cronspec.routing import DEFAULT_SERVICE
from migrate.appfiles import apps
from migrate.audit import Evidence, SourceText, code, scripts
from migrate.audit.taskfile import TaskFile
from migrate.sources import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from migrate.sources import Sources

_PASSED_OVER: Final = frozenset(
    "node_modules bower_components venv env __pycache__ site-packages vendor "
    "third_party thirdparty google_appengine dist build target out".split()
)
# Hidden folders are passed over, but for those in which builds are described.
_HIDDEN_BUT_READ: Final = frozenset(
    (".github", ".circleci", ".gitlab", ".buildkite", ".ci", ".azure", ".tekton")
)
_MAX_BYTES: Final = 512 * 1024  # no file that people write is larger
_MAX_FILES: Final = 20_000
_WORTH_READING: Final = (b"appengine", b"cron.y", b"update_cron")


def gather(
    files: Sources,
    now: datetime,
    services: Iterable[str],
    project: str | None,
    tasks: Iterable[TaskFile] = (),
) -> Evidence:
    """Read what an audit needs below the folders of `files`."""
    names = [cron.file for cron in files.crons]
    names += [] if files.dispatch is None else [files.dispatch.file]
    return Evidence(
        now=now,
        crons=files.crons,
        dispatch=files.dispatch,
        apps=tuple(app for folder in files.folders for app in apps(folder)),
        services=frozenset(services),
        project=project,
        texts={name: _text(Path(name)) for name in names},
        sources=tuple(_sources(files.folders)),
        tasks=tuple(tasks),
    )


def read_tasks(text: str) -> TaskFile:
    """Read the code that `[SERVICE=]FILE` names. Raises SourceError."""
    service, separator, file = text.rpartition("=")
    try:
        code = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file}: cannot be read (--tasks): {error}") from None
    try:
        return TaskFile.of(service if separator else DEFAULT_SERVICE, file, code)
    except SyntaxError as error:
        raise SourceError(f"{file}:{error.lineno}: no Python (--tasks)") from None


def _text(path: Path) -> str:
    """Read a file again for its comments; one that is gone has none."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _sources(folders: Iterable[Path]) -> Iterator[SourceText]:
    for folder in folders:
        for path in _walk(folder):
            text = _worth(path)
            if text is not None:
                yield SourceText(str(path), text)


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the code and the scripts below a folder, in order, up to a number."""
    seen = 0
    for root, folders, names in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(name for name in folders if _enter(here / name))
        for name in sorted(names):
            seen += 1
            if seen > _MAX_FILES:
                return
            # Named from the folder on: what lies above it says nothing of a file.
            inside = (here / name).relative_to(folder).as_posix()
            if code.is_code(inside) or scripts.is_script(inside):
                yield here / name


def _enter(folder: Path) -> bool:
    if folder.name.startswith("."):
        return folder.name in _HIDDEN_BUT_READ
    return folder.name not in _PASSED_OVER and not (folder / "pyvenv.cfg").exists()


def _worth(path: Path) -> str | None:
    """Give a file's text if it may hold anything that an audit tells."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None  # not ours to judge: nothing names this file
    lowered = data.lower()
    if not any(word in lowered for word in _WORTH_READING):
        return None
    return data.decode("utf-8", "replace")
