"""Any interleaving of time, moves both ways, failures and kills: no tick is lost.

None runs twice either. Only where nobody fires (a gap that was broken off between its
two calls, and left so) ticks may be lost, and only those of that time.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from emulator.faults import Cut, Fail, Fault, When
from migrate.cutover.back import back
from migrate.cutover.onward import onward
from tests.migrate.cutover.sim import START, Killed, Sim, expected_ticks, whole_backup

CRON = """\
cron:
- url: /t
  schedule: every 1 minutes synchronized
  retry_parameters: {job_retry_limit: 3, min_backoff_seconds: 3, max_doublings: 1}
"""
TROUBLES = st.builds(
    Fault,
    st.sampled_from([Cut(), Fail(503), Fail(400)]),
    st.sampled_from(When),
    method=st.sampled_from(["POST", "PATCH", "DELETE", "GET"]),
    skip=st.integers(0, 4),
    times=st.integers(1, 8),
)


class Moves(RuleBasedStateMachine):
    """One project through its life."""

    @initialize(side_by_side=st.booleans(), length=st.sampled_from([0, 1, 9]))
    def project(self, side_by_side: bool, length: int) -> None:  # noqa: FBT001
        self.patch = pytest.MonkeyPatch()
        self.temporary = tempfile.TemporaryDirectory()
        self.sim = Sim(
            CRON,
            Path(self.temporary.name),
            self.patch,
            side_by_side=side_by_side,
            length=length,
        )
        self.legacy = [job.resource for job in self.sim.jobs(legacy=True)]
        self.dark: list[tuple[datetime, datetime]] = []
        self.dark_since: datetime | None = None

    def look(self) -> None:
        """Note since when nobody fires, and until when."""
        states = self.sim.states()
        nobody = "ENABLED" not in (states.get("ours /t"), states.get("legacy /t"))
        now = self.sim.clock.now()
        if nobody and self.dark_since is None:
            self.dark_since = now - timedelta(seconds=40)
        elif not nobody and self.dark_since is not None:
            self.dark.append((self.dark_since, now))
            self.dark_since = None
        there = {job.key.name for job in self.sim.jobs(legacy=True)}
        gone = [job for job in self.legacy if job["name"] not in there]
        assert not gone or whole_backup(self.sim.folder, gone)

    @rule(seconds=st.integers(1, 150))
    def time_passes(self, seconds: int) -> None:
        self.sim.pass_time(timedelta(seconds=seconds))
        self.look()

    @rule(failures=st.integers(0, 2))
    def the_task_fails_so_often_before_it_does_well(self, failures: int) -> None:
        self.sim.fails = lambda attempt: attempt <= failures

    @precondition(lambda self: self.sim.asked.services)
    @rule()
    def the_host_answers_no_more(self) -> None:
        self.sim.asked = replace(self.sim.asked, services={})

    @rule(onwards=st.booleans(), kill_at=st.none() | st.integers(1, 9))
    def a_move(self, onwards: bool, kill_at: int | None) -> None:  # noqa: FBT001
        self.sim.writes, self.sim.kill_at = 0, kill_at
        try:
            self.sim.move(onward if onwards else back, minutes=5)
        except Killed:
            pass
        finally:
            self.sim.kill_at = None
        self.look()

    @rule(onwards=st.booleans(), trouble=TROUBLES)
    def a_move_in_trouble(self, onwards: bool, trouble: Fault) -> None:  # noqa: FBT001
        self.sim.world.faults.add(trouble)
        try:
            self.sim.move(onward if onwards else back, minutes=5)
        except Exception as problem:
            if type(problem).__name__ not in {"Lost", "Refused", "Throttled"}:
                raise  # a list that could not be had ends a run
        finally:
            self.sim.world.faults.clear()
        self.look()

    def teardown(self) -> None:
        if not hasattr(self, "sim"):
            return
        try:
            self.sim.fails = lambda _: False
            second = self.sim.clock.now().second
            self.sim.pass_time(timedelta(seconds=(110 - second) % 60 + 60))
            self.look()
            self.every_tick_once()
        finally:
            self.sim.close()
            self.patch.undo()
            self.temporary.cleanup()

    def every_tick_once(self) -> None:
        now = self.sim.clock.now()
        dark = [*self.dark, *([(self.dark_since, now)] if self.dark_since else [])]
        ran = self.sim.ticks_run("/t")
        ticks = expected_ticks("* * * * *", "UTC", START, now)
        assert len(ran) == len(set(ran)), "a tick ran twice"
        lost = set(ticks) - set(ran)
        excused = {t for t in lost if any(since <= t <= until for since, until in dark)}
        assert lost == excused
        assert set(ran) <= set(ticks)


def test_whatever_happens_no_tick_is_lost_and_none_runs_twice() -> None:
    run_state_machine_as_test(
        Moves,
        settings=settings(
            max_examples=60,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
