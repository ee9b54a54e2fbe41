"""Speed of plan and apply against `gcloud app deploy cron.yaml`, on one emulator.

250 entries at 50 ms an API call, each side from nothing; a plan with no changes over
the API's own time; 5,000 live jobs planned in one pass.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchlib import against, header, heading, row

from emulator import server
from emulator.app import App
from emulator.clock import RealClock
from emulator.faults import Fault, Slow
from emulator.jobs import Key, create
from emulator.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.server import Running

ENTRIES = 250
MANY = 5000
LATENCY = 0.05
ROUNDS = 3
IN_TURN = 2  # the app and its services are asked for at once, then the jobs
GOAL_APPLY = 0.15
GOAL_PLAN = 0.3
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side took: seconds, those of a processor, and how many requests."""

    seconds: float
    busy: float
    requests: int


def cron_yaml(folder: Path, count: int = ENTRIES) -> None:
    """Write an entry of each kind in turn."""
    kinds = ("every 5 minutes", "every monday 09:00", "1st monday of month 07:30")
    entries = "".join(
        f"- url: /tasks/t{number}\n  schedule: {kinds[number % 3]}\n"
        for number in range(count)
    )
    (folder / "cron.yaml").write_text(f"cron:\n{entries}")


def started() -> Running:
    """Start an emulator in a process of its own share: a thread here, as a test has."""
    world = World(app=App("shop", "europe-west"))
    world.faults.add(Fault(Slow(LATENCY), times=None))
    return server.start(world)


def timed(running: Running, arguments: list[str], environment: dict[str, str]) -> Side:
    """Run a command to its end."""
    before = len(running.world.journal.exchanges())
    busy = _busy()
    begun = time.perf_counter()
    subprocess.run(
        arguments,
        cwd=ROOT,
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )
    took = time.perf_counter() - begun
    requests = len(running.world.journal.exchanges()) - before
    return Side(took, _busy() - busy, requests)


def _busy() -> float:
    """Give the processor's seconds of all processes begun and ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(running: Running, *arguments: str) -> Side:
    """Run our command line to its end."""
    host = running.url.removeprefix("http://")
    command = [sys.executable, "-m", "migrate", *arguments, "--project", "shop"]
    return timed(running, command, {"CLOUD_SCHEDULER_EMULATOR_HOST": host})


def gclouds(running: Running, folder: Path) -> Side:
    """Run `gcloud app deploy cron.yaml` to its end, without an account."""
    apis = ("CLOUDSCHEDULER", "APPENGINE", "SERVICEUSAGE", "STORAGE")
    overrides = {
        f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": f"{running.url}/" for api in apis
    }
    command = ["gcloud", "app", "deploy", str(folder / "cron.yaml"), "--quiet"]
    environment = overrides | {
        "CLOUDSDK_CONFIG": str(folder / "gcloud"),
        "CLOUDSDK_CORE_PROJECT": "shop",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "1",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "0",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
        "CLOUDSDK_SURVEY_DISABLE_PROMPTS": "1",
    }
    return timed(running, command, environment)


def bench_apply(folder: Path) -> None:
    """Apply 250 new jobs, and deploy the same cron.yaml with gcloud."""
    heading(f"apply of {ENTRIES} jobs, {LATENCY * 1000:g} ms an API call")
    header("", "seconds", "API calls", "ratio to gcloud")
    cron_yaml(folder)
    rival = None
    if shutil.which("gcloud"):
        with started() as running:
            gclouds(running, folder)  # its first run compiles and writes its settings
        with started() as running:
            rival = gclouds(running, folder)
        row(
            "gcloud app deploy cron.yaml",
            f"{rival.seconds:.2f}",
            f"{rival.requests}",
            "1",
        )
    sides = []
    for _ in range(ROUNDS):
        with started() as running:
            sides.append(ours(running, "apply", str(folder), "--yes"))
    best = min(sides, key=lambda side: side.seconds)
    ratio = (
        against(best.seconds / rival.seconds, GOAL_APPLY, least=False)
        if rival
        else "gcloud is not installed"
    )
    row(
        "cronshift apply (plans, then makes)",
        f"{best.seconds:.2f}",
        f"{best.requests}",
        ratio,
    )


def bench_plan(folder: Path) -> None:
    """Plan what is live already: our time beside the API's own."""
    heading(
        f"plan of {ENTRIES} jobs without a change, {LATENCY * 1000:g} ms an API call"
    )
    header("", "seconds", "over the API's own time", "a processor's seconds")
    cron_yaml(folder)
    with started() as running:
        ours(running, "apply", str(folder), "--yes")
        sides = [ours(running, "plan", str(folder)) for _ in range(2 * ROUNDS)]
    best = min(sides, key=lambda side: side.seconds)
    over = best.seconds - IN_TURN * LATENCY
    loading = min(_loading() for _ in range(2 * ROUNDS))
    busy = min(side.busy for side in sides)
    row("the whole process", f"{best.seconds:.2f}", f"{over:.2f}", f"{busy:.2f}")
    row("of it, Python and Google's client", f"{loading:.2f}", "", "")
    met = "met" if over - loading <= GOAL_PLAN else "MISSED"
    goal = f"{over - loading:.2f} (goal ≤ {GOAL_PLAN:g}: {met})"
    row("without that", f"{best.seconds - loading:.2f}", goal, "")


def _loading() -> float:
    """Give the seconds that Python takes to load Google's client and nothing else."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import google.cloud.scheduler"], check=True)
    return time.perf_counter() - begun


def strangers(count: int) -> Iterator[tuple[Key, dict[str, object]]]:
    """Yield jobs of somebody else."""
    for number in range(count):
        name = f"projects/shop/locations/europe-west1/jobs/theirs-{number:05}"
        target = {"relativeUri": f"/theirs/{number}", "httpMethod": "GET"}
        yield (
            Key(legacy=False, name=name),
            {"schedule": "0 9 * * 1", "timeZone": "UTC", "appEngineHttpTarget": target},
        )


def bench_many(folder: Path) -> None:
    """Plan beside 5,000 live jobs; the memory is that of the planning process."""
    heading(f"plan beside {MANY:,} live jobs, no latency")
    header("", "seconds", "API calls", "peak memory")
    cron_yaml(folder)
    world = World(app=App("shop", "europe-west"))
    for key, sent in strangers(MANY):
        world.store.insert(create(key, sent, world.app, RealClock().now()))
    with server.start(world) as running:
        side = ours(running, "plan", str(folder))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row(
        "cronshift plan",
        f"{side.seconds:.2f}",
        f"{side.requests}",
        f"{peak:.0f} MiB at most",
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        bench_many(Path(made))
        bench_plan(Path(made))
        bench_apply(Path(made))
