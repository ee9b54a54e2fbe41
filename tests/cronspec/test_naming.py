"""Entry keys and marks: the identity that both halves share."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cronspec.config import load_cron
from cronspec.naming import (
    Identity,
    Marks,
    Unmarked,
    entries_digest,
    entry_keys,
    identity,
    read_marks,
)


def one(
    url: str, service: str = "default", schedule: str = "every day 09:00"
) -> Identity:
    return Identity(service, url, schedule, "UTC")


words = st.sampled_from(["a", "b", "a-b", "a_b", "a/b", "é", "", "x" * 60])
identities = st.builds(
    Identity,
    st.sampled_from(["default", "a", "b", "a-b"]),
    words.map(lambda word: f"/{word}")
    | st.text(max_size=5).map(lambda text: f"/{text}"),
    st.sampled_from(["every day 09:00", "every 5 minutes"]),
    st.sampled_from(["UTC", "Europe/Rome"]),
)
entries = st.lists(identities, max_size=20)


@given(entries)
def test_no_two_keys_are_equal_and_each_is_a_job_id(several: list[Identity]) -> None:
    keys = entry_keys(several)
    assert len(set(keys)) == len(several)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}", key) for key in keys)


@given(entries.flatmap(lambda e: st.tuples(st.just(e), st.permutations(e))))
def test_reordering_the_file_changes_no_key(
    orders: tuple[list[Identity], list[Identity]],
) -> None:
    before, after = (
        Counter(zip(order, entry_keys(order), strict=True)) for order in orders
    )
    assert before == after


@given(entries, identities)
def test_an_entry_that_shares_no_url_changes_no_other_key(
    several: list[Identity], new: Identity
) -> None:
    if all((e.service, e.url) != (new.service, new.url) for e in several):
        assert entry_keys([*several, new])[:-1] == entry_keys(several)


def test_an_edited_schedule_keeps_the_key_of_an_entry_alone_on_its_url() -> None:
    before = entry_keys([one("/a"), one("/b")])
    after = entry_keys([one("/a", schedule="every 5 minutes"), one("/b")])
    assert before == after


@pytest.mark.parametrize(
    "several",
    [
        [one("/t/a-b"), one("/t/a_b")],
        [one("/t/a"), one("/t/A")],
        [one("/t/a?x=1"), one("/t/a?x=2")],
        [one("/t/a", "b"), one("/t/a")],
        [one("/a/b"), one("/b", "a")],
        [one("/a"), one("/a", schedule="every 5 minutes")],
        [one("/a"), one("/a")],
        [one("/"), one("/?")],
    ],
)
def test_what_looks_alike_has_keys_of_its_own(several: list[Identity]) -> None:
    assert len(set(entry_keys(several))) == len(several)


def test_a_key_can_be_read() -> None:
    (key,) = entry_keys([one("/Tasks/Daily_Sum?x=1#y", "worker")])
    assert key.rpartition("-")[0] == "worker-tasks-daily-sum"
    (root,) = entry_keys([one("/")])
    assert root.rpartition("-")[0] == "root"


@given(st.lists(st.tuples(st.text(), st.text(), st.text())))
def test_the_digest_of_a_file_is_that_of_its_entries_in_any_order(
    keyed: list[tuple[str, str, str]],
) -> None:
    assert entries_digest(keyed) == entries_digest(reversed(keyed))
    assert entries_digest([*keyed, ("a", "b", "c")]) != entries_digest(keyed)


printable = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
zones = printable.filter(lambda text: ";" not in text)


@given(printable, printable, zones, printable, printable)
def test_marks_come_back_from_headers_in_any_case(
    entry: str, schedule: str, timezone: str, scope: str, job_set: str
) -> None:
    marks = Marks(entry, schedule, timezone, scope, job_set)
    headers = marks.headers()
    assert read_marks(headers) == marks
    assert read_marks({name.upper(): value for name, value in headers.items()}) == marks


def test_a_schedule_over_several_lines_becomes_one_header_line() -> None:
    marks = Marks("k", "every day\n  09:00", "UTC", "p/l", "default")
    assert marks.headers()["X-Cron-Schedule"] == "every day 09:00; UTC"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"X-Cron-Entry": ""}, "no X-Cron-Entry"),
        ({"X-Cron-Set": ""}, "no X-Cron-Set"),
        ({"X-Cron-Schedule": "every day 09:00"}, "not 'SCHEDULE; ZONE'"),
        ({"X-Cron-Schedule": "; UTC"}, "not 'SCHEDULE; ZONE'"),
        ({"X-Cron-Schedule": "every day 09:00; "}, "not 'SCHEDULE; ZONE'"),
    ],
)
def test_what_is_not_marked_in_full_is_not_ours(
    change: dict[str, str], reason: str
) -> None:
    headers = Marks("k", "every day 09:00", "UTC", "p/l", "default").headers()
    found = read_marks(headers | change)
    assert isinstance(found, Unmarked)
    assert reason in found.reason
    assert read_marks({}) == Unmarked("no X-Cron-Entry header")


def test_an_entry_is_known_by_its_declared_words_and_canonical_schedule() -> None:
    text = (
        "cron:\n- {url: /a, schedule: EVERY day 9:00}\n"
        "- {url: /b, schedule: every 5 mins, target: w, timezone: Europe/Rome}\n"
    )
    first, second = load_cron(text, "f").entries
    assert identity(first) == Identity("default", "/a", "every day 09:00", "UTC")
    rome = Identity("w", "/b", "every 5 minutes", "Europe/Rome")
    assert identity(second) == rome
