"""groc, compared with Google's own parser and evaluator of the Cloud SDK.

Random texts of the grammar, and near-misses of them, must be taken or refused by
both; what both take must tick alike. The parser is in the SDK's component
app-engine-python; where that is not installed there is nothing to compare with.
`CRONSHIFT_GOOGLE_TEXTS` sets how many texts are tried, `CRONSHIFT_GOOGLE_SEED`
which ones.
"""

from __future__ import annotations

import importlib
import os
import random
import struct
import sys
import warnings
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from cronspec import groc, zones
from cronspec.groc_fixes import fix
from cronspec.schedule import EVERY_DAY, EndTimeInterval, Weekday, ticks
from tests.cloud_sdk import cloud_sdk, link_groc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXTS = int(os.environ.get("CRONSHIFT_GOOGLE_TEXTS", "1200"))
SEED = int(os.environ.get("CRONSHIFT_GOOGLE_SEED", "8"))
# Not Europe/Dublin: its summer time is the standard one, winter's is "negative",
# and by pytz the reference misses the first of two doubled times.
ZONES = (
    "UTC America/New_York America/Havana America/Sao_Paulo Australia/Lord_Howe "
    "Europe/Rome Asia/Kathmandu Pacific/Apia Africa/Cairo America/Santiago "
    "Asia/Jerusalem Pacific/Chatham"
).split()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(1975, 1, 1, tzinfo=UTC), datetime(2037, 12, 1, tzinfo=UTC)


def _seen_by_pytz(name: str) -> bytes:
    """Give one zone of the pinned tzdata as the old TZif that is all pytz reads.

    What it holds comes from `zoneinfo`, not from our own reading of the files.
    """
    zone = zones.load(name)

    def kind(at: datetime) -> tuple[int, bool, str]:
        local = at.astimezone(zone)
        offset, saving = local.utcoffset(), local.dst()
        assert offset is not None
        return int(offset.total_seconds()), bool(saving), local.tzname() or ""

    kinds, times = [kind(_FIRST)], list[tuple[int, int]]()
    at = _FIRST
    while at < _LAST:
        later = at + timedelta(days=7)
        if kind(later) != kind(at):
            low, high = at, later
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) // 2
                low, high = (
                    (middle, high) if kind(middle) == kind(at) else (low, middle)
                )
            changed = high.replace(microsecond=0)
            if kind(later) not in kinds:
                kinds.append(kind(later))
            times.append(
                ((changed - _EPOCH) // timedelta(seconds=1), kinds.index(kind(later)))
            )
        at = later
    names = "\0".join(name for _, _, name in kinds) + "\0"
    starts = [
        len("\0".join(k[2] for k in [*kinds[:i], (0, False, "")]))
        for i in range(len(kinds))
    ]
    return b"".join(
        (
            b"TZif\0" + bytes(15),
            struct.pack(">6l", 0, 0, 0, len(times), len(kinds), len(names)),
            struct.pack(f">{len(times)}l", *(second for second, _ in times)),
            bytes(index for _, index in times),
            *(
                struct.pack(">lbB", offset, saving, start)
                for (offset, saving, _), start in zip(kinds, starts, strict=True)
            ),
            names.encode(),
        )
    )


@pytest.fixture(scope="module")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """`google(schedule, zone)`: the SDK's GrocTimeSpecification."""
    sdk = cloud_sdk()
    if sdk is None:
        pytest.skip("no Cloud SDK with app-engine-python on this machine")
    library, data = tmp_path_factory.mktemp("sdk"), tmp_path_factory.mktemp("zones")
    link_groc(sdk, library)
    for name in ZONES:
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_bytes(_seen_by_pytz(name))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of code for much older Pythons
        patch.syspath_prepend(library)
        patch.setenv("PYTZ_TZDATADIR", str(data))
        for name in ("antlr3", "pytz", "six"):
            patch.delitem(sys.modules, name, raising=False)
        module = importlib.import_module("google_cron.groctimespecification")
        yield module.GrocTimeSpecification


# --- Texts --------------------------------------------------------------------

_DAYS = [spelt for day in Weekday for spelt in (day.name[:3].lower(), day.name.lower())]
_MONTHS = [spelt for name in groc.MONTH_NAMES for spelt in (name[:3], name)]
_ORDINALS = "1st first 2nd second 3rd third 4th fourth 5th fifth".split()
_NUMBERS = (
    "0 1 2 3 4 5 6 7 8 9 10 12 15 20 25 28 29 30 31 32 45 48 60 90 100 720 1440 1441 "
    "99999 100000 007"
).split()
_TIMES = (
    "0:00 00:00 9:00 09:00 1:30 01:59 02:00 02:30 3:00 12:34 23:00 23:59 24:00 9:0 "
    "23:60"
).split()
_OTHERS = (
    "every day of month quarter from to synchronized on , hours hour mins min minutes "
    "minute at and 1 6th tues sept 01:000 : # é \t \xa0 st"
).split(" ")
_VOCABULARY = [*_DAYS, *_MONTHS, *_ORDINALS, *_NUMBERS, *_TIMES, *_OTHERS]


def _text(rng: random.Random) -> list[str]:
    def several(words: list[str]) -> list[str]:
        chosen = rng.choices(words, k=rng.choice((1, 1, 1, 2, 3)))
        return [part for word in chosen for part in (",", word)][1:]

    def days() -> list[str]:
        return ["day"] if rng.random() < 0.3 else several(_DAYS)

    def months() -> list[str]:
        nth_of_quarter = [*several(_ORDINALS[:6]), "month", "of", "quarter"]
        return rng.choice(
            (["month"], ["quarter"], nth_of_quarter, several(_MONTHS), several(_MONTHS))
        )

    def number(low: int, high: int) -> str:
        return (
            str(rng.randint(low, high)) if rng.random() < 0.9 else rng.choice(_NUMBERS)
        )

    def at() -> str:
        if rng.random() < 0.1:
            return rng.choice(_TIMES)
        hour = rng.choice((0, 1, 1, 2, 2, 3, rng.randint(0, 23)))
        minute = rng.choice((0, 30, rng.randint(0, 59)))
        return f"{hour:{rng.choice(('', '02'))}}:{minute:02}"

    match rng.randrange(5):
        case 0:
            words = [
                "every",
                *days(),
                *(["of", *months()] if rng.random() < 0.5 else []),
                at(),
            ]
        case 1:
            words = [
                *several(_ORDINALS),
                *days(),
                *(["of", *months()] if rng.random() < 0.7 else []),
                at(),
            ]
        case 2:
            days_of_month = several([number(1, 31) for _ in range(3)])
            words = [*days_of_month, "of", *months(), at()]
        case _:
            unit = rng.choice(("hours", "minutes", "mins"))
            count = number(1, 26) if unit == "hours" else number(1, 200)
            window = rng.choice(
                (
                    ["from", at(), "to", at()],
                    ["from", at(), "to", at()],
                    ["synchronized"],
                    [],
                )
            )
            words = [
                "every",
                count,
                unit,
                *window,
                *(["on", *days()] if rng.random() < 0.3 else []),
            ]
    return words


def _spelt(words: list[str], rng: random.Random) -> str:
    """Join words as people may: any case, blanks or none; one in three is broken."""
    if rng.random() < 0.35:
        at = rng.randrange(len(words) + 1)
        match rng.randrange(4):
            case 0:
                words.insert(at, rng.choice(_VOCABULARY))
            case 1:
                words[at : at + 1] = []
            case 2:
                words[at : at + 1] = [rng.choice(_VOCABULARY)]
            case _:
                words[at : at + 2] = reversed(words[at : at + 2])
    blanks = rng.choice(("", " ", " ", " ", "  ", "\t", "\r\n"))
    text = blanks.join(words)
    if rng.random() < 0.05 and text:
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + rng.choice(("", " ", "x", "1", ",", ":", "é", "\x0b"))
            + text[at + 1 :]
        )
    return rng.choice((str, str, str.upper, str.title))(text)


