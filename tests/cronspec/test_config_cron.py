"""cron.yaml: what each entry says, and every fault told in its place."""

from datetime import timedelta
from pathlib import Path

import pytest

from cronspec import config, groc
from cronspec.config import Destination, Place, load_cron
from cronspec.retry import RetryParameters

CASES = Path(__file__).parent.parent / "cases"


def entry(
    lines: str = "", *, url: str = "/t/a", schedule: str = "every day 9:00"
) -> str:
    return f"cron:\n- url: {url}\n  schedule: {schedule}\n{lines}"


def retry(line: str) -> str:
    return entry(f"  retry_parameters:\n    {line}\n")


FULL = """\
# Our jobs.
application: demo
cron:
  # Every night.
  - description: the sum
    url: /tasks/sum?x=1&y=2
    schedule: every day 9:00
    timezone: europe/rome
    target: worker:v2
    attempt_deadline: 600.0s
    retry_parameters:
      job_retry_limit: 3
      job_age_limit: 1.5d
      min_backoff_seconds: 2.5
      max_backoff_seconds: 100
      max_doublings: 5
  -
    url: /b
    schedule: 'every 5 minutes'
"""


def test_an_entry_has_all_its_values_and_their_places() -> None:
    loaded = load_cron(FULL, "cron.yaml")
    assert loaded.faults == ()
    first, second = loaded.entries
    assert (first.url, first.schedule_text) == ("/tasks/sum?x=1&y=2", "every day 9:00")
    assert first.schedule == groc.parse("every day 9:00")
    assert first.timezone == "europe/rome"
    assert first.target == "worker:v2"
    assert first.description == "the sum"
    assert first.attempt_deadline == timedelta(minutes=10)
    assert first.retry == RetryParameters(3, timedelta(days=1.5), 2.5, 100.0, 5)
    assert first.place == Place("cron.yaml", 5, 3)
    assert {key: (place.line, place.column) for key, place in first.places.items()} == {
        "description": (5, 18),
        "url": (6, 10),
        "schedule": (7, 15),
        "timezone": (8, 15),
        "target": (9, 13),
        "attempt_deadline": (10, 23),
        "retry_parameters": (12, 7),
        "retry_parameters.job_retry_limit": (12, 24),
        "retry_parameters.job_age_limit": (13, 22),
        "retry_parameters.min_backoff_seconds": (14, 28),
        "retry_parameters.max_backoff_seconds": (15, 28),
        "retry_parameters.max_doublings": (16, 22),
    }
    assert second.place == Place("cron.yaml", 17, 3)
    assert second.places["schedule"] == Place("cron.yaml", 19, 15)
    assert (second.timezone, second.target, second.retry) == (None, None, None)
    assert loaded.destinations == (
        Destination("/tasks/sum?x=1&y=2", "worker:v2", first.place),
        Destination("/b", None, second.place),
    )


def test_entries_in_flow_style_have_places_too() -> None:
    text = "cron: [{url: /a, schedule: every day 9:00},\n  {url: b}]"
    loaded = load_cron(text, "f")
    assert [one.place for one in loaded.entries] == [Place("f", 1, 8)]
    assert [(f.code, str(f.place)) for f in loaded.faults] == [
        ("missing-key", "f:2:3"),
        ("bad-url", "f:2:9"),
    ]


def test_every_fault_of_a_file_is_told_at_once_and_in_order() -> None:
    text = (CASES / "corpus/broken/four-faults.yaml").read_text()
    told = [
        f"{f.place.line}:{f.place.column} {f.code}" for f in load_cron(text, "f").faults
    ]
    assert told == [
        "3:3 unknown-key",
        "4:8 bad-url",
        "6:1 missing-key",
        "8:23 bad-schedule",
        "9:13 bad-timezone",
    ]


def test_a_file_with_faults_still_gives_its_sound_entries_and_all_destinations() -> (
    None
):
    text = (
        "cron:\n- {url: /a, schedule: every day 9:00}\n"
        "- {url: /b, schedule: never, target: b}\n"
        "- {url: c, schedule: every day 9:00}\n"
    )
    loaded = load_cron(text, "f")
    assert [one.url for one in loaded.entries] == ["/a"]
    assert [(one.url, one.target) for one in loaded.destinations] == [
        ("/a", None),
        ("/b", "b"),
    ]
    assert [f.code for f in loaded.faults] == ["bad-schedule", "bad-url"]


