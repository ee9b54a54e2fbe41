from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import tzdata

from cronspec import zones
from cronspec.tzif import Rule, TzFile

FOLDER = Path(tzdata.__file__).parent / "zoneinfo"
DAY = 86_400


def test_a_zones_clock_shows_what_zoneinfo_says_at_any_instant() -> None:
    rng = random.Random(6)
    for name in sorted(zones.names()):
        zone, clock = zones.load(name), zones.clock(name)
        instants = [rng.randrange(-4_000_000_000, 20_000_000_000) for _ in range(20)]
        for change in islice(clock.changes(1_700_000_000), 3):
            instants += (change.at - 1, change.at)
        for at in instants:
            local = datetime.fromtimestamp(at, zone)
            expected = local.utcoffset()
            assert expected == timedelta(seconds=clock.offset(at)), (name, at)


@pytest.mark.parametrize(
    "name",
    [
        "America/New_York",
        "Pacific/Apia",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "Asia/Tehran",
        "Asia/Gaza",
        "America/Nuuk",
        "Europe/Dublin",
        "UTC",
        "EST5EDT",
    ],
)
def test_spans_follow_each_other_and_each_has_another_offset(name: str) -> None:
    spans = list(zones.clock(name).spans(-10_000_000_000))
    assert spans[0].start <= -10_000_000_000
    assert spans[-1].end == zones.HORIZON
    for before, after in pairwise(spans):
        assert before.start < before.end == after.start
        assert before.offset != after.offset


def test_spans_past_the_horizon_are_none_that_hold_anything() -> None:
    assert all(span.end <= zones.HORIZON for span in zones.clock("UTC").spans(1 << 60))


def test_threads_may_ask_one_clock_at_once() -> None:
    clock = zones.Clock(_ruled("EST5EDT,M3.2.0,M11.1.0"))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: list(clock.changes(0)), range(16)))
    assert all(changes == found[0] for changes in found)
    assert len(found[0]) == 2 * (9998 - 1970 + 1)


def _ruled(rule: str) -> TzFile:
    parsed = Rule.parse(rule)
    return TzFile([(-(1 << 59), parsed.standard)], -(1 << 59), parsed)


@pytest.mark.parametrize(
    "rule",
    [
        "EST5EDT,M3.2.0,M11.1.0",  # a weekday of the n-th week
        "CET-1CEST,M3.5.0,M10.5.0/3",  # the last week, and a time
        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",  # half an hour, southern
        "IST-1GMT0,M10.5.0,M3.5.0/1",  # negative summer time
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",  # a negative time
        "IST-2IDT,M3.4.4/26,M10.5.0",  # a time beyond the day
        "XXX3YYY,J60/2,J300/2",  # days that never count 29 February
        "XXX-3:30:15",  # no summer time
        "XXX4XXX3,M1.1.1/0,M12.5.5/0",  # by the turn of the year
    ],
)
def test_a_rule_is_read_as_zoneinfo_reads_it(rule: str, tmp_path: Path) -> None:
    file = (FOLDER / "UTC").read_bytes()
    path = tmp_path / "zone"
    head = file[: file.rindex(b"\n", 0, len(file) - 1)]
    path.write_bytes(head + f"\n{rule}\n".encode())
    with path.open("rb") as opened:
        zone = ZoneInfo.from_file(opened, "test")
    clock = zones.Clock(_ruled(rule))
    start = datetime(1999, 1, 1, tzinfo=UTC)
    for hours in range(0, 6 * 366 * 24, 7):
        at = start + timedelta(hours=hours, minutes=hours % 60)
        expected = at.astimezone(zone).utcoffset()
        found = timedelta(seconds=clock.offset(int(at.timestamp())))
        assert found == expected, at


