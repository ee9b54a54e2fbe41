"""`status`: who fires what today, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from migrate.report.translation import entry_json
from migrate.report.words import utc
from migrate.status import fires

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.livejob import LiveJob
    from migrate.status import EntryStatus, Status

# google.rpc.Code, as far as attempts end with them.
_CODES: Final = {
    1: "cancelled",
    2: "unknown",
    3: "bad request",
    4: "deadline exceeded",
    5: "not found",
    7: "permission denied",
    8: "too many requests",
    9: "precondition failed",
    13: "internal error",
    14: "unavailable",
    16: "unauthenticated",
}


def status_json(status: Status) -> dict[str, Any]:
    """Give a status as a JSON document; docs/json.md describes the schema."""
    return {
        "entries": [
            {
                "entry": entry_json(one.translation.entry),
                "fired_by": list(one.firing),
                "ours": [_job_json(job) for job in one.ours],
                "legacy": [
                    _job_json(job)
                    for job in (*([one.legacy] if one.legacy else []), *one.stale)
                ],
                "foreign": [_job_json(job) for job in one.strangers],
                "troubles": [
                    {"code": code.value, "text": text} for code, text in one.troubles
                ],
            }
            for one in status.entries
        ],
        "others": [_job_json(job) | {"text": text} for job, text in status.others],
        "foreign": [job.name for job in status.foreign],
        "never_deployed": status.never_deployed,
        "well": status.well,
    }


def _job_json(job: LiveJob) -> dict[str, Any]:
    return {
        "name": job.name,
        "state": job.state.value,
        "schedule": job.schedule,
        "time_zone": job.time_zone,
        "fires": fires(job),
        "next": _iso(job.resource.get("scheduleTime")) if fires(job) else None,
        "last": _iso(job.resource.get("lastAttemptTime")),
        "last_code": job.last_code if job.last_at else None,
    }


def _iso(text: object) -> str | None:
    return str(text) if text else None


def status_text(status: Status) -> Iterator[Text]:
    """Yield the lines for people."""
    troubled = [one for one in status.entries if one.troubles]
    wrong = len(troubled) + len(status.others)
    head = "all is well" if status.well else f"{wrong} to look at"
    yield Text(f"{len(status.entries)} entries: {head}", style="bold")
    if status.never_deployed and status.entries:
        yield Text("cron.yaml was never deployed, and nothing of it applied: no jobs")
    for one in status.entries:
        yield from _entry_text(one)
    for job, text in status.others:
        yield Text.assemble(("! ", "yellow"), f"{job.job_id}  {job.url}  {text}")
        yield _job_text(job, "")
    if status.foreign:
        names = ", ".join(job.job_id for job in status.foreign[:8])
        more = len(status.foreign) - 8
        yield Text(
            f"Not ours: {names}" + (f" and {more} more" if more > 0 else ""),
            style="dim",
        )


def _entry_text(one: EntryStatus) -> Iterator[Text]:
    entry = one.translation.entry
    mark, style = ("!", "red") if one.troubles else ("=", "green")
    by = " and ".join(one.firing) or "nobody"
    yield Text.assemble(
        (f"{mark} ", style),
        (entry.url, "bold"),
        f"  {entry.schedule_text} ({entry.timezone or 'UTC'}): fired by {by}",
    )
    for _, text in one.troubles:
        yield Text(f"    {text}", style=style)
    legacy = [one.legacy] if one.legacy else []
    for kind, jobs in (
        ("legacy", [*legacy, *one.stale]),
        ("ours", one.ours),
        ("foreign", one.strangers),
    ):
        for job in jobs:
            yield _job_text(job, kind)


def _job_text(job: LiveJob, kind: str) -> Text:
    said = [kind] if kind else []
    if not fires(job):
        said.append("being made paused" if job.unborn else job.state.value.lower())
    elif job.next_at:
        said.append(f"next {utc(job.next_at)}")
    if job.last_at:
        ended = _CODES.get(job.last_code, f"code {job.last_code}")
        said.append(
            f"last {utc(job.last_at)}: {'well' if not job.last_code else ended}"
        )
    return Text(f"    {', '.join(said)}", style="dim")
