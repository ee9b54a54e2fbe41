"""Both senders, one tick, one run: every kind of schedule, with marks and without.

Each course is a list of deliveries to a real service, as each sender would make them,
and the runs that must come of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cronspec import config, groc, naming, unixcron, zones
from cronspec.schedule import EndTimeInterval, ticks
from cronspec.twin import to_unix
from handlers import Tasks, create_app
from handlers.attempt import Attempt, Got, acquire
from handlers.catalog import Catalog, Texts, read
from handlers.record import At, RegisterKey, State
from handlers.request import NotSent, Sender, Sent
from handlers.runs import Ask
from handlers.windows import CronRequest, Limits, meant_by
from tests.handlers.support import (
    CRON,
    SCHEDULER,
    ManualClock,
    MemoryStore,
    at_time,
    settings,
    utc,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flask.testing import FlaskClient

    from handlers.tasks import Run


@dataclass
class Host:
    """A service, and what it was made to do."""

    clock: ManualClock
    client: FlaskClient | None = None
    runs: list[Run] = field(default_factory=list)
    fails: int = 0
    takes: float = 0.0

    def work(self, run: Run) -> None:
        self.clock.move(self.takes)
        if self.fails:
            self.fails -= 1
            raise RuntimeError("as told")
        self.runs.append(run)

    def get(
        self, when: str | datetime, *headers: dict[str, str], url: str = "/a"
    ) -> str:
        """Deliver at a time of 2026-11-30 (or another day), and give the outcome."""
        self.clock.now = at(when) if isinstance(when, str) else when
        sent = {name: value for some in headers for name, value in some.items()}
        assert self.client is not None
        answer = self.client.get(url, headers=sent)
        return answer.headers.get("X-Cron-Outcome", str(answer.status_code))

    @property
    def ticks(self) -> list[str]:
        return [run.scheduled_at.strftime("%d %H:%M") for run in self.runs]


def at(text: str) -> datetime:
    return utc(text if "T" in text else f"2026-11-30T{text}")


def host(folder: Path, cron: str, **changes: str) -> Host:
    clock, tasks = ManualClock(), Tasks()
    made = Host(clock)
    for url in {"/a", "/b", *(e.url for e in config.load_cron(cron, "x").entries)}:
        tasks.task(url)(made.work)
    app = create_app(settings(folder, cron, **changes), tasks, clock)
    made.client = app.test_client()
    return made


def entry(schedule: str, url: str = "/a", zone: str = "", more: str = "") -> str:
    timezone = f", timezone: {zone}" if zone else ""
    return f"- {{url: '{url}', schedule: '{schedule}'{timezone}{more}}}\n"


def marks(
    cron: str, index: int = 0, schedule: str = "", zone: str = ""
) -> dict[str, str]:
    """The marks of the job that the migrator makes of an entry."""
    entries = config.load_cron(cron, "cron.yaml").entries
    known = [naming.identity(one) for one in entries]
    key = naming.entry_keys(known)[index]
    text = schedule or known[index].schedule
    zone = zone or known[index].timezone
    return naming.Marks(key, text, zone, "other/scope", "set").headers()


KINDS = [
    ("every day 09:00", ""),
    ("every day 02:30", "America/New_York"),
    ("every monday 09:00", "Europe/Rome"),
    ("1st monday of month 07:30", "Europe/Rome"),
    ("1,15 of month 06:00", ""),
    ("1 of jan,apr,jul,oct 00:00", ""),
    ("every 1 hours synchronized", ""),
    ("every 90 minutes synchronized", "Asia/Kathmandu"),
    ("every 15 minutes from 08:00 to 18:45 on mon,tue", "Europe/Rome"),
    ("every 2 hours from 22:00 to 02:00", "Australia/Lord_Howe"),
]


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize(("schedule", "zone"), KINDS)
def test_both_senders_and_each_twice_make_one_run_a_tick(
    tmp_path: Path,
    schedule: str,
    zone: str,
    timed: bool,  # noqa: FBT001 - a table's column
    marked: bool,  # noqa: FBT001 - a table's column
) -> None:
    cron = "cron:\n" + entry(schedule, zone=zone)
    parsed = groc.parse(schedule)
    assert not isinstance(parsed, EndTimeInterval)
    service = host(tmp_path, cron)
    coming = ticks(parsed, zones.load(zone or "UTC"), at("00:00"))
    expected = [next(coming) for _ in range(5)]
    for tick in expected:
        job = dict(SCHEDULER)
        if timed:
            job |= at_time(tick.isoformat())
        if marked:
            twins = to_unix(parsed)
            text = unixcron.render(twins[0]) if len(twins) == 1 else ""
            job |= marks(cron, schedule=text)
        seconds = timedelta(seconds=1)
        assert service.get(tick + 0.3 * seconds, CRON) == "ran"
        assert service.get(tick + 0.5 * seconds, job) == "duplicate"
        assert service.get(tick + 2 * seconds, job) == "duplicate"
        assert service.get(tick + 20 * seconds, CRON) == "duplicate"
    assert [run.scheduled_at for run in service.runs] == expected
    assert len({str(run.id) for run in service.runs}) == 5


def test_a_split_schedule_is_one_entry_whichever_of_its_jobs_fires(
    tmp_path: Path,
) -> None:
    cron = "cron:\n" + entry("every 90 minutes synchronized")
    service = host(tmp_path, cron)
    for when, text in [("03:00", "0 */3 * * *"), ("04:30", "30 1-22/3 * * *")]:
        job = SCHEDULER | marks(cron, schedule=text) | at_time(at(when).isoformat())
        assert service.get(f"{when}:00.2", job) == "ran"
        assert service.get(f"{when}:00.9", CRON) == "duplicate"
    assert service.ticks == ["30 03:00", "30 04:30"]


# --- Intervals ------------------------------------------------------------


@pytest.mark.parametrize("marked", [False, True])
def test_both_senders_share_an_intervals_rest(tmp_path: Path, marked: bool) -> None:  # noqa: FBT001 - a table's column
    cron = "cron:\n" + entry("every 5 minutes")
    service = host(tmp_path, cron)
    job = SCHEDULER | (marks(cron) if marked else {})
    assert service.get("08:00:00.5", CRON) == "ran"
    assert service.get("08:03:00.5", job) == "duplicate"
    assert service.get("08:05:00.5", CRON) == "ran"
    assert service.get("08:08:00.5", job) == "duplicate"
    assert service.get("08:10:00.5", CRON) == "ran"
    assert service.get("08:18:00.5", job) == "ran"  # App Engine has stopped
    assert len({str(run.id) for run in service.runs}) == 4


def test_an_interval_is_told_when_a_run_of_it_began(tmp_path: Path) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 5 minutes"))
    service.get("08:00:21", CRON)
    assert service.ticks == ["30 08:00"]


def test_an_intervals_retry_is_the_same_run(tmp_path: Path) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 5 minutes"))
    service.fails = 1
    assert service.get("08:00:00", CRON) == "failed"
    assert service.get("08:00:01", CRON) == "ran"
    assert service.runs[0].attempt == 2


# --- The sent time ------------------------------------------------------------

RETRIED = (
    ", retry_parameters: {job_retry_limit: 3, min_backoff_seconds: 240, "
    "max_backoff_seconds: 240}"
)
DAILY = "cron:\n" + entry("every day 09:00")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T09:00:00Z",
        "2026-11-30T01:00:00-08:00",
        "2026-11-30T09:00:00.000Z",
        "2026-11-30T09:00:00.510855Z",
        "2026-11-30T08:59:58Z",  # the sender's clock is early
        "2026-11-30T09:00:59Z",
        "junk",
    ],
)
def test_any_form_of_the_time_means_the_tick(tmp_path: Path, text: str) -> None:
    service = host(tmp_path, DAILY)
    assert service.get("09:00:59.3", SCHEDULER, at_time(text)) == "ran"
    assert service.get("09:00:59.5", CRON) == "duplicate"
    assert service.ticks == ["30 09:00"]


@pytest.mark.parametrize("sender", [CRON, SCHEDULER])
def test_our_clock_may_be_early(tmp_path: Path, sender: dict[str, str]) -> None:
    service = host(tmp_path, DAILY)
    assert service.get("08:59:58.1", sender) == "ran"
    assert service.get("09:00:00.1", CRON) == "duplicate"
    assert service.get("09:00:01", SCHEDULER, at_time("2026-11-30T09:00:00Z")) == (
        "duplicate"
    )
    assert service.ticks == ["30 09:00"]


def test_a_retry_that_comes_late_keeps_its_tick(tmp_path: Path) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 5 minutes synchronized"))
    nine = at_time("2026-11-30T09:00:00Z")
    service.fails = 1
    assert service.get("09:00:00.1", SCHEDULER, nine) == "failed"
    assert (
        service.get("09:05:00.1", SCHEDULER, at_time("2026-11-30T09:05:00Z")) == "ran"
    )
    assert service.get("09:06:00.1", SCHEDULER, nine) == "ran"
    assert service.get("09:07:00.1", SCHEDULER, nine) == "duplicate"
    assert service.ticks == ["30 09:05", "30 09:00"]


def test_a_time_that_is_no_tick_is_a_window_of_its_own(tmp_path: Path) -> None:
    service = host(tmp_path, DAILY)
    odd = at_time("2026-11-30T09:30:00Z")
    assert service.get("09:00:00.1", CRON) == "ran"
    assert service.get("09:30:00.1", SCHEDULER, odd) == "ran"
    assert service.get("09:30:05.1", SCHEDULER, odd) == "duplicate"
    assert service.ticks == ["30 09:00", "30 09:30"]


def test_the_hour_that_repeats_in_autumn_has_two_ticks(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every day 01:30", zone="America/New_York")
    service = host(tmp_path, cron)
    for instant in ("2026-11-01T05:30:00", "2026-11-01T06:30:00"):
        assert service.get(f"{instant}.2", CRON) == "ran"
        assert service.get(f"{instant}.4", SCHEDULER, at_time(f"{instant}Z")) == (
            "duplicate"
        )
    assert service.ticks == ["01 05:30", "01 06:30"]


def test_a_time_that_is_no_tick_of_any_of_the_urls_entries_has_its_own_window(
    tmp_path: Path,
) -> None:
    cron = "cron:\n" + entry("every day 09:00") + entry("every day 10:00")
    service = host(tmp_path, cron)
    odd = at_time("2026-11-30T09:30:00Z")
    outcomes = [service.get(f"09:30:0{n}", SCHEDULER, odd) for n in range(2)]
    assert outcomes == ["ran", "duplicate"]


def test_a_sent_time_beside_an_interval_goes_to_the_interval(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every 5 minutes") + entry("every day 10:00")
    service = host(tmp_path, cron)
    sent = [
        ("09:30:00.1", "2026-11-30T09:30:00Z", "ran"),
        ("09:32:00.1", "2026-11-30T09:32:00Z", "duplicate"),
        ("10:00:00.1", "2026-11-30T10:00:00Z", "ran"),
    ]
    for when, text, expected in sent:
        assert service.get(when, SCHEDULER, at_time(text)) == expected
    assert service.ticks == ["30 09:30", "30 10:00"]


def test_of_entries_that_share_a_url_an_older_ones_retry_is_found(
    tmp_path: Path,
) -> None:
    cron = "cron:\n" + entry("every day 09:00", more=RETRIED) + entry("every day 09:03")
    service = host(tmp_path, cron)
    service.fails = 1
    assert service.get("09:00:00.1", CRON) == "failed"
    assert service.get("09:03:00.1", CRON) == "ran"  # takes the retry that is due
    assert service.get("09:04:00.2", CRON) == "ran"
    assert service.ticks == ["30 09:00", "30 09:03"]


def test_a_job_of_several_entries_with_an_unknown_mark_runs_the_one_that_is_alike(
    tmp_path: Path,
) -> None:
    cron = "cron:\n" + entry("every day 09:00") + entry("every day 10:00")
    service = host(tmp_path, cron)
    stale = {"X-Cron-Entry": "another-0123456789ab"}
    job = SCHEDULER | marks(cron, 1) | stale
    assert service.get("10:00:00.1", job) == "ran"
    assert service.get("10:00:00.4", CRON) == "duplicate"


def test_a_job_with_an_unknown_mark_and_no_readable_schedule_goes_by_the_file(
    tmp_path: Path,
) -> None:
    service = host(tmp_path, DAILY)
    stale = {"X-Cron-Entry": "another-0123456789ab"}
    job = SCHEDULER | marks(DAILY, schedule="whenever") | stale
    assert service.get("09:00:00.1", job) == "ran"
    assert service.get("09:00:00.4", CRON) == "duplicate"


def test_a_schedule_that_never_ticked_runs_in_the_minute_of_arrival(
    tmp_path: Path,
) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY, schedule="0 9 30 2 *")
    assert service.get("09:07:20", job) == "ran"
    assert service.get("09:07:40", job) == "duplicate"
    assert service.ticks == ["30 09:07"]


# --- Forced runs ------------------------------------------------------------


def test_a_forced_run_does_not_touch_the_coming_tick(tmp_path: Path) -> None:
    service = host(tmp_path, DAILY)
    nine = at_time("2026-11-30T09:00:00Z")
    assert service.get("08:10:00", SCHEDULER, nine) == "ran"
    assert service.get("08:10:05", SCHEDULER, nine) == "duplicate"  # a redelivery
    assert service.get("08:40:00", SCHEDULER, nine) == "ran"  # forced again
    assert service.get("09:00:00.1", SCHEDULER, nine) == "ran"
    assert service.get("09:00:00.3", CRON) == "duplicate"
    assert len({str(run.id) for run in service.runs}) == 3


def test_a_forced_run_of_an_interval_does_not_touch_its_register(
    tmp_path: Path,
) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 5 minutes"))
    assert service.get("08:00:00", CRON) == "ran"
    assert service.get("08:02:00", SCHEDULER, at_time("2026-11-30T08:05:00Z")) == "ran"
    assert service.get("08:05:00", CRON) == "ran"


def test_a_forced_run_without_a_time_runs_apart_once_it_cannot_be_a_repetition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = host(tmp_path, DAILY)
    assert service.get("09:00:00.1", CRON) == "ran"
    assert service.get("09:09:00", CRON) == "duplicate"  # within its reach
    assert service.get("11:30:00", CRON) == "ran"
    assert service.get("11:30:05", CRON) == "duplicate"
    assert service.ticks == ["30 09:00", "30 11:30"]
    told = capsys.readouterr().out
    assert "somebody forced a run" in told
    assert "older than the deployed one" in told


def test_a_forced_run_of_an_interval_without_a_time_runs_apart(tmp_path: Path) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 60 minutes"))
    assert service.get("08:00:00.1", CRON) == "ran"
    assert service.get("08:05:00", CRON) == "duplicate"
    assert service.get("08:30:00", CRON) == "ran"
    assert service.get("09:00:00.1", CRON) == "ran"


# --- Shared urls ------------------------------------------------------------


def test_identical_entries_run_apart_as_many_times_as_they_are(tmp_path: Path) -> None:
    # The deployed file says noon by now, for both; this copy still says nine.
    service = host(tmp_path, "cron:\n" + 2 * entry("every day 09:00"))
    sent = [service.get(f"09:00:0{n}", CRON) for n in range(2)]
    assert sent == ["ran", "ran"]
    sent = [service.get(f"12:00:0{n}", CRON) for n in range(3)]
    assert sent == ["ran", "ran", "duplicate"]
    assert service.ticks == ["30 09:00", "30 09:00", "30 12:00", "30 12:00"]


def test_identical_entries_with_one_tick_make_as_many_runs(tmp_path: Path) -> None:
    cron = "cron:\n" + 3 * entry("every day 09:00")
    service = host(tmp_path, cron)
    nine = at_time("2026-11-30T09:00:00Z")
    sent = [CRON, SCHEDULER | nine, SCHEDULER, CRON, SCHEDULER | nine, CRON]
    outcomes = [service.get(f"09:00:00.{n}", one) for n, one in enumerate(sent)]
    assert outcomes == 3 * ["ran"] + 3 * ["duplicate"]
    assert len({str(run.id) for run in service.runs}) == 3


def test_marked_jobs_of_identical_entries_run_their_own(tmp_path: Path) -> None:
    cron = "cron:\n" + 2 * entry("every day 09:00")
    service = host(tmp_path, cron)
    nine = at_time("2026-11-30T09:00:00Z")
    for index in (1, 1, 0, 0):
        service.get("09:00:00.1", SCHEDULER | nine | marks(cron, index))
    assert len(service.runs) == 2
    assert service.get("09:00:05", CRON) == "duplicate"


def test_entries_that_share_a_url_each_have_their_ticks(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every day 09:00") + entry("every day 10:00")
    service = host(tmp_path, cron)
    for hour in ("09", "10"):
        assert service.get(f"{hour}:00:00.1", CRON) == "ran"
        assert service.get(f"{hour}:00:00.2", SCHEDULER) == "duplicate"
        job = SCHEDULER | at_time(f"2026-11-30T{hour}:00:00Z")
        assert service.get(f"{hour}:00:00.3", job) == "duplicate"
    assert service.ticks == ["30 09:00", "30 10:00"]


def test_entries_that_share_a_url_and_a_tick_run_once_each(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every 1 hours synchronized") + entry("every day 09:00")
    service = host(tmp_path, cron)
    outcomes = [service.get(f"09:00:00.{n}", CRON) for n in range(3)]
    assert outcomes == ["ran", "ran", "duplicate"]


def test_an_interval_and_a_tick_may_share_a_url(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every 30 minutes") + entry("every day 09:00")
    service = host(tmp_path, cron)
    assert service.get("08:40:00.1", CRON) == "ran"
    assert service.get("09:00:00.1", CRON) == "ran"
    assert service.get("09:00:00.4", CRON) == "duplicate"
    assert service.get("09:10:00.4", CRON) == "ran"
    assert service.ticks == ["30 08:40", "30 09:00", "30 09:10"]


def test_a_url_runs_for_the_entries_that_reach_this_service(tmp_path: Path) -> None:
    cron = (
        "cron:\n"
        + entry("every day 09:00", more=", target: worker")
        + entry("every day 09:00")
    )
    service = host(tmp_path, cron)
    outcomes = [service.get(f"09:00:00.{n}", CRON) for n in range(2)]
    assert outcomes == ["ran", "duplicate"]


def test_dispatch_rules_count_for_what_reaches_this_service(tmp_path: Path) -> None:
    cron = (
        "cron:\n"
        + entry("every day 09:00", more=", target: worker")
        + entry("every day 09:00")
    )
    rules = 'dispatch:\n- {url: "*/a", service: default}\n'
    (tmp_path / "dispatch.yaml").write_text(rules)
    service = host(tmp_path, cron)
    outcomes = [service.get(f"09:00:00.{n}", CRON) for n in range(3)]
    assert outcomes == ["ran", "ran", "duplicate"]


def test_where_no_entry_of_the_url_reaches_here_all_do(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every day 09:00", more=", target: worker")
    service = host(tmp_path, cron)
    assert service.get("09:00:00.1", CRON) == "ran"
    assert service.get("09:00:00.2", SCHEDULER | marks(cron)) == "duplicate"


@dataclass
class Played:
    """Deliveries straight to the rules, on a store in memory."""

    catalog: Catalog
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: ManualClock = field(default_factory=ManualClock)
    runs: list[RegisterKey] = field(default_factory=list)

    def deliver(self, when: datetime, request: CronRequest, end: State) -> bool:
        """Deliver once; tell whether it is answered well."""
        self.clock.now = when
        limits = Limits(timedelta(seconds=30), timedelta(minutes=10))
        for candidate in meant_by(request, self.catalog, limits, when).candidates:
            ask = Ask(
                candidate.key,
                request.sender.value,
                uuid4().hex,
                candidate.terms,
                candidate.timeless,
                candidate.only_retry,
            )
            got = acquire(self.store, ask, self.clock)
            if isinstance(got, Got):
                attempt = Attempt(self.store, got, candidate.terms, self.clock)
                attempt.settle(end)
                if end is State.DONE:
                    self.runs.append(candidate.key)
                return end is State.DONE
        return True  # done before


SHARED = st.lists(
    st.sampled_from(
        [
            "every 5 minutes synchronized",
            "every 10 minutes synchronized",
            "every 15 minutes from 09:05 to 09:50",
            "every day 09:10",
            "every day 09:11",
            "every monday 09:20",
        ]
    ),
    min_size=1,
    max_size=4,
)


@hypothesis_settings(max_examples=150, deadline=None)
@given(SHARED, st.booleans(), st.data())
def test_whatever_shares_a_url_each_tick_of_each_entry_is_one_run(
    schedules: list[str],
    marked: bool,  # noqa: FBT001 - a drawn value
    data: st.DataObject,
) -> None:
    """Each tick is delivered by both senders, some of it twice, in any order."""
    cron = "cron:\n" + "".join(entry(schedule) for schedule in schedules)
    known = read(Texts("cron.yaml", cron), "default", None)
    played = Played(known)
    due = due_ticks(known, at("09:00"), at("09:31"))
    deliveries = []
    for tick, index in due:
        for sender in (Sender.CRON, Sender.SCHEDULER):
            lates = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=2))
            deliveries += [
                (tick + timedelta(seconds=late), sender, tick, index) for late in lates
            ]
    for when, sender, tick, index in sorted(deliveries, key=lambda one: one[0]):
        sent: Sent | NotSent = NotSent()
        carried: naming.Marks | naming.Unmarked = naming.Unmarked("none")
        if sender is Sender.SCHEDULER:
            sent = Sent(tick)
            if marked:
                carried = naming.read_marks(marks(cron, index))
        request = CronRequest(sender, "/a", "shop", "job", sent, carried)
        # What fails is retried a second later; in the end it holds.
        failures = data.draw(st.integers(0, 2), label="failures")
        for number, end in enumerate([State.FAILED] * failures + [State.DONE]):
            if played.deliver(when + timedelta(seconds=number), request, end):
                break
    ran = [(str(key.window), key.entry) for key in played.runs]
    expected = [(str(At(tick)), known.entries[index].key) for tick, index in due]
    assert sorted(ran) == sorted(expected)


def due_ticks(
    known: Catalog, begin: datetime, end: datetime
) -> list[tuple[datetime, int]]:
    """Give what is due from `begin` on, by time, with each entry's index."""
    due = []
    for index, one in enumerate(known.entries):
        assert not isinstance(one.schedule, EndTimeInterval)
        coming = ticks(one.schedule, one.zone, begin - timedelta(seconds=1))
        due += [(tick, index) for tick in takewhile(lambda tick: tick < end, coming)]
    return sorted(due)