# text, code, line:column, what the text says, what the fix says
FAULTS = [
    ("", "empty-file", "1:1", "nothing in it", "'cron:'"),
    ("# a\n# b\n", "empty-file", "1:1", "nothing in it", "'cron:'"),
    ("loop: {active: true}\n", "not-a-cron-file", "1:1", "got 'loop'", "'cron:'"),
    ("runtime: python\n", "not-a-cron-file", "1:1", "got 'runtime'", "an app.yaml"),
    ("url: /a\n", "not-a-cron-file", "1:1", "got 'url'", "below 'cron:'"),
    ("abc\n", "not-a-cron-file", "1:1", "'abc'", "'cron:'"),
    ("[a]\n", "not-a-cron-file", "1:1", "a list", "'cron:'"),
    (
        "- url: /a\n  schedule: every day 9:00",
        "not-a-cron-file",
        "1:1",
        "entries",
        "cron:",
    ),
    ("Cron:\n", "unknown-key", "1:1", "no 'Cron'", "did you mean 'cron'?"),
    ("cron:\nversion: 1\n", "unknown-key", "2:1", "no 'version'", "Beanstalk"),
    ("cron:\n\u00a0foo: 1\n", "unknown-key", "2:1", "no '\\xa0foo'", "no-break"),
    ("cron:\nfoo: 1\n", "unknown-key", "2:1", "no 'foo'", "cron, application"),
    ("cron:\n[a]: 1\n", "unknown-key", "2:1", "a list or mapping", ""),
    ("cron:\ncron:\n", "duplicate-key", "2:1", "line 1", "keep one"),
    ("cron:\napplication: A\n", "bad-application", "2:14", "'A'", "remove"),
    ("cron: abc\n", "wrong-type", "1:7", "a list of entries, not text", "- "),
    ("cron: {a: b}\n", "wrong-type", "1:7", "not a mapping", "- "),
    ("cron: ''\n", "wrong-type", "1:1", "not text", "- "),
    ("cron:\n- abc\n", "wrong-type", "2:3", "not text", "dash"),
    ("cron:\n- [a]\n", "wrong-type", "2:3", "not a list", "dash"),
    ("cron:\n- ~\n", "wrong-type", "2:3", "not nothing", "dash"),
    ("cron:\n- 2001-01-01\n", "wrong-type", "2:3", "not a date", "dash"),
    ("cron:\n- url: /a\n", "missing-key", "2:1", "'schedule' is missing", "add"),
    ("cron:\n- schedule: every day 9:00\n", "missing-key", "2:1", "'url'", "add"),
    ("cron:\n- {url: /a, schedule: ~}", "missing-key", "2:13", "no value", "give"),
    (
        entry("  method: POST\n"),
        "unknown-key",
        "4:3",
        "no 'method'",
        "always sends GET",
    ),
    (
        "cron:\n- url: ${URL}\n  schedule: every day 9:00\n",
        "bad-url",
        "2:8",
        "start with '/'",
        "if it is a template",
    ),
    (
        "cron:\n- url: /t/a\n  schedule: [every day 9:00]\n",
        "wrong-type",
        "3:13",
        "not a list",
        "an entry for each",
    ),
    (entry("  target: !x a\n"), "bad-value", "4:11", "starts with '!'", ""),
    (entry("  headers: {}\n"), "unknown-key", "4:3", "no 'headers'", "leave it out"),
    (entry("  tagret: a\n"), "unknown-key", "4:3", "no 'tagret'", "mean 'target'?"),
    (entry(f"  {'x' * 50}: a\n"), "unknown-key", "4:3", "no", "url, schedule"),
    (entry("  <<: {target: a}\n"), "unknown-key", "4:3", "no '<<'", "merge"),
    (
        entry("  max_doublings: 1\n"),
        "unknown-key",
        "4:3",
        "no 'max",
        "retry_parameters",
    ),
    (entry("  5: a\n"), "unknown-key", "4:3", "no '5'", "url, schedule"),
    (entry("  target:\n  target: a\n"), "duplicate-key", "5:3", "line 4", "keep"),
    (entry(url="t/a"), "bad-url", "2:8", "start with '/'", "'/t/a'"),
    (entry(url="5"), "bad-url", "2:8", "'5'", "'/5'"),
    (entry(url="on"), "bad-url", "2:8", "'True'", ""),
    (entry(url="http://x/"), "bad-url", "2:8", "must be a path", "HTTP target"),
    (entry(url="/a b"), "bad-url", "2:10", "a blank", "%20"),
    (entry(url="'/a b'"), "bad-url", "2:11", "a blank", "%20"),
    (entry(url='"/\\x61 b"'), "bad-url", "2:8", "a blank", "%20"),
    (entry(url='"/a\\nb"'), "bad-url", "2:8", "U+000A", "remove"),
    (entry(url='"/a\\u2003"'), "bad-url", "2:8", "U+2003", "remove"),
    (entry(url="/" + "x" * 2083), "bad-url", "2:8", "2,084", ""),
    (entry(url="[/a]"), "wrong-type", "2:8", "not a list", ""),
    (entry(url='"/\\ud800"'), "bad-character", "2:8", "half", ""),
    (entry(schedule="5"), "wrong-type", "3:13", "a number", "schedule: '5'"),
    (entry(schedule="on"), "wrong-type", "3:13", "a boolean", "schedule: 'on'"),
    (entry(schedule="2001-01-01"), "wrong-type", "3:13", "a date", "in quotes"),
    (entry(schedule="{{ x }}"), "wrong-type", "3:13", "a mapping", "template"),
    (entry(schedule="every 1 hour"), "bad-schedule", "3:21", "plural", "every 1 hours"),
    (entry(schedule="'every 1 hour'"), "bad-schedule", "3:22", "plural", "1 hours"),
    (entry(schedule="every\n    1 hour"), "bad-schedule", "3:13", "plural", "1 hours"),
    (entry(schedule='"every \\x31 hour"'), "bad-schedule", "3:13", "plural", "hours"),
    (entry(schedule="every day 10 minutes"), "bad-schedule", "3:23", "a time", ""),
    (entry(schedule="''"), "bad-schedule", "3:14", "empty", ""),
    (entry(schedule="0 9 * * 1"), "crontab", "3:13", "crontab", "every mon 09:00"),
    (entry(schedule="'@daily'"), "crontab", "3:13", "crontab", "every day 00:00"),
    (entry(schedule="0 9 L * *"), "crontab", "3:13", "crontab", "no groc"),
    (entry(schedule="0 9,11 1-7 * 1"), "crontab", "3:13", "crontab", "no groc"),
    (
        entry("  timezone: Mars/Olympus\n"),
        "bad-timezone",
        "4:13",
        "'Mars/Olympus'",
        "Europe/Rome",
    ),
    (entry("  timezone: GMT+3\n"), "bad-timezone", "4:13", "unknown", "Etc/GMT-3"),
    (entry("  timezone: 5\n"), "wrong-type", "4:13", "a number", "quotes"),
    (entry("  target: on\n"), "bad-target", "4:11", "a boolean", "target: 'on'"),
    (entry("  target: Beta\n"), "bad-target", "4:11", "'Beta'", "'beta'"),
    (entry("  target: b.\n"), "bad-target", "4:11", "'b.'", ""),
    (entry("  target: ''\n"), "bad-target", "4:3", "''", ""),
    (entry("  target: {}\n"), "wrong-type", "4:11", "a mapping", "template"),
    (entry("  target: !foo a\n"), "bad-value", "4:11", "tag '!foo'", ""),
    (entry("  target: 2001-13-01\n"), "bad-value", "4:11", "a date", ""),
    (entry(f"  description: {'x' * 500}\n"), "bad-description", "4:16", "500", "cut 1"),
    (entry('  description: "a\\nb"\n'), "bad-description", "4:16", "one line", ">-"),
    (entry("  attempt_deadline: 5m\n"), "bad-deadline", "4:21", "'5m'", "600.0s"),
    (entry("  attempt_deadline: 0s\n"), "bad-deadline", "4:21", "'0s'", "600.0s"),
    (entry("  attempt_deadline: []\n"), "wrong-type", "4:21", "a list", ""),
    (entry("  retry_parameters: 5\n"), "wrong-type", "4:21", "a number", "limit: 3"),
    (
        retry("task_retry_limit: 3"),
        "unknown-key",
        "5:5",
        "no 'task",
        "'job_retry_limit'",
    ),
    (
        retry("job_retry_limit: 6"),
        "bad-retry",
        "5:22",
        "5 at most, not '6'",
        "5 or less",
    ),
    (retry("job_retry_limit: -1"), "bad-retry", "5:22", "negative", "0 or more"),
    (retry("job_retry_limit: abc"), "bad-retry", "5:22", "a whole number", ""),
    (retry("job_retry_limit: []"), "wrong-type", "5:22", "a number, not a list", ""),
    (retry("job_retry_limit: 2001-01-01"), "wrong-type", "5:22", "a date", ""),
    (retry("job_age_limit: 90"), "bad-retry", "5:20", "'90'", "90s?"),
    (retry("job_age_limit: 5D"), "bad-retry", "5:20", "'5D'", "5d?"),
    (retry("job_age_limit: 1h30m"), "bad-retry", "5:20", "'1h30m'", "5400s?"),
    (retry("job_age_limit: soon"), "bad-retry", "5:20", "'soon'", "90s, 5m"),
    (retry("job_age_limit: ''"), "bad-retry", "5:5", "''", "90s, 5m"),
    (retry("job_age_limit: []"), "bad-retry", "5:20", "a list", "2h"),
    (retry("job_age_limit: 0s"), "bad-retry", "5:20", "a second", "1s or more"),
    (retry("job_age_limit: 0.9s"), "bad-retry", "5:20", "a second", "1s or more"),
    (retry(f"job_age_limit: {'9' * 400}d"), "bad-retry", "5:20", "10,000 years", ""),
    (retry("min_backoff_seconds: .nan"), "bad-retry", "5:26", "finite", ""),
    (retry("min_backoff_seconds: 1e400"), "bad-retry", "5:26", "finite", ""),
    (retry("min_backoff_seconds: 1e12"), "bad-retry", "5:26", "10,000 years", ""),
    (retry("max_backoff_seconds: -1"), "bad-retry", "5:26", "negative", ""),
    (retry("max_backoff_seconds: x"), "bad-retry", "5:26", "of seconds", ""),
    (retry("max_doublings: .inf"), "bad-retry", "5:20", "whole", ""),
    (
        retry("min_backoff_seconds: 9\n    max_backoff_seconds: 5"),
        "bad-retry",
        "5:26",
        "9 is more than 'max_backoff_seconds' 5",
        "swap",
    ),
    ("<?xml version='1.0'?>\n<cronentries/>", "xml", "1:1", "cron.xml", "'_'"),
    ("\n <cronentries>", "xml", "1:1", "cron.xml", "retry_parameters"),
]


