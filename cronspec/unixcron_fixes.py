"""What was most likely meant by a text that is no unix-cron of Cloud Scheduler's.

A fix is only ever proposed where it parses.
"""

from __future__ import annotations

import re
from typing import Final

from cronspec import groc_parser, unixcron_parser
from cronspec.groc_words import MONTHS, WEEKDAYS
from cronspec.kinds import EndTimeInterval
from cronspec.twin import to_unix
from cronspec.unixcron_parser import FIELDS, Field
from cronspec.unixcron_render import render

_MAX_LENGTH: Final = 200  # nothing longer is a slip of the pen

NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""What other crons call some schedules."""


def fix(text: str) -> str:
    """Give the unix-cron text that `text` was most likely meant to be; "" if unknown.

    >>> fix("@daily"), fix("5/10 9 ? * FRI-MON"), fix("every monday 09:00")
    ('0 0 * * *', '5-59/10 9 * * 5,6,0,1', '0 9 * * 1')
    """
    if len(text) > _MAX_LENGTH:
        return ""
    words = NICKNAMES.get(text.strip().lower(), text).split()
    if groc_parser.accepts(text):
        return _twin(text)
    for fields in (words, words[1:], words[:5]):
        # With six fields the first are seconds, or the last are years.
        if len(fields) == len(FIELDS) and (len(words) == 5 or _drops_nothing(words)):
            candidate = " ".join(map(_fix_field, fields, FIELDS))
            if unixcron_parser.accepts(candidate):
                return candidate
    return ""


def _twin(text: str) -> str:
    schedule = groc_parser.read(text)
    if isinstance(schedule, EndTimeInterval):
        return ""
    twins = to_unix(schedule)
    return render(twins[0]) if len(twins) == 1 else ""


def _drops_nothing(words: list[str]) -> bool:
    """Tell whether a sixth field, the seconds, only says what five fields mean."""
    return len(words) == 6 and words[0] in {"0", "00"}


def _fix_field(word: str, field: Field) -> str:
    return ",".join(_fix_part(part, field) for part in word.split(","))


def _fix_part(part: str, field: Field) -> str:
    if part == "?":
        return "*"
    names = WEEKDAYS if field.high == 7 else MONTHS
    if field.names and part.lower() in names:
        return field.names[names[part.lower()] - field.low]
    span, slash, step = part.partition("/")
    if slash and field.number(span) is not None:
        return f"{field.number(span)}-{_top(field)}/{step}"
    if span == "*" and step == str(_top(field) + 1):
        return str(field.low)
    if found := re.fullmatch(r"(\w+)-(\w+)", span):
        first, last = field.number(found[1]), field.number(found[2])
        if first is not None and last is not None and first >= last:
            count = int(step) if step.isdecimal() and len(step) < 5 else 1
            around = [*range(first, _top(field) + 1), *range(field.low, last + 1)]
            values = [first] if first == last else around[:: max(count, 1)]
            return ",".join(map(str, values))
    return part


def _top(field: Field) -> int:
    """Give the largest value that is not another name of the smallest."""
    return 6 if field.high == 7 else field.high
