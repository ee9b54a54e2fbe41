"""How long an attempt may take: today, and as a job."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from migrate.choices import APP_ENGINE_DEADLINE, ToHttp
from migrate.job import MAX_APP_ENGINE_DEADLINE, MAX_HTTP_DEADLINE, MIN_DEADLINE
from migrate.notes import Note, note

if TYPE_CHECKING:
    from cronspec.config import AppFile, CronEntry
    from migrate.choices import EntryChoices


def deadline(
    entry: CronEntry, choices: EntryChoices
) -> tuple[timedelta | None, list[Note]]:
    """Give how long an attempt of the job may take; None leaves App Engine's limits."""
    chosen, of_file = choices.attempt_deadline, entry.attempt_deadline
    place = entry.place_of("attempt_deadline")
    notes = []
    if of_file is not None and chosen is None:
        text = "attempt_deadline is carried over; gcloud itself would refuse it"
        notes.append(note("attempt-deadline", text, place))
    to_http = isinstance(choices.destination, ToHttp)
    most = MAX_HTTP_DEADLINE if to_http else MAX_APP_ENGINE_DEADLINE
    today = choices.limit if of_file is None else of_file
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
        notes.append(note("deadline-cut", text, place, _uncut(choices, today, most)))
    return then, notes


def _uncut(choices: EntryChoices, today: timedelta, most: timedelta) -> str | None:
    """Say what avoids the cut: a longer deadline if one is taken, else staying."""
    if today <= most:
        said = _seconds(today).replace(" ", "")
        return f'attempt-deadline = "{said}" in the settings'
    if isinstance(choices.destination, ToHttp):
        return 'to = "app-engine" in the settings'
    return None


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
