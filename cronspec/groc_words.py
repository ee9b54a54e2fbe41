"""The words of groc: their spellings, and a text cut into them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final, NamedTuple

from cronspec.kinds import Weekday, abridged

WEEKDAYS: Final = {
    spelling: day
    for day in Weekday
    for spelling in (day.name.lower(), day.name.lower()[:3])
}
MONTH_NAMES: Final = (
    "january february march april may june july august september october november "
    "december"
).split()
MONTHS: Final = {
    spelling: number
    for number, name in enumerate(MONTH_NAMES, start=1)
    for spelling in (name, name[:3])
}
ORDINALS: Final = {
    spelling: number
    for number, spellings in enumerate(
        ("1st first", "2nd second", "3rd third", "4th fourth", "5th fifth"), start=1
    )
    for spelling in spellings.split()
}
UNITS: Final = {
    "hours": timedelta(hours=1),
    "mins": timedelta(minutes=1),
    "minutes": timedelta(minutes=1),
}
_OTHER_WORDS: Final = "every day of month quarter from to synchronized on ,".split()

# Longest first, so that `monday` is not read as `mon` and a stray `day`.
_KEYWORD: Final = "|".join(
    sorted(
        (re.escape(w) for w in (*WEEKDAYS, *MONTHS, *ORDINALS, *UNITS, *_OTHER_WORDS)),
        key=len,
        reverse=True,
    )
)
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<time> (?:[01]?\d|2[0-3]) : [0-5]\d (?!\d) )
    | (?P<word> {_KEYWORD} )
    | (?P<number> \d++ (?! [:.] | (?: st|nd|rd|th ) (?![a-z]) ) )
    | (?P<end> \Z )
    )""",
    re.VERBOSE | re.ASCII,
)
# A word that is none of groc's, whole: `31st`, `09:69`, `0.5`, `hour`.
_JUNK: Final = re.compile(r"[a-z]+|\d[\d:.]*[a-z]*|\S", re.ASCII)
MAX_NUMBER: Final = 99_999


class Token(NamedTuple):
    """A word of a text, lower-cased, and where it stands."""

    kind: str  # "word", "number", "time", "end" or "junk"
    text: str
    column: int  # from 1

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(abridged(self.text))


def tokenize(text: str) -> list[Token]:
    """Cut a text into words, up to its end or to the first that is none of groc's."""
    # Google's parser lower-cases first. Letter by letter, so that columns stay.
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    tokens = list[Token]()
    at = 0
    while not tokens or tokens[-1].kind not in {"end", "junk"}:
        found = _TOKEN.match(lowered, at)
        if found is None:
            at += len(lowered) - at - len(lowered[at:].lstrip(" \t\r\n"))
            junk = _JUNK.match(lowered, at)
            tokens.append(Token("junk", junk[0] if junk else lowered[at], at + 1))
        else:
            kind = found.lastgroup or ""
            tokens.append(Token(kind, found[kind], found.start(kind) + 1))
            at = found.end()
    return tokens
