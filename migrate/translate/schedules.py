"""Which schedule a job gets: unix-cron where proven equal, else the groc text.

Cloud Scheduler promises its schedule-time header only for unix-cron, so that is the
better form wherever it changes nothing; and nothing may change unasked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time, timedelta
from typing import TYPE_CHECKING, Final

from cronspec import groc, unixcron
from cronspec.schedule import CustomInterval, EndTimeInterval, StartTimeInterval
from cronspec.twin import to_unix
from migrate import equivalence
from migrate.choices import Intervals, Schedules
from migrate.notes import Note, note
from migrate.verdict import Divergent, Equivalent, Side, Unfixed, Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from cronspec.config import CronEntry
    from migrate.choices import EntryChoices

NO_SUCH_DAYS: Final = (
    "unix-cron cannot say ordinal weekdays: where both its day fields choose, either "
    "is enough"
)
_WHOLE_DAY: Final = time(0, 0), time(23, 59)


@dataclass(frozen=True, slots=True)
class Rescheduled:
    """The jobs' schedules (none: blocked), whether they tick alike, and notes."""

    texts: tuple[str, ...]
    verdict: Verdict
    notes: tuple[Note, ...]


def reschedule(entry: CronEntry, choices: EntryChoices, now: datetime) -> Rescheduled:
    """Write an entry's schedule as `choices` ask, and prove it."""
    match entry.schedule:
        case EndTimeInterval() as interval if choices.intervals is Intervals.CLOCK:
            return _to_clock(entry, interval, choices)
        case EndTimeInterval() if choices.schedules is Schedules.UNIX:
            return _blocked(
                entry,
                "no-unix-twin",
                "counted from the end of each run, which unix-cron cannot say",
                "--intervals clock",
            )
        case EndTimeInterval():
            kept = note(
                "interval-kept",
                "stays groc, counted from the end of each run; the first run comes "
                f"{_words(entry.schedule.period)} after the job is made",
                entry.places["schedule"],
            )
            return _kept(entry, now, kept)
        case StartTimeInterval() | CustomInterval() as fixed:
            return _fixed(entry, fixed, choices, now)


def _fixed(
    entry: CronEntry,
    schedule: StartTimeInterval | CustomInterval,
    choices: EntryChoices,
    now: datetime,
) -> Rescheduled:
    if choices.schedules is Schedules.GROC:
        return _kept(entry, now, _groc_kept(entry, "as asked"))
    twins = to_unix(schedule)
    verdict = equivalence.schedules(schedule, twins, entry.timezone or "UTC", now)
    unix = choices.schedules is Schedules.UNIX
    why = ""
    if not twins:
        why = NO_SUCH_DAYS
    elif not isinstance(verdict, Equivalent):
        why = difference(verdict)
    if why:
        if unix:
            blocked = _blocked(entry, "no-unix-twin", why, "--schedules auto")
            return replace(blocked, verdict=verdict) if twins else blocked
        return _kept(entry, now, _groc_kept(entry, why))
    texts = tuple(unixcron.render(twin) for twin in twins)
    if len(twins) == 1:
        return Rescheduled(texts, verdict, ())
    if choices.split:
        return Rescheduled(texts, verdict, (_split(entry, texts),))
    why = f"unix-cron needs {len(texts)} jobs for it: {_listed(texts)}"
    if unix:
        return _blocked(entry, "needs-split", why, "--split")
    return _kept(entry, now, _groc_kept(entry, why, "--split"))


def _to_clock(
    entry: CronEntry, interval: EndTimeInterval, choices: EntryChoices
) -> Rescheduled:
    """Give an interval the clock times of a day's window: starts, not rests, count."""
    if interval.period > timedelta(days=1):
        return _blocked(
            entry,
            "no-unix-twin",
            "an interval of over 24 hours has no clock times of its own",
            "--intervals keep",
        )
    window = StartTimeInterval(interval.period, *_WHOLE_DAY, interval.weekdays)
    texts = tuple(unixcron.render(twin) for twin in to_unix(window))
    if len(texts) > 1 and not choices.split:
        why = f"clock times need {len(texts)} jobs: {_listed(texts)}"
        return _blocked(entry, "needs-split", why, "--split")
    restart = timedelta(days=1) % interval.period
    loss = note(
        "interval-to-clock",
        f"{_listed(texts)}: counted from start to start on the clock, no longer "
        "from the end of each run"
        + (f"; the last gap before midnight is {_words(restart)}" if restart else ""),
        entry.places["schedule"],
        "--intervals keep",
    )
    split = (_split(entry, texts),) if len(texts) > 1 else ()
    verdict = Unfixed(
        "an end-time interval has no instants to compare with the clock's"
    )
    return Rescheduled(texts, verdict, (loss, *split))


def _kept(entry: CronEntry, now: datetime, *notes: Note) -> Rescheduled:
    """Keep the groc text as it stands, lower-cased and nothing else."""
    text = entry.schedule_text.lower()
    place = entry.places["schedule"]
    remarks = []
    if text != entry.schedule_text:
        remarks.append(note("schedule-lowered", f"capitals lowered: {text!r}", place))
    if groc.restricts_weekdays(text):
        remarks.append(
            note(
                "on-weekdays",
                "'on …' after an interval: Cloud Scheduler documents it, the older "
                "Java grammar lacks it",
                place,
            )
        )
    verdict = equivalence.schedules(
        entry.schedule, (groc.parse(text),), entry.timezone or "UTC", now
    )
    return Rescheduled((text,), verdict, (*notes, *remarks))


def _blocked(entry: CronEntry, code: str, why: str, fallback: str) -> Rescheduled:
    block = note(code, why, entry.places["schedule"], fallback)
    return Rescheduled((), Unfixed(why), (block,))


def _groc_kept(entry: CronEntry, why: str, fallback: str | None = None) -> Note:
    text = f"stays groc: {why}"
    return note("groc-kept", text, entry.places["schedule"], fallback)


def _split(entry: CronEntry, texts: tuple[str, ...]) -> Note:
    text = f"{len(texts)} jobs together: {_listed(texts)}"
    return note("split", text, entry.places["schedule"])


def difference(verdict: Divergent | Unfixed) -> str:
    """Say in a line where two schedules part, or why nobody can tell."""
    match verdict:
        case Divergent(first):
            alone = "groc" if first[0].side is Side.BEFORE else "unix-cron"
            return (
                "they part where the clock changes: only "
                f"{alone} ticks at {first[0].at:%Y-%m-%d %H:%M} UTC"
            )
        case Unfixed(why):
            return why


def _listed(texts: tuple[str, ...]) -> str:
    return " and ".join(f"'{text}'" for text in texts)


def _words(period: timedelta) -> str:
    minutes = period // timedelta(minutes=1)
    if minutes % 60:
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    return "1 hour" if minutes == 60 else f"{minutes // 60} hours"
