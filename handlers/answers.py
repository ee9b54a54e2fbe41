"""What is answered and what is logged, by what became of a run. Pure.

Outside a status, a neutral word and the outcome; inside the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from handlers.log import Severity
from handlers.once import (
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

_RETRY_AFTER: Final = "10"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said outside; `outcome` and `retry_after` (seconds) may be ""."""

    status: int
    text: str
    outcome: str = ""
    retry_after: str = ""


def answer_to(outcome: Outcome, sender: Sender, store_down: StoreDown) -> Answer:
    """Give the answer to a delivery."""
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
    """Answer 503 where App Engine retries for free: nothing has been done."""
    if sender in {Sender.CRON, Sender.SCHEDULER} and store_down is StoreDown.RETRY:
        return Answer(503, "later", "failed", _RETRY_AFTER)
    return Answer(500, "failed", "failed")


def severity(outcome: Outcome) -> Severity:
    """Say how much a decision matters."""
    match outcome:
        case Failed() | NoStore() | Ran(written=False):
            return Severity.ERROR
        case _:
            return Severity.INFO


def said(outcome: Outcome) -> str:
    """Say in words what became of it, for the log."""
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
    """Give which run it was, where there was one."""
    match outcome:
        case Ran(record) | Skipped(record) | Failed(record):
            return {
                "entry": record.key.entry,
                "window": str(record.key.window),
                "run": str(record.run_id),
                "attempt": record.attempt,
            }
        case _:
            return {}
