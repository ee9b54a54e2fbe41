from __future__ import annotations

import pytest

from cronspec import groc, unixcron
from cronspec.explain import explain

PASSED = " A month without such a day is passed over."
EITHER = " Either is enough: unix-cron joins its day fields by 'or'."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every 5 minutes", "Every 5 minutes, counted from the end of the last run."),
        ("every 1 hours", "Every hour, counted from the end of the last run."),
        (
            "every 90 mins on fri,mon",
            (
                "Every 90 minutes, counted from the end of the last run, "
                "on Mondays and Fridays only."
            ),
        ),
        (
            "every 5 minutes from 10:00 to 14:00",
            "Every 5 minutes from 10:00 to 14:00, every day.",
        ),
        (
            "every 2 hours synchronized on sat,sun",
            "Every 2 hours from 00:00 to 23:59, on Saturdays and Sundays.",
        ),
        (
            "every 2 hours from 22:00 to 2:00 on fri",
            (
                "Every 2 hours from 22:00 to 02:00 of the next day, on Fridays "
                "(the day of the run itself)."
            ),
        ),
        (
            "every 7 hours from 0:00 to 23:59",
            (
                "Every 7 hours from 00:00 to 23:59, every day. "
                "Each day's count begins at 00:00 again."
            ),
        ),
        (
            "every 12 hours from 23:00 to 22:59",
            "Every 12 hours from 23:00 to 22:59 of the next day, every day.",
        ),
        (
            "every 48 hours from 3:00 to 4:00",
            (
                "Every 48 hours from 03:00 to 04:00, every day. "
                "This is once a day: each day's count begins at 03:00."
            ),
        ),
        ("every monday 9:00", "At 09:00 every Monday."),
        ("every day of jan,jul 9:00", "At 09:00 every day of January and July."),
        ("1st monday of jan 9:00", "At 09:00 on the first Monday of January."),
        (
            "5th mon 9:00",
            f"At 09:00 on the fifth Monday of every month.{PASSED}",
        ),
        (
            "1,2,3,11,22 of month 7:00",
            "At 07:00 on the 1st to 3rd, 11th and 22nd of every month.",
        ),
        ("31 of month 7:00", f"At 07:00 on the 31st of every month.{PASSED}"),
        ("29 of feb 7:00", f"At 07:00 on the 29th of February.{PASSED}"),
        # field case 14
        (
            "third wednesday of second month of quarter 09:00",
            "At 09:00 on the third Wednesday of February, May, August and November.",
        ),
    ],
)
def test_a_groc_schedule_in_words(text: str, words: str) -> None:
    assert explain(groc.parse(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 9 * * *", "At 09:00 every day."),
        ("0 9,17 * * 1", "At 09:00 and 17:00 every Monday."),
        ("*/5 * * * *", "Every 5 minutes of every hour, every day."),
        ("0 * * * *", "At minute 0 of every hour, every day."),
        ("* 3 * * *", "Every minute of the hour 03, every day."),
        ("*/30 * * 6 *", "Every 30 minutes of every hour, every day of June."),
        (
            "5,10,40 1-3,8 * * *",
            "At minutes 5, 10 and 40 of the hours 01 to 03 and 08, every day.",
        ),
        (
            "*/7 9-17 * * MON,TUE",
            (
                "At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of the hours 09 to 17, "
                "every Monday and Tuesday."
            ),
        ),
        ("0 0 1,31 * *", f"At 00:00 on the 1st and 31st of every month.{PASSED}"),
        (
            "0 0 31 2 *",
            "At 00:00 on the 31st of February. There is no such day: it never runs.",
        ),
        (
            "0 9 13 * FRI",
            f"At 09:00 on the 13th of every month, and also every Friday.{EITHER}",
        ),
        (
            "0 9 13 1 FRI",
            f"At 09:00 on the 13th, and also every Friday, of January.{EITHER}",
        ),
        ("0 9 * * 0-6", "At 09:00 every day."),
    ],
)
def test_a_unix_cron_schedule_in_words(text: str, words: str) -> None:
    assert explain(unixcron.parse(text)) == words


def test_the_zone_is_named_where_it_is_said() -> None:
    daily = groc.parse("31 of month 9:00")
    assert "month, Europe/Rome time. A" in explain(daily, "Europe/Rome")
    assert "month, UTC. A" in explain(daily, "UTC")
