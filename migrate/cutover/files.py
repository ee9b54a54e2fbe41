"""The edge of the move: the backup and both lists on the disk.

What is written is on the disk before anything else is done: a crash, of the machine
too, leaves a backup with every job that was deleted, and whole lists.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrate.cutover import backup
from migrate.cutover.lists import JOBS, Listing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from migrate.cutover.backup import Saved
    from migrate.livejob import LiveJob


@dataclass(slots=True)
class BackupFile:
    """A backup on the disk; lines are added, never changed or taken away."""

    path: Path
    _saved: Saved | None = None

    @property
    def saved(self) -> Saved:
        """What it holds. Raises OSError, UnicodeDecodeError."""
        if self._saved is None:
            self._saved = backup.read(_text(self.path))
        return self._saved

    def keep(self, jobs: Iterable[LiveJob], at: datetime) -> None:
        """Save those that are not saved yet; they are on the disk then.

        Raises OSError.
        """
        new = [job for job in jobs if not self.saved.has(job)]
        if not new:
            return
        text = backup.lines(new, at)
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    text = "\n" + text  # a crash broke the last line off
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(self.path)
        self._saved = backup.read(_text(self.path))


def listings(cron: Path) -> tuple[Listing, Listing]:
    """Read cron.yaml and the jobs.yaml beside it. Raises OSError."""
    jobs = cron.with_name(JOBS)
    return Listing(str(cron), _text(cron)), Listing(str(jobs), _text(jobs))


def write(listing: Listing, path: Path) -> None:
    """Put a file in the place of another, whole, links and rights kept.

    Raises OSError.
    """
    path = path.resolve()
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8", newline="") as file:
        file.write(listing.text)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, beside)
    beside.replace(path)
    _sync_folder(path)


def _text(path: Path) -> str:
    """Give a file's text, line ends and all; "" where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""


def _sync_folder(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
