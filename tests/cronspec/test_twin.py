from __future__ import annotations

from typing import cast

import pytest

from cronspec import groc, unixcron
from cronspec.schedule import EndTimeInterval, StartTimeInterval
from cronspec.twin import to_groc, to_unix


@pytest.mark.parametrize(
    ("text", "twins"),
    [
        ("every monday 9:00", ["0 9 * * 1"]),
        ("every day of jan,jul 9:30", ["30 9 * 1,7 *"]),
        ("1,15 of month 7:00", ["0 7 1,15 * *"]),
        ("first day 9:00", ["0 9 1 * *"]),
        ("1st sun,mon,tue,wed,thu,fri,sat 9:00", ["0 9 1-7 * *"]),
        ("5th sun,mon,tue,wed,thu,fri,sat 9:00", ["0 9 29-31 * *"]),
        ("1st monday 9:00", []),  # unix-cron joins its day fields by "or"
        ("every 5 minutes from 10:00 to 10:55", ["*/5 10 * * *"]),
        ("every 5 minutes from 10:00 to 14:00", ["*/5 10-13 * * *", "0 14 * * *"]),
        ("every 2 hours from 22:00 to 2:00 on fri", ["0 0,2,22 * * 5"]),
        ("every 6 hours synchronized", ["0 */6 * * *"]),
        ("every 30 minutes from 8:30 to 17:00", ["30 8-16 * * *", "0 9-17 * * *"]),
        ("every 20 minutes from 22:40 to 0:20", ["0,20 0,23 * * *", "40 22,23 * * *"]),
        ("every 90 minutes synchronized", ["0 */3 * * *", "30 1-22/3 * * *"]),
    ],
)
def test_a_groc_schedule_has_twins(text: str, twins: list[str]) -> None:
    schedule = groc.parse(text)
    assert not isinstance(schedule, EndTimeInterval)
    assert list(map(unixcron.render, to_unix(schedule))) == twins


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("0 9 * * *", "every day 09:00"),
        ("0 9 * * 1", "every mon 09:00"),
        ("0 9 * 1 MON", "every mon of jan 09:00"),
        ("0 7 1,15 * *", "1,15 of month 07:00"),
        ("*/5 * * * *", "every 5 minutes synchronized"),
        ("*/5 10-13 * * *", "every 5 minutes from 10:00 to 13:55"),
        ("0 9,17 * * 1-5", "every 8 hours from 09:00 to 17:00 on mon,tue,wed,thu,fri"),
        ("0 9 30 2 *", None),  # a day that no February has
        ("0 9 31 4,5 *", "31 of apr,may 09:00"),
        ("0 9 1 * 1", None),  # groc knows no "or"
        ("0,5,15 9 * * *", None),  # steps of two lengths
        ("*/5 * * 1 *", None),  # an interval takes no months
        ("*/5 * 1 * *", None),  # nor days of the month
    ],
)
def test_a_unix_cron_schedule_has_a_groc_twin_or_none(
    text: str, twin: str | None
) -> None:
    found = to_groc(unixcron.parse(text))
    assert (found and groc.render(found)) == twin


def test_only_schedules_with_ticks_have_twins() -> None:
    with pytest.raises(TypeError, match="not a schedule with ticks"):
        to_unix(cast("StartTimeInterval", groc.parse("every 5 minutes")))
