"""The backup of legacy jobs: lines of JSON in a file that only grows. Pure.

A line is a job as the API gave it, and when. A last line that was broken off by a
crash is passed over, and the next one begins on a line of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from migrate.legacy import form_of
from migrate.livejob import LiveJob, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from migrate.livejob import Json

FORMAT: Final = "cronshift-legacy-job"
NAME: Final = "cronshift-backup.jsonl"
_OUTPUT: Final = frozenset(
    "name state scheduleTime lastAttemptTime status userUpdateTime "
    "legacyAppEngineCron".split()
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a backup holds, oldest first, and how many lines could not be read."""

    jobs: tuple[LiveJob, ...] = ()
    broken: int = 0
    _last: Mapping[str, tuple[State, str]] = field(init=False)  # by name
    _latest: Mapping[str, LiveJob] = field(init=False)  # by what they do

    def __post_init__(self) -> None:
        """Bring the jobs in order, once for many questions."""
        forms = [(form_key(job.resource), job) for job in self.jobs]
        last = {job.name: (job.state, form) for form, job in forms}
        object.__setattr__(self, "_last", last)
        object.__setattr__(self, "_latest", dict(forms))

    def has(self, job: LiveJob) -> bool:
        """Tell whether this very job was saved, and in this state the last time."""
        return self._last.get(job.name) == (job.state, form_key(job.resource))

    def like(self, form: str) -> LiveJob | None:
        """Give the latest saved job that does this (`form_key`)."""
        return self._latest.get(form)


def form_key(job: Json) -> str:
    """Give gcloud's tuple of a legacy job, spelt in one way."""
    return repr(sorted(form_of(job).items()))


def read(text: str) -> Saved:
    """Read a backup's text; what is no line of it is counted."""
    jobs, broken = [], 0
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            said = json.loads(line)
            job = LiveJob(said["job"], legacy=True)
            whole = said["format"] == FORMAT and isinstance(job.resource["name"], str)
            Saved((job,))  # it has a state, and can be compared
        except (ValueError, KeyError, TypeError, AttributeError):
            whole = False
        if whole:
            jobs.append(job)
        else:
            broken += 1
    return Saved(tuple(jobs), broken)


def lines(jobs: Iterable[LiveJob], at: datetime) -> str:
    """Give the lines to add, which begin where a broken one ended."""
    said = (
        {"format": FORMAT, "at": f"{at:%Y-%m-%dT%H:%M:%SZ}", "job": job.resource}
        for job in jobs
    )
    return "".join(json.dumps(one, ensure_ascii=True) + "\n" for one in said)


def to_send(job: Json) -> Json:
    """Give what makes a legacy job again: all that a client may say of it."""
    sent = {name: value for name, value in job.items() if name not in _OUTPUT}
    target = sent.get("appEngineHttpTarget")
    if target and "appEngineRouting" in target:
        routing = {k: v for k, v in target["appEngineRouting"].items() if k != "host"}
        kept = {k: v for k, v in target.items() if k != "appEngineRouting"}
        if routing:
            kept["appEngineRouting"] = routing
        sent["appEngineHttpTarget"] = kept
    return sent


def fired(job: LiveJob) -> bool:
    """Tell whether a saved job fired."""
    return job.state is State.ENABLED
