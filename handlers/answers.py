"""What is answered and what is logged, by what became of a run. Pure.

Outside a status, a neutral word and the outcome; inside the facts.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from handlers.log import Severity
from handlers.outcome import (
    Duplicate,
    Elsewhere,
    Failed,
    NoStore,
    Outcome,
    Ran,
    Skipped,
)
from handlers.request import Sender
from handlers.settings import StoreDown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.record import Record

_RETRY_AFTER: Final = {"Retry-After": "10"}


# --- Outside ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said outside: a status, one neutral word, perhaps an outcome.

    `outcome` is the value of the header X-Cron-Outcome, "" where there is none.
    """

    status: int
    text: str
    outcome: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def answer_to(outcome: Outcome, sender: Sender, store_down: StoreDown) -> Answer:
    """Decide what the sender is answered."""
    match outcome:
        case Ran():
            return Answer(200, "ran", "ran")
        case Duplicate():
            return Answer(200, "done before", "duplicate")
        case Skipped():
            return Answer(200, "skipped", "skipped")
        case Elsewhere():
            # Never 503: App Engine would try again without counting.
            return Answer(409, "under way", "busy")
        case Failed():
            return Answer(500, "failed", "failed")
        case NoStore():
            return _without_store(sender, store_down)


def _without_store(sender: Sender, store_down: StoreDown) -> Answer:
    """Nothing was done, so 503 is right where App Engine retries it for free."""
    retried = sender in {Sender.CRON, Sender.SCHEDULER}
    if retried and store_down is StoreDown.RETRY:
        return Answer(503, "later", "failed", _RETRY_AFTER)
    return Answer(500, "failed", "failed")


# --- In the log -----------------------------------------------------------------------


def severity(outcome: Outcome) -> Severity:
    """Tell how much an outcome needs somebody's eye."""
    match outcome:
        case Failed() | NoStore() | Ran(written=False):
            return Severity.ERROR
        case _:
            return Severity.INFO


def said(outcome: Outcome) -> str:
    """Say in the log what became of a request."""
    match outcome:
        case Ran(written=True):
            return "the run is done"
        case Ran():
            return "the run is done, but no record says so: a repetition would run"
        case Duplicate():
            return "the run was done before: nothing to do"
        case Skipped():
            return "an earlier run of the entry is still at work: this one is skipped"
        case Elsewhere():
            return "another attempt works on the run"
        case Failed(error=error):
            return f"the task failed: {type(error).__name__}: {error}"
        case NoStore(error):
            return f"no task was called: {error}"


def facts(outcome: Outcome) -> dict[str, object]:
    """Give the fields of the log's line: which run, which attempt, and why not."""
    match outcome:
        case Failed(record, error):
            trace = "".join(traceback.format_exception(error))
            return {**_run_of(record), "stack_trace": trace}
        case Ran(record) | Skipped(record):
            return _run_of(record)
        case Duplicate(key, attempt) | Elsewhere(key, attempt):
            known: dict[str, object] = {"entry": key.entry, "window": str(key.window)}
            return known | ({"attempt": attempt} if attempt else {})
        case NoStore():
            return {}


def _run_of(record: Record) -> dict[str, object]:
    return {
        "entry": record.key.entry,
        "window": str(record.key.window),
        "run": str(record.run_id),
        "attempt": record.attempt,
    }
