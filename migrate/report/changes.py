"""`plan`: what changes, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cronspec.schedule import EndTimeInterval, ScheduleError, ticks
from cronspec.zones import ZoneError, load
from migrate.livejob import State, url_of
from migrate.plan import Create, Delete, Finish, Update, name_of, url_of_change
from migrate.report.explanation import read
from migrate.report.words import duration, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from migrate.job import Json
    from migrate.livejob import LiveJob
    from migrate.normal import FieldDiff
    from migrate.plan import Change, Plan

PRICE: Final = 0.10
"""US dollars a job a month; the first three of a billing account are free.

https://cloud.google.com/scheduler/pricing
"""
_FREE: Final = 3
_RUNS: Final = 3
_LOOKS: Final = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "finish": ("~", "yellow"),
    "delete": ("-", "red"),
}


@dataclass(frozen=True, slots=True)
class NextRuns:
    """The next runs of a schedule, or why none can be told."""

    runs: tuple[datetime, ...]
    why_none: str = ""

    def words(self) -> str:
        """Say them."""
        return ", ".join(utc(run) for run in self.runs) or self.why_none


def next_runs(job: Mapping[str, Any], now: datetime, count: int = _RUNS) -> NextRuns:
    """Give when a job fires next, if it is enabled and as it stands."""
    try:
        schedule = read(job.get("schedule", ""))
        zone = load(job.get("timeZone") or "UTC")
    except (ScheduleError, ZoneError):
        return NextRuns((), "a schedule that only Google can read")
    if isinstance(schedule, EndTimeInterval):
        return NextRuns((), f"{duration(schedule.period)} after the end of each run")
    found = tuple(islice(ticks(schedule, zone, now), count))
    return NextRuns(found, "" if found else "never")


def action(change: Change) -> str:
    """Give the word for a change."""
    match change:
        case Create():
            return "create"
        case Update():
            return "update"
        case Finish():
            return "finish"
        case Delete():
            return "delete"


def remarks(change: Change, now: datetime) -> list[str]:
    """Say what a change does besides what its fields say."""
    match change:
        case Create(after, paused=True):
            return [f"made paused: {_first(after, now)} once it is resumed"]
        case Create(after):
            return [_first(after, now)]
        case Update(before, after, _, fields):
            told = [] if before.state is State.PAUSED else _restarts(after, now)
            return [*_stays(before), *told, *_moves(before, after, fields, now)]
        case Finish():
            return ["its paused creation was broken off: finished, and left paused"]
        case Delete(before):
            return [f"in {before.parent.rpartition('/')[2]}", *_stays(before)]


def _first(job: Json, now: datetime) -> str:
    if interval := _interval(job):
        about = utc(now + interval.period)
        return f"next run about {about}, then {next_runs(job, now).words()}"
    return f"next: {next_runs(job, now).words()}"


def _interval(job: Json) -> EndTimeInterval | None:
    try:
        schedule = read(job.get("schedule", ""))
    except ScheduleError:
        return None
    return schedule if isinstance(schedule, EndTimeInterval) else None


def _stays(job: LiveJob) -> list[str]:
    match job.state:
        case State.PAUSED:
            return ["paused, kept"]
        case State.DISABLED:
            return ["disabled by Google: it does not fire, and this does not change it"]
    return []


def _restarts(after: Json, now: datetime) -> list[str]:
    interval = _interval(after)
    if interval is None:
        return []
    return [f"restarts its interval; next run about {utc(now + interval.period)}"]


def _moves(
    before: LiveJob, after: Json, fields: Sequence[FieldDiff], now: datetime
) -> list[str]:
    if not any(one.path in {"schedule", "timeZone"} for one in fields):
        return []
    return [
        f"next runs before: {next_runs(before.resource, now).words()}",
        f"next runs after:  {next_runs(after, now).words()}",
    ]


def monthly_cost(jobs: int) -> float:
    """Give what so many jobs cost in a month, in US dollars, the free ones counted."""
    return round(max(0, jobs - _FREE) * PRICE, 2)


# --- The plan ---------------------------------------------------------------------


def plan_json(plan: Plan, now: datetime) -> dict[str, Any]:
    """Give a plan as a JSON document; docs/json.md describes the schema."""
    return {
        "parent": plan.scope.parent,
        "set": plan.scope.job_set,
        "changes": [_change_json(change, now) for change in plan.changes],
        "unchanged": [job.name for job in plan.kept],
        "foreign": [job.name for job in plan.foreign],
        "conflicts": [job.name for job in plan.conflicts],
        "refusal": plan.refusal or None,
        "fires_twice": sorted({job.url for job in plan.doubled}),
        "jobs": {"now": plan.live, "then": plan.then},
        "monthly_cost_usd": monthly_cost(plan.then),
    }


def _change_json(change: Change, now: datetime) -> dict[str, Any]:
    document: dict[str, Any] = {
        "action": action(change),
        "name": name_of(change),
        "url": url_of_change(change),
        "remarks": remarks(change, now),
    }
    match change:
        case Create(after, paused):
            document |= {"paused": paused, "job": after}
        case Update(before, _, mask, fields):
            document |= {"state": before.state.value, "mask": list(mask)}
            document["fields"] = fields_json(fields)
        case Finish(before, _, fields):
            document |= {"state": before.state.value, "fields": fields_json(fields)}
        case Delete(before):
            document |= {"state": before.state.value, "job": before.resource}
    return document


def fields_json(fields: Sequence[FieldDiff]) -> list[dict[str, str]]:
    """Give what differs, field by field."""
    return [
        {"path": one.path, "before": one.before, "after": one.after} for one in fields
    ]


def plan_text(plan: Plan, now: datetime) -> Iterator[Text]:
    """Yield the lines for people."""
    counts = _counts(plan)
    yield Text(
        f"Jobs of set {plan.scope.job_set!r} in {plan.scope.parent}: {counts}",
        style="bold",
    )
    for change in plan.changes:
        yield Text()
        yield from _change_text(change, now)
    quiet = [job for job in plan.kept if job.state is not State.ENABLED]
    if quiet:
        yield Text()
        yield Text(f"Not firing, and left so: {_names(quiet)}", style="dim")
    if plan.foreign:
        yield Text()
        yield Text(f"Not ours, left alone: {_names(plan.foreign)}", style="dim")
    for job in plan.conflicts:
        yield Text(
            f"! the name {job.job_id} is needed, and that job is not ours. Take it "
            f"over (cronshift adopt {job.job_id}) or delete it. Nothing is applied.",
            style="red",
        )
    if plan.refusal:
        yield Text(f"! {plan.refusal}", style="red")
    if plan.doubled:
        urls = sorted({job.url for job in plan.doubled})
        more = f" and {len(urls) - 8} more" if len(urls) > 8 else ""
        yield Text(
            f"! Legacy jobs fire these today, and both would from then on: "
            f"{', '.join(urls[:8])}{more}. Without a host that runs each tick once, "
            "make them --paused, or move them with cutover.",
            style="yellow",
        )
    yield Text()
    yield Text(
        f"{plan.then} jobs then, {plan.live} now; {plan.then} jobs cost about "
        f"${monthly_cost(plan.then):.2f} a month (${PRICE:.2f} each, {_FREE} of a "
        "billing account free)",
        style="dim",
    )


def _counts(plan: Plan) -> str:
    if not plan:
        return f"nothing to change, {len(plan.kept)} as they should be"
    counted = dict.fromkeys(_LOOKS, 0)
    for change in plan.changes:
        counted[action(change)] += 1
    told = [f"{count} to {what}" for what, count in counted.items() if count]
    return ", ".join([*told, f"{len(plan.kept)} unchanged"])


def _names(jobs: Sequence[LiveJob], most: int = 8) -> str:
    shown = ", ".join(job.job_id for job in jobs[:most])
    return shown + (f" and {len(jobs) - most} more" if len(jobs) > most else "")


def _change_text(change: Change, now: datetime) -> Iterator[Text]:
    mark, style = _LOOKS[action(change)]
    job_id = name_of(change).rpartition("/")[2]
    yield Text.assemble(
        (f"{mark} {action(change)} {job_id}", f"bold {style}"),
        f"  {url_of_change(change)}",
    )
    match change:
        case Create(after):
            zone = after.get("timeZone") or "UTC"
            yield Text(f"    {after['schedule']} ({zone})", style=style)
        case Update(fields=fields) | Finish(fields=fields):
            for one in fields:
                yield _field_text(one)
        case Delete(before):
            yield Text(f"    {before.schedule} ({before.time_zone})", style=style)
    for told in remarks(change, now):
        yield Text(f"    {told}", style="dim")


def _field_text(one: FieldDiff) -> Text:
    return Text.assemble(
        f"    {one.path}: ",
        (one.before or "(none)", "red"),
        " → ",
        (one.after or "(none)", "green"),
    )


def adoption_text(
    live: LiveJob, after: Json, fields: Sequence[FieldDiff]
) -> Iterator[Text]:
    """Yield what taking a job over changes of it."""
    yield Text(f"adopt {live.job_id} for {url_of(after)}", style="bold")
    for one in fields:
        yield _field_text(one)
    for told in _stays(live):
        yield Text(f"    {told}", style="dim")
