"""Entries of cron.yaml as Cloud Scheduler jobs: the only file that knows both words.

What Google's own `gcloud app deploy cron.yaml` sends for an entry is the measure
(app_deploy_migration_util.py): method GET, the url byte for byte, UTC where no zone
is given, all retry values written out where there is a block and none where there is
none. Each entry becomes a `Translation`: its jobs, what was noted on the way, and
verdicts on whether they do what the entry does today.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cronspec import retry, routing
from cronspec.naming import Marks, entry_keys, identity
from cronspec.zones import canonical
from migrate import equivalence
from migrate.choices import APP_ENGINE_DEADLINE, Routing, ToAppEngine, ToHttp
from migrate.job import (
    MAX_APP_ENGINE_DEADLINE,
    MAX_HTTP_DEADLINE,
    MIN_DEADLINE,
    AppEngineHttpTarget,
    AppEngineRouting,
    HttpTarget,
    Job,
    JobName,
    OidcToken,
    RetryConfig,
)
from migrate.notes import Level, Note, note
from migrate.reschedule import reschedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cronspec.config import AppFile, CronEntry, DispatchRule, Place
    from migrate.choices import EntryChoices, Home
    from migrate.equivalence import RetryVerdict, Verdict

MAX_URI_LENGTH: Final = 2083
PLACEHOLDER_PROJECT: Final = "PROJECT"
PLACEHOLDER_LOCATION: Final = "LOCATION"


@dataclass(frozen=True, slots=True)
class RouteVerdict:
    """Which service the entry's requests reach today, and which the jobs' will."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Translation:
    """One entry's jobs (none where a note blocks it), notes and verdicts."""

    entry: CronEntry
    key: str
    jobs: tuple[Job, ...]
    notes: tuple[Note, ...]
    schedule: Verdict
    retry: RetryVerdict
    route: RouteVerdict
    accept: frozenset[str] = frozenset()

    def of_level(self, level: Level) -> tuple[Note, ...]:
        """Give the notes of one level, accepted losses included."""
        return tuple(n for n in self.notes if n.level is level)

    @property
    def unaccepted(self) -> tuple[Note, ...]:
        """The losses that nobody has accepted."""
        return tuple(n for n in self.of_level(Level.LOSS) if n.code not in self.accept)


def translate(
    entries: Sequence[CronEntry],
    rules: Sequence[DispatchRule],
    home: Home,
    choose: Callable[[CronEntry, routing.Route], EntryChoices],
    now: datetime,
) -> list[Translation]:
    """Translate all entries of one set, in order. `choose` gives each its choices."""
    identities = [identity(entry) for entry in entries]
    copies = Counter(identities)
    translations = []
    keys = entry_keys(identities)
    for entry, known_by, key in zip(entries, identities, keys, strict=True):
        route = routing.effective(entry.url, entry.target, rules, home.project)
        choices = choose(entry, route)
        one = _Entry(entry, key, rules, route, home, choices)
        translations.append(one.translation(copies[known_by], now))
    return translations


