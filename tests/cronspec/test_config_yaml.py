"""Texts that are no YAML, or YAML that gcloud's loader refuses: told well, and soon."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cronspec import config
from cronspec.config import (
    CronFile,
    Fault,
    Place,
    decode,
    load_app,
    load_cron,
    load_dispatch,
)

CORPUS = Path(__file__).parent.parent / "cases" / "corpus"
ENTRY = "cron:\n- url: /t/a\n  schedule: every day 9:00\n"


def told(text: str) -> list[tuple[str, str]]:
    return [(one.code, str(one.place)[2:]) for one in load_cron(text, "f").faults]


# text, code, line:column, what the text says, what the fix says
FAULTS = [
    (
        ENTRY + "  description: daily: sum\n",
        "yaml-colon",
        "4:21",
        "daily: sum",
        "'daily",
    ),
    (ENTRY + "  description: it's: x\n", "yaml-colon", "4:20", "", "'it''s: x'"),
    (
        "cron:\n- url: /a\n   schedule: b\n",
        "yaml-indent",
        "3:12",
        "for a key",
        "before",
    ),
    ("cron:\n- url: /a\n schedule: b\n", "yaml-indent", "3:2", "line 1", "alike"),
    ("cron:\n  - url: /a\n - url: /b\n", "yaml-indent", "3:2", "does not fit", "alike"),
    ("cron:\n- url: /a\n  schedule\n- url: b\n", "yaml-indent", "4:1", "':'", "alike"),
    ("cron:\n- url: /a\n\tschedule: b\n", "yaml-tab", "3:1", "tab indents", "blanks"),
    ("cron:\n- url:\t/a\n", "yaml-tab", "2:7", "a tab stands", "a blank"),
    (
        "cron:\n- schedule: */5 * * * *",
        "unquoted-star",
        "2:13",
        "crontab",
        "every 5 min",
    ),
    ("cron:\n- schedule: * * * * *", "unquoted-star", "2:13", "crontab", "every 1 min"),
    ("cron:\n- url: */a", "unquoted-star", "2:8", "alias", "url: '*/a'"),
    ("cron:\n- */a", "unquoted-star", "2:4", "bare '*'", "quotes"),
    ("cron:\n{% for x in y %}\n", "template", "2:1", "'{%'", "fill"),
    ("cron:\n- url: ${x}: y\n", "template", "2:8", "'${'", "fill"),
    ("cron:\n- url: @a\n", "yaml-syntax", "2:8", "start with @", "quotes"),
    ("cron:\n- url: `a\n", "yaml-syntax", "2:8", "start with `", "quotes"),
    ("cron: '\n", "yaml-syntax", "1:7", "never closed", "close it"),
    (ENTRY + '  target: "a\n---\n', "yaml-syntax", "4:11", "never closed", "close it"),
    (ENTRY + "  description: 'it's on'\n", "yaml-syntax", "4:16", "goes on", "'it''s"),
    (ENTRY + '  target: "a"b"\n', "yaml-syntax", "4:11", "goes on", "'a\"b'"),
    ("cron:\n- url:/a\n  schedule: b\n", "yaml-syntax", "2:7", "blank", "'url: '"),
    (
        "cron:\n- url: /a\n  schedule:every day 9:00\n",
        "yaml-syntax",
        "3:12",
        "a blank is missing after 'schedule:'",
        "'schedule: '",
    ),
    ("cron: [\n=======\n", "yaml-syntax", "3:1", "flow sequence", ""),
    ("cron: [\n- target: 'it''s'\n", "yaml-syntax", "2:1", "no valid YAML", ""),
    ("cron: - url: /a\n", "yaml-syntax", "1:7", "line of its key", "next line"),
    (
        f"<<<<<<< HEAD\n{ENTRY}=======\n{ENTRY}>>>>>>> b\n",
        "yaml-syntax",
        "1:1",
        "a mark that git leaves",
        "keep one side",
    ),
    ("cron: [a\n", "yaml-syntax", "2:1", "flow sequence", ""),
    ("%YAML 2.0\n---\ncron:\n", "yaml-syntax", "1:1", "version 1.*", ""),
    ('cron: "\\UFFFFFFFF"\n', "yaml-syntax", "1:8", "UFFFFFFFF", ""),
    (f"%YAML 1.{'9' * 5000}\n---\ncron:\n", "yaml-syntax", "1:1", "%YAML", ""),
    ("cron:\0\n", "bad-character", "1:6", "U+0000", "remove it"),
    ("cron:\n\ud800\n", "bad-character", "2:1", "U+D800", "escape"),
    ("cron:\n---\ncron:\n", "several-documents", "2:1", "one a file", "---"),
    ("cron: &a []\n", "anchor", "1:7", "&a", "remove"),
    ("cron: *a\n", "alias", "1:7", "*a", "write"),
    ("*a\n", "alias", "1:1", "*a", "write"),
    ("cron:\n- *a\n", "alias", "2:3", "*a", "write"),
    ("cron:\n*a : b\n", "alias", "2:1", "*a", "write"),
    (ENTRY + "  target: *a\n", "alias", "4:11", "*a", "write"),
    (ENTRY + "  retry_parameters: *a\n", "alias", "4:21", "*a", "write"),
    (ENTRY + "  retry_parameters: {max_doublings: *a}", "alias", "4:37", "*a", "write"),
    (ENTRY + "  retry_parameters: {job_age_limit: *a}", "alias", "4:37", "*a", "write"),
    (ENTRY + "  target: !!int a\n", "bad-value", "4:11", "whole number", ""),
    (ENTRY + "  target: !!float a\n", "bad-value", "4:11", "not a number", ""),
    (ENTRY + "  target: !!bool a\n", "bad-value", "4:11", "true or false", ""),
    (ENTRY + "  target: =\n", "bad-value", "4:11", "bare =", ""),
    (ENTRY + f"  target: {'1' * 5000}\n", "bad-value", "4:11", "…", ""),
    (ENTRY + f"  target: 1{':1' * 3000}\n", "bad-value", "4:11", "…", ""),
    (ENTRY + "  target: 2001-01-01 25:00:00\n", "bad-value", "4:11", "date", ""),
    ("cron: " + "[" * 60, "too-deep", "1:56", "50 levels", ""),
    ("#" * 2_000_001, "too-large", "1:1", "2,000,001", ""),
    ("cron: [" + "x," * 250_001, "too-large", "1:500002", "250,000", ""),
]


@pytest.mark.parametrize(
    ("text", "code", "at", "words", "fix"), FAULTS, ids=[row[0][-40:] for row in FAULTS]
)
def test_a_fault_has_its_code_place_words_and_way_out(
    text: str, code: str, at: str, words: str, fix: str
) -> None:
    faults = [one for one in load_cron(text, "f").faults if one.code == code]
    assert [str(one.place) for one in faults[:1]] == [f"f:{at}"], told(text)
    assert words in faults[0].text
    assert fix in faults[0].fix
    assert code in config.FAULTS


def test_every_unquoted_crontab_and_every_tab_is_told() -> None:
    assert told("cron:\n- schedule: */5 * * * *\n- a: *b\n- schedule: */7 * * * *") == [
        ("unquoted-star", "2:13"),
        ("unquoted-star", "4:13"),
    ]
    many = "- schedule: */5 * * * *\n" * 300
    assert [code for code, _ in told(many)].count("unquoted-star") == 250
    assert told("cron:\n- url: /a\n\tschedule: b\n  x: y\n\ttarget: c") == [
        ("yaml-tab", "3:1"),
        ("yaml-tab", "5:1"),
    ]


def test_faults_before_the_break_are_told_too() -> None:
    text = "cron:\n- url: a\n  schedule: b\n- url: /c\n  description: d: e\n"
    assert told(text) == [
        ("bad-url", "2:8"),
        ("bad-schedule", "3:13"),
        ("yaml-colon", "5:17"),
    ]
    assert load_cron(text, "f").entries == ()
    assert told("cron: [{url: /a") == [("yaml-syntax", "1:16")]
    assert told("foo: [") == [("yaml-syntax", "1:7"), ("unknown-key", "1:1")][::-1]


WELL_TOLD = {
    "alias-bomb": {"unknown-key", "anchor", "alias"},
    "anchors": {"anchor", "alias"},
    "beanstalk": {"unknown-key", "crontab"},
    "bom-crlf-but-fine": set(),
    "colon-in-description": {"yaml-colon"},
    "delete-all-but-fine": set(),
    "four-faults": {
        "unknown-key",
        "bad-url",
        "missing-key",
        "bad-schedule",
        "bad-timezone",
    },
    "jinja": {"template"},
    "no-cron-key": {"not-a-cron-file"},
    "only-comments": {"empty-file"},
    "tab-indent": {"yaml-tab"},
    "unquoted-crontab": {"unquoted-star"},
    "wrong-indent": {"yaml-indent"},
    "yaml-booleans": {"bad-target"},
    "zero-bytes": {"empty-file"},
}


@pytest.mark.parametrize("path", sorted((CORPUS / "broken").iterdir()), ids=str)
def test_the_broken_files_are_told_well(path: Path) -> None:
    text = decode(path.read_bytes(), path.name)
    assert isinstance(text, str)
    codes = {one.code for one in load_cron(text, path.name).faults}
    assert codes == WELL_TOLD[path.stem]


def by_both_parsers(
    text: str, load: Callable[[str, str], object], patch: pytest.MonkeyPatch
) -> tuple[object, object]:
    fast = load(text, "f")
    with patch.context() as context:
        context.setattr(yaml, "__with_libyaml__", False)
        slow = load(text, "f")
    return fast, slow


@pytest.mark.parametrize("folder", ["cron", "pairs", "broken"])
def test_with_and_without_libyaml_the_files_mean_the_same_in_the_same_places(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted((CORPUS / folder).rglob("*.y*ml")):
        text = path.read_bytes().decode()
        load = load_dispatch if path.stem == "dispatch" else load_cron
        fast, slow = by_both_parsers(text, load, monkeypatch)
        assert fast == slow, path


def test_small_texts_mean_the_same_with_and_without_libyaml(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for text, *_ in FAULTS:
        if len(text) < 10_000:
            fast, slow = by_both_parsers(text, load_cron, monkeypatch)
            assert fast == slow, text


def test_a_byte_order_mark_and_windows_line_ends_move_no_place() -> None:
    text = ENTRY + "  target: B\n"
    plain = told(text)
    assert plain == [("bad-target", "4:11")]
    assert told("\ufeff" + text.replace("\n", "\r\n")) == plain
    assert told(text.replace("\n", "\r")) == plain


def test_an_item_below_its_dash_has_the_place_of_the_dash() -> None:
    text = "cron:\n  -\n    # a comment - with a dash\n    url: /a\n    schedule: x\n"
    assert load_cron(text, "f").destinations[0].place == Place("f", 2, 3)
    text = "cron:\n- - url: /a\n"
    assert told(text) == [("wrong-type", "2:3")]
    text = "cron:\n- ? a\n  : - b\n"
    assert ("unknown-key", "2:5") in told(text)


HARD = {
    "deep flow": "[" * 900_000,
    "deep map": "{a: " * 200_000,
    "deep block": "- " * 400_000,
    "deep keys": "? " * 400_000,
    "aliases": "cron: [" + "*a," * 300_000,
    "anchors": "- &a x\n" * 30_000,
    "crontabs": "- schedule: */5 * * * *\n" * 40_000,
    "blanks": "cron: *" + " " * 900_000 + "x",
    "colons": "a:" * 490_000,
    "keys": "cron:\n- " + "\n  ".join(f"k{key}: 1" for key in range(20_000)),
    "zones": "cron:\n" + "- {url: /a, schedule: x, timezone: Eurpoe/Rom}\n" * 5_000,
    "documents": "---\n" * 60_000,
    "directives": "%a\n" * 60_000,
    "number": ENTRY + "  target: " + "1" * 900_000,
    "age": ENTRY + "  retry_parameters: {job_age_limit: " + "1" * 900_000 + "}",
    "host": "dispatch:\n- url: " + "a" * 900_000 + "_/\n",
    "tabs": "a:\tb\n" * 50_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    load_cron(text, "f")
    load_dispatch(text, "f")
    assert time.process_time() - start < 15


def test_250_entries_are_read_in_a_blink() -> None:
    lines = (
        "- description: job {0}\n  url: /tasks/{0}?x={0}\n  schedule: every 5 minutes\n"
        "  timezone: Europe/Rome\n  target: worker\n"
        "  retry_parameters:\n    job_retry_limit: 3\n    min_backoff_seconds: 2.5\n"
    )
    text = "cron:\n" + "".join(lines.format(number) for number in range(250))
    load_cron(text, "f")  # fills the caches of zones
    start = time.process_time()
    loaded = load_cron(text, "f")
    took = time.process_time() - start
    assert len(loaded.entries) == 250
    assert took < 0.5  # 0.035 s alone on two cores


# --- Bytes and random texts ---------------------------------------------------


def test_bytes_become_text_or_a_fault_in_its_place() -> None:
    assert decode("è".encode(), "f") == "è"
    assert decode(b"\xef\xbb\xbfcron:", "f") == "cron:"
    fault = decode("cron:\n- è ".encode() + b"\xff", "f")
    assert isinstance(fault, Fault)
    assert str(fault) == "f:2:5: the byte 0xFF is no UTF-8 (save the file as UTF-8)"
    fault = decode("cron:".encode("utf-16"), "f")
    assert isinstance(fault, Fault)
    assert "UTF-16" in fault.text


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(decode(data, "f"), str | Fault)


words = st.sampled_from(
    "cron: dispatch: url: schedule: timezone: target: service: module: description: "
    "retry_parameters: job_retry_limit: job_age_limit: runtime: handlers: login: "
    "/t/a */x every 5 minutes 9:00 day * & &a *a [ ] { } , - ? : | > ' \" # % @ ` ! "
    "!!int !!str << ~ on 010 1e3 .inf 2001-01-01 ... --- {% {{ ${ \\".split()
)
spaces = st.sampled_from(["", " ", "  ", "\n", "\n  ", "\n- ", "\t", "\r\n", "\ufeff"])
texts = st.lists(st.tuples(spaces, words | st.text(max_size=5)), max_size=40).map(
    lambda parts: "".join(part for pair in parts for part in pair)
)


@settings(max_examples=300)
@given(texts | st.text())
def test_no_text_raises_and_every_place_lies_in_it(text: str) -> None:
    lines = text.removeprefix("\ufeff").count("\n") + 1
    for load in (load_cron, load_dispatch, load_app):
        loaded = load(text, "f")
        for one in loaded.faults if loaded else ():
            assert one.code in config.FAULTS
            assert (
                1
                <= one.place.line
                <= lines
                + text.count("\r")
                + text.count("\x85")
                + (text.count("\u2028") + text.count("\u2029"))
            )
            assert one.place.column >= 1
            assert one.text


@settings(max_examples=200)
@given(
    texts.map(lambda text: f"cron:\n- url: /a\n  schedule: every day 9:00\n  {text}")
)
def test_random_entries_never_raise_and_what_is_sound_has_both_values(
    text: str,
) -> None:
    loaded = load_cron(text, "f")
    assert isinstance(loaded, CronFile)
    for one in loaded.entries:
        assert one.url.startswith("/")
        assert one.places["schedule"].line >= one.place.line
