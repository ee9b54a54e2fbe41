from __future__ import annotations

import json
import re
from datetime import time, timedelta
from pathlib import Path

import pytest

from cronspec import groc
from cronspec.schedule import (
    EVERY_DAY,
    EVERY_ORDINAL,
    CustomInterval,
    EndTimeInterval,
    MonthDays,
    OrdinalWeekdays,
    ScheduleError,
    StartTimeInterval,
    Weekday,
)

CASES = Path(__file__).parents[1] / "cases"
QUARTERS = frozenset((1, 4, 7, 10))


def minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


def on(*days: int) -> frozenset[Weekday]:
    return frozenset(map(Weekday, days))


def days(*numbers: int) -> MonthDays:
    return MonthDays(frozenset(numbers))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("every 5 minutes", EndTimeInterval(minutes(5))),
        ("every 05 mins", EndTimeInterval(minutes(5))),
        ("every 99999 hours", EndTimeInterval(timedelta(hours=99_999))),
        ("every 60 minutes on mon,wed", EndTimeInterval(minutes(60), on(1, 3))),
        ("every 48 hours on day", EndTimeInterval(timedelta(hours=48))),
        (
            "every 48 hours on sun,mon,tue,wed,thu,fri,sat",
            EndTimeInterval(timedelta(hours=48)),
        ),
        (
            "every 5 minutes from 10:00 to 14:00",
            StartTimeInterval(minutes(5), time(10), time(14)),
        ),
        (
            "every2hoursfrom22:00to2:00onfri",
            StartTimeInterval(minutes(120), time(22), time(2), on(5)),
        ),
        (
            "every 90 minutes synchronized",
            StartTimeInterval(minutes(90), time(0), time(23, 59)),
        ),
        (
            "every 1440 minutes synchronized",
            StartTimeInterval(minutes(1440), time(0), time(23, 59)),
        ),
        (
            "every day 9:00",
            CustomInterval(time(9), OrdinalWeekdays(EVERY_ORDINAL, EVERY_DAY)),
        ),
        (
            "EVERY Monday ,\ttue 09:00",
            CustomInterval(time(9), OrdinalWeekdays(EVERY_ORDINAL, on(1, 2))),
        ),
        (
            "1st,third mon,monday of sep,december 17:00",
            CustomInterval(
                time(17), OrdinalWeekdays(frozenset((1, 3)), on(1)), frozenset((9, 12))
            ),
        ),
        ("1,1,15 of month 00:00", CustomInterval(time(0), days(1, 15))),
        ("1st,2nd day 09:00", CustomInterval(time(9), days(1, 2))),
        ("first day of quarter 9:00", CustomInterval(time(9), days(1), QUARTERS)),
        (
            "1st,3rd month of quarter".replace("1st", "5 of 1st") + " 1:00",
            CustomInterval(time(1), days(5), frozenset((1, 3, 4, 6, 7, 9, 10, 12))),
        ),
        ("29 of feb 00:00", CustomInterval(time(0), days(29), frozenset((2,)))),
        ("31 of apr,may 0:00", CustomInterval(time(0), days(31), frozenset((4, 5)))),
        ("29,31 of feb 0:00", CustomInterval(time(0), days(29, 31), frozenset((2,)))),
    ],
)
def test_a_text_means(text: str, meaning: object) -> None:
    assert groc.parse(text) == meaning
    assert groc.accepts(text)


