"""The front door: `python -m emulator serve`."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import click

from emulator import server
from emulator.app import App
from emulator.clock import Clock, RealClock, VirtualClock
from emulator.faults import Fault, Slow
from emulator.quota import GOOGLES
from emulator.store import MemoryStore, SqliteStore
from emulator.world import World


@click.group()
def main() -> None:
    """Cloud Scheduler and App Engine's cron on this machine."""


@main.command()
@click.option("--port", default=8085, show_default=True, help="0 takes a free one.")
@click.option(
    "--store",
    default="memory",
    show_default=True,
    metavar="memory|FILE.db",
    help="Where the jobs are kept.",
)
@click.option("--project", default=App().project, show_default=True)
@click.option(
    "--app-location",
    default=App().location,
    show_default=True,
    help="The App Engine app's region; '' for a project without an app.",
)
@click.option("--latency", default=0, metavar="MS", help="Milliseconds a call takes.")
@click.option("--quotas", is_flag=True, help="1250 reads and 500 writes a minute.")
@click.option(
    "--clock",
    default="real",
    show_default=True,
    metavar="real|TIME",
    help="A time such as 2026-11-01T05:30:00+00:00 stands still until it is moved.",
)
def serve(  # noqa: PLR0913 - an argument an option
    *,
    port: int,
    store: str,
    project: str,
    app_location: str,
    latency: int,
    quotas: bool,
    clock: str,
) -> None:
    """Answer as Cloud Scheduler's REST API (v1, v1beta1) until Ctrl-C."""
    try:
        world = World(
            app=App(project, app_location),
            store=MemoryStore() if store == "memory" else SqliteStore(Path(store)),
            clock=_clock(clock),
        )
        if latency:
            world.faults.add(Fault(Slow(latency / 1000), times=None))
        if quotas:
            world.quota.limits = GOOGLES
        running = server.start(world, port=port)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise click.ClickException(str(error)) from None
    address = running.url.removeprefix("http://")
    click.echo(f"Cloud Scheduler of project {project} at {running.url}")
    click.echo(f"  export CLOUD_SCHEDULER_EMULATOR_HOST={address}")
    with running:
        try:
            running.wait()
        except KeyboardInterrupt:
            click.echo("stopped")


def _clock(text: str) -> Clock:
    if text == "real":
        return RealClock()
    start = datetime.fromisoformat(text)
    return VirtualClock(start if start.tzinfo else start.replace(tzinfo=UTC))


if __name__ == "__main__":
    main(prog_name="python -m emulator")
