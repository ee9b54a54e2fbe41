"""Every code that an audit can tell, with its severity and its reason.

An error: it does not work, or goes where the file does not say. A warning: likely to
surprise. An info: worth knowing. The codes of faults and remarks are the loaders'.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cronspec.config import FAULTS, REMARKS

if TYPE_CHECKING:
    from collections.abc import Mapping


class Severity(StrEnum):
    """How much a finding weighs, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Code:
    """What the findings of one code have in common."""

    severity: Severity
    reason: str


_GRAVE_REMARKS: Final = MappingProxyType(
    {
        "attempt-deadline": Severity.WARNING,
        "deletes-all": Severity.WARNING,
        "dialect": Severity.WARNING,
        "empty-retry": Severity.WARNING,
        "fragment": Severity.WARNING,
        "long-pattern": Severity.ERROR,
        "not-a-string": Severity.WARNING,
        "too-many-rules": Severity.ERROR,
        "truncated-number": Severity.WARNING,
    }
)

_ROUTES: Final = {
    "route-conflict": Code(
        Severity.ERROR,
        "`target` says one service and a dispatch rule sends the request to another: "
        "the rule wins, so the entry runs where the file does not say",
    ),
    "route-rerouted": Code(
        Severity.INFO,
        "an entry without `target` is moved off the default service by a dispatch rule",
    ),
    "route-unsure": Code(
        Severity.WARNING,
        "a dispatch rule may match or not: it names a host that may be the app's own; "
        "`--project` settles most of these",
    ),
    "never-dispatched": Code(
        Severity.WARNING,
        "a dispatch rule names a path under `/_ah/`, which is never dispatched",
    ),
    "version-pinned": Code(
        Severity.WARNING,
        "`target` names a version: dispatch rules and traffic moves pass it by, and "
        "the entry fails or goes elsewhere once the version is deleted; and gcloud "
        "hands the whole text on as one service, which no document explains",
    ),
    "same-destination": Code(
        Severity.WARNING,
        "entries with one url and different targets end at one service, since dispatch "
        "sends them there: its handler runs for each",
    ),
    "target-unknown": Code(
        Severity.ERROR,
        "`target` is none of the services given with `--services`: App Engine then "
        "sends the request to the default service",
    ),
    "target-unseen": Code(
        Severity.WARNING,
        "`target` is a service that none of the app yamls found declares; if it does "
        "not exist, App Engine sends the request to the default service",
    ),
    "entry-without-task": Code(
        Severity.ERROR,
        "the code given with `--tasks` declares no task for an entry's url, so the "
        "service answers its requests with 404",
    ),
    "task-without-entry": Code(
        Severity.WARNING,
        "a task of the code given with `--tasks` is asked for by no entry",
    ),
    "rule-service-unknown": Code(
        Severity.ERROR,
        "a dispatch rule names none of the services given with `--services`: deploying "
        "dispatch.yaml fails",
    ),
    "rule-service-unseen": Code(
        Severity.WARNING,
        "a dispatch rule names a service that none of the app yamls found declares; "
        "deploying dispatch.yaml fails if it does not exist",
    ),
}

_RULES: Final = {
    "rule-contradicted": Code(
        Severity.ERROR,
        "two dispatch rules have one pattern and different services: the first wins, "
        "the second says what never happens",
    ),
    "rule-shadowed": Code(
        Severity.WARNING,
        "an earlier dispatch rule takes every request of this one, to another service",
    ),
    "rule-repeated": Code(
        Severity.INFO,
        "an earlier dispatch rule sends every request of this one to the same service",
    ),
    "rule-inner-star": Code(
        Severity.ERROR,
        "a `*` within a dispatch rule's path stands for itself, so that the rule "
        "matches no real request; only one at the very end is a wildcard",
    ),
    "rule-query": Code(
        Severity.WARNING,
        "a dispatch rule looks at the path alone: one with `?` or `#` never matches",
    ),
    "rule-passes-cron-by": Code(
        Severity.INFO,
        "a dispatch rule has the path of an entry but another host: cron requests come "
        "with the app's own appspot.com host, so the rule holds for web requests only",
    ),
}

_REPEATS: Final = {
    "fires-twice": Code(
        Severity.WARNING,
        "two entries are alike in url, target, schedule and time zone: App Engine "
        "keeps both, and the handler runs twice each time",
    ),
    "overlapping-entries": Code(
        Severity.WARNING,
        "two entries with one url and target have instants in common, at which the "
        "handler runs twice",
    ),
    "same-url": Code(
        Severity.INFO,
        "several entries share url and target: only their schedules tell them apart, "
        "so that a changed schedule makes another job of the entry",
    ),
}

