"""A project whose jobs fire, second by second, while a move goes on.

Both schedulers' jobs are the emulator's; this fires them as each would, at a host: the
real one (`handlers`, which makes one run of a tick), or one that runs whatever comes.
An attempt takes its time: its request is in flight on a thread of its own, which only
goes on when the virtual time has come. So all is the same each time.
"""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from cronspec import retry
from cronspec.config import load_cron
from cronspec.schedule import EndTimeInterval
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.jobs import Job, Key
from emulator.timing import next_time, read_schedule, read_zone, rfc3339
from emulator.world import World
from handlers import Settings, Tasks, create_app
from migrate.choices import EntryChoices, Home
from migrate.cutover import ways
from migrate.cutover.back import back
from migrate.cutover.carry import Carrier
from migrate.cutover.files import BackupFile
from migrate.cutover.observe import World as Asked
from migrate.cutover.observe import view
from migrate.cutover.onward import onward
from migrate.cutover.run import Ended, Run
from migrate.cutover.ways import Health, Service, Silent
from migrate.legacy import legacy_job
from migrate.translate import translate
from tests.handlers.support import APP_ENGINE, MemoryStore
from tests.migrate.live.world import PARENT, WorldApi, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pytest

    from handlers import Run as TaskRun
    from migrate.cutover.run import Told

