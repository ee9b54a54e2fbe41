"""Cut-overs and roll-backs of a project whose jobs fire meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from emulator.faults import Cut, Fail, Fault, When
from migrate.choices import EntryChoices, Home
from migrate.cutover.back import back
from migrate.cutover.carry import NobodyFiresError
from migrate.cutover.seen import Done, Stop
from migrate.job import to_api
from migrate.legacy import legacy_job
from migrate.normal import normal
from migrate.translate import translate
from tests.migrate.cutover.sim import START, Killed, Sim, expected_ticks, whole_backup
from tests.migrate.live.world import PARENT, job, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from migrate.cutover.run import Ended

MINUTELY = """\
cron:
- url: /t
  schedule: every 1 minutes synchronized
"""
INTERVAL = """\
cron:
- url: /t
  schedule: every 2 minutes
"""
MINUTE = timedelta(minutes=1)
MOVED = {"ours /t": "ENABLED"}
BACK = {"legacy /t": "ENABLED", "ours /t": "PAUSED"}


@pytest.fixture
def sim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Sim]]:
    made: list[Sim] = []

    def make(cron: str, **how: Any) -> Sim:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Sim(cron, folder, monkeypatch, **how))
        return made[-1]

    yield make
    for one in made:
        one.close()


def done(ended: Ended) -> bool:
    return all(isinstance(one, Done) for one in ended.next.values())


def every_tick_once(sim: Sim) -> None:
    """Assert that each tick so far became one run that ended well, and only one."""
    sim.pass_time(timedelta(seconds=(110 - sim.clock.now().second) % 60))
    assert not sim.flights
    ran = sim.ticks_run("/t")
    ticks = expected_ticks("* * * * *", "UTC", START, sim.clock.now())
    assert ran == ticks


WAYS: dict[str, dict[str, Any]] = {
    "overlap": {},
    "gap, a host that makes one run": {"side_by_side": False},
    "gap, a host that runs all": {"side_by_side": False, "dedups": False},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [0, 1, 20])
def test_every_tick_runs_once_whichever_second_a_move_and_its_way_back_begin(
    sim: Callable[..., Sim], way: str, length: int
) -> None:
    for second in range(0, 60, 3 if length else 1):
        one = sim(MINUTELY, length=length, **WAYS[way])
        one.pass_time(timedelta(minutes=2, seconds=second))
        assert done(one.move())
        assert one.states() == MOVED
        one.pass_time(2 * MINUTE)
        assert done(one.rollback())
        assert one.states() == BACK
        one.pass_time(2 * MINUTE)
        assert done(one.move())
        assert one.states() == MOVED
        one.pass_time(MINUTE / 2)
        every_tick_once(one)
        assert whole_backup(one.folder, ())


def way_of(sim: Sim) -> set[str]:
    return {told.entry.chosen.way.value for told in sim.steps}


@pytest.mark.parametrize("way", WAYS)
def test_the_way_is_the_one_that_the_host_allows(
    sim: Callable[..., Sim], way: str
) -> None:
    one = sim(MINUTELY, **WAYS[way])
    one.move()
    assert way_of(one) == {way.partition(",")[0]}
    words = [type(told.step).__name__ for told in one.steps]
    assert words == (["Make", "Remove"] if way == "overlap" else ["MakePaused", "Swap"])


RETRIED = """\
cron:
- url: /t
  schedule: every 1 minutes synchronized
  retry_parameters: {job_retry_limit: 3, min_backoff_seconds: 4, max_doublings: 1}
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_run_is_retried_to_its_good_end_before_a_job_goes(
    sim: Callable[..., Sim], way: str
) -> None:
    for second in range(0, 60, 3):
        one = sim(RETRIED, length=2, fails=lambda attempt: attempt < 3, **WAYS[way])
        one.pass_time(timedelta(minutes=2, seconds=second))
        assert done(one.move(minutes=30))
        one.pass_time(2 * MINUTE)
        assert done(one.rollback())
        one.pass_time(timedelta(minutes=1, seconds=40))
        assert len(one.works) > 12
        every_tick_once(one)


