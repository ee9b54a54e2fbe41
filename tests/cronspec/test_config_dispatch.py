"""dispatch.yaml: its rules, and every fault told in its place."""

import pytest

from cronspec import config
from cronspec.config import DispatchRule, Place, load_dispatch


def rule(url: str, service: str = "a") -> str:
    return f"dispatch:\n- url: '{url}'\n  service: {service}\n"


def test_rules_have_host_path_service_index_and_place() -> None:
    text = (
        "application: demo\ndispatch:\n  # first\n  - url: '*/t/*'\n    service: a\n"
        "  - module: b\n    url: x.example.com/u\n"
    )
    loaded = load_dispatch(text, "d.yaml")
    assert loaded.faults == ()
    assert loaded.rules == (
        DispatchRule("*", "/t/*", "a", 0, Place("d.yaml", 4, 3)),
        DispatchRule("x.example.com", "/u", "b", 1, Place("d.yaml", 6, 3)),
    )
    assert [one.code for one in loaded.remarks] == ["module"]


def test_a_rule_with_a_fault_does_not_move_the_index_of_the_next() -> None:
    loaded = load_dispatch(
        "dispatch:\n- {url: '*', service: a}\n- {url: '*/b', service: b}\n", "f"
    )
    assert [(one.service, one.index) for one in loaded.rules] == [("b", 1)]
    assert [one.code for one in loaded.faults] == ["bad-url"]


FAULTS = [
    ("abc\n", "not-a-dispatch-file", "1:1", "text", "'dispatch:'"),
    ("- a\n", "not-a-dispatch-file", "1:1", "a list", "'dispatch:'"),
    ("cron:\n", "not-a-dispatch-file", "1:1", "got 'cron'", ""),
    ("dispach:\n", "unknown-key", "1:1", "no 'dispach'", "'dispatch'"),
    ("dispatch:\ncron:\n", "unknown-key", "2:1", "no 'cron'", "cron.yaml"),
    ("application: A\ndispatch:\n", "bad-application", "1:14", "'A'", "remove"),
    ("dispatch: a\n", "wrong-type", "1:11", "not text", "- "),
    ("dispatch:\n- a\n", "wrong-type", "2:3", "not text", ""),
    ("dispatch:\n- &a {url: '*/a', service: a}\n", "anchor", "2:3", "&a", "remove"),
    ("dispatch: *a\n", "alias", "1:11", "*a", "write"),
    ("*a\n", "alias", "1:1", "*a", "write"),
    ("dispatch:\n- *a\n", "alias", "2:3", "*a", "write"),
    ("dispatch:\n- service: a\n", "missing-key", "2:1", "'url'", "add"),
    ("dispatch:\n- url: '*/a'\n", "missing-key", "2:1", "'service'", "add"),
    ("dispatch:\n- {url: '*/a', module: }\n", "missing-key", "2:1", "'service'", ""),
    (
        "dispatch:\n- {url: '*/a', target: a, service: b}",
        "unknown-key",
        "2:16",
        "",
        "ser",
    ),
    (
        "dispatch:\n- {url: '*/a', service: a, module: a}",
        "two-names",
        "2:28",
        "",
        "rem",
    ),
    ("dispatch:\n- {url: 5, service: a}", "wrong-type", "2:9", "a number", "url: '5'"),
    (rule("*"), "bad-url", "2:8", "and a path", "'*/*'"),
    (rule("/a"), "bad-url", "2:8", "a host", "'*/a'"),
    (rule("10.0.0.1/*"), "bad-host", "2:8", "an IP address", "name"),
    (rule("A.b/c"), "bad-host", "2:8", "capital", "'a.b'"),
    (rule("a_b/c"), "bad-host", "2:8", "no host", ""),
    (rule("**/a"), "bad-host", "2:8", "'*'", ""),
    (rule("a*b/c"), "bad-host", "2:8", "'*'", ""),
    (rule("e.test:8080/*"), "bad-host", "2:8", "a port", "leave"),
    (rule("http://a/b"), "bad-host", "2:8", "a scheme", "leave"),
    (rule("a" * 5000 + "_/"), "bad-host", "2:8", "no host", ""),
    (rule("*/a", "y"), "bad-service", "3:12", "a boolean", "service: 'y'"),
    (rule("*/a", "A"), "bad-service", "3:12", "'A'", ""),
    (rule("*/a", "v1:a"), "bad-service", "3:12", "'v1:a'", ""),
    (rule("*/a", "[a]"), "wrong-type", "3:12", "a list", ""),
    ("<dispatch-entries>\n", "xml", "1:1", "dispatch.xml", "- url"),
    ("dispatch: [\n", "yaml-syntax", "2:1", "no valid YAML", ""),
]


@pytest.mark.parametrize(("text", "code", "at", "words", "fix"), FAULTS)
def test_a_fault_has_its_code_place_words_and_way_out(
    text: str, code: str, at: str, words: str, fix: str
) -> None:
    told = load_dispatch(text, "f").faults
    assert [(one.code, str(one.place)) for one in told] == [(code, f"f:{at}")]
    assert words in told[0].text
    assert fix in told[0].fix
    assert code in config.FAULTS


@pytest.mark.parametrize(
    "host", "* a.b *a.b *.a *-a.com 256.0.0.1 1.2.3 demo.uc.r.appspot.com".split()
)
def test_these_hosts_are_taken(host: str) -> None:
    loaded = load_dispatch(rule(f"{host}/x"), "f")
    assert loaded.faults == ()
    assert loaded.rules[0].host == host


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("", "deletes-all", "1:1"),
        ("# a\n", "deletes-all", "1:1"),
        ("[]", "deletes-all", "1:1"),
        ("{}", "deletes-all", "1:1"),
        ("~", "deletes-all", "1:1"),
        ("dispatch:\n", "deletes-all", "1:1"),
        ("dispatch: []\n", "deletes-all", "1:1"),
        ("application: a\n", "deletes-all", "1:1"),
        (rule("*/" + "x" * 100), "long-pattern", "2:8"),
        (rule("x." * 50 + "com/a"), "long-pattern", "2:8"),
        ("dispatch:\n" + "- {url: '*/a', service: a}\n" * 21, "too-many-rules", "22:1"),
        ("dispatch: [{url: '*/a', module: a}]", "module", "1:25"),
        (rule("*/a", "0x4"), "not-a-string", "3:12"),
    ],
)
def test_what_is_worth_knowing_is_remarked(text: str, code: str, at: str) -> None:
    loaded = load_dispatch(text, "f")
    assert loaded.faults == ()
    assert [(one.code, str(one.place)) for one in loaded.remarks] == [(code, f"f:{at}")]
    assert code in config.REMARKS


def test_so_many_faults_are_told_and_no_more() -> None:
    many = "dispatch:\n" + "- {url: a, service: B}\n" * 1000
    assert len(load_dispatch(many, "f").faults) == 501
