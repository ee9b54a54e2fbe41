"""Ticks a second: against Google's own parser for groc, croniter and cronsim else."""

from __future__ import annotations

import importlib
import sys
import tempfile
import warnings
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchlib import against, best, header, heading, row
from croniter import croniter
from cronsim import CronSim

from cronspec import groc, unixcron, zones
from cronspec.schedule import EndTimeInterval, ticks
from tests.cloud_sdk import cloud_sdk, link_groc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
MIX = (
    ("a minute range", "every 5 minutes from 10:00 to 14:00", "America/New_York"),
    ("hourly synchronized", "every 1 hours synchronized", "Europe/Rome"),
    ("weekly", "every monday 09:00", "Europe/Rome"),
    ("ordinal weekdays", "1st,3rd tue,thu of jan,jul 09:00", "America/New_York"),
    ("month days", "1,15 of month 06:00", "UTC"),
    ("in a clock's gap", "every day 02:30", "America/New_York"),
)
UNIX = ("*/5 10-13 * * *", "0 * * * *", "0 9 * * 1", "0 6 1,15 * *", "30 2 * * *")
OURS, GOOGLES, RIVALS = 20_000, 400, 4_000


def _google(folder: str) -> Callable[..., Any] | None:
    """Give the SDK's GrocTimeSpecification, with the SDK's own pytz."""
    sdk = cloud_sdk()
    if sdk is None:
        return None
    link_groc(sdk, Path(folder))
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")  # of code for much older Pythons
    module = importlib.import_module("google_cron.groctimespecification")
    specification: Callable[..., Any] = module.GrocTimeSpecification
    return specification


def _drain(stream: Iterator[datetime], count: int) -> None:
    for _ in islice(stream, count):
        pass


def _seconds_per_tick(text: str, zone: str, *, unix: bool) -> float:
    schedule = unixcron.parse(text) if unix else groc.parse(text)
    if isinstance(schedule, EndTimeInterval):
        raise TypeError("an interval has no ticks to count")
    known = zones.load(zone)
    return best(lambda: _drain(ticks(schedule, known, START), OURS)) / OURS


def _groc() -> None:
    heading("groc: ticks a second against Google's own parser (its Cloud SDK)")
    with tempfile.TemporaryDirectory() as folder:
        google = _google(folder)
        if google is None:
            print("Not measured: no Cloud SDK with app-engine-python on this machine.")
            return
        header("kind", "schedule", "zone", "cronshift", "Google", "ratio")
        ours_sum = googles_sum = 0.0
        for kind, text, zone in MIX:
            ours = _seconds_per_tick(text, zone, unix=False)
            specification = google(text, zone)
            start = START.replace(tzinfo=None)

            def all_googles(spec: Any = specification, at: datetime = start) -> None:
                for _ in range(GOOGLES):
                    at = spec.GetMatch(at)

            googles = best(all_googles, 3) / GOOGLES
            ours_sum, googles_sum = ours_sum + ours, googles_sum + googles
            row(
                kind,
                f"`{text}`",
                zone,
                f"{1 / ours:,.0f}",
                f"{1 / googles:,.0f}",
                f"{googles / ours:.0f} ×",
            )
        ratio = against(googles_sum / ours_sum, 50, least=True)
        row("**the mix**", "one tick of each", "", "", "", f"**{ratio}**")


def _unix() -> None:
    heading("unix-cron: ticks a second against cronsim and croniter, in UTC")
    header("schedule", "cronshift", "cronsim", "croniter", "to cronsim", "to croniter")
    sums = [0.0, 0.0, 0.0]
    for text in UNIX:
        ours = _seconds_per_tick(text, "UTC", unix=True)
        sim = best(lambda t=text: _drain(CronSim(t, START), RIVALS), 3) / RIVALS
        iterator = best(
            lambda t=text: _drain(croniter(t, START, ret_type=datetime), RIVALS), 3
        )
        other = iterator / RIVALS
        sums = [a + b for a, b in zip(sums, (ours, sim, other), strict=True)]
        row(
            f"`{text}`",
            *(f"{1 / value:,.0f}" for value in (ours, sim, other)),
            f"{sim / ours:.1f} ×",
            f"{other / ours:.1f} ×",
        )
    ratio = against(sums[1] / sums[0], 2, least=True)
    row("**all**", "", "", "", f"**{ratio}**", f"**{sums[2] / sums[0]:.1f} ×**")


_groc()
_unix()
