"""Every code that can be told is listed, and every listed code can be told."""

import re
from pathlib import Path

import pytest

import cronspec
from cronspec.config import FAULTS, REMARKS, Fault, Place, Remark

SOURCES = [
    path.read_text()
    for path in sorted(Path(cronspec.__file__).parent.glob("*.py"))
    if path.name != "faults.py"
]
TOLD = re.compile(r'(?:\.fault\(|\bFault\()\s*"([a-z0-9-]+)"')
REMARKED = re.compile(r'\.remark\(\s*"([a-z0-9-]+)"')


@pytest.mark.parametrize(
    ("pattern", "listed", "elsewhere"),
    [
        (TOLD, FAULTS, {"too-many-faults"}),
        (REMARKED, REMARKS, set()),
    ],
)
def test_the_lists_and_the_sources_name_the_same_codes(
    pattern: re.Pattern[str], listed: dict[str, str], elsewhere: set[str]
) -> None:
    named = {code for source in SOURCES for code in pattern.findall(source)}
    # _not_cron and the like tell one code from several places.
    assert named | elsewhere == set(listed)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) for code in listed)
    assert all(listed.values())


def test_a_fault_reads_as_place_words_and_way_out() -> None:
    place = Place("cron.yaml", 14, 13)
    assert str(Fault("x", place, "no", "yes")) == "cron.yaml:14:13: no (yes)"
    assert str(Fault("x", place, "no")) == "cron.yaml:14:13: no"
    assert Remark("x", place, "no").fix == ""
