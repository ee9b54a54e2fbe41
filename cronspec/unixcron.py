"""unix-cron as Cloud Scheduler documents it: `0 9 * * 1` ⇄ UnixCron.

Five fields: minute 0-59, hour 0-23, day of month 1-31, month 1-12 or JAN-DEC, day of
week 0-6 or SUN-SAT, 7 being Sunday too. A field is `*` or a list of numbers and of
ranges `a-b` with a < b; `*` and ranges may have a step `/n`, at most the field's
largest value. Where both day fields choose, a day that either chooses is in.
(https://cloud.google.com/scheduler/docs/configuring/cron-job-schedules)

What other crons take and Cloud Scheduler does not document (L, W, #, ?, @daily, a
step on one number) is refused by name. Names may stand in any case here; `render`
writes numbers.

What was most likely meant by a text that is none is worked out in `unixcron_fixes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.kinds import ScheduleError
from cronspec.unixcron_parser import FIELDS, Field, accepts, read
from cronspec.unixcron_render import render

if TYPE_CHECKING:
    from cronspec.kinds import UnixCron

__all__ = ["FIELDS", "Field", "accepts", "parse", "render"]


def parse(text: str) -> UnixCron:
    """Read a unix-cron text. Raises ScheduleError, and nothing else, where it is none.

    >>> sorted(parse("0 9 * * MON-WED").weekdays)
    [<Weekday.MONDAY: 1>, <Weekday.TUESDAY: 2>, <Weekday.WEDNESDAY: 3>]
    """
    try:
        return read(text)
    except ScheduleError as error:
        # Only a text that is refused needs them.
        from cronspec.unixcron_fixes import fix  # noqa: PLC0415 - see above

        raise ScheduleError(text, error.column, error.reason, fix(text)) from None