@pytest.mark.parametrize("dedups", [True, False])
@pytest.mark.parametrize("length", [0, 1, 25])
def test_an_interval_never_rests_for_over_two_periods_nor_for_less_than_one(
    sim: Callable[..., Sim], *, length: int, dedups: bool
) -> None:
    for second in range(0, 120, 11 if length else 3):
        one = sim(INTERVAL, length=length, dedups=dedups)
        one.pass_time(timedelta(minutes=4, seconds=second))
        assert done(one.move())
        assert way_of(one) == {"hand-over"}
        assert one.states() == MOVED
        one.pass_time(6 * MINUTE)
        assert done(one.rollback())
        assert one.states() == BACK
        one.pass_time(6 * MINUTE)
        one.close()
        assert one.rests("/t")
        # Whole minutes count: a rest may be up to one shorter than its period.
        assert min(one.rests("/t")) >= MINUTE - timedelta(seconds=2)
        assert max(one.rests("/t")) <= 2 * timedelta(minutes=2)


@pytest.mark.parametrize("way", WAYS)
def test_among_many_entries_each_has_its_two_calls_one_after_the_other(
    sim: Callable[..., Sim], way: str
) -> None:
    urls = [f"/{number}" for number in range(12)]
    schedule = "schedule: every 1 minutes synchronized"
    cron = "cron:\n" + "".join(f"- {{url: {url}, {schedule}}}\n" for url in urls)
    one = sim(cron, length=1, **WAYS[way])
    for move in (one.move, one.rollback):
        one.pass_time(timedelta(minutes=1, seconds=(65 - one.clock.now().second) % 60))
        assert done(move(minutes=60))
    one.pass_time(timedelta(seconds=(110 - one.clock.now().second) % 60))
    ticks = expected_ticks("* * * * *", "UTC", START, one.clock.now())
    for url in urls:
        assert one.ticks_run(url) == ticks


def killed_at(one: Sim, write: int, move: Callable[[], Ended]) -> bool:
    """Tell whether our process was killed right after that write of a move."""
    one.writes, one.kill_at = 0, write
    try:
        move()
    except Killed:
        return True
    finally:
        one.kill_at = None
    return False


@pytest.mark.parametrize("then", ["go on", "go back"])
@pytest.mark.parametrize("way", ["overlap", "gap, a host that makes one run"])
def test_killed_after_any_write_a_move_goes_on_and_goes_back(
    sim: Callable[..., Sim], way: str, then: str
) -> None:
    write = 0
    while True:
        write += 1
        one = sim(MINUTELY, length=1, **WAYS[way])
        legacy = [job.resource for job in one.jobs(legacy=True)]
        one.pass_time(timedelta(minutes=1, seconds=50))
        killed = killed_at(one, write, one.move)
        assert whole_backup(one.folder, legacy)
        if then == "go on":
            assert done(one.move())
            assert one.states() == MOVED
        else:
            assert done(one.rollback())
            assert one.states() in (BACK, {"legacy /t": "ENABLED"})
        one.pass_time(2 * MINUTE)
        every_tick_once(one)
        if not killed:
            break
    assert write > 2


@pytest.mark.parametrize("then", ["go on", "go back"])
def test_a_roll_back_that_is_killed_after_any_write_goes_on_and_turns_round(
    sim: Callable[..., Sim], then: str
) -> None:
    write = 0
    while True:
        write += 1
        one = sim(MINUTELY, length=1)
        one.pass_time(timedelta(minutes=1, seconds=50))
        assert done(one.move())
        killed = killed_at(one, write, one.rollback)
        if then == "go on":
            assert done(one.rollback())
            assert one.states() == BACK
        else:
            assert done(one.move())
            assert one.states() == MOVED
        one.pass_time(2 * MINUTE)
        every_tick_once(one)
        if not killed:
            break
    assert write > 2


