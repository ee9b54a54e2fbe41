"""`explain`: one schedule in plain words, its next runs and its twin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cronspec import groc, unixcron
from cronspec.explain import explain
from cronspec.schedule import (
    CustomInterval,
    EndTimeInterval,
    ScheduleError,
    StartTimeInterval,
    UnixCron,
    ticks,
)
from cronspec.twin import to_groc, to_unix
from cronspec.zones import load
from migrate import equivalence
from migrate.report.words import duration, local, utc
from migrate.translate.schedules import NO_SUCH_DAYS, difference
from migrate.verdict import Equivalent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cronspec.schedule import Schedule

_KINDS: Final = {
    EndTimeInterval: "end-time interval (groc)",
    StartTimeInterval: "start-time interval (groc)",
    CustomInterval: "custom interval (groc)",
    UnixCron: "unix-cron",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is told of one schedule; `why_no_twin` is "" where `twin` is proven."""

    text: str
    timezone: str
    kind: str
    words: str
    dialects: tuple[str, ...]
    next: tuple[datetime, ...]
    twin: tuple[str, ...]
    why_no_twin: str


def explanation(text: str, timezone: str, now: datetime, count: int) -> Explanation:
    """Explain a text of either language. Raises ScheduleError and ZoneError."""
    zone = load(timezone)
    schedule = read(text)
    twin, why_not = _twin(schedule, timezone, now)
    coming: tuple[datetime, ...] = ()
    if not isinstance(schedule, EndTimeInterval):
        coming = tuple(islice(ticks(schedule, zone, now), count))
    spoken = () if isinstance(schedule, UnixCron) else tuple(groc.dialects(text))
    return Explanation(
        text=text,
        timezone=timezone,
        kind=_KINDS[type(schedule)],
        words=explain(schedule, timezone),
        dialects=spoken,
        next=coming,
        twin=twin,
        why_no_twin=why_not,
    )


def read(text: str) -> Schedule:
    """Read a schedule of either language; raises the error of the likelier one."""
    try:
        return groc.parse(text)
    except ScheduleError as error:
        try:
            return unixcron.parse(text)
        except ScheduleError as other:
            raise (other if _looks_like_unix(text) else error) from None


def _looks_like_unix(text: str) -> bool:
    words = text.split()
    numbers = len(words) > 1 and all(word[0].isdigit() for word in words[:2])
    return (
        numbers
        or text.lstrip().startswith("@")
        or any(sign in word for word in words for sign in "*?/#")
    )


def _twin(
    schedule: Schedule, timezone: str, now: datetime
) -> tuple[tuple[str, ...], str]:
    match schedule:
        case EndTimeInterval():
            return (), "it is counted from the end of each run, which only groc can say"
        case UnixCron():
            twin = to_groc(schedule)
            if twin is None:
                return (), "groc cannot say this in one schedule"
            verdict = equivalence.schedules(twin, [schedule], timezone, now)
            texts: tuple[str, ...] = (groc.render(twin),)
        case _:
            twins = to_unix(schedule)
            if not twins:
                return (), NO_SUCH_DAYS
            verdict = equivalence.schedules(schedule, twins, timezone, now)
            texts = tuple(unixcron.render(one) for one in twins)
    return texts, "" if isinstance(verdict, Equivalent) else difference(verdict)


def as_json(one: Explanation, schedule: Schedule) -> dict[str, Any]:
    """Give an explanation as JSON; a `period` in seconds where there are no ticks."""
    period = schedule.period if isinstance(schedule, EndTimeInterval) else None
    return {
        "schedule": one.text,
        "timezone": one.timezone,
        "kind": one.kind,
        "words": one.words,
        "dialects": list(one.dialects),
        "next": [tick.isoformat() for tick in one.next],
        "period_seconds": None if period is None else int(period.total_seconds()),
        "twin": list(one.twin),
        "twin_is_equal": bool(one.twin) and not one.why_no_twin,
        "why_no_twin": one.why_no_twin or None,
    }


def as_text(one: Explanation, schedule: Schedule) -> Iterator[Text]:
    """Yield the lines for people."""
    yield Text(one.words, style="bold")
    yield Text(f"kind   {one.kind}")
    for dialect in one.dialects:
        yield Text(f"note   {dialect}", style="yellow")
    zone = load(one.timezone)
    if isinstance(schedule, EndTimeInterval):
        yield Text(f"next   {duration(schedule.period)} after the last run's end")
    for number, tick in enumerate(one.next):
        head = "next   " if not number else "       "
        in_utc = "" if one.timezone == "UTC" else f"  {utc(tick)}"
        yield Text(f"{head}{local(tick, zone)}{in_utc}")
    language = "groc" if isinstance(schedule, UnixCron) else "unix-cron"
    if not one.twin:
        yield Text(f"twin   none in {language}: {one.why_no_twin}")
        return
    twins = " + ".join(f"'{text}'" for text in one.twin)
    if one.why_no_twin:
        yield Text(
            f"twin   {twins} ticks alike on ordinary days only: {one.why_no_twin}",
            style="yellow",
        )
    else:
        yield Text(f"twin   {twins} in {language}, proven equal", style="green")
