"""What became of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handlers.record import Record, RegisterKey, StoreError


@dataclass(frozen=True, slots=True)
class Ran:
    """The task did its work; `written` is False where that could not be recorded."""

    record: Record
    written: bool = True


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The run was done before, or by another attempt meanwhile."""

    key: RegisterKey
    attempt: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Another run of the entry was at work, and the task wants no second."""

    record: Record


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another attempt works on the run, or has taken it over from this one."""

    key: RegisterKey
    attempt: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The task failed; the run is free."""

    record: Record
    error: BaseException


@dataclass(frozen=True, slots=True)
class NoStore:
    """No task was called, for the store cannot be used."""

    error: StoreError


Outcome = Ran | Duplicate | Skipped | Elsewhere | Failed | NoStore