@pytest.mark.parametrize("length", [0, 25])
def test_an_interval_s_move_killed_and_left_alone_keeps_its_rests(
    sim: Callable[..., Sim], length: int
) -> None:
    write = 0
    while True:
        write += 1
        one = sim(INTERVAL, length=length)
        one.pass_time(timedelta(minutes=4, seconds=30))
        killed = killed_at(one, write, one.move)
        one.pass_time(7 * MINUTE)
        assert done(one.move())
        one.pass_time(5 * MINUTE)
        killed_back = killed_at(one, write, one.rollback)
        one.pass_time(7 * MINUTE)
        assert done(one.rollback())
        assert one.states() == BACK
        one.pass_time(5 * MINUTE)
        one.close()
        assert min(one.rests("/t")) >= MINUTE - timedelta(seconds=2)
        assert max(one.rests("/t")) <= 2 * timedelta(minutes=2)
        if not killed and not killed_back:
            break
    assert write > 2


# --- Left alone after a kill, faults ------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_killed_and_left_alone_nothing_runs_twice_and_only_a_gap_loses_ticks(
    sim: Callable[..., Sim], way: str
) -> None:
    write, lost_after = 0, []
    while True:
        write += 1
        one = sim(MINUTELY, length=1, **WAYS[way])
        one.pass_time(timedelta(minutes=1, seconds=50))
        killed = killed_at(one, write, one.move)
        at = one.clock.now()
        one.pass_time(3 * MINUTE)
        back_at = one.clock.now()
        nobody = "legacy /t" not in one.states() and one.states()["ours /t"] != (
            "ENABLED"
        )
        assert done(one.move())
        one.pass_time(timedelta(seconds=(110 - one.clock.now().second) % 60))
        ran = one.ticks_run("/t")
        ticks = expected_ticks("* * * * *", "UTC", START, one.clock.now())
        if one.client is not None:
            assert len(ran) == len(set(ran))
        if nobody:
            lost_after.append(write)
            assert not [t for t in ticks if t not in ran and not at < t < back_at]
        else:
            assert set(ran) == set(ticks)
        if not killed:
            break
    # Created, paused, patched: the fourth write of a gap is the deletion.
    assert lost_after == ([] if way == "overlap" else [4])


def test_if_ours_cannot_be_resumed_the_legacy_job_is_made_again_at_once(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, side_by_side=False, length=1)
    before = one.jobs(legacy=True)[0].resource
    one.pass_time(timedelta(minutes=1, seconds=50))
    one.world.faults.add(Fault(Fail(400), path=":resume$", times=None))
    ended = one.move()
    assert not done(ended)
    assert one.states() == BACK
    again = one.jobs(legacy=True)[0].resource
    assert normal(again) == normal(before)
    every_tick_once(one)
    one.world.faults.clear()
    assert done(one.move())
    every_tick_once(one)


def test_if_ours_fires_and_only_its_mark_stays_the_legacy_job_is_not_made_again(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, **WAYS["gap, a host that runs all"])
    one.pass_time(timedelta(minutes=1, seconds=50))
    one.world.faults.add(Fault(Fail(400), method="PATCH", skip=1, times=None))
    assert not done(one.move())  # the first patch finished the paused creation
    assert one.states() == MOVED
    every_tick_once(one)
    one.world.faults.clear()
    assert done(one.move())
    every_tick_once(one)


def test_if_only_some_of_an_entry_s_jobs_can_be_resumed_none_of_them_fires(
    sim: Callable[..., Sim],
) -> None:
    cron = "cron:\n- url: /t\n  schedule: every 90 minutes synchronized\n"
    one = sim(cron, choices=EntryChoices(split=True), side_by_side=False)
    one.world.faults.add(Fault(Fail(400), path=":resume$", skip=1, times=None))
    one.move(minutes=40)
    states = [job.state for job in one.jobs(legacy=False)]
    assert states == ["PAUSED", "PAUSED"]
    assert [job.state for job in one.jobs(legacy=True)] == ["ENABLED"]
    one.world.faults.clear()
    assert done(one.move(minutes=200))
    assert [job.state for job in one.jobs(legacy=False)] == ["ENABLED", "ENABLED"]


