"""The words of the files: which keys each mapping may have, and slips for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The keys that a mapping may have; `hints` says why others are none."""

    what: str
    keys: tuple[str, ...]
    hints: Dict[str, str]


CRON_TOP: Final = Vocabulary(
    "the top level of a cron.yaml",
    ("cron", "application"),
    {
        "version": "only AWS Elastic Beanstalk's cron.yaml has one; remove it",
        "jobs": "did you mean 'cron'?",
        "dispatch": "dispatch rules go into dispatch.yaml",
        "queue": "queues go into queue.yaml",
    },
)
_SIDE: Final = "cron.yaml cannot say it; leave it out"
ENTRY: Final = Vocabulary(
    "an entry",
    (
        "url",
        "schedule",
        "timezone",
        "description",
        "retry_parameters",
        "target",
        "attempt_deadline",
    ),
    {
        "method": "App Engine cron always sends GET; remove it",
        "http_method": "App Engine cron always sends GET; remove it",
        "headers": _SIDE,
        "body": f"App Engine cron always sends GET; {_SIDE}",
        "paused": _SIDE,
        "enabled": _SIDE,
        "name": "did you mean 'description'?",
        "service": "did you mean 'target'?",
        "module": "did you mean 'target'?",
        "version": "did you mean 'target'?",
        "cron": "did you mean 'schedule'?",
        "time_zone": "did you mean 'timezone'?",
        "retry": "did you mean 'retry_parameters'?",
        "job_retry_limit": "it goes into 'retry_parameters:', indented below it",
        "job_age_limit": "it goes into 'retry_parameters:', indented below it",
        "min_backoff_seconds": "it goes into 'retry_parameters:', indented below it",
        "max_backoff_seconds": "it goes into 'retry_parameters:', indented below it",
        "max_doublings": "it goes into 'retry_parameters:', indented below it",
        "<<": "gcloud knows no merge keys; write the values out",
        "login": "that goes into app.yaml's handlers",
    },
)
RETRY: Final = Vocabulary(
    "retry_parameters",
    (
        "job_retry_limit",
        "job_age_limit",
        "min_backoff_seconds",
        "max_backoff_seconds",
        "max_doublings",
    ),
    {
        "task_retry_limit": "that is queue.yaml's; did you mean 'job_retry_limit'?",
        "task_age_limit": "that is queue.yaml's; did you mean 'job_age_limit'?",
        "retry_count": "that is Cloud Scheduler's; did you mean 'job_retry_limit'?",
        "retry_limit": "did you mean 'job_retry_limit'?",
        "age_limit": "did you mean 'job_age_limit'?",
    },
)
DISPATCH_TOP: Final = Vocabulary(
    "the top level of a dispatch.yaml",
    ("dispatch", "application"),
    {"cron": "cron entries go into cron.yaml"},
)
RULE: Final = Vocabulary(
    "a rule",
    ("url", "service", "module"),
    {
        "target": "did you mean 'service'?",
        "host": "did you mean 'url'? It takes host and path: 'example.com/x/*'",
        "path": "did you mean 'url'? It takes host and path: '*/x/*'",
        "<<": "gcloud knows no merge keys; write the values out",
    },
)
