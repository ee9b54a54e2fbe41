"""HTTP in, HTTP out: who asks, and what is answered.

The service answers everything in one place, before Flask looks at routes: whoever is
not proven learns nothing of them.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from flask import Flask, Response, request

from handlers import startup, stores
from handlers.answers import Answer
from handlers.delivery import Deliveries, Delivery
from handlers.log import JsonLog, Severity, trace_fields
from handlers.record import StoreError
from handlers.request import (
    Admitted,
    Refusal,
    TokenOffered,
    identify,
)
from handlers.tasks import Tasks
from handlers.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.oidc import Verifier
    from handlers.settings import Settings

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
        self._host = host
        self._settings = host.settings
        self._clock = _in_utc(clock)
        self._deliveries = Deliveries(host, self._clock)
        self._verifier = _verifier(host.settings)
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
            # Cloud Run's front end keeps the first for itself, and lets the second by.
            case "/healthz" | "/healthz/":
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
                asked = Delivery(sender, request.method, _url(), headers, now)
                return _response(self._deliveries.answer(asked))

    def _health(self) -> Response:
        facts = {
            "version": VERSION,
            "entries": self._host.catalog.digest,
            "store": stores.digest(self._settings.store),
        }
        return Response(json.dumps(facts) + "\n", mimetype="application/json")

    def _warm_up(self) -> Response:
        """Load the store's client before the first run needs it.

        Once an instance: anybody may ask, and the store's calls are paid for.
        """
        try:
            if not self._warm:
                self._host.store.check()
        except StoreError as error:
            self._host.log(Severity.ERROR, f"warmup: {error}")
            return _response(Answer(500, "not ready"))
        self._warm = True
        return _response(Answer(200, "ok"))

    def _is_life_cycle(self, headers: Mapping[str, str]) -> bool:
        """Tell App Engine's own start and stop: refused, no instance would start."""
        origin = headers.get("x-appengine-user-ip")
        strips = self._settings.door.platform.strips_headers
        return strips and origin == _LIFE_CYCLE_ORIGIN

    def _refuse(self, headers: Mapping[str, str], refusal: Refusal) -> Response:
        self._host.log(
            Severity.WARNING,
            f"refused: {refusal.reason}" + (f" ({refusal.fix})" if refusal.fix else ""),
            url=_url()[:500],
            outcome="refused",
            status=403,
            **trace_fields(headers, self._settings.project),
        )
        return _response(Answer(403, "forbidden"))


def _response(answer: Answer) -> Response:
    response = Response(answer.text + "\n", answer.status, mimetype="text/plain")
    response.headers.update(answer.headers)
    if answer.outcome:
        response.headers[OUTCOME] = answer.outcome
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