# text, column of the word at fault, some words of the reason, fix
REFUSED = [
    # field case 1: singular units
    ("every 1 hour", 9, "units are plural only", "every 1 hours"),
    ("every 1 minute", 9, "units are plural only", "every 1 minutes"),
    ("every 5 min", 9, "units are plural only", "every 5 minutes"),
    ("every hour", 7, "expected a number", "every 1 hours"),
    ("every minute", 7, "expected a number", "every 1 minutes"),
    # 2: a crontab
    ("0 9 * * 1", 1, "unix-cron", "every mon 09:00"),
    ("*/5 * * * *", 1, "unix-cron", "every 5 minutes synchronized"),
    ("0 9 1 * 1", 1, "unix-cron", ""),
    ("@daily", 1, "unix-cron", "every day 00:00"),
    # 6: no time
    ("every day", 10, "time of day is missing", "every day 00:00"),
    ("every monday", 13, "time of day is missing", "every monday 00:00"),
    ("1 of month", 11, "time of day is missing", "1 of month 00:00"),
    # 7: days and weeks
    ("every 1 days", 9, "no interval of days", "every 24 hours"),
    ("every 2 days", 9, "'every day HH:MM'", "every 48 hours"),
    ("every 2 weeks", 9, "no interval of weeks", "every 336 hours"),
    ("every 1 days 09:00", 9, "no interval of days", "every day 09:00"),
    ("every week", 7, "expected a number", "every monday 00:00"),
    ("every month", 7, "expected a number", "1 of month 00:00"),
    # 9: times
    ("every day 24:00", 11, "'24:00' is no time", "every day 00:00"),
    ("every day 9:5", 11, "'9:5' is no time", "every day 9:05"),
    ("every day 09:69", 11, "'09:69' is no time", ""),
    ("every day 23:60", 11, "'23:60' is no time", ""),
    ("every day 009:00", 11, "'009:00' is no time", "every day 09:00"),
    ("every day 09:000", 11, "'09:000' is no time", "every day 09:00"),
    ("every day 09:00:00", 16, "expected nothing", "every day 09:00"),
    ("every day 9.30", 11, "'9.30' is no time", "every day 9:30"),
    (
        "every 5 minutes from 1:00 to 24:00",
        30,
        "'24:00' is no time",
        "every 5 minutes from 1:00 to 23:59",
    ),
    ("every day at 9", 11, "expected a time", "every day 9:00"),
    ("every day 9:30 pm", 16, "expected nothing", "every day 21:30"),
    ("every day 14:30 pm", 17, "expected nothing", ""),
    ("every day 13pm", 11, "expected a time", ""),
    ("every monday 09:00,17:00", 19, "one time of day", ""),
    # 10: days of the month
    ("30 of feb 00:00", 1, "no month named here has a day 30", ""),
    ("31 of apr,jun 00:00", 1, "no month named here has a day 31", ""),
    ("0 of month 00:00", 1, "no day 0", ""),
    ("1,32 of month 00:00", 3, "no day 32", ""),
    # 11: synchronized
    ("every monday 14:00 synchronized", 20, "only for 'every N", "every monday 14:00"),
    (
        "every 5 mins on mon synchronized",
        21,
        "comes before 'on",
        "every 5 mins synchronized on mon",
    ),
    ("\u201cevery day 9:00\u201d", 1, "starts with 'every'", "every day 9:00"),
    ("5 minutes", 3, "expected 'of'", "every 5 minutes"),
    ("9:00 every day", 1, "starts with 'every'", "every day 9:00"),
    ("at 9am on mondays", 1, "starts with 'every'", ""),
    ("on monday at 9am", 1, "starts with 'every'", "every monday 09:00"),
    ("every 7 hours synchronized", 15, "divides 24 hours", ""),
    ("every 25 hours synchronized", 16, "divides 24 hours", ""),
    (
        "every 30 mins from 9:00 to 17:00 synchronized",
        34,
        "cannot be combined",
        "every 30 mins from 9:00 to 17:00",
    ),
    (
        "every 30 mins synchronized from 9:00 to 17:00",
        28,
        "cannot be combined",
        "every 30 mins from 9:00 to 17:00",
    ),
    # 13: bounds
    ("every 0 minutes", 7, "at least 1", ""),
    ("every 100000 minutes", 7, "at most 5 digits", ""),
    ("000001 of month 00:00", 1, "at most 5 digits", ""),
    # and what else people write
    ("", 1, "empty", ""),
    (" \n", 3, "empty", ""),
    ("every", 6, "but it ends", ""),
    ("every 0.5 hours", 7, "whole number", "every 30 minutes"),
    ("every 1.5 hours", 7, "whole number", "every 90 minutes"),
    ("every 5", 8, "expected 'hours'", ""),
    ("every 6 hours mon,wed,fri", 15, "nothing", "every 6 hours on mon,wed,fri"),
    ("every 25 hours on mon", 16, "at most 24 hours", ""),
    ("every 5 hours on 1st mon", 18, "weekdays only", ""),
    ("every 5 hours from 9:00", 24, "'to'", "every 5 hours from 9:00 to 23:59"),
    ("every tues 9:00", 10, "(in 'tues')", "every tue 9:00"),
    ("every weekday 9:00", 7, "expected a number", "every mon,tue,wed,thu,fri 9:00"),
    ("every mon-wed 9:00", 10, "found '-'", "every mon,tue,wed 9:00"),
    ("every fri to mon 9:00", 11, "found 'to'", "every fri,sat,sun,mon 9:00"),
    ("1-3 of nov-jan 9:00", 2, "found '-'", "1,2,3 of nov,dec,jan 9:00"),
    ("every mon and fri 9:00", 11, "found 'and'", "every mon,fri 9:00"),
    ("every mon fri 9:00", 11, "found 'fri'", "every mon,fri 9:00"),
    ("mon 9:00", 1, "starts with 'every'", "every mon 9:00"),
    ("31st of month 9:00", 1, "'31st'", "31 of month 9:00"),
    ("thirtyfirst of month 9:00", 1, "thirtyfirst", "31 of month 9:00"),
    ("1st of month 9:00", 5, "a weekday or 'day'", "1 of month 9:00"),
    ("1st,15 of month 9:00", 5, "an ordinal", ""),
    ("1,15 9:00", 6, "'of'", ""),
    ("1, of month 9:00", 4, "a day of the month after ','", ""),
    ("1 of 4th month of quarter 9:00", 6, "three months", ""),
    ("1 of 1st month 9:00", 16, "'of'", ""),
    ("1 of month,jan 9:00", 11, "expected a time", ""),
    ("every day 9:00 # note", 16, "expected nothing", "every day 9:00"),
    ("every day\x0b9:00", 10, "expected a time", "every day 9:00"),
    ("hourly", 1, "starts with 'every'", "every 1 hours"),
    ("every Ⅸ 9:00", 7, "expected a number", ""),
]