@pytest.mark.parametrize(("text", "code", "at", "words", "fix"), FAULTS)
def test_a_fault_has_its_code_place_words_and_way_out(
    text: str, code: str, at: str, words: str, fix: str
) -> None:
    told = load_cron(text, "f").faults
    assert len(told) == 1, [str(one) for one in told]
    (fault,) = told
    assert (fault.code, str(fault.place)) == (code, f"f:{at}")
    assert words in fault.text
    assert fix in fault.fix
    assert code in config.FAULTS


# text, code, line:column, what the text says
REMARKS = [
    ("cron:\n", "deletes-all", "1:1", "deletes all cron jobs"),
    ("cron: []\n", "deletes-all", "1:1", "deletes all cron jobs"),
    ("[]\n", "deletes-all", "1:1", "deletes all cron jobs"),
    ("{}\n", "deletes-all", "1:1", "deletes all cron jobs"),
    ("---\n", "deletes-all", "1:1", "deletes all cron jobs"),
    ("application: x\n", "deletes-all", "1:1", "deletes all cron jobs"),
    (entry(schedule="every Monday 9:00"), "dialect", "3:13", "capital letters"),
    (entry(schedule="every 5 minutes on mon"), "dialect", "3:13", "'on <weekdays>'"),
    (entry(url="/a#b c".replace(" ", "")), "fragment", "2:10", "'#bc'"),
    (entry("  timezone: EUROPE/rome\n"), "timezone-case", "4:13", "Europe/Rome"),
    (entry("  target: 010\n"), "not-a-string", "4:11", "'8'"),
    (entry("  description: on\n"), "not-a-string", "4:16", "'True'"),
    (entry("  description: 1.50\n"), "not-a-string", "4:16", "'1.5'"),
    (entry("  attempt_deadline: 600.0s\n"), "attempt-deadline", "4:21", "gcloud"),
    (entry("  retry_parameters:\n"), "empty-retry", "4:3", "no block"),
    (retry("job_retry_limit: 2.5"), "truncated-number", "5:22", "down to 2"),
    (retry("max_doublings: on"), "truncated-number", "5:20", "makes 1"),
]