START = datetime(2026, 3, 4, 10, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
CODES = {200: None, 409: 10, 404: 5, 403: 7, 500: 13, 503: 14}


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt of a task at a run, from its begin to its end."""

    url: str
    run: str
    tick: datetime
    began: datetime
    ended: datetime
    well: bool


class Killed(BaseException):
    """Our process is gone."""


@dataclass
class _Attempt:
    """A request in flight."""

    key: Key
    tick: datetime
    number: int
    thread: threading.Thread | None = None
    ends: datetime | None = None
    status: int = 0
    said: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    go: threading.Event = field(default_factory=threading.Event)


class Api(WorldApi):
    """The API of the world: each call takes a second, half before its effect."""

    def __init__(self, sim: Sim) -> None:
        super().__init__(sim.world)
        self.sim = sim

    def _ask(
        self, verb: str, method: str, path: str, query: Any = None, body: Any = None
    ) -> dict[str, Any]:
        self.sim.pass_time(timedelta(seconds=0.5))
        found = super()._ask(verb, method, path, query, body)
        self.sim.pass_time(timedelta(seconds=0.5))
        if method != "GET":
            self.sim.wrote()
        return found


class Sim:
    """One project, with a cron.yaml that was deployed, and a host."""

    def __init__(
        self,
        cron: str,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        dedups: bool = True,
        side_by_side: bool = True,
        length: float = 0.0,
        fails: Callable[[int], bool] = lambda _: False,
        choices: EntryChoices | None = None,
        deploy: bool = True,
    ) -> None:
        self.clock = VirtualClock(START)
        self.world = World(app=App("shop", "europe-west"), clock=self.clock)
        self.folder, self.length, self.fails = folder, timedelta(seconds=length), fails
        self.works: list[Work] = []
        self.flights: dict[Key, _Attempt] = {}
        self.retries: dict[Key, tuple[datetime, int]] = {}
        self.steps: list[Told] = []
        self.kill_at: int | None = None
        self.writes = 0
        self.stop = False
        self.file = load_cron(cron, str(folder / "cron.yaml"))
        assert not self.file.faults, self.file.faults
        (folder / "cron.yaml").write_text(cron)
        self.translations = translate(
            self.file.entries,
            (),
            Home("shop", "europe-west1"),
            lambda _entry, _route: choices or EntryChoices(),
            START,
        )
        self.client = self._host(monkeypatch) if dedups else None
        self.asked = Asked(PARENT, "default", self.translations, {}, START)
        if side_by_side:
            self.asked = Asked(
                PARENT,
                "default",
                self.translations,
                {"default": self.service()},
                START,
            )
        if deploy:
            for entry in self.file.entries:
                self.deploy(legacy_job(entry, START))

    # The host

    def _host(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        tasks = Tasks()
        for url in {entry.url for entry in self.file.entries}:
            tasks.task(url)(self._task)
        monkeypatch.setattr("handlers.startup.open_store", lambda _: MemoryStore())
        settings = Settings.from_environ(
            APP_ENGINE
            | {
                "CRON_STORE": "sqlite:///runs.db",
                "CRON_YAML": str(self.folder / "cron.yaml"),
                "CRON_BUSY_WAIT": "0",
                "CRON_LEASE_SECONDS": "590",
            }
        )
        return create_app(settings, tasks, self.clock.now).test_client

    def service(self) -> Service:
        """What the migrator finds out of the host."""
        if self.client is None:
            return Service({"v1": 1.0}, Silent("there is none"))
        said = self.client().get("/healthz").json
        assert said["entries"] == ways.digest_of(self.translations)
        return Service({"v1": 1.0}, Health(said["entries"], said["store"]))

    def _task(self, run: TaskRun) -> None:
        self._work(run.url, str(run.id), run.scheduled_at, run.attempt)

    def _work(self, url: str, run: str, tick: datetime, number: int) -> None:
        attempt: _Attempt = threading.current_thread().attempt  # type: ignore[attr-defined]
        began, well = self.clock.now(), not self.fails(number)
        if self.length:
            attempt.ends = began + self.length
            attempt.said.put("at work")
            attempt.go.wait(60)
        ended = self.clock.now()
        self.works.append(Work(url, run, tick, began, ended, well))
        if not well:
            raise RuntimeError("the task fails")

    # The schedulers

    def deploy(self, job: dict[str, Any]) -> None:
        """Make a legacy job, as gcloud does."""
        self.api().create(PARENT, job, legacy=True)

    def api(self) -> WorldApi:
        """The API for the test's own calls, which take no time."""
        return WorldApi(self.world)

    def jobs(self, *, legacy: bool) -> list[Job]:
        return list(self.world.store.page(PARENT, Key(legacy, ""), 1000))

    def pass_time(self, by: timedelta) -> None:
        """Let time pass, and fire whatever is due meanwhile."""
        until = self.clock.now() + by
        while (at := self._next_event()) is not None and at <= until:
            self._move_to(at)
            for key, flight in list(self.flights.items()):
                if flight.ends is not None and flight.ends <= self.clock.now():
                    self._land(key)
            for job in [*self.jobs(legacy=True), *self.jobs(legacy=False)]:
                if self._due(job) is not None and self._due(job) <= self.clock.now():
                    self._fire(job)
        self._move_to(until)

    def _move_to(self, at: datetime) -> None:
        if at > self.clock.now():
            self.clock.advance(at - self.clock.now())

    def _due(self, job: Job) -> Any:
        at = job.resource.get("scheduleTime")
        if job.state != "ENABLED" or at is None or job.key in self.flights:
            return None
        return datetime.fromisoformat(at)

    def _next_event(self) -> datetime | None:
        jobs = [*self.jobs(legacy=True), *self.jobs(legacy=False)]
        dues = [self._due(job) for job in jobs]
        ends = [flight.ends for flight in self.flights.values()]
        return min((at for at in [*dues, *ends] if at is not None), default=None)

    def _fire(self, job: Job) -> None:
        due = self._due(job)
        tick, number = self.retries.pop(job.key, (due, 1))
        flight = _Attempt(job.key, tick, number)
        self.flights[job.key] = flight
        now = rfc3339(self.clock.now())
        fields = {"lastAttemptTime": now, "status": None}
        self.world.store.change(job.key, lambda found: found.with_fields(fields))
        flight.thread = threading.Thread(target=self._send, args=(job, flight))
        flight.thread.attempt = flight  # type: ignore[attr-defined]
        flight.thread.start()
        if flight.said.get(timeout=60) == "answered":
            self._land(job.key)

    def _send(self, job: Job, flight: _Attempt) -> None:
        target = job.resource["appEngineHttpTarget"]
        url = target["relativeUri"]
        if self.client is None:
            try:
                self._work(url, rfc3339(flight.tick), flight.tick, flight.number)
                flight.status = 200
            except RuntimeError:
                flight.status = 500
        else:
            headers = {"X-Appengine-User-IP": "0.1.0.2"}
            if job.key.legacy:
                headers["X-Appengine-Cron"] = "true"
            else:
                headers |= {"X-CloudScheduler": "true", **target["headers"]}
                headers["X-CloudScheduler-JobName"] = job.key.name.rpartition("/")[2]
                if not job.resource["schedule"].startswith("every"):
                    time = rfc3339(flight.tick)
                    headers["X-CloudScheduler-ScheduleTime"] = time
                headers.pop("User-Agent", None)
            flight.status = self.client().get(url, headers=headers).status_code
        flight.said.put("answered")

    def _land(self, key: Key) -> None:
        """End an attempt: its answer came, and the job's next time is known."""
        flight = self.flights.pop(key)
        flight.go.set()
        assert flight.thread is not None
        flight.thread.join(60)
        assert flight.status in CODES
        code = CODES[flight.status]
        now = self.clock.now()

        def landed(job: Job) -> Job:
            status = {} if code is None else {"code": code}
            wait = _retry_wait(job, flight.number) if code is not None else None
            if wait is not None:
                self.retries[key] = (flight.tick, flight.number + 1)
                at: datetime | None = now + wait
            else:
                schedule = read_schedule(job.resource["schedule"])
                zone = read_zone(job.resource["timeZone"])
                interval = isinstance(schedule, EndTimeInterval)
                at = next_time(schedule, zone, now if interval else flight.tick)
            return job.with_fields(
                {"status": status, "scheduleTime": at and rfc3339(at)}
            )

        self.world.store.change(key, landed)

    # The move

    def wrote(self) -> None:
        """Count a write of ours, and be killed at the one that was named."""
        self.writes += 1
        if self.kill_at is not None and self.writes == self.kill_at:
            raise Killed

    def backup(self) -> BackupFile:
        return BackupFile(self.folder / "backup.jsonl")

    def move(self, decide: Any = onward, *, minutes: float = 10) -> Ended:
        """Run `cutover`, or `rollback`."""
        kept = self.backup()
        store = store_of(Api(self))

        def look() -> Any:
            live = list(store.jobs(PARENT))
            legacy = list(store.legacy_jobs(PARENT))
            return view(self.asked, live, legacy, kept.saved)

        def sleep_until(at: datetime) -> bool:
            self.pass_time(max(at - self.clock.now(), SECOND))
            return True

        kept.keep(store.legacy_jobs(PARENT), self.clock.now())
        return Run(
            look=look,
            decide=decide,
            carrier=Carrier(store, PARENT, kept, self.clock.now),
            now=self.clock.now,
            begins=lambda _one, _do: None,
            told=self.steps.append,
            waiting=lambda _wait, _one: None,
            sleep_until=sleep_until,
            stopping=lambda: self.stop,
            patience=timedelta(minutes=minutes),
        ).go()

    def rollback(self, *, minutes: float = 10) -> Ended:
        return self.move(back, minutes=minutes)

    def close(self) -> None:
        """Land what is in flight."""
        for key in list(self.flights):
            self._land(key)

    # What came of it

    def states(self) -> dict[str, str]:
        """Each job's state, by whose it is and its url."""
        found = {}
        for legacy in (True, False):
            for job in self.jobs(legacy=legacy):
                url = job.resource["appEngineHttpTarget"]["relativeUri"]
                found[f"{'legacy' if legacy else 'ours'} {url}"] = job.state
        return found

    def ticks_run(self, url: str) -> list[datetime]:
        """The ticks whose runs ended well, each as often as it ran."""
        return sorted(work.tick for work in self.works if work.url == url and work.well)

    def rests(self, url: str) -> list[timedelta]:
        """From the end of each run to the begin of the next."""
        works = [work for work in self.works if work.url == url]
        pairs = zip(works, islice(works, 1, None), strict=False)
        return [later.began - earlier.ended for earlier, later in pairs]


def _retry_wait(job: Job, number: int) -> timedelta | None:
    """Give the wait before the next attempt; None where there is none."""
    config = job.resource.get("retryConfig", {})
    if number > config.get("retryCount", 0):
        return None
    policy = retry.RetryPolicy(
        limit=config["retryCount"],
        age_limit=timedelta(0),
        min_backoff=float(config["minBackoffDuration"].rstrip("s")),
        max_backoff=float(config["maxBackoffDuration"].rstrip("s")),
        max_doublings=config.get("maxDoublings", 0),
    )
    return next(islice(retry.waits(policy), number - 1, None))


def whole_backup(folder: Path, jobs: Iterable[dict[str, Any]]) -> bool:
    """Tell whether every line is one, and each of these jobs is in it."""
    lines = (folder / "backup.jsonl").read_text().splitlines()
    names = {json.loads(line)["job"]["name"] for line in lines}
    return {job["name"] for job in jobs} <= names


def expected_ticks(
    text: str, zone: str, since: datetime, until: datetime
) -> Sequence[datetime]:
    """The ticks of a schedule after `since`, up to `until`."""
    found, at = [], since
    while True:
        tick = next_time(read_schedule(text), read_zone(zone), at)
        if tick is None or tick > until:
            return found
        found.append(tick)
        at = tick


__all__ = ["Killed", "Sim", "expected_ticks", "whole_backup"]
