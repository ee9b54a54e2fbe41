"""Opens the store that CRON_STORE names.

    sqlite:///runs.db                           a file, relative to the working folder
    sqlite:////var/lib/cron/runs.db             a file, by its whole path
    firestore://PROJECT/COLLECTION?database=DB  Firestore, (default) if DB is not named
    redis://[USER:PASSWORD@]HOST:PORT/DB        Redis or Memorystore; rediss:// for TLS

Spanner has its place here: a module with the four calls of `record.RunStore`, and a
case in `open_store`.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from handlers.record import RunStore

DEFAULT_STORE: Final = "sqlite:///runs.db"

_PROJECT: Final = re.compile(r"[a-z0-9][a-z0-9.:-]*")


class StoreUrlError(ValueError):
    """A CRON_STORE that names no store."""


def is_local(url: str) -> bool:
    """Tell whether the store lives on this machine alone."""
    return url.startswith("sqlite:")


def digest(url: str) -> str:
    """Give what two hosts compare to know that they use one store; nothing secret."""
    return hashlib.sha256(shown(url).encode()).hexdigest()


def shown(url: str) -> str:
    """Give the url without the user and password it may have."""
    return re.sub(r"//[^/]*@", "//...@", url)


def open_store(url: str) -> RunStore:
    """Open the store, without reaching it yet. Raises StoreUrlError.

    A store's module, and the client library it brings, loads only where it is used.
    """
    check_url(url)
    match urlsplit(url).scheme:
        case "sqlite":
            from handlers.sqlite import SqliteStore  # noqa: PLC0415 - see the docstring

            return SqliteStore(_sqlite_path(url))
        case "firestore":
            from handlers.firestore import FirestoreStore  # noqa: PLC0415 - as above

            return FirestoreStore(*_firestore_place(url))
        case _:
            from handlers.redis import RedisStore  # noqa: PLC0415 - as above

            return RedisStore(url)


def check_url(url: str) -> None:
    """Raise StoreUrlError for a url that names no store; opens nothing."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        _sqlite_path(url)
    elif parts.scheme == "firestore":
        _firestore_place(url)
    elif parts.scheme not in {"redis", "rediss"} or not parts.hostname:
        raise StoreUrlError(
            f"CRON_STORE={shown(url)!r}: no such store; say sqlite:///FILE, "
            "firestore://PROJECT/COLLECTION or redis://HOST:PORT"
        )


def _sqlite_path(url: str) -> Path:
    """Give the file: three slashes relative, four absolute, as SQLAlchemy has it."""
    found = re.fullmatch(r"sqlite:///(.+)", url)
    if not found or found[1] == ":memory:" or "?" in url:
        raise StoreUrlError(
            f"CRON_STORE={url!r}: name a file, sqlite:///runs.db (relative) or "
            "sqlite:////var/lib/runs.db (absolute), without options"
        )
    return Path(found[1])


def _firestore_place(url: str) -> tuple[str, str, str]:
    """Give project, collection and database."""
    parts = urlsplit(url)
    project, collection = unquote(parts.netloc), parts.path.removeprefix("/")
    options = parse_qs(parts.query, strict_parsing=False, keep_blank_values=True)
    database = options.pop("database", ["(default)"])[-1]
    wrong = options or parts.fragment or not database
    if (
        wrong
        or not _PROJECT.fullmatch(project)
        or not re.fullmatch("[^/]+", collection)
    ):
        raise StoreUrlError(
            f"CRON_STORE={url!r}: say firestore://PROJECT/COLLECTION with the "
            "project's id, and ?database=NAME for a database other than (default)"
        )
    return project, collection, database
