"""What is done once, when the service starts: read, check, tell.

Whatever would keep the service from its promises is said now, with its way out; what
would break them stops it.
"""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from cronspec.config import load_app
from cronspec.naming import comparable
from cronspec.schedule import EndTimeInterval, ticks
from handlers.catalog import Catalog, CatalogError, Texts, read
from handlers.log import Log, Severity
from handlers.record import RunStore, StoreError, StoreUnreachableError
from handlers.settings import Settings, SettingsError
from handlers.stores import open_store
from handlers.tasks import Overlap, Tasks, is_own
from handlers.windows import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from handlers.catalog import Entry

_BY_SCALING: Final = {
    "automatic": timedelta(minutes=10),
    "basic": timedelta(hours=24),
    "manual": timedelta(hours=24),
}
_FLEXIBLE: Final = timedelta(minutes=60)
_GAPS_LOOKED_AT: Final = 200
_FAR_AHEAD: Final = timedelta(days=40)


@dataclass(frozen=True, slots=True)
class Host:
    """Everything that a service is made of."""

    settings: Settings
    tasks: Tasks
    catalog: Catalog
    store: RunStore
    limits: Limits
    log: Log
    stopping: threading.Event


def prepare(settings: Settings | None, tasks: Tasks, log: Log) -> Host:
    """Read the files, open the store, tell what is odd. Raises SettingsError."""
    known = settings or Settings.from_environ(os.environ)
    catalog = _catalog(known)
    limits = Limits(timedelta(seconds=known.lease), _deadline(known))
    store = _store(known, log)
    for warning in (*known.warnings, *catalog.remarks):
        log(Severity.WARNING, warning)
    for warning in _mismatches(catalog, tasks):
        log(Severity.WARNING, warning)
    for warning in _overlaps(catalog, tasks, limits.deadline):
        log(Severity.WARNING, warning)
    return Host(known, tasks, catalog, store, limits, log, _stop_notice())


# --- Files ------------------------------------------------------------------------


def _catalog(settings: Settings) -> Catalog:
    """Read cron.yaml and what lies beside it."""
    path = settings.cron_yaml
    try:
        cron = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            [f"CRON_YAML={str(path)!r}: {error}; name the file that lists the jobs"]
        ) from error
    texts = Texts(
        name=str(path),
        cron=cron,
        jobs=_text(path.with_name("jobs.yaml")),
        dispatch=_text(path.with_name("dispatch.yaml")),
    )
    try:
        return read(texts, settings.service, settings.project)
    except CatalogError as error:
        raise SettingsError([str(fault) for fault in error.faults]) from error


def _text(path: Path) -> str:
    """Give the text of a file that may be missing; "" if it is."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path}: {error}"]) from error


def _deadline(settings: Settings) -> timedelta:
    """Give what one attempt may take: the setting, or what app.yaml's scaling means.

    (Docs: cron.yaml reference, Job.attemptDeadline of Cloud Scheduler's API.)
    """
    if settings.deadline is not None:
        return settings.deadline
    beside = settings.cron_yaml.with_name("app.yaml")
    text = _text(beside) or _text(Path("app.yaml"))
    app = load_app(text, "app.yaml") if text else None
    if app is None:
        fault = (
            "how long an attempt may take is not known: no app.yaml lies beside "
            f"{settings.cron_yaml} or here; set CRON_DEADLINE_SECONDS (App Engine: 600 "
            "with automatic scaling, 86400 with basic or manual; else the attempt "
            "deadline of the jobs)"
        )
        raise SettingsError([fault])
    if app.faults:
        raise SettingsError([str(fault) for fault in app.faults])
    return _FLEXIBLE if app.flexible else _BY_SCALING[app.scaling]


# --- The store --------------------------------------------------------------------


def _store(settings: Settings, log: Log) -> RunStore:
    """Open the store and reach it once.

    A store that does not answer now may answer later: that is told. One that cannot
    serve at all stops the service.
    """
    store = open_store(settings.store)
    try:
        store.check()
    except StoreUnreachableError as error:
        log(Severity.ERROR, f"the store does not answer at start-up: {error}")
    except StoreError as error:
        raise SettingsError([str(error)]) from error
    return store


# --- What is odd ------------------------------------------------------------------


def _mismatches(catalog: Catalog, tasks: Tasks) -> list[str]:
    """Tell entries without a task, and tasks without an entry."""
    listed = {comparable(entry.url) for entry in catalog.entries}
    return [
        *(
            f"{entry.said_at}: "
            + (
                "the host itself answers this url; no run of it would take place"
                if is_own(entry.url)
                else "no task has this url; each of its runs would be answered 404"
            )
            for entry in catalog.here()
            if tasks.at(entry.url) is None
        ),
        *(
            f"the task {task.url} has no entry in cron.yaml: its runs are told apart "
            "by the job's name and time alone"
            for task in tasks
            if comparable(task.url) not in listed
        ),
    ]


def _overlaps(catalog: Catalog, tasks: Tasks, deadline: timedelta) -> list[str]:
    """Tell where two runs of one entry may be at work at once."""
    told = []
    for entry in catalog.here():
        task = tasks.at(entry.url)
        if task is None or task.overlap is Overlap.SKIP:
            continue
        gap = _shortest_gap(entry)
        longest = min(deadline, entry.deadline or deadline)
        if gap is not None and longest > gap:
            told.append(
                f"{entry.said_at}: an attempt may take {longest}, and ticks come {gap} "
                "apart: with two schedulers, two runs may overlap; overlap='skip' at "
                "the task prevents it"
            )
    return told


def _shortest_gap(entry: Entry) -> timedelta | None:
    """Give the shortest time between ticks near now; None for intervals."""
    if isinstance(entry.schedule, EndTimeInterval):
        return None
    now = datetime.now(UTC)
    near: list[datetime] = []
    for tick in islice(ticks(entry.schedule, entry.zone, now), _GAPS_LOOKED_AT):
        if tick > now + _FAR_AHEAD:
            break
        near.append(tick)
    return min((late - early for early, late in pairwise(near)), default=None)


# --- The end ----------------------------------------------------------------------


_told_to_stop: WeakSet[threading.Event] = WeakSet()
_handlers_before: list[Callable[[int, FrameType | None], object] | int | None] = []


def _stop_notice() -> threading.Event:
    """Give an event that is set when the process is told to stop.

    gunicorn sets its handler before it loads the application; it still runs.
    """
    stopping = threading.Event()
    _told_to_stop.add(stopping)
    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGTERM)
        if before is not _stop:
            _handlers_before[:] = [before]
            signal.signal(signal.SIGTERM, _stop)
    return stopping


def _stop(number: int, frame: FrameType | None) -> None:
    for stopping in _told_to_stop:
        stopping.set()
    before = _handlers_before[0]
    if callable(before):
        before(number, frame)
    elif before is not signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