@dataclass(frozen=True, slots=True)
class _Entry:
    """The translation of one entry, part by part."""

    entry: CronEntry
    key: str
    rules: Sequence[DispatchRule]
    route: routing.Route
    home: Home
    choices: EntryChoices

    def translation(self, copies: int, now: datetime) -> Translation:
        schedules = reschedule(self.entry, self.choices, now)
        target, target_notes = self._target()
        deadline, deadline_notes = self._deadline()
        config, retry_notes = self._retry_config()
        notes = [
            *schedules.notes,
            *target_notes,
            *deadline_notes,
            *retry_notes,
            *self._other_notes(copies),
        ]
        jobs: tuple[Job, ...] = ()
        if all(n.level is not Level.BLOCK for n in notes):
            jobs = tuple(
                Job(
                    name=self._name(number),
                    description=self.entry.description or "",
                    schedule=text,
                    time_zone=self._timezone,
                    target=replace(target, headers=self._marks(text)),
                    retry_config=config,
                    attempt_deadline=deadline,
                )
                for number, text in enumerate(schedules.texts, start=1)
            )
        return Translation(
            entry=self.entry,
            key=self.key,
            jobs=jobs,
            notes=tuple(notes),
            schedule=schedules.verdict,
            retry=self._retry_verdict(config),
            route=RouteVerdict(self.route.service, self._route_after(target)),
            accept=self.choices.accept,
        )

    # Name and marks

    @property
    def _timezone(self) -> str:
        return self.entry.timezone or "UTC"

    def _name(self, number: int) -> JobName:
        part = f"-{number}" if number > 1 else ""
        return JobName(
            self.home.project or PLACEHOLDER_PROJECT,
            self.home.location or PLACEHOLDER_LOCATION,
            self.key + part,
        )

    def _marks(self, schedule: str) -> Mapping[str, str]:
        name = self._name(1)
        scope = f"{name.project}/{name.location}"
        marks = Marks(self.key, schedule, self._timezone, scope, self.home.job_set)
        return marks.headers()

    def _at(self, *keys: str) -> Place:
        """Give the place of the first of these values that the entry has."""
        for key in keys:
            if key in self.entry.places:
                return self.entry.places[key]
        return self.entry.place

    # Target

    def _target(self) -> tuple[AppEngineHttpTarget | HttpTarget, list[Note]]:
        match self.choices.destination:
            case ToAppEngine():
                found, notes = self._app_engine_routing()
                return AppEngineHttpTarget(self.entry.url, found), notes
            case ToHttp() as to:
                return self._http_target(to)

    def _app_engine_routing(self) -> tuple[AppEngineRouting | None, list[Note]]:
        sent_to = routing.parse_target(self.entry.target)
        declared = (
            None
            if self.entry.target is None
            else AppEngineRouting(sent_to.service, sent_to.version)
        )
        place = self._at("target", "url")
        if sent_to.version:
            text = (
                f"pinned to version {sent_to.version!r} of {sent_to.service!r}: "
                "dispatch rules and traffic moves pass it by, and it dies with it"
            )
            return declared, [note("version-pinned", text, place)]
        rule = self.route.rule
        if rule is None:
            return declared, []
        where = f"dispatch.yaml sends it to {rule.service!r} ({rule.place})"
        winner = AppEngineRouting(rule.service)
        stays = self._reached(winner) == self.route.service
        if self.choices.routing is Routing.DECLARED or not stays:
            text = f"{where}, whatever service the job names"
            return declared, [note("dispatch-decides", text, place)]
        return winner, [note("dispatch-written", f"{where}; the job names it", place)]

    def _reached(self, named: AppEngineRouting | None) -> str:
        """Give the service that a job's request reaches, dispatch counted in."""
        target = None
        if named is not None:
            pinned = f":{named.version}" if named.version else ""
            target = named.service + pinned
        return routing.effective(
            self.entry.url, target, self.rules, self.home.project
        ).service

    def _route_after(self, target: AppEngineHttpTarget | HttpTarget) -> str:
        match target:
            case AppEngineHttpTarget(routing=named):
                return self._reached(named)
            case HttpTarget():
                return self.route.service

    def _http_target(self, to: ToHttp) -> tuple[HttpTarget, list[Note]]:
        uri = to.base_url.rstrip("/") + self.entry.url
        token = OidcToken(to.service_account_email, to.audience)
        notes = [
            note(
                "http-target",
                f"becomes a request to {uri}: 503 counts as a failure, redirects are "
                f"followed, X-Appengine-… is gone; {to.service_account_email} needs "
                "roles/run.invoker, who makes the job iam.serviceAccounts.actAs",
                self._at("url"),
            )
        ]
        if len(uri) > MAX_URI_LENGTH:
            text = f"{len(uri)} characters; an HTTP target takes {MAX_URI_LENGTH}"
            notes.append(note("uri-too-long", text, self._at("url")))
        return HttpTarget(uri, token), notes

    # Deadline

    def _deadline(self) -> tuple[timedelta | None, list[Note]]:
        chosen, of_file = self.choices.attempt_deadline, self.entry.attempt_deadline
        place = self._at("attempt_deadline")
        notes = []
        if of_file is not None and chosen is None:
            text = "attempt_deadline is carried over; gcloud itself would refuse it"
            notes.append(note("attempt-deadline", text, place))
        to_http = isinstance(self.choices.destination, ToHttp)
        most = MAX_HTTP_DEADLINE if to_http else MAX_APP_ENGINE_DEADLINE
        today = self.choices.limit if of_file is None else of_file
        said = of_file if chosen is None else chosen
        if said is None and not to_http:
            return None, notes  # unset, App Engine's own limits go on
        wanted = today if said is None else said
        if wanted < MIN_DEADLINE or (chosen is not None and chosen > most):
            text = (
                f"{_seconds(wanted)} is not within the {_seconds(MIN_DEADLINE)} to "
                f"{_seconds(most)} that this target takes"
            )
            notes.append(note("deadline-out-of-range", text, place))
        then = min(wanted, most)
        if then < today:
            text = f"attempts may take {_seconds(today)} today, {_seconds(then)} then"
            notes.append(note("deadline-cut", text, place, self._uncut(today, most)))
        return then, notes

    def _uncut(self, today: timedelta, most: timedelta) -> str | None:
        """Say what avoids the cut: a longer deadline if one is taken, else staying."""
        if today <= most:
            return f'attempt-deadline = "{_seconds(today).replace(" ", "")}"'
        if isinstance(self.choices.destination, ToHttp):
            return "keep it an App Engine target"
        return None

    # Retries

    def _retry_config(self) -> tuple[RetryConfig | None, list[Note]]:
        params = self.entry.retry
        if params is None:
            return None, []
        known = retry.policy(params, self.choices.missing_retry_limit)
        config = RetryConfig(
            retry_count=known.limit,
            max_retry_duration=known.age_limit,
            min_backoff=known.min_backoff,
            max_backoff=known.max_backoff,
            max_doublings=known.max_doublings,
        )
        return config, self._retry_notes(known)

    def _retry_notes(self, known: retry.RetryPolicy) -> list[Note]:
        params = self.entry.retry
        block = self._at("retry_parameters")
        notes = []
        if params is not None and params.job_retry_limit is None:
            text = (
                f"no job_retry_limit: taken as {known.limit} (today's documentation "
                "says 0, that of 2016 said 5)"
            )
            other = 0 if known.limit else retry.MAX_RETRIES
            option = f"--missing-retry-limit {other}"
            notes.append(note("retry-limit-missing", text, block, option))
        if known.age_limit and not known.limit:
            text = "an age limit alone: at most 5 retries until then, says Google"
            place = self._at("retry_parameters.job_age_limit")
            notes.append(note("age-limit-alone", text, place))
        if known.limit and known.min_backoff < 5:
            text = (
                f"waits from {known.min_backoff:g} s on, under the 5 s of an old text"
            )
            place = self._at("retry_parameters.min_backoff_seconds", "retry_parameters")
            notes.append(note("short-backoff", text, place))
        return notes

    def _retry_verdict(self, config: RetryConfig | None) -> RetryVerdict:
        today = retry.policy(self.entry.retry, self.choices.missing_retry_limit)
        if config is None:
            return equivalence.retries(today, retry.NO_RETRIES)
        then = retry.RetryPolicy(
            limit=config.retry_count,
            age_limit=config.max_retry_duration,
            min_backoff=config.min_backoff,
            max_backoff=config.max_backoff,
            max_doublings=config.max_doublings,
        )
        return equivalence.retries(today, then)

    # The rest

    def _other_notes(self, copies: int) -> list[Note]:
        notes = []
        if copies > 1:
            text = f"{copies} entries are identical: {copies} jobs, which all fire"
            notes.append(note("identical-entries", text, self.entry.place))
        for rule in self.route.unsure:
            text = (
                f"the rule at {rule.place} is for host {rule.host!r}, which may be "
                "the app's own; name the project to be sure"
            )
            notes.append(note("route-unsure", text, rule.place, "--project"))
        if canonical(self._timezone) != self._timezone:
            text = f"{self._timezone!r} is spelt {canonical(self._timezone)!r}"
            notes.append(note("zone-spelling", text, self._at("timezone")))
        return notes


def attempt_limit(app: AppFile) -> timedelta:
    """Give how long App Engine lets an attempt on a service take.

    Ten minutes with automatic scaling, 24 hours with basic and manual, an hour in the
    flexible environment (Cloud Scheduler API, Job.attemptDeadline).
    """
    if app.flexible:
        return timedelta(hours=1)
    automatic = app.scaling == "automatic"
    return APP_ENGINE_DEADLINE if automatic else timedelta(hours=24)


def _seconds(value: timedelta) -> str:
    return f"{value.total_seconds():g} s"
