"""The tables of docs/schedules.md say what the code does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path

import pytest

from cronspec import groc, unixcron, zones
from cronspec.explain import explain
from cronspec.schedule import EndTimeInterval, Schedule, ScheduleError, ticks

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "schedules.md").read_text(encoding="utf-8")


def rows(header: str, place: int = 0) -> list[list[str]]:
    """Give the rows of the `place`-th table with this header."""
    pattern = rf"^{re.escape(header)}\n\|[-|]+\n((?:\|.*\n)+)"
    tables = re.findall(pattern, PAGE, re.MULTILINE)
    return [
        [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        if not line.endswith("| |")
        else [line.strip("| ").strip("`"), ""]
        for line in tables[place].splitlines()
    ]


def schedule(text: str) -> Schedule:
    return groc.parse(text) if groc.accepts(text) else unixcron.parse(text)


@pytest.mark.parametrize(("text", "words"), rows("| Schedule | In words |"))
def test_the_words_of_the_page_are_those_of_explain(text: str, words: str) -> None:
    assert explain(schedule(text)) == words


@pytest.mark.parametrize(("text", "meant"), rows("| Refused | Meant |"))
def test_what_the_page_says_is_refused_as_groc_is(text: str, meant: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        groc.parse(text)
    assert refused.value.fix == meant.strip("`")


@pytest.mark.parametrize(("text", "meant"), rows("| Refused | Meant |", 1))
def test_what_the_page_says_is_refused_as_unix_cron_is(text: str, meant: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        unixcron.parse(text)
    assert refused.value.fix == meant.strip("`")


@pytest.mark.parametrize(("text", "day", "shown"), rows("| Schedule | Day | Ticks |"))
def test_the_ticks_of_the_page_are_those_of_the_day(
    text: str, day: str, shown: str
) -> None:
    asked = schedule(text)
    assert not isinstance(asked, EndTimeInterval)
    tz = zones.load("America/New_York")
    start = datetime.fromisoformat(day).replace(tzinfo=tz)
    found = takewhile(
        lambda at: at.astimezone(tz).date() == start.date(),
        ticks(asked, tz, start - timedelta(seconds=1)),
    )
    times = " ".join(at.astimezone(tz).strftime("%H:%M") for at in found)
    assert (times or "none") == shown


@pytest.mark.parametrize("row", rows("| Form | Newest parser | Java runtime's |"))
def test_a_dialect_of_the_page_is_noted(row: list[str]) -> None:
    assert len(groc.dialects(row[0])) == 1


def test_the_grammar_of_the_page_is_that_of_the_module() -> None:
    grammar = re.search(r"```\n(timespec.*?)```", PAGE, re.DOTALL)
    assert grammar
    said = " ".join((groc.__doc__ or "").split())
    assert " ".join(grammar[1].split()) in said
