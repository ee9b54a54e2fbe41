"""HTTP in, HTTP out: who asks, which run, what became of it.

The service answers everything in one place, before Flask looks at routes: whoever is
not proven learns nothing of them.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from flask import Flask, Response, request

from cronspec import naming
from cronspec.naming import read_marks
from handlers import __version__, startup, stores
from handlers.answers import Answer, answer_to, facts, said, severity
from handlers.claims import Claims
from handlers.log import JsonLog, Log, Severity, trace_fields
from handlers.once import Once
from handlers.record import RunStore, StoreError
from handlers.request import (
    Admitted,
    Refusal,
    Sender,
    TokenOffered,
    identify,
    sent_time,
)
from handlers.tasks import Tasks
from handlers.windows import CronRequest, Limits, Meant, meant_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.catalog import Catalog
    from handlers.oidc import Verifier
    from handlers.settings import Settings
    from handlers.tasks import Task

OUTCOME: Final = "X-Cron-Outcome"
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
                return _response(Answer(200, "ok"))
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
            return _response(Answer(500, "not ready"))
        self._warm = True
        return _response(Answer(200, "ok"))

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
        return _response(Answer(403, "forbidden"))

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
            return _response(Answer(404, "not found"))
        if request.method not in {"GET", "POST"}:
            answer = _response(Answer(405, "method not allowed", "failed"))
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
        return _response(answer)


def _response(answer: Answer) -> Response:
    response = Response(answer.text + "\n", answer.status, mimetype="text/plain")
    if answer.outcome:
        response.headers[OUTCOME] = answer.outcome
    if answer.retry_after:
        response.headers["Retry-After"] = answer.retry_after
    return response


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