@pytest.mark.parametrize(("text", "code", "at", "words"), REMARKS)
def test_what_is_worth_knowing_is_remarked(
    text: str, code: str, at: str, words: str
) -> None:
    loaded = load_cron(text, "f")
    assert loaded.faults == ()
    assert [(one.code, str(one.place)) for one in loaded.remarks] == [(code, f"f:{at}")]
    assert words in loaded.remarks[0].text
    assert code in config.REMARKS


@pytest.mark.parametrize(
    ("lines", "retry_parameters"),
    [
        ("", None),
        ("  retry_parameters:\n", None),
        ("  retry_parameters: {}\n", RetryParameters()),
        ("  retry_parameters: {job_retry_limit: ~}\n", RetryParameters()),
        ("  retry_parameters: {job_retry_limit: '3'}\n", RetryParameters(3)),
        ("  retry_parameters: {job_retry_limit: 5.9}\n", RetryParameters(5)),
        (
            "  retry_parameters: {job_age_limit: .5m}\n",
            RetryParameters(job_age_limit=timedelta(seconds=30)),
        ),
        (
            "  retry_parameters: {min_backoff_seconds: 1:30}\n",
            RetryParameters(min_backoff_seconds=90.0),
        ),
        (
            "  retry_parameters: {min_backoff_seconds: on}\n",
            RetryParameters(min_backoff_seconds=1.0),
        ),
    ],
)
def test_retry_parameters_are_read_as_gcloud_reads_them(
    lines: str, retry_parameters: RetryParameters | None
) -> None:
    (one,) = load_cron(entry(lines), "f").entries
    assert one.retry == retry_parameters