_TIMES: Final = {
    "clock-change-skipped": Code(
        Severity.WARNING,
        "the schedule's time does not exist on days whose clock goes forward: no run",
    ),
    "clock-change-doubled": Code(
        Severity.WARNING,
        "the schedule's time comes twice on days whose clock goes back: two runs",
    ),
    "clock-change-window": Code(
        Severity.INFO,
        "a window of times has more or fewer runs on days of clock change",
    ),
    "clock-change-shifted": Code(
        Severity.WARNING,
        "steps are elapsed time from a window's start: on days of clock change the "
        "rest of the window runs at other times of the clock",
    ),
    "rarely-fires": Code(Severity.INFO, "the schedule asks for a run less than yearly"),
    "months-passed-over": Code(
        Severity.INFO,
        "months without the schedule's day are passed over, not served on their last",
    ),
    "interval-drifts": Code(
        Severity.INFO,
        "`every N hours` or `minutes` is counted from the end of each run: it has no "
        "fixed time of day, and starts anew when the changed entry is deployed",
    ),
    "zone-missing": Code(
        Severity.INFO,
        "an entry without `timezone` runs in UTC while its siblings name a zone",
    ),
}

_RUNS: Final = {
    "no-retries": Code(
        Severity.INFO,
        "without `retry_parameters` a failed run is not tried again, but for 503, "
        "which App Engine takes for its own error and retries without counting",
    ),
    "retry-limit-missing": Code(
        Severity.WARNING,
        "a retry block without `job_retry_limit`: Google's documents disagree on "
        "whether that means 0 or 5 retries",
    ),
    "retry-without-effect": Code(
        Severity.WARNING,
        "a retry block allows no retry: a limit of 0 and no age limit",
    ),
    "age-limit-alone": Code(
        Severity.INFO,
        "an age limit and no retry limit: documented as at most 5 retries until that "
        "age, which is not proven",
    ),
    "retry-until-both": Code(
        Severity.WARNING,
        "with both limits a run is retried until both are reached, not the first: more "
        "often than `job_retry_limit` says",
    ),
    "retries-outlast-period": Code(
        Severity.WARNING,
        "a failing run is still being retried when the next is due, which is then "
        "skipped or late",
    ),
    "deadline-outlasts-period": Code(
        Severity.WARNING,
        "`attempt_deadline` is longer than the time between runs",
    ),
    "deadline-beyond-scaling": Code(
        Severity.WARNING,
        "`attempt_deadline` is longer than the service's scaling lets a request take",
    ),
    "deadline-out-of-range": Code(
        Severity.WARNING,
        "`attempt_deadline` is outside 15 s to 24 h, all that Cloud Scheduler takes",
    ),
}

_APP: Final = {
    "login-not-enforced": Code(
        Severity.WARNING,
        "`login:` does not protect a cron url on second-generation runtimes and the "
        "flexible environment: anybody can call it unless the code checks",
    ),
    "login-refuses-cron": Code(
        Severity.WARNING,
        "`login: required` is never satisfied by cron: its requests are sent to a "
        "login page, which counts as a failed run, unless an earlier handler without "
        "`login` takes them",
    ),
    "too-many-entries": Code(
        Severity.ERROR, "App Engine takes at most 250 cron entries an app"
    ),
    "over-free-limit": Code(
        Severity.INFO, "an app without billing has at most 20 cron entries"
    ),
    "file-name": Code(
        Severity.INFO,
        "gcloud deploys cron entries only from a file called cron.yaml; others it "
        "takes for an app.yaml",
    ),
    "cron-header-checked": Code(
        Severity.WARNING,
        "code checks X-Appengine-Cron, which Cloud Scheduler does not send: after the "
        "move it would refuse the jobs, unless it takes X-CloudScheduler too",
    ),
    "deploys-cron-yaml": Code(
        Severity.WARNING,
        "a script deploys cron.yaml: after the move that would bring the old jobs "
        "back, and every run would come twice",
    ),
}

_IGNORING: Final = {
    "ignore-unused": Code(
        Severity.INFO, "an ignored code has no finding to ignore, so it can go"
    ),
    "ignore-unknown": Code(Severity.WARNING, "an ignored code is none of these codes"),
}

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    _ROUTES
    | _RULES
    | _REPEATS
    | _TIMES
    | _RUNS
    | _APP
    | _IGNORING
    | {code: Code(Severity.ERROR, reason) for code, reason in FAULTS.items()}
    | {
        code: Code(_GRAVE_REMARKS.get(code, Severity.INFO), reason)
        for code, reason in REMARKS.items()
    }
)
"""Every code; docs/audit.md lists them all."""
