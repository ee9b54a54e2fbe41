"""Entries of cron.yaml as Cloud Scheduler jobs: the only room that knows both words.

What Google's own `gcloud app deploy cron.yaml` sends for an entry is the measure
(app_deploy_migration_util.py): method GET, the url byte for byte, UTC where no zone
is given, all retry values written out where there is a block and none where there is
none. Each entry becomes a `Translation`: its jobs, what was noted on the way, and
verdicts on whether they do what the entry does today.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cronspec.naming import Marks, entry_keys, identity
from cronspec.zones import canonical
from migrate.job import Job, JobName
from migrate.notes import Level, Note, note
from migrate.translate import retries
from migrate.translate.deadline import attempt_limit, deadline
from migrate.translate.retries import retry_config
from migrate.translate.schedules import reschedule
from migrate.translate.target import Router

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cronspec.config import CronEntry, DispatchRule
    from cronspec.routing import Route
    from migrate.choices import EntryChoices, Home
    from migrate.verdict import RetryVerdict, Verdict

__all__ = [
    "PLACEHOLDER_LOCATION",
    "PLACEHOLDER_PROJECT",
    "RouteVerdict",
    "Translation",
    "attempt_limit",
    "file_notes",
    "translate",
]

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
    choose: Callable[[CronEntry, Route], EntryChoices],
    now: datetime,
) -> list[Translation]:
    """Translate all entries of one set, in order. `choose` gives each its choices."""
    identities = [identity(entry) for entry in entries]
    copies = Counter(identities)
    translations = []
    keys = entry_keys(identities)
    for entry, known_by, key in zip(entries, identities, keys, strict=True):
        router = Router(entry, rules, home.project)
        one = _Entry(entry, key, router, home, choose(entry, router.today))
        translations.append(one.translation(copies[known_by], now))
    return translations


def file_notes(entries: Sequence[CronEntry]) -> list[Note]:
    """Give what holds for every job of the files."""
    if not entries:
        return []
    text = (
        "Cloud Scheduler does not send X-Appengine-Cron: code that checks it must take "
        "X-CloudScheduler from 0.1.0.2 as well before the move"
    )
    return [note("cron-header-gone", text, None)]


@dataclass(frozen=True, slots=True)
class _Entry:
    """The translation of one entry, part by part."""

    entry: CronEntry
    key: str
    router: Router
    home: Home
    choices: EntryChoices

    def translation(self, copies: int, now: datetime) -> Translation:
        schedules = reschedule(self.entry, self.choices, now)
        router = self.router
        target, target_notes = router.target(self.choices)
        limit, deadline_notes = deadline(self.entry, self.choices)
        config, retry_notes = retry_config(self.entry, self.choices)
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
                    attempt_deadline=limit,
                )
                for number, text in enumerate(schedules.texts, start=1)
            )
        return Translation(
            entry=self.entry,
            key=self.key,
            jobs=jobs,
            notes=tuple(notes),
            schedule=schedules.verdict,
            retry=retries.verdict(self.entry, self.choices, config),
            route=RouteVerdict(router.today.service, router.reached_by(target)),
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

    # The rest

    def _other_notes(self, copies: int) -> list[Note]:
        notes = []
        if copies > 1:
            text = f"{copies} entries are identical: {copies} jobs, which all fire"
            notes.append(note("identical-entries", text, self.entry.place))
        for rule in self.router.today.unsure:
            text = (
                f"the rule at {rule.place} is for host {rule.host!r}, which may be "
                "the app's own; name the project to be sure"
            )
            notes.append(note("route-unsure", text, rule.place, "--project"))
        if canonical(self._timezone) != self._timezone:
            text = f"{self._timezone!r} is spelt {canonical(self._timezone)!r}"
            notes.append(note("zone-spelling", text, self.entry.place_of("timezone")))
        return notes
