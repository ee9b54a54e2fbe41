from __future__ import annotations

import re

import pytest

from cronspec import unixcron
from cronspec.schedule import STAR, ScheduleError, UnixCron, Weekday

ALL_HOURS, ALL_MINUTES = frozenset(range(24)), frozenset(range(60))


def some(*values: int) -> frozenset[int]:
    return frozenset(values)


def week(*values: int) -> frozenset[Weekday]:
    return frozenset(map(Weekday, values))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("* * * * *", UnixCron(ALL_MINUTES, ALL_HOURS)),
        ("0 9 * * 1", UnixCron(some(0), some(9), weekdays=week(1))),
        (" 0\t9 * * 7 ", UnixCron(some(0), some(9), weekdays=week(0))),
        ("0 9 * * 0,7", UnixCron(some(0), some(9), weekdays=week(0))),
        ("0 9 * * 5-7", UnixCron(some(0), some(9), weekdays=week(5, 6, 0))),
        ("0 9 * * mon-WED", UnixCron(some(0), some(9), weekdays=week(1, 2, 3))),
        ("0 9 * * */2", UnixCron(some(0), some(9), weekdays=week(0, 2, 4, 6))),
        ("*/20 */12 * * *", UnixCron(some(0, 20, 40), some(0, 12))),
        ("5-20/5,59 0 * * *", UnixCron(some(5, 10, 15, 20, 59), some(0))),
        ("*/59 0 * * *", UnixCron(some(0, 59), some(0))),
        ("00 09 1,15 * *", UnixCron(some(0), some(9), some(1, 15))),
        ("0 9 */10 * *", UnixCron(some(0), some(9), some(1, 11, 21, 31))),
        ("0 9 1 JAN,jul *", UnixCron(some(0), some(9), some(1), some(1, 7))),
        ("0 9 13 * FRI", UnixCron(some(0), some(9), some(13), weekdays=week(5))),
        (
            "0 9 1-31 * 0-6",
            UnixCron(
                some(0), some(9), frozenset(range(1, 32)), weekdays=week(*range(7))
            ),
        ),
    ],
)
def test_a_text_means(text: str, meaning: UnixCron) -> None:
    assert unixcron.parse(text) == meaning
    assert unixcron.accepts(text)