@pytest.mark.parametrize(
    ("lines", "key", "value"),
    [
        ("  target: 12:30\n", "target", "750"),
        ("  target: 2001-01-01\n", "target", "2001-01-01"),
        ("  target: worker:v2\n", "target", "worker:v2"),
        ("  target: '4'\n", "target", "4"),
        ("  target: !!str on\n", "target", "on"),
        ("  target: ~\n", "target", None),
        ("  description: |\n    a\n", "description", "a\n"),
        (f"  description: {'x' * 499}\n", "description", "x" * 499),
        (
            "  description: 2001-02-03T04:05:06+01:30\n",
            "description",
            "2001-02-03 02:35:06",
        ),
        (
            "  description: 2001-02-03 4:05:06.5-1\n",
            "description",
            "2001-02-03 05:05:06.500000",
        ),
        ("  timezone: ''\n", "timezone", None),
        ("  timezone: UTC\n", "timezone", "UTC"),
    ],
)
def test_a_value_is_the_text_that_gcloud_would_send(
    lines: str, key: str, value: str | None
) -> None:
    (one,) = load_cron(entry(lines), "f").entries
    assert getattr(one, key) == value


def test_so_many_faults_are_told_and_no_more() -> None:
    many = "cron:\n" + "- {url: a, schedule: b, timezone: c}\n" * 1000
    told = load_cron(many, "f").faults
    assert len(told) == 501
    assert [one.code for one in told].count("too-many-faults") == 1
    many = "cron:\n" + "- {url: /a#b, schedule: every day 9:00}\n" * 1000
    assert len(load_cron(many, "f").remarks) == 500
    many = "cron:\n- {url: /a, schedule: every day 9:00}\n- {" + "".join(
        f"foo{number}: 1, " for number in range(1000)
    )
    assert len(load_cron(many, "f").faults) == 501
