"""The app yamls below a folder: which services there are, and how they scale."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cronspec.config import AppFile, decode, load_app

if TYPE_CHECKING:
    from collections.abc import Iterator

_PASSED_OVER: Final = frozenset(("node_modules", "venv", "env", "__pycache__"))
_MAX_APP_YAML: Final = 256 * 1024
_LOOKS_LIKE_APP: Final = re.compile(
    r"^(?:runtime|env|service|module)[ \t]*:", re.MULTILINE
)


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, in order.

    Hidden folders, virtual environments and node_modules are passed over.
    """
    for root, folders, files in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (here / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            yield here / name


def apps(folder: Path) -> Iterator[AppFile]:
    """Yield the app yamls below a folder; a YAML that is none is passed over."""
    for path in walk(folder):
        if path.suffix not in {".yaml", ".yml"}:
            continue
        try:
            if path.stat().st_size > _MAX_APP_YAML:
                continue
            text = decode(path.read_bytes(), str(path))
        except OSError:
            continue  # not ours to judge: nothing names this file
        if isinstance(text, str) and _LOOKS_LIKE_APP.search(text):
            app = load_app(text, str(path))
            if app is not None:
                yield app
