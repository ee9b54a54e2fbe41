"""Entries from one list to the other, their texts as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cronspec.config import CronEntry, load_cron
from migrate.cutover.lists import Listing, ListsError, transfer

CASES = Path(__file__).parents[2] / "cases/corpus/cron"

CRON = """\
# Our cron jobs.
application: shop  # an old word

cron:
# Every morning.
- url: /a
  schedule: every day 09:00   # local time
  timezone: Europe/Rome

# Often: do not move
# without asking.
- url: /b
  schedule: every 5 minutes
- description: 'a: "b"'
  url: /c
  schedule: every
    day 10:00
# The end.
"""


DAILY = "schedule: every day 09:00"


def at(entry: CronEntry) -> tuple[int, int]:
    return entry.place.line, entry.place.column


def move(cron: str, jobs: str, *urls: str) -> tuple[str, str]:
    entries = load_cron(cron, "cron.yaml").entries
    dashes = {at(entry) for entry in entries if entry.url in urls}
    return transfer(Listing("cron.yaml", cron), Listing("jobs.yaml", jobs), dashes)


def test_an_entry_takes_its_text_and_its_comments_along() -> None:
    left, right = move(CRON, "", "/b")
    assert left == CRON.replace(
        "# Often: do not move\n# without asking.\n- url: /b\n"
        "  schedule: every 5 minutes\n",
        "",
    )
    assert right.endswith(
        "cron:\n# Often: do not move\n# without asking.\n- url: /b\n"
        "  schedule: every 5 minutes\n"
    )
    assert right.startswith("# What Cloud Scheduler fires.")


def test_in_the_end_only_cron_is_left() -> None:
    left, right = move(CRON, "", "/a", "/b", "/c")
    assert left == "# Our cron jobs.\napplication: shop  # an old word\n\ncron:\n"
    gone, back = transfer(
        Listing("jobs.yaml", right),
        Listing("cron.yaml", left),
        {at(entry) for entry in load_cron(right, "jobs.yaml").entries},
    )
    assert back == CRON
    assert load_cron(gone, "jobs.yaml").entries == ()


def test_an_entry_that_is_in_both_is_only_taken_away() -> None:
    _, right = move(CRON, "", "/b")
    left, same = move(CRON, right, "/b")
    assert same == right
    assert "/b" not in left


def test_entries_come_to_those_that_are_there_with_their_indent() -> None:
    jobs = "cron:\n    - url: /z\n      schedule: every day 01:00\n"
    _, right = move(CRON, jobs, "/b")
    assert right == jobs + (
        "    # Often: do not move\n    # without asking.\n    - url: /b\n"
        "      schedule: every 5 minutes\n"
    )


@pytest.mark.parametrize(
    "cron",
    [
        f"cron: [{{url: /a, {DAILY}}}, {{url: /b, {DAILY}}}]\n",
        f"cron:\n - {{url: /a, {DAILY}}}\n - url: /b\n   {DAILY}",
        f"cron:\n  -\n    url: /a\n    {DAILY}\n  - url: /b\n    {DAILY}\n...\n",
    ],
)
def test_a_file_of_another_style_says_the_same_afterwards(cron: str) -> None:
    for urls in (("/a",), ("/b",), ("/a", "/b")):
        left, right = move(cron, "", *urls)
        here = {entry.url for entry in load_cron(left, "").entries}
        there = {entry.url for entry in load_cron(right, "").entries}
        assert there == set(urls)
        assert here == {"/a", "/b"} - set(urls)


def test_a_faulty_list_is_told_and_not_touched() -> None:
    with pytest.raises(ListsError, match=r"jobs\.yaml:2"):
        move(CRON, "cron:\n- url: b\n", "/b")


REAL = sorted(CASES.glob("*.yaml"))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_real_files_come_apart_and_lose_nothing(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(REAL))
    text = path.read_bytes().decode("utf-8", "replace")
    file = load_cron(text, "cron.yaml")
    if file.faults or not file.entries:
        return
    chosen = data.draw(st.sets(st.sampled_from(range(len(file.entries)))))
    dashes = {at(file.entries[number]) for number in chosen}
    left, right = transfer(Listing("cron.yaml", text), Listing("jobs.yaml", ""), dashes)
    said = [(e.url, e.schedule, e.target, e.retry) for e in file.entries]
    for new, wanted in ((left, False), (right, True)):
        got = load_cron(new, "")
        assert not got.faults
        assert [(e.url, e.schedule, e.target, e.retry) for e in got.entries] == [
            one for number, one in enumerate(said) if (number in chosen) is wanted
        ]
