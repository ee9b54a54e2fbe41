"""What was most likely meant by a text that is no groc.

A fix is only ever proposed where it parses: rewrites of common slips are tried, one
after the other and together, and the first result that is groc is it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cronspec import unixcron_parser
from cronspec.groc_parser import accepts
from cronspec.groc_render import render
from cronspec.groc_words import MONTHS, WEEKDAYS
from cronspec.kinds import ScheduleError
from cronspec.twin import to_groc
from cronspec.unixcron_fixes import NICKNAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_LENGTH: Final = 200  # nothing longer is a slip of the pen
_WORDS: Final = (
    r"(?:day|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)"
)
_MONTH_DAYS: Final = {str(day): day for day in range(1, 32)}
_ORDINAL_WORDS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
    "twentieth twentyfirst twentysecond twentythird twentyfourth twentyfifth "
    "twentysixth twentyseventh twentyeighth twentyninth thirtieth thirtyfirst"
).split()


def fix(text: str) -> str:
    """Give the groc text that `text` was most likely meant to be; "" if unknown.

    >>> fix("every 1 hour"), fix("every monday"), fix("0 9 * * 1")
    ('every 1 hours', 'every monday 00:00', 'every mon 09:00')
    """
    if len(text) > _MAX_LENGTH:
        return ""
    candidate = " ".join(text.lower().split())
    from_crontab = _crontab(candidate)
    if from_crontab:
        return from_crontab
    for rewrite in _REWRITES:
        candidate = rewrite(candidate)
        if candidate and accepts(candidate):
            return candidate
    return ""


def is_crontab(text: str) -> bool:
    """Tell whether a text is unix-cron, or one of its nicknames such as `@daily`."""
    return NICKNAMES.get(text.strip().lower()) is not None or unixcron_parser.accepts(
        text
    )


def _crontab(text: str) -> str:
    """Give the groc twin of a crontab line, if it has one."""
    try:
        twin = to_groc(unixcron_parser.read(NICKNAMES.get(text, text)))
    except ScheduleError:
        return ""
    return render(twin) if twin is not None else ""


def _replace(pattern: str, replacement: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)
    return lambda text: compiled.sub(replacement, text)


def _ranges(text: str) -> str:
    """`mon-fri` → `mon,tue,wed,thu,fri`; `1-3 of month`, `jan to mar` likewise."""
    for names, count, low in ((WEEKDAYS, 7, 0), (MONTHS, 12, 1), (_MONTH_DAYS, 31, 1)):
        spelt = {int(value): name for name, value in names.items()}
        word = "|".join(sorted(names, key=len, reverse=True))

        def convert(
            found: re.Match[str],
            names: Mapping[str, int] = names,
            spelt: Mapping[int, str] = spelt,
            count: int = count,
            low: int = low,
        ) -> str:
            first, last = names[found[1]], names[found[2]]
            values = range(first, first + (last - first) % count + 1)
            return ",".join(spelt[(value - low) % count + low] for value in values)

        dash = r" ?(?:-|to|through) ?"
        text = re.sub(rf"(?<![\d:])\b({word}){dash}({word})\b(?!:)", convert, text)
    return text


def _fractions(text: str) -> str:
    """`every 0.5 hours` → `every 30 minutes`."""

    def convert(found: re.Match[str]) -> str:
        hours, tenths = int(found[1] or 0), int(found[2])
        return f"{hours * 60 + tenths * 60 // 10 ** len(found[2])} minutes"

    return re.sub(r"\b(\d{0,3})\.(\d{1,3}) ?h(?:ou)?rs?\b", convert, text)


def _days_and_weeks(text: str) -> str:
    """`every 2 days` → `every 48 hours`; `every 1 weeks` → `every 168 hours`."""

    def convert(found: re.Match[str]) -> str:
        return f"every {int(found[1]) * (24 if found[2] == 'day' else 168)} hours"

    return re.sub(r"^every (\d{1,4}) (day|week)s?$", convert, text)


def _twelve_hours(text: str) -> str:
    """`9am`, `9:30 pm` → 24 hours."""

    def convert(found: re.Match[str]) -> str:
        hour, minute = int(found[1]), found[2] or "00"
        if not 1 <= hour <= 12:
            return found[0]
        return f"{hour % 12 + 12 * (found[3] == 'p'):02}:{minute}"

    return re.sub(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?", convert, text)


def _day_ordinals(text: str) -> str:
    """`31st of month`, `thirtyfirst day of month` → `31 of month`."""

    def number(word: str) -> str:
        digits = re.match(r"\d+", word)
        return digits[0] if digits else str(_ORDINAL_WORDS.index(word) + 1)

    ordinal = rf"(?:\d+(?:st|nd|rd|th)|{'|'.join(reversed(_ORDINAL_WORDS))})"
    found = re.match(rf"({ordinal}(?:,{ordinal})*)(?: day)?(?= of\b)", text)
    if found is None:
        return text
    return ",".join(map(number, found[1].split(","))) + text[found.end() :]


def _clock_times(text: str) -> str:
    """`24:00` → `00:00`, or `23:59` where a range ends; `9:5` → `09:05`."""
    text = re.sub(r"\bto 24:00\b", "to 23:59", text)
    text = re.sub(r"\b24:00\b", "00:00", text)
    text = re.sub(r"\b(\d{1,2}:\d\d):\d\d\b", r"\1", text)
    text = re.sub(r"\b0?(\d{2}):0?(\d{2})\b", r"\1:\2", text)
    return re.sub(r"\b(\d{1,2}):(\d)(?!\d)", r"\1:0\2", text)


_QUOTES: Final = (
    r"""["'`\u2018-\u201f\u00ab\u00bb]"""  # of a typewriter and of printers
)
# Applied one after the other; each may make the text groc or leave it for the next.
_REWRITES: Final[tuple[Callable[[str], str], ...]] = (
    _replace(rf"^{_QUOTES}+|{_QUOTES}+$", ""),
    _fractions,
    _replace(r" ?(?:[;#].*|\.)$", ""),
    _replace(r"(?<= )(\d{1,2})\.(\d\d)\b", r"\1:\2"),
    _replace(r"\bhourly\b", "every 1 hours"),
    _replace(r"\bdaily\b", "every day"),
    _replace(r"\bevery (?=(?:hour|min(?:ute)?)s?\b)", "every 1 "),
    _replace(r"\b(?:hrs?|hour|h)\b", "hours"),
    _replace(r"(?<=\d)\s*(?:h|hrs?)\b", " hours"),
    _replace(r"\b(?:minute|min|m)\b", "minutes"),
    _replace(r"(?<=\d)\s*m\b", " minutes"),
    _replace(r"\b(?:at|the)\s+", ""),
    _replace(r"\s+and\s+|\s*,\s*", ","),
    _replace(r"\buntil\b", "to"),
    _replace(r"\b(?:tues|tuesd)\b", "tue"),
    _replace(r"\b(?:weds|wednes|wensday|wednsday)\b", "wed"),
    _replace(r"\b(?:thur|thurs|thurday)\b", "thu"),
    _replace(r"\b(?:satur)\b", "sat"),
    _replace(r"\bsept\b", "sep"),
    _replace(r"\bweekdays?\b", "mon,tue,wed,thu,fri"),
    _replace(r"\bweekends?\b", "sat,sun"),
    _ranges,
    _replace(r"\bevery (\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth)\b", r"\1"),
    _twelve_hours,
    _clock_times,
    _day_ordinals,
    _replace(r"\bevery 1 days? (?=\d)", "every day "),
    _replace(r"\bevery (?:1 )?months?\b", "1 of month"),
    _replace(r"\bevery weeks?\b", "every monday"),
    _days_and_weeks,
    _replace(r"^(?=\d+ (?:hours|minutes|mins)\b)", "every "),
    _replace(r"^(\d{1,2}:\d\d) ((?:every|on) .*)$", r"\2 \1"),
    _replace(r"^on (?=mon|tue|wed|thu|fri|sat|sun)", "every "),
    _replace(r"^(?=(?:mon|tue|wed|thu|fri|sat|sun))", "every "),
    _replace(rf"({_WORDS}) (?={_WORDS}\b)", r"\1,"),
    _replace(
        r"(\bevery \d+ (?:hours|minutes|mins)) (?=(?:mon|tue|wed|thu|fri|sat|sun))",
        r"\1 on ",
    ),
    _replace(r"( on [a-z,]+)( synchronized| from \S+ to \S+)\b", r"\2\1"),
    _replace(r"\bsynchronized (from \S+ to \S+)", r"\1"),
    _replace(r"(from \S+ to \S+) synchronized\b", r"\1"),
    _replace(r"^(every (?!\d).*\d:\d\d) synchronized$", r"\1"),
    _replace(r"(from \d{1,2}:\d\d)$", r"\1 to 23:59"),
    _replace(r"(?<=[a-z] )(\d{1,2})$", r"\1:00"),
    _replace(r"^((?:every )?\S+(?: \S+)*)(?<!\d:\d\d)$", r"\1 00:00"),
)
