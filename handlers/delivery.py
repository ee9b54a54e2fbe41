"""A proven request: which run it means, done once, answered, and logged in a line."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec import naming
from handlers.answers import Answer, answer_to, facts, said, severity
from handlers.claims import Claims
from handlers.log import Severity, trace_fields
from handlers.once import Once
from handlers.request import Sender, sent_time
from handlers.windows import CronRequest, Meant, meant_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from handlers.startup import Host
    from handlers.tasks import Task

_RUNS: Final = ("GET", "POST")
_LONGEST: Final = 500  # characters that a sender's word may take in a line of the log


@dataclass(frozen=True, slots=True)
class Delivery:
    """A request from a proven sender; the names of `headers` are in lower case."""

    sender: Sender
    method: str
    url: str
    headers: Mapping[str, str]
    at: datetime


class Deliveries:
    """Answers deliveries, for all threads of a process. `clock` gives UTC."""

    def __init__(self, host: Host, clock: Callable[[], datetime]) -> None:
        settings = host.settings
        self._host = host
        self._settings = settings
        self._log = host.log
        claims = Claims(
            host.store,
            clock,
            host.log,
            settings.busy_wait,
            settings.threads // 2,
            host.stopping,
        )
        self._once = Once(claims, host.log, settings.lease)

    def answer(self, delivery: Delivery) -> Answer:
        """Let the run take place that is asked for, unless it has."""
        fields = self._fields(delivery)
        task = self._host.tasks.at(delivery.url)
        if task is None:
            self._log(
                Severity.ERROR,
                "no task has this url: a run that was asked for does not happen",
                outcome="unknown",
                status=404,
                **fields,
            )
            return Answer(404, "not found")
        if delivery.method not in _RUNS:
            self._log(
                Severity.ERROR,
                f"{delivery.method[:_LONGEST]} runs nothing: GET and POST do",
                outcome="failed",
                status=405,
                **fields,
            )
            allowed = {"Allow": ", ".join(_RUNS)}
            return Answer(405, "method not allowed", "failed", allowed)
        return self._run(delivery, task, fields)

    def _fields(self, delivery: Delivery) -> dict[str, str]:
        """Give what each line about a delivery says.

        What App Engine's cron tells of its queue is undocumented, and not needed.
        """
        told = {
            "url": delivery.url,
            "task_name": delivery.headers.get("x-appengine-taskname", ""),
            "task_retries": delivery.headers.get("x-appengine-taskretrycount", ""),
        }
        return {
            "sender": delivery.sender.value,
            **{name: value[:_LONGEST] for name, value in told.items() if value},
            **trace_fields(delivery.headers, self._settings.project),
        }

    def _run(self, delivery: Delivery, task: Task, fields: Mapping[str, str]) -> Answer:
        meant = self._meant(delivery)
        for warning in meant.warnings:
            self._log(Severity.WARNING, warning, **fields)
        started = time.monotonic()
        sender = delivery.sender
        outcome = self._once.run(meant.candidates, sender.value, delivery.url, task)
        answer = answer_to(outcome, sender, self._settings.store_down)
        first = meant.candidates[0].key
        self._log(
            severity(outcome),
            said(outcome),
            outcome=answer.outcome,
            status=answer.status,
            duration=round(time.monotonic() - started, 3),
            **{"entry": first.entry, "window": str(first.window), **facts(outcome)},
            **fields,
        )
        return answer

    def _meant(self, delivery: Delivery) -> Meant:
        headers = delivery.headers
        asked = CronRequest(
            sender=delivery.sender,
            url=delivery.url,
            scope=self._scope(delivery),
            job_name=headers.get("x-cloudscheduler-jobname", "")[:_LONGEST],
            sent=sent_time(headers, delivery.at),
            marks=naming.read_marks(headers),
        )
        return meant_by(asked, self._host.catalog, self._host.limits, delivery.at)

    def _scope(self, delivery: Delivery) -> str:
        """Give what keeps apart jobs of other projects or regions: only they can say.

        An App Engine target lives in the app's own project, whatever a header says.
        """
        named = delivery.headers.get(naming.SCOPE_HEADER.lower(), "")
        by_token = delivery.sender is Sender.OIDC
        return named if by_token and named else self._settings.scope
