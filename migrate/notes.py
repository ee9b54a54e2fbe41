"""What a translation changes or cannot say: notes, their levels and their codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cronspec.config import Place


class Level(StrEnum):
    """How much a note weighs.

    A loss: the job would fire at other instants, retry or wait otherwise, reach
    another service, or be cut shorter than today; it may be accepted by its code.
    A block: no job can be made, and nothing can accept that. All else is info.
    """

    INFO = "info"
    LOSS = "loss"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Note:
    """One remark on one entry's translation.

    `fallback` is the option that avoids a loss or a block, None if there is none;
    `place` is None for what holds for all entries.
    """

    code: str
    level: Level
    text: str
    place: Place | None
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """What notes of one code have in common."""

    level: Level
    reason: str


CODES: Final = {
    "groc-kept": Code(
        Level.INFO,
        "the schedule stays groc: Cloud Scheduler promises the schedule-time header "
        "only for unix-cron, so runs are told apart by the schedule itself",
    ),
    "interval-kept": Code(
        Level.INFO,
        "an end-time interval is counted from the end of each run; only groc can say "
        "that, and its first run comes one period after the job is made",
    ),
    "schedule-lowered": Code(
        Level.INFO,
        "capital letters were lowered: not all of Google's parsers take them",
    ),
    "on-weekdays": Code(
        Level.INFO,
        "`on <weekdays>` after an interval is known to only some of Google's parsers",
    ),
    "split": Code(Level.INFO, "several unix-cron jobs together tick as this one entry"),
    "identical-entries": Code(
        Level.INFO,
        "an entry stands in the file more than once and makes as many jobs",
    ),
    "version-pinned": Code(
        Level.INFO,
        "the target names a version: dispatch rules and traffic moves pass it by",
    ),
    "dispatch-written": Code(
        Level.INFO,
        "a dispatch rule decides where the request goes; the job names that service",
    ),
    "dispatch-decides": Code(
        Level.INFO,
        "the job names the declared service, and a dispatch rule goes on overriding it",
    ),
    "route-unsure": Code(
        Level.INFO,
        "a dispatch rule may match or not: it names a host that may be the app's",
    ),
    "retry-limit-missing": Code(
        Level.INFO,
        "a retry block without job_retry_limit: Google's documents disagree on "
        "whether that means 0 or 5 retries",
    ),
    "age-limit-alone": Code(
        Level.INFO,
        "a retry block with an age limit and no retries: documented as at most 5 "
        "retries until the age, which is not proven",
    ),
    "short-backoff": Code(
        Level.INFO,
        "a wait under 5 s, which an old text of Google's gives as the least, and "
        "nothing enforces",
    ),
    "attempt-deadline": Code(
        Level.INFO,
        "attempt_deadline is undocumented in cron.yaml, and gcloud refuses it",
    ),
    "zone-spelling": Code(
        Level.INFO,
        "the time zone's case differs from the tz database's spelling",
    ),
    "location-renamed": Code(
        Level.INFO,
        "App Engine's us-central and europe-west are Cloud Scheduler's us-central1 "
        "and europe-west1",
    ),
    "cron-header-gone": Code(
        Level.INFO,
        "Cloud Scheduler does not send X-Appengine-Cron: code that checks it must "
        "take X-CloudScheduler from 0.1.0.2 as well before the move",
    ),
    "http-target": Code(
        Level.INFO,
        "an HTTP target: 503 now counts as a failure, redirects are followed, the "
        "X-Appengine-… headers are gone; the account needs roles/run.invoker and "
        "who makes the job iam.serviceAccounts.actAs",
    ),
    "interval-to-clock": Code(
        Level.LOSS,
        "an end-time interval became clock-aligned: counted from start to start",
    ),
    "deadline-cut": Code(
        Level.LOSS,
        "attempts are cut off earlier than today",
    ),
    "no-unix-twin": Code(
        Level.BLOCK,
        "unix-cron was asked for, and no unix-cron schedule ticks alike",
    ),
    "needs-split": Code(
        Level.BLOCK,
        "unix-cron was asked for, and only several jobs together tick alike",
    ),
    "deadline-out-of-range": Code(
        Level.BLOCK,
        "the attempt deadline is not within what Cloud Scheduler takes: 15 s to 24 h, "
        "for an HTTP target to 30 min",
    ),
    "uri-too-long": Code(
        Level.BLOCK,
        "the url of the HTTP target is over 2,083 characters",
    ),
}
"""Every code, with its level and its reason; docs/translation.md lists them."""


def note(
    code: str, text: str, place: Place | None, fallback: str | None = None
) -> Note:
    """Make a note of a known code. Raises KeyError for any other."""
    return Note(code, CODES[code].level, text, place, fallback)