def test_a_rule_by_the_day_of_the_year_counts_from_0_and_29_february_too() -> None:
    # By POSIX; CPython's zoneinfo takes such a day for the one before it.
    rule = Rule.parse("XXX3YYY,59/2,299/2:30:15")
    (begins, summer), (ends, standard) = rule.year(2023)
    assert (summer, standard) == (-2 * 3600, -3 * 3600)
    assert begins == _wall(2023, 3, 1) + 5 * 3600
    assert ends == _wall(2023, 10, 27) + (4 * 60 + 30) * 60 + 15
    assert rule.year(2024)[0][0] == _wall(2024, 2, 29) + 5 * 3600


def test_a_file_without_a_rule_goes_on_as_it_is() -> None:
    clock = zones.Clock(TzFile([(-(1 << 59), 3600)], 0, Rule.parse("")))
    assert list(clock.changes(0)) == []
    assert clock.offset(1 << 33) == 3600


def test_a_wall_time_has_no_instant_one_or_two() -> None:
    clock = zones.clock("America/New_York")
    spring, autumn = _wall(2025, 3, 9), _wall(2025, 11, 2)
    assert clock.instants(spring + 2 * 3600 + 1800) == []
    assert len(clock.instants(spring + 3 * 3600)) == 1
    doubled = clock.instants(autumn + 3600)
    assert [at - doubled[0] for at in doubled] == [0, 3600]
    assert clock.first_instant(autumn + 3600) == doubled[0]
    # What the gap skips is put off to the next minute that the clock shows.
    gap_end = clock.first_instant(spring + 3 * 3600)
    assert clock.first_instant(spring + 2 * 3600) == gap_end
    assert clock.first_instant(spring + 2 * 3600 + 59 * 60) == gap_end


def test_a_gap_that_ends_amid_a_minute_puts_off_to_the_next_full_one() -> None:
    clock = zones.clock("Europe/Moscow")  # 1918 and 1919 changed by odd seconds
    for change in clock.changes(-2_000_000_000):
        begin, end = change.wall
        if change.after > change.before and end % 60:
            wall = begin - begin % 60 + 60
            found = clock.first_instant(wall)
            assert 0 <= found - change.at < 60
            assert (found + clock.offset(found)) % 60 == 0
            break
    else:
        pytest.fail("no such change in Europe/Moscow: choose another zone")


def test_a_change_knows_the_wall_times_that_it_skips_or_doubles() -> None:
    change = next(zones.clock("America/New_York").changes(_wall(2025, 3, 1)))
    begin, end = change.wall
    assert (begin, end) == (_wall(2025, 3, 9) + 7200, _wall(2025, 3, 9) + 10_800)


def _wall(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


def test_a_zone_is_found_in_any_case() -> None:
    assert zones.canonical("europe/rome") == "Europe/Rome"
    assert zones.load("us/EASTERN").key == "US/Eastern"
    assert zones.TZDATA_VERSION == tzdata.IANA_VERSION


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("GMT+3", "Etc/GMT-3 (its sign is inverted)"),
        ("UTC-05:00", "Etc/GMT+5"),
        ("+5", "Etc/GMT-5"),
        ("Europe/Rom", "did you mean Europe/Rome?"),
        ("Mars/Tokyo", "did you mean Asia/Tokyo?"),
        ("New York", "did you mean America/New_York?"),
        ("GMT+30", "did you mean"),
        ("", "such as Europe/Rome or UTC"),
        ("../../../etc/passwd", "such as Europe/Rome or UTC"),
        ("Mars/Phobos", "such as Europe/Rome or UTC"),
    ],
)
def test_an_unknown_zone_is_told_with_the_likely_one(name: str, hint: str) -> None:
    with pytest.raises(zones.ZoneError) as unknown:
        zones.load(name)
    assert hint in unknown.value.hint
    assert repr(name) in str(unknown.value)


def test_a_zone_without_a_name_is_refused() -> None:
    with (FOLDER / "UTC").open("rb") as file, pytest.raises(zones.ZoneError):
        zones.clock_of(ZoneInfo.from_file(file))
