"""Runs in one SQLite file: safe across the threads and processes of one machine.

Every call is one statement, so SQLite's own locks make it compare and set; WAL lets
readers pass the writer by. Expired records are removed now and then.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import time
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from handlers.record import (
    Conflict,
    Record,
    RegisterKey,
    Stored,
    StoreError,
    StoreUnreachableError,
    from_text,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CALL_SECONDS: Final = 5.0
_PAUSE: Final = 0.01
_PURGE_EVERY: Final = 256
_PURGE_AT_MOST: Final = 1024

_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS runs (
        id TEXT PRIMARY KEY,
        version TEXT NOT NULL,
        expire_at REAL NOT NULL,
        record TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS runs_expire_at ON runs (expire_at);
"""


class SqliteStore:
    """A store in the file `path`, which is made when it is first used."""

    def __init__(self, path: Path) -> None:
        self._idle: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._path = path
        self._pid = os.getpid()
        self._created = count(1)

    def check(self) -> None:
        """Open the file. Raises StoreError with the way out."""
        with self._connection() as connection:
            connection.execute("SELECT 1 FROM runs LIMIT 1").fetchall()

    def read(self, key: RegisterKey) -> Stored | None:
        """Give the record of a register, if it has one."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT record, version FROM runs WHERE id = ?", (key.digest,)
            ).fetchone()
        if row is None:
            return None
        return Stored(from_text(key, str(row[0])), row[1])

    def create(self, record: Record) -> Stored | Conflict:
        """Write the first record of a register."""
        if next(self._created) % _PURGE_EVERY == 0:
            self._purge(record)
        return self._write(
            record,
            "INSERT INTO runs (version, expire_at, record, id) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (record.key.digest,),
        )

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        """Write over `version` of a record."""
        return self._write(
            record,
            "UPDATE runs SET version = ?, expire_at = ?, record = ? "
            "WHERE id = ? AND version = ?",
            (record.key.digest, str(version)),
        )

    def _write(
        self, record: Record, statement: str, where: Sequence[str]
    ) -> Stored | Conflict:
        version = uuid4().hex
        values = (version, record.expire_at.timestamp(), to_text(record), *where)
        with self._connection() as connection:
            changed = connection.execute(statement, values).rowcount
        return Stored(record, version) if changed else Conflict()

    def _purge(self, record: Record) -> None:
        """Remove what has expired, by the clock of whoever writes."""
        with self._connection() as connection:
            connection.execute(
                "DELETE FROM runs WHERE id IN "
                "(SELECT id FROM runs WHERE expire_at < ? LIMIT ?)",
                (record.written_at.timestamp(), _PURGE_AT_MOST),
            )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection of this process, to one thread at a time."""
        if self._pid != os.getpid():  # what was opened before a fork is not ours
            self._idle, self._pid = queue.SimpleQueue(), os.getpid()
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = self._open()
        try:
            yield connection
        except sqlite3.OperationalError as error:
            connection.close()
            raise StoreUnreachableError(f"SQLite, {self._path}: {error}") from error
        except sqlite3.Error as error:
            connection.close()
            raise StoreError(f"SQLite, {self._path}: {error}") from error
        else:
            self._idle.put(connection)

    def _open(self) -> sqlite3.Connection:
        """Open the file, and make it if need be.

        To turn WAL on takes the whole file for a moment, and SQLite does not wait for
        that: of processes that start at once, some find it locked.
        """
        give_up = time.monotonic() + CALL_SECONDS
        while True:
            try:
                return self._connect()
            except sqlite3.Error as error:
                if "locked" not in str(error):
                    raise StoreError(
                        f"SQLite cannot open {self._path}: {error}; CRON_STORE names "
                        "the file, whose folder must exist and be writable"
                    ) from error
                if time.monotonic() > give_up:
                    raise StoreUnreachableError(
                        f"SQLite, {self._path}: {error}"
                    ) from error
                time.sleep(_PAUSE)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=CALL_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def __del__(self) -> None:
        """Close the connections, which nobody uses any more."""
        while not self._idle.empty():
            self._idle.get_nowait().close()
