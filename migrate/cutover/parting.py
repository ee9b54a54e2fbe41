"""Which entries go from one list to the other at the end of a move. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from cronspec.naming import identity
from migrate.cutover.lists import Listing, transfer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from migrate.translate import Translation


class Direction(Enum):
    """Which way the entries go."""

    ONWARD = "moved"
    BACK = "back"


def parted(
    direction: Direction,
    translations: Sequence[Translation],
    done: Collection[str],
    cron: Listing,
    jobs: Listing,
) -> list[Listing]:
    """Give the lists that change, in the order in which they are to be written.

    `done` are the keys of the entries that are where they were to go. What an entry
    goes to comes first, so that it stands in both lists for a moment, and counts
    once, but never in none. Copies of one entry go together: one in each list would
    count as one. Raises ListsError.
    """
    waiting = {identity(one.entry) for one in translations if one.key not in done}
    source, dest = (cron, jobs) if direction is Direction.ONWARD else (jobs, cron)
    dashes = {
        (one.entry.place.line, one.entry.place.column)
        for one in translations
        if one.key in done
        and identity(one.entry) not in waiting
        and one.entry.place.file == source.name
    }
    if not dashes:
        return []
    left, right = transfer(source, dest, dashes)
    return [Listing(dest.name, right), Listing(source.name, left)]
