"""Where the jobs are kept: in memory, or in an SQLite file that outlives us."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right, insort
from contextlib import closing
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from emulator.jobs import Job, Key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Store(Protocol):
    """Keeps jobs by their keys; each call is one step, whoever else calls."""

    def insert(self, job: Job) -> bool:
        """Keep a new job; False, and nothing done, where its key is taken."""

    def get(self, key: Key) -> Job | None:
        """Give the job under `key`."""

    def page(self, parent: str, after: Key, limit: int) -> list[Job]:
        """Give up to `limit` jobs of a location, by name, those after `after`.

        `after` also says which of the two spaces of names is meant.
        """

    def change(self, key: Key, change: Callable[[Job], Job]) -> Job | None:
        """Replace a job by what `change` makes of it, and give that.

        None where there is no such job; what `change` raises leaves it as it is.
        """

    def delete(self, key: Key) -> bool:
        """Forget a job; False where there is none."""

    def close(self) -> None:
        """Let go of what the store holds open."""


class MemoryStore:
    """Jobs of one process."""

    def __init__(self) -> None:
        self._jobs: dict[Key, Job] = {}
        self._keys: list[Key] = []  # in order
        self._lock = RLock()

    def insert(self, job: Job) -> bool:
        """Keep a new job."""
        with self._lock:
            if job.key in self._jobs:
                return False
            self._jobs[job.key] = job
            insort(self._keys, job.key)
            return True

    def get(self, key: Key) -> Job | None:
        """Give the job under `key`."""
        return self._jobs.get(key)

    def page(self, parent: str, after: Key, limit: int) -> list[Job]:
        """Give jobs by name."""
        found: list[Job] = []
        with self._lock:
            for key in self._keys[bisect_right(self._keys, after) :]:
                if key.legacy != after.legacy or len(found) == limit:
                    break
                if key.parent == parent:
                    found.append(self._jobs[key])
        return found

    def change(self, key: Key, change: Callable[[Job], Job]) -> Job | None:
        """Replace a job."""
        with self._lock:
            if (job := self._jobs.get(key)) is None:
                return None
            self._jobs[key] = change(job)
            return self._jobs[key]

    def delete(self, key: Key) -> bool:
        """Forget a job."""
        with self._lock:
            if self._jobs.pop(key, None) is None:
                return False
            self._keys.remove(key)
            return True

    def close(self) -> None:
        """Do nothing: memory needs no closing."""


class SqliteStore:
    """Jobs in one file, which several emulators may share."""

    def __init__(self, path: Path) -> None:
        self._lock = RLock()
        self._db = sqlite3.connect(
            path, check_same_thread=False, isolation_level=None, timeout=30
        )
        # What an emulator keeps need not outlive the machine's power.
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS job (legacy INTEGER, name TEXT, parent TEXT, "
            "resource TEXT NOT NULL, PRIMARY KEY (legacy, name)) WITHOUT ROWID"
        )

    def insert(self, job: Job) -> bool:
        """Keep a new job."""
        row = (job.key.legacy, job.key.name, job.key.parent, json.dumps(job.resource))
        return self._count("INSERT OR IGNORE INTO job VALUES (?, ?, ?, ?)", row) == 1

    def get(self, key: Key) -> Job | None:
        """Give the job under `key`."""
        rows = self._rows(
            "SELECT name, resource FROM job WHERE legacy = ? AND name = ?",
            (key.legacy, key.name),
        )
        return next((_job(key.legacy, row) for row in rows), None)

    def page(self, parent: str, after: Key, limit: int) -> list[Job]:
        """Give jobs by name."""
        rows = self._rows(
            "SELECT name, resource FROM job WHERE legacy = ? AND parent = ? "
            "AND name > ? ORDER BY name LIMIT ?",
            (after.legacy, parent, after.name, limit),
        )
        return [_job(after.legacy, row) for row in rows]

    def change(self, key: Key, change: Callable[[Job], Job]) -> Job | None:
        """Replace a job, within one transaction."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if (job := self.get(key)) is not None:
                    job = change(job)
                    self._count(
                        "UPDATE job SET resource = ? WHERE legacy = ? AND name = ?",
                        (json.dumps(job.resource), key.legacy, key.name),
                    )
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            return job

    def delete(self, key: Key) -> bool:
        """Forget a job."""
        row = (key.legacy, key.name)
        return self._count("DELETE FROM job WHERE legacy = ? AND name = ?", row) == 1

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _count(self, sql: str, row: tuple[object, ...]) -> int:
        with self._lock, closing(self._db.execute(sql, row)) as cursor:
            return cursor.rowcount

    def _rows(self, sql: str, row: tuple[object, ...]) -> list[tuple[str, str]]:
        with self._lock, closing(self._db.execute(sql, row)) as cursor:
            return cursor.fetchall()


def _job(legacy: bool, row: tuple[str, str]) -> Job:  # noqa: FBT001 - a key's part
    name, resource = row
    return Job(Key(legacy, name), json.loads(resource))
