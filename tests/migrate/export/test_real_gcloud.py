"""The script run by the installed gcloud against the emulator."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from emulator import server
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.wire import Reply, Request
from emulator.world import World
from migrate.export.gcloud import script
from migrate.job import to_api
from tests.emulator import gcloud as real
from tests.migrate.export.samples import LOCATION, PROJECT, SAMPLES, nasty

if TYPE_CHECKING:
    from pathlib import Path

PARENT = f"/v1/projects/{PROJECT}/locations/{LOCATION}/jobs"
NOW = datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC)
pytestmark = real.NEEDED

# No control characters and blanks in the url, which the API would not take.
HARD = nasty('it\'s "$HOME" `id` %d 100% !x & | ; \\n ^a,b|c=d; Größe 日本 😀 -- #')
HARD = replace(HARD, target=replace(HARD.target, relative_uri="/t?a='b'&c=$(d)%20!,;"))


def world() -> World:
    """Give a world whose time stands still: jobs made at once are equal in all."""
    return World(app=App(PROJECT, "us-central"), clock=VirtualClock(NOW))


def ask(world: World, method: str, body: object = None) -> dict[str, Any]:
    reply = world.reply(Request(method, PARENT, {}, body))
    assert isinstance(reply, Reply)
    assert reply.status == 200, reply.body
    return reply.body


def held(world: World) -> dict[str, Any]:
    """Give the world's jobs by name.

    gcloud always sends retry values; that nothing is retried is the same without.
    """
    jobs = {job["name"]: dict(job) for job in ask(world, "GET")["jobs"]}
    for job in jobs.values():
        retries = job.get("retryConfig", {})
        if not retries.get("retryCount") and retries.get("maxRetryDuration") == "0s":
            del job["retryConfig"]
    return jobs


def test_gcloud_makes_exactly_the_jobs_of_the_rest_json(tmp_path: Path):
    jobs = [*SAMPLES, HARD]
    by_json, by_script = world(), world()
    for job in jobs:
        ask(by_json, "POST", to_api(job))
    with server.start(by_script) as running:
        ran = subprocess.run(
            ["bash"],
            input=script(jobs),
            env=real.environment(running, tmp_path),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        assert len(held(by_script)) == len(jobs)
        assert held(by_script) == held(by_json)
