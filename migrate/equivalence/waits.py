"""Two retry policies, compared by the time lines of a run that always fails."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final

from cronspec.retry import timeline
from migrate.verdict import FOREVER, Equivalent, RetryDivergent, RetryVerdict

if TYPE_CHECKING:
    from cronspec.retry import RetryPolicy

_ATTEMPTS: Final = (timedelta(0), timedelta(minutes=1), timedelta(minutes=10))
_COMPARED: Final = 200


def retries(before: RetryPolicy, after: RetryPolicy) -> RetryVerdict:
    """Compare two retry policies by the time lines of a run that always fails.

    The lines are those of attempts that fail at once, after a minute and after ten,
    the longest that App Engine's automatic scaling allows.
    """
    if before == after:
        return Equivalent(FOREVER)
    for attempt in _ATTEMPTS:
        ours = list(islice(timeline(before, attempt), _COMPARED))
        theirs = list(islice(timeline(after, attempt), _COMPARED))
        for ordinal, (our, their) in enumerate(zip_longest(ours, theirs), start=1):
            if our != their:
                shown = max(ordinal, 6)
                return RetryDivergent(tuple(ours[:shown]), tuple(theirs[:shown]))
    return Equivalent(FOREVER)
