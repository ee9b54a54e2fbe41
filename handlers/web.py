"""HTTP in, HTTP out: who asks, which run, what became of it.

The service answers everything in one place, before Flask looks at routes: whoever is
not proven learns nothing of them.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from flask import Flask, Response, request

from cronspec import naming
from cronspec.naming import read_marks
from handlers import __version__, startup, stores
from handlers.claims import Claims
from handlers.log import JsonLog, Log, Severity, trace_fields
from handlers.once import (
    Duplicate,
    Elsewhere,
    Failed,
    NoStore,
    Once,
    Outcome,
    Ran,
    Skipped,
)
from handlers.record import RunStore, StoreError
from handlers.request import (
    Admitted,
    Refusal,
    Sender,
    TokenOffered,
    identify,
    sent_time,
)
from handlers.settings import Settings, StoreDown
from handlers.tasks import Tasks
from handlers.windows import CronRequest, Limits, Meant, meant_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.catalog import Catalog
    from handlers.oidc import Verifier
    from handlers.tasks import Task

OUTCOME: Final = "X-Cron-Outcome"
_RETRY_AFTER: Final = "10"
_LIFE_CYCLE_ORIGIN: Final = "0.1.0.3"


def create_app(
    settings: Settings | None = None,
    tasks: Tasks | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Flask:
    """Build the service. Raises SettingsError (a ValueError) where it cannot serve.

    Without `settings`, those of the environment; `clock` gives aware times.
    """
    host = startup.prepare(settings, tasks or Tasks(), JsonLog())
    return Service(host, clock or _utc_now).app()


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _in_utc(clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """Give the same clock in UTC: what names a register must not have an offset."""
    return lambda: clock().astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is said outside: a status, one neutral word, perhaps an outcome."""

    status: int
    text: str
    outcome: str = ""
    retry_after: str = ""

    def response(self) -> Response:
        response = Response(self.text + "\n", self.status, mimetype="text/plain")
        if self.outcome:
            response.headers[OUTCOME] = self.outcome
        if self.retry_after:
            response.headers["Retry-After"] = self.retry_after
        return response


