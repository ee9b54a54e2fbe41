"""The loaders take and refuse what gcloud's own loader takes and refuses."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cronspec.config import CronFile, DispatchFile, load_cron, load_dispatch

CASES = Path(__file__).parent.parent / "cases"
CORPUS = CASES / "corpus"

# gcloud leaves these to the server.
SERVER = {"bad-schedule", "crontab", "bad-timezone"}


def sdk() -> Path:
    found = shutil.which("gcloud")
    folder = Path(found).resolve().parent.parent if found else Path("/nowhere")
    if not (folder / "lib/googlecloudsdk/appengine/api/croninfo.py").exists():
        pytest.skip("the Cloud SDK, whose loader is compared, is not installed")
    return folder


def gcloud_says(texts: list[tuple[str, str]]) -> list[str | None]:
    """Give gcloud's error for each text, None where it takes it."""
    folder = sdk()
    own = folder / "platform/bundledpythonunix/bin/python3"
    python = str(own) if own.exists() else shutil.which("python3") or "python3"
    script = Path(__file__).parent / "gcloud_loader.py"
    lines = [json.dumps([str(folder)]), *(json.dumps(text) for text in texts)]
    done = subprocess.run(
        [python, "-I", str(script)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def load(kind: str, text: str) -> CronFile | DispatchFile:
    return load_cron(text, "f") if kind == "cron" else load_dispatch(text, "f")


def refused(kind: str, text: str) -> list[str]:
    return [str(f) for f in load(kind, text).faults if f.code not in SERVER]


def differences(texts: list[tuple[str, str]]) -> list[str]:
    return [
        f"{text!r}: gcloud says {said}, we say {ours[:3]}"
        for (kind, text), said in zip(texts, gcloud_says(texts), strict=True)
        if bool(ours := refused(kind, text)) != bool(said)
    ]


def corpus() -> list[tuple[str, str]]:
    texts = []
    for path in sorted(CORPUS.rglob("*.y*ml")):
        kind = "dispatch" if path.stem == "dispatch" else "cron"
        texts.append((kind, path.read_bytes().decode("utf-8-sig")))
    return texts


def test_the_corpus_is_taken_and_refused_as_by_gcloud() -> None:
    texts = corpus()
    assert len(texts) > 200
    assert differences(texts) == []


def entry(lines: str) -> str:
    return f"cron:\n- url: /t/a\n  schedule: every day 00:00\n{lines}"


VALUES = (
    "on off true y n Y no 4 0x1F 010 1_000 1.5 1e3 .inf ._1 12:30 2001-01-01 "
    "2001-13-45 = << ~ null [a] {} '' 'a' a- -a a_b A v1:beta v1.beta 0o7 09 0:3 "
    "a:b:c ''a :a a: !!str&on !!int&4 !!int&abc !foo&bar !&4 &x&a *x %a @a `a |&a "
    "default 190:20:30.15 +1 =a <a +_ 1._ 99999999999999999999 !!bool&on !!bool&2 "
    "!!float&2 !!null&x"
).split()
NUMBERS = (
    "0 1 5 6 -1 2.5 5.9 -0.5 '3' '2.5' ' 3' on ~ abc '' 1e0 1e400 0x3 03 010 1_0 0:3 "
    "1:3 '1_0' [1] {} 2001-01-01 !!float&3 3.0 9999999999999999999999 -.inf"
).split()
AGES = (
    "90 90s 1.5d 2.5m 1h 0s 0.5s 0.9s 1.9s 5D 1h30m 1e3s '&5m' infs nans -1s ~ '' s on "
    "1_0s +1s .5m 1.s 1e-3d 0x1s [1s] 1e400s 00s -0s '5&m' .s 0.0001d ٣s"
).split()
ENTRIES = [
    *(f"  {key}: {value}\n" for key in ("target", "description") for value in VALUES),
    *(
        f"  retry_parameters:\n    {key}: {value}\n"
        for key in (
            "job_retry_limit",
            "max_doublings",
            "min_backoff_seconds",
            "max_backoff_seconds",
        )
        for value in NUMBERS
    ),
    *(f"  retry_parameters: {{job_age_limit: {value}}}\n" for value in AGES),
    *(
        f"  retry_parameters: {value}\n"
        for value in "~ {} [] 5 abc '' on 0 false [{}] {a:&b} {job_retry_limit}".split()
    ),
    "  retry_parameters: {min_backoff_seconds: 10, max_backoff_seconds: 5}\n",
    "  retry_parameters: {min_backoff_seconds: 0, max_backoff_seconds: 0}\n",
    "  retry_parameters: {job_retry_limit: 3, job_retry_limit: 4}\n",
    "  retry_parameters: {task_retry_limit: 3}\n",
    *(f"  timezone: {value}\n" for value in "5 on ~ '' [a] UTC Mars/Olympus".split()),
    f"  description: {'x' * 499}\n",
    f"  description: {'x' * 500}\n",
    '  description: "a\\nb"\n',
    '  description: "a\\n"\n',
    "  description: |\n    a\n",
    "  description: >\n    a\n    b\n",
    "  description: daily: the sum\n",
    "  target:\n  target: a\n",
    "  <<: {target: a}\n",
    '  "target": a\n',
    "  !!str target: a\n",
    "  5: a\n",
    "  [a]: b\n",
    "  {a: b}: c\n",
    "  on: a\n",
    "  y: a\n",
    f"  target: {'a' * 100}\n",
    f"  target: {'a' * 101}\n",
    f"  target: {'a' * 63}:b\n",
    f"  target: {'a' * 64}:b\n",
]
FILES = [
    "",
    "# only\n",
    "---\n",
    "null\n",
    "{}\n",
    "[]\n",
    "cron:\n",
    "cron: []\n",
    "cron: ~\n",
    "cron: abc\n",
    "cron: ''\n",
    "cron: {}\n",
    "cron: {url: /a}\n",
    "cron: [~]\n",
    "cron: [a]\n",
    "cron: [[]]\n",
    "cron: [{}]\n",
    "cron:\n-\n",
    "cron:\ncron:\n",
    "cron:\n---\ncron:\n",
    "cron:\n...\n",
    "cron:\n...\n---\n",
    "cron:\n...\nfoo",
    "---\n---\n",
    "loop: {active: true}\n",
    "application: demo\n",
    "application: De_mo\ncron:\n",
    "application: s~example.com:foo\ncron:\n",
    "application: 4\ncron:\n",
    "application:\ncron:\n",
    "- url: /a\n  schedule: every day 00:00\n",
    "cron: &a\n- {url: /a, schedule: every day 00:00}\n",
    "&a cron: []\n",
    "cron: !!seq []\n",
    "!foo\ncron: !bar []\n",
    "? cron\n: []\n",
    " cron:\n - url: /a\n   schedule: a\n",
    "%YAML 1.2\n---\ncron:\n- {url: /a, schedule: a, target: on}\n",
    "%YAML 1.2\n---\ncron:\n- {url: /a, schedule: a, target: 010}\n",
    "%YAML 1.2\n---\ncron:\n- {url: /a, schedule: a, target: true}\n",
    "%YAML 1.2\n---\ncron:\n- {url: /a, schedule: a, target: 1.5}\n",
    "%YAML 1.1\n---\ncron:\n- {url: /a, schedule: a, target: on}\n",
    "%YAML 2.0\n---\ncron:\n",
    "%YAML 1.1\n",
    "%FOO bar\n---\ncron:\n",
    "cron:\n- url: /a\n\tschedule: a\n",
    "cron:\n- url:\t/a\n  schedule: a\n",
    "cron:\n- url: /a\t\n  schedule: a\n",
    "cron:\n\t\n- url: /a\n  schedule: a\n",
    "cron:\n-\turl: /a\n  schedule: a\n",
    "cron:\n- url: /a # \tx\n  schedule: a\n",
    "cron:\n- url: /a\n  schedule: 'a\tb'\n",
    "cron:\0\n",
    "cron: #\x7f\n",
    "cron: #\x80\n",
    "cron: #\uffff\n",
    "cron: #\ue000\n",
    "\ufeffcron:\n",
    "cron:\n\ufeff- {url: /a, schedule: a}\n",
    "cron:\r\n- url: /a\r\n  schedule: a\r\n",
    "cron:\r- url: /a\r  schedule: a\r",
    "cron: [{url: /a,schedule: a}]\n",
    "cron:\n- {url:/a, schedule: a}\n",
    "cron:\n- {url: /a:b, schedule: a}\n",
    "cron:\n- {url: /a?b=c&d, schedule: a}\n",
    "cron:\n- url: /a?b=c&d\n  schedule: a\n",
    "cron:\n- url: /a\n  schedule: {{ x }}\n",
    "cron:\n- url: /a#b\n  schedule: a\n",
    "cron:\n- url: /a\n- schedule: a\n",
    "cron:\n- {url: ~, schedule: a}\n",
    "cron:\n- {url: /a, schedule: ~}\n",
    "cron:\n- {url: /a, schedule: 5}\n",
    "cron:\n- {url: /a, schedule: on}\n",
    "cron:\n- {url: 5, schedule: a}\n",
    "cron:\n- {url: http://x/, schedule: a}\n",
    'cron:\n- {url: "/a\\nb", schedule: a}\n',
    'cron:\n- {url: /a, "url": /b, schedule: a}\n',
    "cron:\n- url: @a\n",
    "cron:\n- description: x\n  url: /t/a\n schedule: every day 00:00\n",
    "cron: *x\n",
    "cron: *\n",
    "cron: '\n",
    "cron: [\n",
    f"cron: {'[' * 200}{']' * 200}\n",
    "cron:\n- " + "a" * 1100 + ": b\n",
]
HOSTS = (
    "* */a a.b/c 10.0.0.1/* 256.0.0.1/* A.b/c a_b/c *a.b/c **/a ex.test:8080/* "
    "http://a/b *.a/b *-a.com/x a*b/c */a*b 5 /a */ */* *.-a/x a-.b/c *a-/x *-/x .a/b "
    "a./b *./x on *.a.b.c-d/x *..a/x a..b/x *a_b/x *.a-/x 1.2.3/x *a.b-/x"
).split()
SERVICES = "y on 4 ~ a A -a a- default 1.5 [a] v1:a a_b 0x10 2001-01-01".split()
DISPATCH = [
    *(f"dispatch:\n- url: '{host}'\n  service: a\n" for host in HOSTS),
    *("dispatch:\n- url: 5\n  service: a\n", "dispatch:\n- url: on\n  service: a\n"),
    *(
        f"dispatch:\n- url: '*/a'\n  {key}: {name}\n"
        for key in ("service", "module")
        for name in (*SERVICES, "x" * 63, "x" * 64)
    ),
    "dispatch:\n- {url: '*/a', service: a, module: a}\n",
    "dispatch:\n- {url: '*/a', service: a, module: }\n",
    "dispatch:\n- {url: '*/a', service: , module: a}\n",
    "dispatch:\n- url: '*/a'\n",
    "dispatch:\n- service: a\n",
    "dispatch:\n- a\n",
    "dispatch: a\n",
    "dispatch: {}\n",
    "dispatch: []\n",
    "dispatch:\n",
    "application: A\ndispatch:\n",
    "application: a\n",
    "",
    "#\n",
    "{}\n",
    "[]\n",
    "loop: 1\n",
    "- url: a\n",
    "dispatch:\n---\ndispatch:\n",
]

# Here gcloud makes nonsense of the value, lets pass what Cloud Scheduler's API cannot
# hold, or reads "delete all" out of another kind of file; and `attempt_deadline` is
# taken on purpose.
STRICTER = {
    entry("  description: [a]\n"),
    entry('  description: "half \\ud800"\n'),
    entry("  target: |\n    a\n"),
    entry("").replace("/t/a", "/a b"),
    entry("").replace("/t/a", '"/a\\tb"'),
    "abc\n",
    "- a\n",
    *(
        entry(f"  retry_parameters:\n    {key}: {value}\n")
        for key in ("min_backoff_seconds", "max_backoff_seconds")
        for value in ("1e400", ".inf", ".nan", "9999999999999999999999")
    ),
}


def test_small_texts_are_taken_and_refused_as_by_gcloud() -> None:
    texts = [
        *(("cron", entry(lines.replace("&", " "))) for lines in ENTRIES),
        *(("cron", text) for text in FILES),
        *(("dispatch", text) for text in DISPATCH),
    ]
    assert differences([t for t in texts if t[1] not in STRICTER]) == []


def test_where_we_are_stricter_gcloud_would_send_what_was_not_meant() -> None:
    texts = [("cron", text) for text in sorted(STRICTER)]
    assert gcloud_says(texts) == [None] * len(texts)
    assert all(refused(kind, text) for kind, text in texts)
