"""A job as the API gives it: whose it is, what state it is in, what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cronspec.naming import (
    PAUSED_HEADER,
    UNBORN_HEADER,
    Marks,
    Unmarked,
    read_marks,
)
from migrate.normal import TARGETS, headers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from migrate.job import Json

_SMALL: Final = frozenset(("relativeUri", "uri", "topicName", "httpMethod"))


class State(StrEnum):
    """What the API says of whether a job fires; only an enabled one does."""

    ENABLED = "ENABLED"
    PAUSED = "PAUSED"
    DISABLED = "DISABLED"
    UPDATE_FAILED = "UPDATE_FAILED"
    UNKNOWN = "STATE_UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class LiveJob:
    """One job that is there. `legacy`: `gcloud app deploy cron.yaml` made it."""

    resource: Json
    legacy: bool = False

    @property
    def name(self) -> str:
        """The full name, `projects/P/locations/L/jobs/ID`."""
        return str(self.resource["name"])

    @property
    def job_id(self) -> str:
        """The last part of the name."""
        return self.name.rpartition("/")[2]

    @property
    def parent(self) -> str:
        """The location's name, `projects/P/locations/L`."""
        return self.name.rpartition("/jobs/")[0]

    @property
    def state(self) -> State:
        """Whether it fires."""
        named = self.resource.get("state", State.UNKNOWN)
        return State(named) if named in set(State) else State.UNKNOWN

    @property
    def marks(self) -> Marks | Unmarked:
        """Our marks, or what is missing of them."""
        return read_marks(headers_of(self.resource))

    @property
    def unborn(self) -> bool:
        """Whether it is being made paused: its schedule is a placeholder."""
        return UNBORN_HEADER.lower() in headers_of(self.resource)

    @property
    def pause_is_ours(self) -> bool:
        """Whether it bears the mark of a pause of ours; it may be enabled even so."""
        return PAUSED_HEADER.lower() in headers_of(self.resource)

    @property
    def schedule(self) -> str:
        """The schedule's text, of either language."""
        return str(self.resource.get("schedule", ""))

    @property
    def time_zone(self) -> str:
        """The zone's name as the API has it, "UTC" where it says none."""
        return str(self.resource.get("timeZone") or "UTC")

    @property
    def url(self) -> str:
        """The path and query that it asks for; "" for Pub/Sub."""
        return url_of(self.resource)

    @property
    def next_at(self) -> datetime | None:
        """When the API says it fires next."""
        return _instant(self.resource, "scheduleTime")

    @property
    def last_at(self) -> datetime | None:
        """When its last attempt began."""
        return _instant(self.resource, "lastAttemptTime")

    @property
    def updated_at(self) -> datetime | None:
        """When somebody last made or changed it."""
        return _instant(self.resource, "userUpdateTime")

    @property
    def last_code(self) -> int:
        """How its last attempt ended, a google.rpc.Code; 0 is well, or not yet."""
        return int(self.resource.get("status", {}).get("code", 0))

    def slim(self) -> LiveJob:
        """Give the job without what may be large: headers, body, attributes.

        A location may hold thousands of others' jobs of up to a megabyte each.
        """
        kept = dict(self.resource)
        for kind in TARGETS:
            if kind in kept:
                kept[kind] = {k: v for k, v in kept[kind].items() if k in _SMALL}
        return LiveJob(kept, self.legacy)

    def belongs_to(self, job_set: str) -> bool:
        """Tell whether it bears our marks and is of this set."""
        match self.marks:
            case Marks(set=named):
                return not self.legacy and named == job_set
            case Unmarked():
                return False


def url_of(job: Mapping[str, Any]) -> str:
    """Give the path and query that a job asks for; "" for Pub/Sub."""
    if "appEngineHttpTarget" in job:
        return str(job["appEngineHttpTarget"].get("relativeUri") or "/")
    if "httpTarget" in job:
        parts = urlsplit(job["httpTarget"].get("uri", ""))
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return ""


def _instant(job: Mapping[str, Any], field: str) -> datetime | None:
    text = job.get(field)
    if not text:
        return None
    whole, point, rest = str(text).partition(".")
    if point:  # nine digits at most; datetime takes six
        digits = rest.rstrip("Z")[:6]
        text = f"{whole}.{digits}+00:00"
    return datetime.fromisoformat(str(text))