# --- Copies of the file that differ -----------------------------------------------


def test_a_job_that_carries_a_newer_schedule_runs_by_that(tmp_path: Path) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY, schedule="30 9 * * *")
    half_past = at_time("2026-11-30T09:30:00Z")
    assert service.get("09:30:00.1", job | half_past) == "ran"
    assert service.get("09:30:00.2", job | half_past) == "duplicate"
    assert service.ticks == ["30 09:30"]


def test_a_job_without_a_time_runs_by_the_schedule_that_it_carries(
    tmp_path: Path,
) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY, schedule="every day 09:30")
    assert service.get("09:30:00.1", job) == "ran"
    assert service.ticks == ["30 09:30"]


def test_a_stale_copy_and_a_marked_job_still_make_one_run(tmp_path: Path) -> None:
    """cron.yaml was deployed with 09:30; this copy still has 09:00, and ran then."""
    service = host(tmp_path, DAILY)
    assert service.get("09:00:00.1", CRON) == "ran"
    job = SCHEDULER | marks(DAILY, schedule="30 9 * * *")
    assert service.get("2026-11-30T09:30:00.1", CRON) == "ran"
    assert service.get(
        "2026-11-30T09:30:00.4", job | at_time("2026-11-30T09:30:00Z")
    ) == ("duplicate")
    assert service.ticks == ["30 09:00", "30 09:30"]


