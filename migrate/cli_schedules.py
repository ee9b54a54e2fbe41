"""The commands that look at schedules alone: next, explain."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from cronspec.schedule import ScheduleError
from cronspec.zones import ZoneError
from migrate import inputs, options
from migrate.report import coming, explanation
from migrate.terminal import fail, show, show_json

if TYPE_CHECKING:
    from pathlib import Path


@click.command("next")
@options.paths
@options.settings_file
@click.option(
    "--from",
    "since",
    type=options.INSTANT,
    help="Look from this instant on (ISO 8601, UTC without an offset); default now.",
)
@click.option("--until", type=options.INSTANT, help="Look no further than this.")
@click.option(
    "--count",
    type=click.IntRange(1, 100_000),
    default=5,
    show_default=True,
    help="At most so many runs of each entry.",
)
@options.form
def next_command(  # noqa: PLR0913 - one parameter an option
    paths: tuple[Path, ...],
    dispatch: str | None,
    since: datetime | None,
    until: datetime | None,
    count: int,
    form: str,
    **chosen: Any,
) -> None:
    """Show the coming runs of every entry, in its zone and in UTC.

    Minutes that three entries or more share are listed at the end.
    """
    files = inputs.read(paths, dispatch, form)
    inputs.check_settings(files, chosen, form)
    found = coming.coming(files.entries, since or _now(), count, until)
    if form == "json":
        show_json(coming.as_json(found))
    else:
        show(coming.as_text(found))


@click.command("explain")
@click.argument("text")
@click.option(
    "--time-zone",
    "timezone",
    metavar="ZONE",
    default="UTC",
    show_default=True,
    help="The zone whose clock the schedule runs on.",
)
@click.option(
    "--count",
    type=click.IntRange(0, 100_000),
    default=5,
    show_default=True,
    help="So many coming runs.",
)
@options.form
def explain_command(text: str, timezone: str, count: int, form: str) -> None:
    """Explain one schedule, groc or unix-cron: words, kind, next runs, twin.

    The twin is the schedule of the other language that ticks alike, if there is one.
    """
    try:
        schedule = explanation.read(text)
        one = explanation.explanation(text, timezone, _now(), count)
    except (ScheduleError, ZoneError) as error:
        fail(str(error))
    if form == "json":
        show_json(explanation.as_json(one, schedule))
    else:
        show(explanation.as_text(one, schedule))


def _now() -> datetime:
    return datetime.now(UTC)


COMMANDS: Final = {"explain": explain_command, "next": next_command}
