"""groc, the schedule language of cron.yaml: `every monday 09:00` ⇄ Schedule.

The grammar is that of Google's newest parser, its undocumented forms included, and
nothing more (GrocLexer, GrocParser and groctimespecification.py of the App Engine
SDK). Keywords are fixed spellings in any case; white space (blank, tab, CR, LF) may
stand between any two words or be left out:

    timespec  : ( specific | interval ) end
    interval  : 'every' NUMBER ( 'hours' | 'mins' | 'minutes' )
                [ 'from' TIME 'to' TIME | 'synchronized' ] [ 'on' weekdays ]
    specific  : ( ordinals weekdays [ 'of' months ] | NUMBERS 'of' months ) TIME
    ordinals  : 'every' | ( '1st' | 'first' | … '5th' | 'fifth' ), …
    weekdays  : 'day' | ( 'mon' | 'monday' | … ), …
    months    : 'month' | ( 'jan' | 'january' | … ), …
              | 'quarter' | ( '1st' | … '3rd' ), … 'month' 'of' 'quarter'
    NUMBER    : 1 to 5 digits         TIME : H:MM or HH:MM, 0:00 to 23:59

`render` gives a schedule's canonical text, which parses to the same schedule.
What was most likely meant by a text that is none is worked out in `groc_fixes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.groc_parser import accepts, read
from cronspec.groc_render import render
from cronspec.groc_words import MONTH_NAMES, tokenize
from cronspec.kinds import ScheduleError

if TYPE_CHECKING:
    from cronspec.kinds import GrocSchedule

__all__ = [
    "MONTH_NAMES",
    "accepts",
    "dialects",
    "parse",
    "render",
    "restricts_weekdays",
]


def parse(text: str) -> GrocSchedule:
    """Read a groc text. Raises ScheduleError, and nothing else, where it is none.

    >>> parse("1st monday of jan 9:00").at.isoformat()
    '09:00:00'
    """
    try:
        return read(text)
    except ScheduleError as error:
        # Only a text that is refused needs them.
        from cronspec.groc_fixes import fix, is_crontab  # noqa: PLC0415 - see above

        column, reason = error.column, error.reason
        if is_crontab(text):
            column, reason = 1, "this is unix-cron, and cron.yaml takes groc only"
        raise ScheduleError(text, column, reason, fix(text)) from None


def dialects(text: str) -> list[str]:
    """Say which forms of an accepted text only some of Google's parsers take.

    The newest parser (Cloud SDK 528) lower-cases a schedule and knows `on …`; the
    grammar of the Java runtime does neither, and older users had capitals refused.
    """
    found = []
    if text != text.lower():
        found.append(
            "capital letters: Google's newest parser takes them, its Java twin "
            f"refuses them; write {text.lower()!r}"
        )
    if restricts_weekdays(text):
        found.append(
            "'on <weekdays>' after an interval: Google's newest parser and Cloud "
            "Scheduler's documentation have it, the grammar of the Java runtime "
            "does not"
        )
    return found


def restricts_weekdays(text: str) -> bool:
    """Tell whether a text has the clause `on <weekdays>`."""
    return any(token.text == "on" for token in tokenize(text))