def test_jobs_of_a_form_that_an_entry_had_before_do_not_fire_on_beside_it(
    sim: Callable[..., Sim],
) -> None:
    cron = "cron:\n- url: /t\n  schedule: every 90 minutes synchronized\n"
    split = sim(cron, choices=EntryChoices(split=True), side_by_side=False)
    assert done(split.move(minutes=200))
    (whole,) = translate(
        split.file.entries,
        (),
        Home("shop", "europe-west1"),
        lambda _entry, _route: EntryChoices(),
        START,
    )
    split.asked = replace(split.asked, translations=[whole])
    (found,) = split.move().next.values()
    assert isinstance(found, Stop)
    assert "of a form that the entry had before" in found.why
    assert done(split.move(back, minutes=200))
    assert [job.state for job in split.jobs(legacy=False)] == ["PAUSED", "PAUSED"]
    assert [job.state for job in split.jobs(legacy=True)] == ["ENABLED"]


def test_a_job_that_was_paused_and_resumed_again_is_saved_as_it_was_last(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, side_by_side=False)
    key = one.jobs(legacy=True)[0].key
    for state in ("ENABLED", "PAUSED", "ENABLED"):
        one.world.store.change(key, lambda job, s=state: job.with_fields({"state": s}))
        legacy = store_of(one.api()).legacy_jobs(PARENT)
        one.backup().keep(legacy, one.clock.now())
    one.kill_at = 4  # made, paused, given its schedule; the legacy job just deleted
    with pytest.raises(Killed):
        one.move()
    assert one.states() == {"ours /t": "PAUSED"}
    one.kill_at = None
    assert done(one.move())
    assert one.states() == MOVED


def test_if_nothing_at_all_can_be_made_to_fire_that_is_said(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, side_by_side=False)
    one.world.faults.add(Fault(Fail(400), path=":resume$", times=None))
    one.world.faults.add(Fault(Fail(400), method="POST", path="/jobs$", skip=1))
    one.move()
    assert one.states() == {"ours /t": "PAUSED"}
    assert isinstance(one.steps[-1].problem, NobodyFiresError)
    assert "NOBODY FIRES IT" in str(one.steps[-1].problem)
    one.world.faults.clear()
    assert done(one.rollback())
    assert one.states() == BACK