class Service:
    """One host at work."""

    def __init__(self, host: startup.Host, clock: Callable[[], datetime]) -> None:
        settings = host.settings
        self._settings: Settings = settings
        self._tasks: Tasks = host.tasks
        self._catalog: Catalog = host.catalog
        self._store: RunStore = host.store
        self._clock = _in_utc(clock)
        self._log: Log = host.log
        self._limits: Limits = host.limits
        claims = Claims(
            host.store,
            self._clock,
            host.log,
            settings.busy_wait,
            settings.threads // 2,
            host.stopping,
        )
        self._once = Once(claims, host.log, settings.lease)
        self._verifier = _verifier(settings)
        self._warm = False

    def app(self) -> Flask:
        """Give the Flask application."""
        app = Flask("cronshift", static_folder=None)
        app.before_request(self._answer)
        return app

    # --- Doors

    def _answer(self) -> Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        now = self._clock()
        match request.path:
            case "/healthz":
                return self._health()
            case "/_ah/warmup":
                return self._warm_up()
            case "/_ah/start" | "/_ah/stop" if self._is_life_cycle(headers):
                return _Answer(200, "ok").response()
            case _:
                pass
        proof = identify(headers, request.remote_addr or "", self._settings.door)
        if isinstance(proof, TokenOffered):
            proof = (
                self._verifier.verify(proof.token, now)
                if self._verifier
                else Refusal("no setting says whose token may come in")
            )
        match proof:
            case Refusal():
                return self._refuse(headers, proof)
            case Admitted(sender):
                return self._admitted(headers, sender, now)

    def _health(self) -> Response:
        facts = {
            "version": __version__,
            "entries": self._catalog.digest,
            "store": stores.digest(self._settings.store),
        }
        return Response(json.dumps(facts) + "\n", mimetype="application/json")

    def _warm_up(self) -> Response:
        """Load the store's client before the first run needs it.

        Once an instance: anybody may ask, and the store's calls are paid for.
        """
        try:
            if not self._warm:
                self._store.check()
        except StoreError as error:
            self._log(Severity.ERROR, f"warmup: {error}")
            return _Answer(500, "not ready").response()
        self._warm = True
        return _Answer(200, "ok").response()

    def _is_life_cycle(self, headers: Mapping[str, str]) -> bool:
        """Tell App Engine's own start and stop: refused, no instance would start."""
        origin = headers.get("x-appengine-user-ip")
        strips = self._settings.door.platform.strips_headers
        return strips and origin == _LIFE_CYCLE_ORIGIN

    def _refuse(self, headers: Mapping[str, str], refusal: Refusal) -> Response:
        self._log(
            Severity.WARNING,
            f"refused: {refusal.reason}" + (f" ({refusal.fix})" if refusal.fix else ""),
            url=_url()[:500],
            outcome="refused",
            **trace_fields(headers, self._settings.project),
        )
        return _Answer(403, "forbidden").response()

    # --- Runs

    def _admitted(
        self, headers: Mapping[str, str], sender: Sender, now: datetime
    ) -> Response:
        url = _url()
        task = self._tasks.at(url)
        fields = {
            "url": url[:500],
            "sender": sender.value,
            **_queue_fields(headers),
            **trace_fields(headers, self._settings.project),
        }
        if task is None:
            self._log(
                Severity.ERROR,
                "no task has this url: a run that was asked for does not happen",
                outcome="unknown",
                **fields,
            )
            return _Answer(404, "not found").response()
        if request.method not in {"GET", "POST"}:
            answer = _Answer(405, "method not allowed", "failed").response()
            answer.headers["Allow"] = "GET, POST"
            return answer
        cron_request = CronRequest(
            sender=sender,
            url=url,
            scope=self._scope(headers, sender),
            job_name=headers.get("x-cloudscheduler-jobname", "")[:500],
            sent=sent_time(headers, now),
            marks=read_marks(headers),
        )
        meant = meant_by(cron_request, self._catalog, self._limits, now)
        return self._run(meant, sender, url, task, fields)

    def _scope(self, headers: Mapping[str, str], sender: Sender) -> str:
        """Give what keeps apart jobs of other projects or regions: only they can say.

        An App Engine target lives in the app's own project, whatever a header says.
        """
        named = headers.get(naming.SCOPE_HEADER.lower(), "")
        return named if sender is Sender.OIDC and named else self._settings.scope

    def _run(
        self,
        meant: Meant,
        sender: Sender,
        url: str,
        task: Task,
        fields: Mapping[str, str],
    ) -> Response:
        for warning in meant.warnings:
            self._log(Severity.WARNING, warning, **fields)
        started = time.monotonic()
        outcome = self._once.run(meant.candidates, sender.value, url, task)
        answer = self._answer_to(outcome, sender)
        first = meant.candidates[0].key
        self._log(
            _severity(outcome),
            _said(outcome),
            outcome=answer.outcome,
            status=answer.status,
            duration=round(time.monotonic() - started, 3),
            **{"entry": first.entry, "window": str(first.window), **_facts(outcome)},
            **fields,
        )
        return answer.response()

    def _answer_to(self, outcome: Outcome, sender: Sender) -> _Answer:
        match outcome:
            case Ran():
                return _Answer(200, "ran", "ran")
            case Duplicate():
                return _Answer(200, "done before", "duplicate")
            case Skipped():
                return _Answer(200, "skipped", "skipped")
            case Elsewhere():
                # Never 503: App Engine would try again without counting.
                return _Answer(409, "under way", "busy")
            case Failed():
                return _Answer(500, "failed", "failed")
            case NoStore():
                return self._without_store(sender)

    def _without_store(self, sender: Sender) -> _Answer:
        """Nothing was done, so 503 is right where App Engine retries it for free."""
        retried = sender in {Sender.CRON, Sender.SCHEDULER}
        if retried and self._settings.store_down is StoreDown.RETRY:
            return _Answer(503, "later", "failed", _RETRY_AFTER)
        return _Answer(500, "failed", "failed")


def _verifier(settings: Settings) -> Verifier | None:
    """Give what checks tokens, if any may come."""
    if settings.oidc is None:
        return None
    # What it brings along takes a tenth of a second of every cold start.
    from handlers.oidc import Certificates, Verifier  # noqa: PLC0415 - see above

    certificates = Certificates(settings.oidc.certs_url)
    return Verifier(settings.oidc, settings.door.platform, certificates)


def _url() -> str:
    """Give the request's path and query as they were sent."""
    environ = request.environ
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    if not raw:
        query = environ.get("QUERY_STRING", "")
        raw = quote(request.path) + (f"?{query}" if query else "")
    if not raw.startswith("/"):  # the absolute form, as proxies may send it
        parts = urlsplit(raw)
        raw = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return raw


def _queue_fields(headers: Mapping[str, str]) -> dict[str, str]:
    """Give what App Engine's cron tells of its queue: undocumented, and not needed."""
    told = {
        "task_name": headers.get("x-appengine-taskname", ""),
        "task_retries": headers.get("x-appengine-taskretrycount", ""),
    }
    return {name: value[:500] for name, value in told.items() if value}


def _severity(outcome: Outcome) -> Severity:
    match outcome:
        case Failed() | NoStore() | Ran(written=False):
            return Severity.ERROR
        case _:
            return Severity.INFO


def _said(outcome: Outcome) -> str:
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


def _facts(outcome: Outcome) -> dict[str, object]:
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
