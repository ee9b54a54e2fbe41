"""Runs in Redis (Memorystore): one key a register, compared and set by a script.

A record leaves by its time-out, counted from when it is written. A server that may
evict keys to make room could forget a run that is under way or done, so `check`
refuses it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

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
    from collections.abc import Iterator

CALL_SECONDS: Final = 5.0
_PREFIX: Final = "cronshift:run:"

# A value is its version, a line's end, and the record.
_REPLACE: Final = """
    local value = redis.call('GET', KEYS[1])
    if value and string.sub(value, 1, #ARGV[1]) == ARGV[1] then
        redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
        return 1
    end
    return 0
"""


class RedisStore:
    """A store on the server at `url`: redis://HOST:PORT/DB, or rediss://."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=CALL_SECONDS,
            socket_connect_timeout=CALL_SECONDS,
            # One call, one try: what a lost answer means is decided elsewhere.
            retry=Retry(NoBackoff(), 0),
        )
        self._replace = self._redis.register_script(_REPLACE)

    def check(self) -> None:
        """Reach the server. Raises StoreError if it may evict records."""
        with _as_store_errors():
            memory: dict[str, Any] = self._redis.info("memory")
        policy = memory.get("maxmemory_policy", "noeviction")
        if memory.get("maxmemory", 0) and policy != "noeviction":
            raise StoreError(
                f"Redis: maxmemory-policy is {policy!r}, so the server may forget runs "
                "that are under way or done. For Memorystore: gcloud redis instances "
                "update INSTANCE --region REGION "
                "--update-redis-config maxmemory-policy=noeviction"
            )

    def read(self, key: RegisterKey) -> Stored | None:
        """Give the record of a register, if it has one."""
        with _as_store_errors():
            value = self._redis.get(_name(key))
        if value is None:
            return None
        version, _, text = str(value).partition("\n")
        return Stored(from_text(key, text), version)

    def create(self, record: Record) -> Stored | Conflict:
        """Write the first record of a register."""
        version, value, keep = _encoded(record)
        with _as_store_errors():
            done = self._redis.set(_name(record.key), value, nx=True, px=keep)
        return Stored(record, version) if done else Conflict()

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        """Write over `version` of a record."""
        new, value, keep = _encoded(record)
        with _as_store_errors():
            done = self._replace([_name(record.key)], [f"{version}\n", value, keep])
        return Stored(record, new) if done else Conflict()


def _name(key: RegisterKey) -> str:
    return _PREFIX + key.digest


def _encoded(record: Record) -> tuple[str, str, int]:
    """Give a new version, the value, and how long to keep it in milliseconds."""
    version = uuid4().hex
    keep = record.expire_at - record.written_at
    return version, f"{version}\n{to_text(record)}", int(keep.total_seconds() * 1000)


@contextmanager
def _as_store_errors() -> Iterator[None]:
    try:
        yield
    except redis.AuthenticationError as error:
        raise StoreError(
            f"Redis: {error}; CRON_STORE may name a user: "
            "redis://USER:PASSWORD@HOST:PORT"
        ) from error
    except redis.RedisError as error:
        raise StoreUnreachableError(f"Redis: {error}") from error