def _taken(google: Callable[..., Any], text: str, zone: str) -> Any:
    try:
        return google(text, zone)
    except Exception:  # noqa: BLE001 - its parser lets more than its own GrocException through
        return None


def _near_a_change(zone: str, rng: random.Random) -> datetime:
    start = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(
        minutes=rng.randrange(9 * 366 * 1440)
    )
    second = (start - _EPOCH) // timedelta(seconds=1)
    change = next(zones.clock(zone).changes(second), None)
    if change is None or rng.random() < 0.3 or change.at > 2_100_000_000:
        return start
    return _EPOCH + timedelta(seconds=change.at - rng.randrange(36) * 3600)


def test_the_sdks_parser_takes_and_refuses_the_same_texts_and_ticks_alike(
    google: Callable[..., Any],
) -> None:
    rng = random.Random(SEED)
    taken = refused = 0
    for _ in range(TEXTS):
        text, zone = _spelt(_text(rng), rng), rng.choice(ZONES)
        theirs = _taken(google, text, zone)
        if not groc.accepts(text):
            assert theirs is None, f"{text!r}: refused, but not by the SDK"
            suggested = fix(text)
            assert not suggested or _taken(google, suggested, zone), suggested
            refused += 1
            continue
        assert theirs is not None, f"{text!r}: taken, but not by the SDK"
        taken, ours = taken + 1, groc.parse(text)
        after = _near_a_change(zone, rng)
        if isinstance(ours, EndTimeInterval):
            if ours.weekdays == EVERY_DAY:
                expected = list(islice(_matches(theirs, after), 1))
                found = [after.replace(second=0) + ours.period][: len(expected)]
                assert found == expected, f"{text!r} after {after}"
            continue
        if getattr(ours, "weekdays", EVERY_DAY) != EVERY_DAY:
            # It steps blindly over refused days and loses ticks near a change: its
            # ticks without `on`, filtered, are the meaning.
            theirs.weekdays = None
            tz = zones.load(zone)
            expected = [
                at
                for at in islice(_matches(theirs, after), 120)
                if at.astimezone(tz).isoweekday() % 7 in ours.weekdays
            ]
        else:
            expected = list(islice(_matches(theirs, after), 8))
        found = list(islice(ticks(ours, zones.load(zone), after), len(expected)))
        assert found == expected, f"{text!r} in {zone} after {after}"
    assert taken > TEXTS / 3
    assert refused > TEXTS / 10


def _matches(spec: Any, after: datetime) -> Iterator[datetime]:
    """Yield the reference's ticks as long as pytz knows the zone's changes."""
    after = after.astimezone(sys.modules["pytz"].utc)
    while (after := spec.GetMatch(after)).year < 2037:
        yield after