def test_a_zone_change_that_a_job_carries_moves_its_ticks(tmp_path: Path) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY, schedule="0 9 * * *", zone="Europe/Rome")
    assert service.get("08:00:00.1", job) == "ran"
    assert service.ticks == ["30 08:00"]


def test_a_mark_that_this_copy_does_not_know_falls_back_to_the_url(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY) | {"X-Cron-Entry": "another-0123456789ab"}
    assert service.get("09:00:00.1", job | at_time("2026-11-30T09:00:00Z")) == "ran"
    assert service.get("09:00:00.2", CRON) == "duplicate"
    assert "which this copy does not know" in capsys.readouterr().out


def test_a_mark_of_another_url_is_not_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cron = DAILY + entry("every day 09:00", "/b")
    service = host(tmp_path, cron)
    assert service.get("09:00:00.1", SCHEDULER | marks(cron, 1)) == "ran"
    assert service.get("09:00:00.2", CRON) == "duplicate"
    assert service.get("09:00:00.3", CRON, url="/b") == "ran"
    assert "whose url is /b" in capsys.readouterr().out


@pytest.mark.parametrize("schedule", ["whenever", "60 9 * * *", "every day 09:00;Mars"])
def test_a_mark_whose_schedule_cannot_be_read_falls_back_to_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], schedule: str
) -> None:
    service = host(tmp_path, DAILY)
    job = SCHEDULER | marks(DAILY, schedule=schedule)
    assert service.get("09:00:00.1", job) == "ran"
    assert service.get("09:00:00.2", CRON) == "duplicate"
    assert "cannot be read" in capsys.readouterr().out


