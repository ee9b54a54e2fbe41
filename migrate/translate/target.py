"""Where a job's requests go: the service that is reached today, or an HTTP target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cronspec import routing
from migrate.choices import Routing, ToAppEngine, ToHttp
from migrate.job import AppEngineHttpTarget, AppEngineRouting, HttpTarget, OidcToken
from migrate.notes import Note, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cronspec.config import CronEntry, DispatchRule
    from migrate.choices import EntryChoices

MAX_URI_LENGTH: Final = 2083


class Router:
    """Follows an entry's request today, and a job's then, through dispatch.yaml."""

    def __init__(
        self, entry: CronEntry, rules: Sequence[DispatchRule], project: str | None
    ) -> None:
        self._entry = entry
        self._rules = rules
        self._project = project
        self.today = self._follow(entry.target)

    def _follow(self, target: str | None) -> routing.Route:
        return routing.effective(self._entry.url, target, self._rules, self._project)

    def reached(self, named: AppEngineRouting | None) -> str:
        """Give the service that a job's request reaches, dispatch counted in."""
        if named is None:
            return self._follow(None).service
        pinned = f":{named.version}" if named.version else ""
        return self._follow(named.service + pinned).service

    def target(
        self, choices: EntryChoices
    ) -> tuple[AppEngineHttpTarget | HttpTarget, list[Note]]:
        """Give the job's target, without its headers."""
        match choices.destination:
            case ToAppEngine():
                named, notes = self._app_engine_routing(choices.routing)
                return AppEngineHttpTarget(self._entry.url, named), notes
            case ToHttp() as to:
                return self._http_target(to)

    def reached_by(self, target: AppEngineHttpTarget | HttpTarget) -> str:
        """Give the service that the job's requests will reach."""
        match target:
            case AppEngineHttpTarget(routing=named):
                return self.reached(named)
            case HttpTarget():
                return self.today.service

    def _app_engine_routing(
        self, choice: Routing
    ) -> tuple[AppEngineRouting | None, list[Note]]:
        declared = _declared(self._entry.target)
        place = self._entry.place_of("target", "url")
        if declared is not None and declared.version:
            text = (
                f"pinned to version {declared.version!r} of {declared.service!r}: "
                "dispatch rules and traffic moves pass it by, and it dies with it"
            )
            return declared, [note("version-pinned", text, place)]
        rule = self.today.rule
        if rule is None:
            return declared, []
        where = f"dispatch.yaml sends it to {rule.service!r} ({rule.place})"
        winner = AppEngineRouting(rule.service)
        # Named, the service has a host of its own, which another rule may be for.
        stays = self.reached(winner) == self.today.service
        if choice is Routing.DECLARED or not stays:
            text = f"{where}, whatever service the job names"
            return declared, [note("dispatch-decides", text, place)]
        return winner, [note("dispatch-written", f"{where}; the job names it", place)]

    def _http_target(self, to: ToHttp) -> tuple[HttpTarget, list[Note]]:
        uri = to.base_url.rstrip("/") + self._entry.url
        token = OidcToken(to.service_account_email, to.audience)
        place = self._entry.place_of("url")
        text = (
            f"becomes a request to {uri}: 503 counts as a failure, redirects are "
            f"followed, X-Appengine-… is gone; {to.service_account_email} needs "
            "roles/run.invoker, who makes the job iam.serviceAccounts.actAs"
        )
        notes = [note("http-target", text, place)]
        if len(uri) > MAX_URI_LENGTH:
            text = f"{len(uri)} characters; an HTTP target takes {MAX_URI_LENGTH}"
            notes.append(note("uri-too-long", text, place))
        return HttpTarget(uri, token), notes


def _declared(target: str | None) -> AppEngineRouting | None:
    if target is None:
        return None
    sent_to = routing.parse_target(target)
    return AppEngineRouting(sent_to.service, sent_to.version)
