# ruff: noqa: N818 - kinds of one ApiError, which read as what they are where matched
"""What the API answers instead of a success, in our words, with the way out. Pure.

The kinds say what may be done about it: `Lost` may have taken effect, `Throttled` has
not, `Exists`, `Missing` and `WrongState` are the API's view of the job at that moment,
`Refused` stays refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class ApiError(Exception):
    """A call that did not succeed; its message is for people.

    `hopeless`: every other call would meet the same.
    """

    hopeless = False


class Lost(ApiError):
    """No answer came, or one that leaves open whether the call took effect."""


class Throttled(ApiError):
    """A quota was used up: nothing was done."""


class Exists(ApiError):
    """A job of that name is there already."""


class Missing(ApiError):
    """There is no job of that name."""


class WrongState(ApiError):
    """The job is not in the state that the call needs."""


class Refused(ApiError):
    """The call can never succeed as it is."""


class Hopeless(Refused):
    """Refused, and every other call would be."""

    hopeless = True


@dataclass(frozen=True, slots=True)
class Call:
    """Which call was made: its verb ("create"), and the job's or location's name."""

    verb: str
    name: str

    @property
    def project(self) -> str:
        """The project's id."""
        return self.name.split("/")[1]

    @property
    def location(self) -> str:
        """The location's id."""
        return self.name.split("/")[3]

    def __str__(self) -> str:
        return f"{self.verb} {self.name.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An error as Google's APIs give it: google.rpc.Status and its ErrorInfo."""

    status: str
    message: str
    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


_LOST: Final = frozenset(
    ("UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED")
)


def lost(call: Call, why: str) -> Lost:
    """Say that no answer came."""
    if call.verb in {"list", "get"}:
        return Lost(f"{call}: no answer ({why}); is the network there? run again")
    return Lost(f"{call}: no answer ({why}); it may have been done or not: run again")


def problem(call: Call, answer: Answer) -> ApiError:
    """Say what an error answer means."""
    match answer.status:
        case status if status in _LOST:
            return lost(call, f"{status}: {answer.message}")
        case "RESOURCE_EXHAUSTED":
            return Throttled(_quota(call, answer))
        case "ALREADY_EXISTS":
            return Exists(f"{call}: a job of that name is there already")
        case "PERMISSION_DENIED":
            return Hopeless(_permission(call, answer))
        case "UNAUTHENTICATED":
            return Hopeless(no_credentials(answer.message))
        case "NOT_FOUND":
            return _not_found(call, answer)
        case "FAILED_PRECONDITION" if "App Engine app" in answer.message:
            return Hopeless(no_app(call.project))
        case "FAILED_PRECONDITION":
            return WrongState(f"{call}: {answer.message}")
        case "INVALID_ARGUMENT" if found := re.search(
            r"Location must equal ([a-z0-9-]+)", answer.message
        ):
            return Refused(wrong_region(call.project, call.location, found[1]))
    return Refused(f"{call}: refused: {answer.message}")


def _permission(call: Call, answer: Answer) -> str:
    project = call.project
    if "quota project" in answer.message:
        return (
            "your own credentials need a project to count calls for: gcloud auth "
            f"application-default set-quota-project {project}"
        )
    if answer.reason == "SERVICE_DISABLED" or "has not been used in" in answer.message:
        return (
            f"the Cloud Scheduler API is off in project {project}; turn it on: gcloud "
            f"services enable cloudscheduler.googleapis.com --project {project}"
        )
    if answer.reason in {"CONSUMER_INVALID", "USER_PROJECT_DENIED"}:
        return (
            f"project {project}: there is none of that id, or it is not yours to see; "
            "check --project"
        )
    if answer.reason == "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
        return (
            "the credentials lack the scope cloud-platform: gcloud auth "
            "application-default login"
        )
    if "actAs" in answer.message:
        return (
            f"{call}: iam.serviceAccounts.actAs is missing on the job's service "
            "account: roles/iam.serviceAccountUser on it"
        )
    verb = "update" if call.verb == "patch" else call.verb.split()[0]
    needed = answer.metadata.get("permission", f"cloudscheduler.jobs.{verb}")
    role = "viewer" if verb in {"list", "get"} else "admin"
    return (
        f"permission {needed} is missing in project {project}: roles/cloudscheduler."
        f"{role} has it ({answer.message})"
    )


def _not_found(call: Call, answer: Answer) -> ApiError:
    if "ocation" in answer.message:
        return Hopeless(
            f"Cloud Scheduler has no location {call.location!r}; see gcloud scheduler "
            "locations list, and check --location"
        )
    if "roject" in answer.message:
        return Hopeless(f"there is no project {call.project!r}; check --project")
    return Missing(f"{call}: there is no job of that name (any more)")


def _quota(call: Call, answer: Answer) -> str:
    limit = answer.metadata.get("quota_limit", "")
    named = f" ({limit})" if limit else ""
    return f"{call}: a quota is used up{named}: {answer.message}"


def no_credentials(why: str) -> str:
    """Say that the API does not know who asks."""
    login = "gcloud auth application-default login"
    return f"no credentials that Google takes: {login} ({why})"


def no_app(project: str) -> str:
    """Say that the project has no App Engine app."""
    return (
        f"project {project} has no App Engine app, which App Engine targets need: "
        f"gcloud app create --project {project}, or check --project"
    )


def wrong_region(project: str, location: str, app: str) -> str:
    """Say that jobs for App Engine live in the app's region only."""
    return (
        f"the app of project {project} is in {app}, and jobs for it can live nowhere "
        f"else, not in {location}: --location {app}"
    )
