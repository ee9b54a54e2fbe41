"""Whole processes of ours: exit codes, killed at any moment, stopped with Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emulator import server
from emulator.faults import Fail, Fault, Slow
from migrate.livejob import LiveJob, State
from migrate.scheduler import EMULATOR
from tests.migrate.live.world import PARENT, WorldApi, ours, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.server import Running

ROOT = Path(__file__).parents[3]
JOBS = 60


@pytest.fixture
def running(world: Any) -> Iterator[Running]:
    with server.start(world) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entry = "- {{url: /t{0}, schedule: every 5 minutes}}\n"
    text = "cron:\n" + "".join(entry.format(number) for number in range(JOBS))
    (tmp_path / "cron.yaml").write_text(text)
    return tmp_path


def begin(running: Running, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "migrate", *arguments, "--project", "shop"],
        cwd=ROOT,
        env=os.environ | {EMULATOR: running.url.removeprefix("http://")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends(running: Running, *arguments: str) -> tuple[int, str]:
    process = begin(running, *arguments)
    output, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    return process.returncode, output + errors


def jobs(running: Running) -> list[LiveJob]:
    return list(store_of(WorldApi(running.world)).jobs(PARENT))


def wait_for(running: Running, writes: int) -> None:
    """Wait until so many writes have come in."""
    until = time.monotonic() + 30
    while sum(e.request.writes for e in running.world.journal.exchanges()) < writes:
        assert time.monotonic() < until
        time.sleep(0.005)


def test_detailed_exit_codes_are_terraform_s(running, folder):
    detailed = ("plan", str(folder), "--detailed-exitcode")
    assert ends(running, *detailed)[0] == 2
    assert ends(running, "plan", str(folder))[0] == 0
    assert ends(running, "apply", str(folder), "--yes")[0] == 0
    assert ends(running, *detailed)[0] == 0
    assert ends(running, *detailed, "--nonsense")[0] == 1
    (folder / "cron.yaml").write_text("cron: [")
    assert ends(running, *detailed)[0] == 1
    assert ends(running, "plan", str(folder))[0] == 2


@pytest.mark.parametrize("writes", [1, 50, 100])
def test_killed_while_making_paused_it_leaves_nothing_live_and_goes_on(
    running, folder, writes
):
    running.world.faults.add(Fault(Slow(0.01), times=None))
    process = begin(running, "apply", str(folder), "--yes", "--paused")
    wait_for(running, writes)
    process.kill()
    process.communicate()
    for one in jobs(running):
        assert one.state is State.PAUSED or one.unborn
    assert ends(running, "apply", str(folder), "--yes", "--paused")[0] == 0
    made = jobs(running)
    assert len(made) == JOBS
    for one in made:
        assert one.state is State.PAUSED
        assert one.pause_is_ours
        assert not one.unborn


def test_ctrl_c_ends_after_the_changes_in_flight_and_says_where(running, folder):
    running.world.faults.add(Fault(Slow(0.05), times=None, method="POST"))
    process = begin(running, "apply", str(folder), "--yes")
    wait_for(running, 20)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "stopping after the changes in flight" in errors
    made = len(jobs(running))
    assert 20 <= made < JOBS
    assert f"Stopped: {made} of {JOBS} changes made." in output
    assert "stopped before it" in output
    assert ends(running, "apply", str(folder), "--yes")[0] == 0
    assert len(jobs(running)) == JOBS


def test_a_second_ctrl_c_ends_at_once_and_the_next_start_goes_on(running, folder):
    running.world.faults.add(Fault(Slow(30), method="POST", path=r"/jobs(\?|$)"))
    process = begin(running, "apply", str(folder), "--yes")
    wait_for(running, 20)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert "stopping after" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "changes in flight may be done or not" in errors
    assert ends(running, "apply", str(folder), "--yes")[0] == 0
    assert len(jobs(running)) == JOBS


def test_a_reader_that_goes_away_stops_nothing_and_hides_no_failure(running, folder):
    path = r"/jobs(\?|$)"
    running.world.faults.add(Fault(Fail(400, "no"), method="POST", path=path, skip=40))
    running.world.faults.add(Fault(Slow(0.05), method="POST", path=path, times=None))
    process = begin(running, "apply", str(folder), "--yes")
    assert process.stdout is not None
    assert any("done" in line for line in process.stdout)  # the plan comes first
    process.stdout.close()
    assert process.wait(timeout=60) == 1
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert len(jobs(running)) == JOBS - 1


def at_a_terminal(
    running: Running,
    answer: str,
    *arguments: str,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[int, str]:
    """Run us at a terminal of our own, where somebody types an answer, in time."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate", *arguments, "--project", "shop"],
        cwd=ROOT,
        env=os.environ
        | {EMULATOR: running.url.removeprefix("http://"), "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    output = b""
    while b"[y/N]" not in output:
        output += os.read(ours, 65536)
    meanwhile()
    os.write(ours, answer.encode())
    with contextlib.suppress(OSError):  # the other end is closed: all is read
        while more := os.read(ours, 65536):
            output += more
    os.close(ours)
    return process.wait(timeout=30), output.decode()


@pytest.mark.parametrize(("answer", "code", "made"), [("n\n", 1, 0), ("y\n", 0, JOBS)])
def test_at_a_terminal_it_asks_in_colour_and_does_as_it_is_told(
    running, folder, answer, code, made
):
    ended, output = at_a_terminal(running, answer, "apply", str(folder))
    assert ended == code, output
    assert f"Make {JOBS} changes?" in output
    assert "\x1b[" in output
    assert len(jobs(running)) == made


def test_what_changes_while_it_asks_is_not_overrun(running, folder):
    assert ends(running, "apply", str(folder), "--yes")[0] == 0
    (folder / "cron.yaml").write_text(
        "cron:\n- {url: /t0, schedule: every 5 minutes}\n"
    )
    store = store_of(WorldApi(running.world))
    name = next(one.name for one in jobs(running) if one.url == "/t7")

    def somebody_takes_it_over() -> None:
        store.update(ours("t7", "other", name=name), ["appEngineHttpTarget.headers"])

    code, output = at_a_terminal(
        running,
        "y\n",
        "apply",
        str(folder),
        "--max-deletes=99",
        meanwhile=somebody_takes_it_over,
    )
    assert code == 1
    assert "stale: t7-" in output
    assert len(jobs(running)) == JOBS
