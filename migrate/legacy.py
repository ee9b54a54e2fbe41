"""Legacy jobs: what `gcloud app deploy cron.yaml` makes, and which of it is there.

They have no names of ours and no marks. gcloud itself knows them by their full tuple
(schedule, zone, url, description, retry values, target) and counts equal ones one by
one (app_deploy_migration_util.py), and so does this. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from migrate.choices import EntryChoices, Home, Routing, Schedules
from migrate.job import to_api
from migrate.normal import form_of, with_headers
from migrate.translate import translate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cronspec.config import CronEntry
    from migrate.job import Json
    from migrate.livejob import LiveJob

__all__ = ["Paired", "form_of", "legacy_job", "pair"]

_AS_GCLOUD = EntryChoices(schedules=Schedules.GROC, routing=Routing.DECLARED)


def legacy_job(entry: CronEntry, now: datetime) -> Json:
    """Give the job that gcloud makes of an entry, without a name, as v1beta1 takes it.

    `now` is when, and decides nothing here.
    """
    bare = replace(entry, attempt_deadline=None)  # gcloud would refuse it
    choices = _AS_GCLOUD
    made = translate([bare], (), Home(None, None), lambda _e, _r: choices, now)
    plain = with_headers(to_api(made[0].jobs[0]), {})
    target = {k: v for k, v in plain["appEngineHttpTarget"].items() if k != "headers"}
    rest = {k: v for k, v in plain.items() if k != "name"}
    return rest | {"schedule": entry.schedule_text, "appEngineHttpTarget": target}


@dataclass(frozen=True, slots=True)
class Paired:
    """Each entry's legacy job in the entries' order, None where it has none.

    `others` are live legacy jobs that are no entry's: edited or removed since the
    last deployment, or of another file.
    """

    of_entries: tuple[LiveJob | None, ...]
    others: tuple[LiveJob, ...]

    def like(self, entry: CronEntry) -> tuple[LiveJob, ...]:
        """Give the legacy jobs without an entry that ask for this one's url."""
        return tuple(job for job in self.others if job.url == entry.url)


def pair(
    entries: Sequence[CronEntry], live: Sequence[LiveJob], now: datetime
) -> Paired:
    """Pair entries with the legacy jobs that gcloud would take for theirs."""
    left = list(live)
    forms = [form_of(job.resource) for job in left]
    found: list[LiveJob | None] = []
    for entry in entries:
        wanted = form_of(legacy_job(entry, now))
        if wanted in forms:
            index = forms.index(wanted)
            found.append(left.pop(index))
            forms.pop(index)
        else:
            found.append(None)
    return Paired(tuple(found), tuple(left))