@pytest.mark.parametrize(("text", "column", "reason", "fix"), REFUSED)
def test_a_text_that_is_none_is_refused_with_place_reason_and_fix(
    text: str, column: int, reason: str, fix: str
) -> None:
    with pytest.raises(ScheduleError, match=re.escape(reason)) as refused:
        groc.parse(text)
    assert (refused.value.column, refused.value.fix) == (column, fix)
    assert not groc.accepts(text)
    if fix:
        groc.parse(fix)


def test_a_message_holds_value_place_reason_and_fix() -> None:
    with pytest.raises(ScheduleError) as refused:
        groc.parse("every 5 mins from 9:00")
    assert str(refused.value) == (
        "schedule 'every 5 mins from 9:00', column 23: expected 'to' after '9:00' "
        "(a range is 'from HH:MM to HH:MM'), but it ends; "
        "did you mean 'every 5 mins from 9:00 to 23:59'?"
    )


def test_columns_count_letters_even_where_lower_case_is_longer() -> None:
    with pytest.raises(ScheduleError) as refused:
        groc.parse("every İ 9:00")
    assert refused.value.column == 7


def test_a_message_leaves_out_the_middle_of_a_very_long_text() -> None:
    with pytest.raises(ScheduleError) as refused:
        groc.parse("every " + "9" * 100_000)
    assert len(str(refused.value)) < 400
    assert " … " in str(refused.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("every monday 9:00", []),
        ("every Monday 9:00", ["capital letters"]),
        ("every 5 minutes on mon", ["'on <weekdays>'"]),
        ("Every 5 minutes on mon", ["capital letters", "'on <weekdays>'"]),
    ],
)
def test_forms_that_not_all_of_googles_parsers_take_are_told(
    text: str, found: list[str]
) -> None:
    told = groc.dialects(text)
    assert len(told) == len(found)
    assert all(note.startswith(start) for note, start in zip(told, found, strict=True))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("EVERY 120 MINS", "every 2 hours"),
        ("every 90 mins", "every 90 minutes"),
        ("every 99999 hours on day", "every 99999 hours"),
        ("every 2 hours from 0:00 to 23:59", "every 2 hours synchronized"),
        ("every 7 hours from 0:00 to 23:59", "every 7 hours from 00:00 to 23:59"),
        ("every 5 mins from 9:00 to 8:00", "every 5 minutes from 09:00 to 08:00"),
        ("every 5 mins on friday,mon", "every 5 minutes on mon,fri"),
        ("every sun,mon,tue,wed,thu,fri,sat 9:00", "every day 09:00"),
        ("1st,first day 9:00", "1 of month 09:00"),
        ("2nd wednesday of march 17:00", "2nd wed of mar 17:00"),
        ("every mon of quarter 9:00", "every mon of jan,apr,jul,oct 09:00"),
    ],
)
def test_a_canonical_text_is_short_and_lower_case(text: str, canonical: str) -> None:
    assert groc.render(groc.parse(text)) == canonical


# --- The examples of Google's cron.yaml page ------------------------------------

PAGE = json.loads((CASES / "cron_page_examples.json").read_text())


@pytest.mark.parametrize(("text", "canonical"), PAGE["accepted"].items())
def test_an_example_of_googles_page_has_its_stated_meaning(
    text: str, canonical: str
) -> None:
    assert groc.render(groc.parse(text)) == canonical


@pytest.mark.parametrize(("text", "fix"), PAGE["refused"].items())
def test_a_fragment_of_googles_page_is_refused_with_a_fix(text: str, fix: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        groc.parse(text)
    assert refused.value.fix == fix