def test_jobs_yaml_lists_what_has_moved(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(DAILY)
    service = host(tmp_path, "cron:\n")
    assert service.get("09:00:00.1", SCHEDULER | marks(DAILY)) == "ran"
    assert service.get("09:00:00.2", CRON) == "duplicate"


# --- A url that the file does not have --------------------------------------------


def test_a_url_without_an_entry_goes_by_the_jobs_name_and_time(tmp_path: Path) -> None:
    service = host(tmp_path, DAILY)
    nine, ten = at_time("2026-11-30T09:00:00Z"), at_time("2026-11-30T10:00:00Z")
    other = SCHEDULER | {"X-CloudScheduler-JobName": "other"}
    sent = [
        ("09:00:00", SCHEDULER | nine, "ran"),
        ("09:00:30", SCHEDULER | nine, "duplicate"),
        ("09:00:40", other | nine, "ran"),
        ("10:00:00", SCHEDULER | ten, "ran"),
        ("10:30:00", SCHEDULER | at_time("2026-11-30T11:00:00Z"), "ran"),  # forced
        ("11:00:00", SCHEDULER | at_time("2026-11-30T11:00:00Z"), "ran"),
        ("11:30:00", CRON, "ran"),
        ("11:30:20", CRON, "duplicate"),
        ("11:31:20", CRON, "ran"),
    ]
    outcomes = [service.get(when, headers, url="/b") for when, headers, _ in sent]
    assert outcomes == [outcome for *_, outcome in sent]


# --- Retries without a time that come after the next tick -------------------------


def test_a_late_retry_without_a_time_is_the_retry_that_it_is(tmp_path: Path) -> None:
    cron = "cron:\n" + entry("every 5 minutes synchronized", more=RETRIED)
    service = host(tmp_path, cron)
    service.fails = 2
    assert service.get("09:00:00.1", CRON) == "failed"
    assert service.get("09:04:00.2", CRON) == "failed"
    assert service.get("09:08:00.3", CRON) == "ran"
    assert (service.ticks, service.runs[0].attempt) == (["30 09:00"], 3)
    assert service.get("09:08:00.9", CRON) == "ran"  # the tick of 09:05, late
    assert service.ticks == ["30 09:00", "30 09:05"]
    assert service.get("09:09:00.9", CRON) == "duplicate"


def test_a_retry_after_attempts_that_took_long_is_the_retry_that_it_is(
    tmp_path: Path,
) -> None:
    more = ", retry_parameters: {job_retry_limit: 5}"
    service = host(
        tmp_path, "cron:\n" + entry("every 30 minutes synchronized", "/a", "", more)
    )
    service.fails, service.takes = 4, 540.0
    sent = ["09:00:00.1", "09:09:00.2", "09:18:00.5", "09:27:01"]
    assert [service.get(when, CRON) for when in sent] == ["failed"] * 4
    service.takes = 0.0
    assert service.get("09:36:02", CRON) == "ran"
    assert (service.ticks, service.runs[0].attempt) == (["30 09:00"], 5)
    assert service.get("09:36:03", CRON) == "ran"  # the tick of 09:30, delayed
    assert service.ticks == ["30 09:00", "30 09:30"]


def test_without_retries_the_window_before_is_not_looked_at(tmp_path: Path) -> None:
    service = host(tmp_path, "cron:\n" + entry("every 5 minutes synchronized"))
    service.fails = 1
    assert service.get("09:00:00.1", CRON) == "failed"
    assert service.get("09:05:00.1", CRON) == "ran"
    assert service.ticks == ["30 09:05"]


def test_a_line_of_thousands_of_retries_is_bounded_and_not_counted() -> None:
    more = (
        ", retry_parameters: {job_retry_limit: 5, job_age_limit: 2d, "
        "min_backoff_seconds: 1, max_backoff_seconds: 1}"
    )
    cron = "cron:\n" + entry("every day 09:00", more=more)
    (listed,) = read(Texts("cron.yaml", cron), "default", None).entries
    assert listed.line == timedelta(days=2, seconds=1)


# --- Scope ------------------------------------------------------------


def test_app_engine_senders_share_the_apps_scope_whatever_a_header_says(
    tmp_path: Path,
) -> None:
    service = host(tmp_path, DAILY)
    assert service.get("09:00:00.1", CRON) == "ran"
    job = SCHEDULER | {"X-Cron-Scope": "elsewhere/europe-west1"}
    assert service.get("09:00:00.2", job) == "duplicate"


# --- Urls ------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "sent"),
    [
        ("/a?kind=monthly", "/a?kind=monthly"),
        ("/a%20b", "/a%20b"),
        ("/a+b", "/a+b"),
        ("/c#top", "/c"),
        ("/caffè", "/caff%C3%A8"),
        ("/a//b", "/a//b"),
        ("/a%2Fb", "/a%2fb"),
    ],
)
def test_a_url_is_known_however_it_is_written(
    tmp_path: Path, listed: str, sent: str
) -> None:
    service = host(tmp_path, "cron:\n" + entry("every day 09:00", listed))
    assert service.get("09:00:00.1", CRON, url=sent) == "ran"


@pytest.mark.parametrize("sent", ["/a?kind=weekly", "/a/", "/A", "/%2Fa?kind=monthly"])
def test_a_url_that_is_another_is_not_known(tmp_path: Path, sent: str) -> None:
    clock, tasks = ManualClock(), Tasks()
    tasks.task("/a?kind=monthly")(lambda _: None)
    cron = "cron:\n" + entry("every day 09:00", "/a?kind=monthly")
    client = create_app(settings(tmp_path, cron), tasks, clock).test_client()
    assert client.get(sent, headers=CRON).status_code == 404