@pytest.mark.parametrize(
    ("text", "column", "reason", "fix"),
    [
        ("", 1, "found none", ""),
        ("0 9 * *", 1, "found 4", ""),
        ("1 2 3 4 5 6 7 8", 1, "found 8", ""),
        ("0 0 9 * * *", 1, "neither seconds nor years", "0 9 * * *"),
        ("30 0 9 * * *", 1, "neither seconds nor years", ""),
        ("0 0 9 * * ? 2026", 1, "neither seconds nor years", ""),
        ("@daily", 1, "'@daily' is not Cloud Scheduler's", "0 0 * * *"),
        ("@Hourly", 1, "'@Hourly' is not", "0 * * * *"),
        ("@reboot", 1, "'@reboot' is not", ""),
        ("0 9 L * *", 5, "day of month: 'L' (the last)", ""),
        ("0 9 L-3 * *", 5, "'L' (the last)", ""),
        ("0 9 * * 5L", 9, "day of week: 'L' (the last)", ""),
        ("0 9 * * FRIL", 9, "'L' (the last)", ""),
        ("0 9 15W * *", 5, "'W' (the nearest weekday)", ""),
        ("0 9 LW * *", 5, "'W' (the nearest weekday)", ""),
        ("0 9 * * 1#1", 9, "its groc has '1st monday'", ""),
        ("0 9 ? * 1", 5, "write '*'", "0 9 * * 1"),
        ("H H * * *", 1, "'H' (a hash)", ""),
        ("H/15 * * * *", 1, "'H' (a hash)", ""),
        ("H(0-29) * * * *", 1, "'H' (a hash)", ""),
        ("5/10 * * * *", 1, "a step needs a range", "5-59/10 * * * *"),
        ("0 9 * * MON/2", 9, "a step needs a range", "0 9 * * 1-6/2"),
        ("x/10 * * * *", 1, "a step needs a range", ""),
        ("*/60 * * * *", 1, "the step 60 exceeds", "0 * * * *"),
        ("0 */24 * * *", 3, "the step 24 exceeds", "0 0 * * *"),
        ("*/90 * * * *", 1, "the step 90 exceeds", ""),
        ("*/0 * * * *", 1, "'0' is no step", ""),
        ("*/ * * * *", 1, "'' is no step", ""),
        ("*/x * * * *", 1, "'x' is no step", ""),
        ("60 * * * *", 1, "minute: '60' is not in 0-59", ""),
        ("0 24 * * *", 3, "hour: '24' is not in 0-23", ""),
        ("0 9 0 * *", 5, "day of month: '0' is not in 1-31", ""),
        ("0 9 * 13 *", 7, "month: '13' is not in 1-12 or JAN-DEC", ""),
        ("0 9 * * 8", 9, "day of week: '8' is not in 0-7 or SUN-SAT", ""),
        ("0 9 * * MONDAY", 9, "'MONDAY' is not in", "0 9 * * MON"),
        ("0 9 1 january *", 7, "'january' is not in", "0 9 1 JAN *"),
        ("0 9 MON * *", 5, "'MON' is not in 1-31", ""),
        ("0,5, * * * *", 5, "minute: ''", ""),
        ("0, 5 9 * * *", 1, "neither seconds nor years", ""),
        ("0 9 -1 * *", 5, "day of month: ''", ""),
        ("1-2-3 * * * *", 1, "'2-3' is not in", ""),
        ("²  9 * * *", 1, "'²' is not in", ""),
        ("0 9 * * 5-1", 9, "must go up", "0 9 * * 5,6,0,1"),
        ("0 9 * * FRI-MON", 9, "must go up", "0 9 * * 5,6,0,1"),
        ("0 22-2 * * *", 3, "must go up", "0 22,23,0,1,2 * * *"),
        ("0 22-4/2 * * *", 3, "must go up", "0 22,0,2,4 * * *"),
        ("0 22-4/x * * *", 3, "'x' is no step", "0 22,23,0,1,2,3,4 * * *"),
        ("0 9 1-1 * *", 5, "must go up", "0 9 1 * *"),
        ("0 9 x-1 * *", 5, "'x' is not in", ""),
        ("every monday 09:00", 1, "no unix-cron", "0 9 * * 1"),
        ("every 5 minutes", 1, "no unix-cron", ""),
        ("every 90 minutes synchronized", 1, "no unix-cron", ""),
        ("1st monday 09:00", 1, "found 3", ""),
    ],
)
def test_a_text_that_is_none_is_refused_with_place_reason_and_fix(
    text: str, column: int, reason: str, fix: str
) -> None:
    with pytest.raises(ScheduleError, match=re.escape(reason)) as refused:
        unixcron.parse(text)
    assert (refused.value.column, refused.value.fix) == (column, fix)
    assert not unixcron.accepts(text)
    assert not fix or unixcron.accepts(fix)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("*/15 9-17 * jan,feb,mar mon-fri", "*/15 9-17 * 1-3 1-5"),
        ("0-59 0-23 * 1-12 *", "* * * * *"),
        ("0 0,8,16 * * sun", "0 */8 * * 0"),
        ("5-59/10 9 * * *", "5-55/10 9 * * *"),
        ("1,2,3,7 9 * * *", "1-3,7 9 * * *"),
        ("1,2 9 1-31 * 0-6", "1,2 9 1-31 * 0-6"),
    ],
)
def test_a_canonical_text_has_numbers_and_short_lists(
    text: str, canonical: str
) -> None:
    assert unixcron.render(unixcron.parse(text)) == canonical


def test_a_star_alone_does_not_choose() -> None:
    assert unixcron.parse("0 9 * * *").days is STAR
    assert unixcron.parse("0 9 */1 * *").days == frozenset(range(1, 32))


def test_a_very_long_text_is_no_slip_of_the_pen_and_gets_no_fix() -> None:
    with pytest.raises(ScheduleError) as refused:
        unixcron.parse("? " * 500)
    assert refused.value.fix == ""