TROUBLES: dict[str, Fault] = {
    "lost on the way there": Fault(Cut(), times=3),
    "answer lost": Fault(Cut(), When.AFTER, times=3),
    "503 after the effect": Fault(Fail(503), When.AFTER, times=3),
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("way", ["overlap", "gap, a host that makes one run"])
def test_lost_replies_make_no_second_job_and_lose_none(
    sim: Callable[..., Sim], way: str, trouble: str
) -> None:
    for method in ("POST", "DELETE", "PATCH"):
        one = sim(MINUTELY, length=1, **WAYS[way])
        one.pass_time(timedelta(minutes=1, seconds=45))
        one.world.faults.add(replace(TROUBLES[trouble], method=method))
        assert done(one.move())
        one.world.faults.add(replace(TROUBLES[trouble], method=method))
        assert done(one.rollback())
        assert len(one.jobs(legacy=True)) == 1
        assert one.states() == BACK
        every_tick_once(one)


def test_asked_to_stop_it_ends_after_the_step_in_flight_and_goes_on_later(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY + "- {url: /other, schedule: every day 10:20}\n")
    one.steps = StopsAfterOne(one)
    ended = one.move(minutes=60)
    assert ended.stopped
    assert len(one.steps) == 1
    assert sorted(one.states()) == ["legacy /other", "legacy /t", "ours /t"]
    one.stop, one.steps = False, []
    assert done(one.move(minutes=60))


class StopsAfterOne(list[Any]):
    """Notes steps, and asks to stop at the first."""

    def __init__(self, sim: Sim) -> None:
        super().__init__()
        self.sim = sim

    def append(self, told: Any) -> None:
        super().append(told)
        self.sim.stop = True


def test_what_every_call_would_meet_ends_the_run(sim: Callable[..., Sim]) -> None:
    one = sim(MINUTELY + "- {url: /other, schedule: every day 10:20}\n")
    one.world.faults.add(Fault(Fail(403), method="POST", times=None))
    ended = one.move()
    assert len(ended.failed) == len(one.steps) == 1
    assert "roles/cloudscheduler.admin" in str(one.steps[0].problem)
    assert sorted(one.states()) == ["legacy /other", "legacy /t"]


def test_an_old_cron_yaml_deployed_after_the_move_is_taken_away_again(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, length=1)
    one.pass_time(timedelta(minutes=1, seconds=50))
    assert done(one.move())
    one.pass_time(2 * MINUTE)
    one.deploy(legacy_job(one.file.entries[0], START))
    one.pass_time(2 * MINUTE)
    assert sorted(one.states()) == ["legacy /t", "ours /t"]
    assert done(one.move())
    assert one.states() == MOVED
    assert len((one.folder / "backup.jsonl").read_text().splitlines()) == 2
    every_tick_once(one)


# --- What is carried over as it is --------------------------------------------------


def pause_legacy(one: Sim) -> None:
    (job,) = one.jobs(legacy=True)
    one.world.store.change(
        job.key, lambda found: found.with_fields({"state": "PAUSED"})
    )


def test_a_paused_legacy_job_is_carried_over_as_paused_and_nobody_resumes_it(
    sim: Callable[..., Sim],
) -> None:
    write = 0
    while True:
        write += 1
        one = sim(MINUTELY, **WAYS["overlap"])
        pause_legacy(one)
        killed = killed_at(one, write, one.move)
        assert done(one.move())
        assert one.states() == {"ours /t": "PAUSED"}
        (job,) = one.jobs(legacy=False)
        assert "X-Cron-Paused" not in job.resource["appEngineHttpTarget"]["headers"]
        assert done(one.move())
        assert done(one.rollback())
        assert one.states() == {"ours /t": "PAUSED"}
        assert one.works == []
        if not killed:
            break
    assert write > 3


def test_a_job_of_ours_that_somebody_paused_is_never_resumed(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, side_by_side=False)
    one.pass_time(timedelta(minutes=1, seconds=50))
    assert killed_at(one, 1, one.move)  # made, and not paused by us yet
    (job,) = one.jobs(legacy=False)
    one.move()
    (job,) = one.jobs(legacy=False)
    one.api().pause(job.key.name)
    assert done(one.move())
    assert one.states() == {"ours /t": "PAUSED"}
    (found,) = one.rollback().next.values()
    assert isinstance(found, Stop)
    assert "somebody paused" in found.why
    assert one.states() == {"ours /t": "PAUSED"}


def test_a_live_legacy_job_that_differs_from_the_file_stops_its_entry_alone(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY + "- {url: /other, schedule: every day 10:20}\n", deploy=False)
    minutely, daily = (legacy_job(entry, START) for entry in one.file.entries)
    one.deploy({**minutely, "description": "another"})
    one.deploy(daily)
    ended = one.move(minutes=60)
    stop, over = ended.next.values()
    assert isinstance(stop, Stop)
    assert [job.get("description", "") for job in stop.shown] == ["another", ""]
    assert isinstance(over, Done)
    assert one.states() == {"legacy /t": "ENABLED", "ours /other": "ENABLED"}


def test_an_entry_that_was_never_deployed_is_left_to_apply(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY, deploy=False)
    for move in (one.move, one.rollback):
        (found,) = move().next.values()
        assert isinstance(found, Stop)
        assert "deployed" in found.why
    assert one.states() == {}


def test_a_foreign_job_on_a_name_that_is_needed_stops_its_entry(
    sim: Callable[..., Sim],
) -> None:
    one = sim(MINUTELY)
    name = one.translations[0].key
    one.api().create(PARENT, job(name), legacy=False)
    (found,) = one.move().next.values()
    assert isinstance(found, Stop)
    assert f"adopt {name}" in found.why
    assert len(one.jobs(legacy=True)) == 1


@pytest.mark.parametrize("way", ["overlap", "gap, a host that makes one run"])
def test_identical_entries_go_over_one_by_one_and_each_of_their_runs_stays(
    sim: Callable[..., Sim], way: str
) -> None:
    twice = MINUTELY + MINUTELY.partition("\n")[2]
    one = sim(twice, **WAYS[way])
    one.pass_time(timedelta(minutes=1, seconds=50))
    assert done(one.move())
    assert len(one.jobs(legacy=True)) == 0
    one.pass_time(2 * MINUTE)
    assert done(one.rollback())
    assert len(one.jobs(legacy=True)) == 2
    one.pass_time(timedelta(seconds=(110 - one.clock.now().second) % 60))
    ticks = expected_ticks("* * * * *", "UTC", START, one.clock.now())
    assert one.ticks_run("/t") == sorted([*ticks, *ticks])


# --- Terraform's jobs ---------------------------------------------------------------


@pytest.mark.parametrize("way", ["overlap", "gap, a host that makes one run"])
def test_terraform_s_jobs_are_waited_for_and_never_touched(
    sim: Callable[..., Sim], way: str
) -> None:
    one = sim(MINUTELY, length=1, **WAYS[way])
    one.asked = replace(one.asked, theirs=True)
    (found,) = one.move().next.values()
    assert isinstance(found, Stop)
    assert "terraform apply makes it" in found.why
    made = to_api(one.translations[0].jobs[0])
    one.api().create(PARENT, made, legacy=False)
    one.api().pause(made["name"])
    before = one.jobs(legacy=False)[0].resource
    one.pass_time(timedelta(minutes=1, seconds=50))
    (found,) = one.move().next.values()
    assert isinstance(found, Stop)
    assert "paused = false" in found.why
    assert one.jobs(legacy=False)[0].resource == before
    one.api().resume(made["name"])
    assert done(one.move())
    assert one.states() == MOVED
    (found,) = one.rollback().next.values()
    assert isinstance(found, Stop)
    assert "paused = true" in found.why
    one.api().pause(made["name"])
    assert done(one.rollback())
    assert one.states() == BACK


# --- Entries of several jobs, and several entries of one url ------------------------

BY_THE_HOUR_AND_A_HALF = "cron:\n- {url: /t, schedule: every 90 minutes synchronized}\n"
TICKS = [START + timedelta(minutes=minutes) for minutes in range(30, 24 * 60, 90)]


@pytest.mark.parametrize("way", WAYS)
def test_an_entry_of_two_jobs_goes_over_and_back_as_one(
    sim: Callable[..., Sim], way: str
) -> None:
    one = sim(
        BY_THE_HOUR_AND_A_HALF,
        length=20,
        choices=EntryChoices(split=True),
        **WAYS[way],
    )
    one.pass_time(timedelta(minutes=40))
    assert done(one.move(minutes=300))
    assert [job.state for job in one.jobs(legacy=False)] == ["ENABLED", "ENABLED"]
    assert not one.jobs(legacy=True)
    one.pass_time(timedelta(hours=4))
    assert done(one.rollback())
    assert [job.state for job in one.jobs(legacy=False)] == ["PAUSED", "PAUSED"]
    one.pass_time(timedelta(hours=4, minutes=1))
    ran = one.ticks_run("/t")
    assert len(ran) > 5
    assert ran == [tick for tick in TICKS if tick <= one.clock.now()]


TWO_OF_ONE_URL = MINUTELY + "- {url: /t, schedule: every 5 minutes synchronized}\n"


@pytest.mark.parametrize("way", ["overlap", "gap, a host that makes one run"])
def test_entries_of_one_url_each_keep_their_runs(
    sim: Callable[..., Sim], way: str
) -> None:
    one = sim(TWO_OF_ONE_URL, length=1, **WAYS[way])
    one.pass_time(timedelta(minutes=1, seconds=50))
    assert done(one.move())
    assert not one.jobs(legacy=True)
    one.pass_time(6 * MINUTE)
    assert done(one.rollback())
    one.pass_time(timedelta(minutes=6, seconds=(110 - one.clock.now().second) % 60))
    now = one.clock.now()
    ticks = [
        *expected_ticks("* * * * *", "UTC", START, now),
        *expected_ticks("*/5 * * * *", "UTC", START, now),
    ]
    assert one.ticks_run("/t") == sorted(ticks)
