"""Findings on `attempt_deadline`: against the period, the scaling, the API's range."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from migrate.audit.evidence import zone_of
from migrate.audit.finding import told
from migrate.audit.spacing import period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cronspec.config import AppFile, CronEntry
    from migrate.audit.evidence import Evidence, Routed
    from migrate.audit.finding import Finding

# What Cloud Scheduler takes for App Engine targets (REST v1, Job.attemptDeadline).
_LEAST: Final = timedelta(seconds=15)
_MOST: Final = timedelta(hours=24)


def check(evidence: Evidence, routed: Sequence[Routed]) -> Iterator[Finding]:
    """Tell the deadlines that something else makes void."""
    services = {one.destination.place: one.route.service for one in routed}
    apps = {app.service: app for app in reversed(evidence.apps)}
    for entry in evidence.entries:
        if entry.attempt_deadline is not None:
            app = apps.get(services.get(entry.place, ""))
            yield from _deadline(evidence, entry, entry.attempt_deadline, app)


def _deadline(
    evidence: Evidence, entry: CronEntry, deadline: timedelta, app: AppFile | None
) -> Iterator[Finding]:
    place = entry.place_of("attempt_deadline")
    said = f"attempt_deadline of {deadline.total_seconds():g} s"
    if not _LEAST <= deadline <= _MOST:
        yield told(
            "deadline-out-of-range",
            place,
            f"{said} is outside the 15 s to 24 h that Cloud Scheduler takes",
        )
    gap = period(entry.schedule, zone_of(entry), evidence.now, deadline)
    if gap is not None and gap < deadline:
        yield told(
            "deadline-outlasts-period",
            place,
            f"{said}, but the next run is due after {gap.total_seconds():g} s: a long "
            "run makes it skip or wait",
        )
    if app is not None and deadline > _limit(app):
        kind = "the flexible environment" if app.flexible else f"{app.scaling} scaling"
        yield told(
            "deadline-beyond-scaling",
            place,
            f"{said} is more than the {_limit(app).total_seconds():g} s that {kind} "
            f"gives a request to {app.service} ({app.file})",
        )


def _limit(app: AppFile) -> timedelta:
    """Give how long a request may take (App Engine's pages on instances and cron)."""
    if app.flexible:
        return timedelta(hours=1)
    return timedelta(minutes=10) if app.scaling == "automatic" else timedelta(hours=24)
