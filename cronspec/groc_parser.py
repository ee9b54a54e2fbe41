"""The grammar of groc, rule by rule: words in, a schedule out.

`groc` holds the grammar as a whole.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import time, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from cronspec.groc_reader import Reader
from cronspec.groc_words import (
    MAX_NUMBER,
    MONTHS,
    ORDINALS,
    UNITS,
    WEEKDAYS,
    Token,
)
from cronspec.kinds import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_ORDINAL,
    CustomInterval,
    EndTimeInterval,
    GrocSchedule,
    MonthDays,
    OrdinalWeekdays,
    ScheduleError,
    StartTimeInterval,
    Weekday,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_Value = TypeVar("_Value")
_DAY: Final = timedelta(days=1)


def read(text: str) -> GrocSchedule:
    """Read a groc text. Raises ScheduleError, which names no fix."""
    return _Parser(text).timespec()


def accepts(text: str) -> bool:
    """Tell whether a text is groc."""
    try:
        read(text)
    except ScheduleError:
        return False
    return True


class _Parser(Reader):
    """Recursive descent over the tokens; one method a rule of the grammar."""

    def timespec(self) -> GrocSchedule:
        """Read the whole text. Raises ScheduleError without a fix."""
        schedule = self._every() if self._at("every") else self._specific()
        if self._at(",") and self._tokens[self._next - 1].kind == "time":
            raise self._error(
                "a schedule has one time of day: write an entry for each, or "
                "'every N hours from HH:MM to HH:MM'"
            )
        if self._at("synchronized"):
            raise self._error(_no_place_for_synchronized(schedule))
        if self._token.kind != "end":
            raise self._error(f"expected nothing after {self._said()}, {self._found()}")
        return schedule

    def _every(self) -> GrocSchedule:
        self._take()
        if self._token.kind == "number":
            return self._interval()
        if "." in self._token.text:
            raise self._error(
                f"an interval is a whole number of hours or minutes, {self._found()}"
            )
        if not self._at("day", *WEEKDAYS):
            raise self._error(
                f"expected a number, a weekday or 'day' after 'every', {self._found()}"
            )
        return self._custom(OrdinalWeekdays(EVERY_ORDINAL, self._weekdays()))

    def _interval(self) -> EndTimeInterval | StartTimeInterval:
        number = self._take()
        count = self._number(number, "an interval")
        if not self._at(*UNITS):
            raise self._error(_no_unit(number, self._whole_word(), self._found()))
        period = count * UNITS[self._take().text]
        if not count:
            raise self._error("an interval must be at least 1", number)
        window: tuple[time, time] | None = None
        if self._accept("from"):
            first = self._time("'from'")
            self._expect("to", f"{self._said()} (a range is 'from HH:MM to HH:MM')")
            window = first, self._time("'to'")
        elif self._at("synchronized"):
            window = self._synchronized(period)
        weekdays = EVERY_DAY
        if self._at("on"):
            weekdays = self._restriction(period)
        if window is None:
            return EndTimeInterval(period, weekdays)
        return StartTimeInterval(period, *window, weekdays)

    def _synchronized(self, period: timedelta) -> tuple[time, time]:
        token = self._take()
        if period > _DAY or _DAY % period:
            raise self._error(
                "'synchronized' needs an interval that divides 24 hours: 1, 2, 3, 4, "
                "6, 8, 12 or 24 hours, or any divisor of 1440 minutes",
                token,
            )
        if self._at("from", "to"):
            raise self._error("'synchronized' cannot be combined with 'from … to …'")
        return time(0, 0), time(23, 59)

    def _restriction(self, period: timedelta) -> frozenset[Weekday]:
        token = self._take()
        if self._at("every", *ORDINALS):
            raise self._error(f"after 'on' come weekdays only, {self._found()}")
        weekdays = self._weekdays()
        if weekdays != EVERY_DAY and period > _DAY:
            raise self._error("'on …' is only for intervals of at most 24 hours", token)
        return weekdays

    def _specific(self) -> CustomInterval:
        if self._token.kind == "number":
            return self._on_month_days()
        if self._at(*ORDINALS):
            return self._on_ordinals()
        if self._token.kind == "end":
            raise self._error("the schedule is empty")
        raise self._error(
            "a schedule starts with 'every', an ordinal ('1st') or days of the month "
            f"('1,15 of month'), {self._found()}"
        )

    def _on_ordinals(self) -> CustomInterval:
        ordinals = self._ordinals()
        if self._accept("day"):
            # Google's parser takes `1st,2nd day` for days 1 and 2 of the month.
            return self._custom(MonthDays(ordinals))
        if not self._at(*WEEKDAYS):
            raise self._error(
                f"expected a weekday or 'day' after {self._said()}, {self._found()}"
            )
        return self._custom(OrdinalWeekdays(ordinals, self._weekdays()))

    def _on_month_days(self) -> CustomInterval:
        first = self._token
        days = {self._month_day()}
        while self._accept(","):
            if self._token.kind != "number":
                raise self._error(
                    f"expected a day of the month after ',', {self._found()}"
                )
            days.add(self._month_day())
        if not self._at("of"):
            raise self._error(
                f"expected 'of' after {self._said()}, as in '1,15 of month', "
                f"{self._found()}"
            )
        custom = self._custom(MonthDays(frozenset(days)))
        longest = max(monthrange(2000, month)[1] for month in custom.months)
        if min(days) > longest:
            raise self._error(
                f"no month named here has a day {min(days)}: the longest has {longest}",
                first,
            )
        return custom

    def _custom(self, days: MonthDays | OrdinalWeekdays) -> CustomInterval:
        months = self._months() if self._accept("of") else EVERY_MONTH
        if self._token.kind == "end":
            raise self._error("a time of day is missing at the end")
        return CustomInterval(self._time(self._said()), days, months)

    def _month_day(self) -> int:
        token = self._take()
        day = self._number(token, "a day of the month")
        if not 1 <= day <= 31:
            raise self._error(f"there is no day {token.text} of the month", token)
        return day

    def _number(self, token: Token, what: str) -> int:
        if len(token.text) > len(str(MAX_NUMBER)):
            raise self._error(f"{what} has at most 5 digits", token)
        return int(token.text)

    def _time(self, after: str) -> time:
        if self._token.kind == "junk" and self._token.text[0].isdigit():
            raise self._error(
                f"{self._token} is no time of day: H:MM or HH:MM, 0:00 to 23:59"
            )
        if self._token.kind != "time":
            raise self._error(
                f"expected a time (H:MM or HH:MM, 0:00 to 23:59) after {after}, "
                f"{self._found()}"
            )
        hour, _, minute = self._take().text.partition(":")
        return time(int(hour), int(minute))

    def _ordinals(self) -> frozenset[int]:
        return self._list_of(ORDINALS, "an ordinal, 1st to 5th,")

    def _weekdays(self) -> frozenset[Weekday]:
        if self._accept("day"):
            return EVERY_DAY
        return self._list_of(WEEKDAYS, "a weekday")

    def _months(self) -> frozenset[int]:
        if self._accept("month"):
            return EVERY_MONTH
        if self._accept("quarter"):
            return frozenset((1, 4, 7, 10))
        if self._at(*ORDINALS):
            return self._months_of_quarter()
        return self._list_of(MONTHS, "a month, 'month' or 'quarter'")

    def _months_of_quarter(self) -> frozenset[int]:
        start = self._next
        ordinals = self._ordinals()
        if max(ordinals) > 3:
            late = next(t for t in self._tokens[start:] if ORDINALS.get(t.text, 0) > 3)
            raise self._error("a quarter has three months", late)
        self._expect("month", f"{self._said()} (as in '2nd month of quarter')")
        self._expect("of", "'month' (as in '2nd month of quarter')")
        self._expect("quarter", "'of' (as in '2nd month of quarter')")
        return frozenset(o + 3 * q for o in ordinals for q in range(4))

    def _list_of(self, spellings: Mapping[str, _Value], what: str) -> frozenset[_Value]:
        values = set[_Value]()
        while True:
            if not self._at(*spellings):
                raise self._error(
                    f"expected {what} after {self._said()}, {self._found()}"
                )
            values.add(spellings[self._take().text])
            if not self._accept(","):
                return frozenset(values)


def _no_place_for_synchronized(schedule: GrocSchedule) -> str:
    """Say why the word may not follow the schedule that has been read."""
    if isinstance(schedule, StartTimeInterval):
        return "'synchronized' cannot be combined with 'from … to …'"
    if isinstance(schedule, EndTimeInterval):
        return "'synchronized' comes before 'on …'"
    return "'synchronized' is only for 'every N hours' or 'every N minutes'"


def _no_unit(number: Token, word: str, found: str) -> str:
    """Say what is wrong with the word after `every N`."""
    expected = f"expected 'hours', 'minutes' or 'mins' after {number}, {found}"
    unit = word.removesuffix("s")
    if unit in {"day", "week", "month", "year"}:
        return (
            f"{expected}; there is no interval of {unit}s: 'every 48 hours' counts "
            "from the end of the last run, 'every day HH:MM' and 'every monday HH:MM' "
            "keep to the clock"
        )
    if unit in {"hour", "minute", "min"}:
        return f"{expected}; units are plural only"
    return expected
