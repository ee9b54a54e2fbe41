"""cronshift.toml: what may be said, what it means, and how every misfit is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cronspec.config import CronEntry, load_cron
from cronspec.routing import Route
from migrate import options, overlay
from migrate.choices import (
    EntryChoices,
    Intervals,
    Routing,
    Schedules,
    ToAppEngine,
    ToHttp,
)
from migrate.settings import Service, Settings
from migrate.settings_file import load_settings
from migrate.settings_schema import TOP, duration

FILE = "app/cronshift.toml"
EVERYTHING = """\
project = "shop"
location = "europe-west1"
schedules = "groc"
split = true
intervals = "clock"
routing = "declared"
missing-retry-limit = 5
set = "shop-jobs"
accept = ["deadline-cut"]
ignore = ["no-retries"]
fail-on = "warning"
owner = "terraform"

[services."*"]
oidc-service-account-email = "cron@shop.iam.gserviceaccount.com"

[services.worker]
url = "https://worker-x.a.run.app"
oidc-token-audience = "https://worker"

[[entries]]
url = "/a"
target = "worker"
schedules = "unix"
split = false
intervals = "keep"
attempt-deadline = "20m"
accept = ["interval-to-clock"]
to = "app-engine"
"""


def loaded(text: str, env: str | None = None) -> Settings:
    settings, faults = load_settings(text, FILE, env)
    assert not faults, [str(fault) for fault in faults]
    return settings


def faults(text: str, env: str | None = None) -> list[str]:
    settings, found = load_settings(text, FILE, env)
    assert settings == Settings() or not found
    return [str(fault) for fault in found]


def entries(*said: tuple[str, str | None]) -> tuple[CronEntry, ...]:
    lines = ["cron:"]
    for url, target in said:
        lines += [f"- url: {url}", "  schedule: every 5 minutes"]
        lines += [] if target is None else [f"  target: {target}"]
    file = load_cron("\n".join(lines), "cron.yaml")
    assert not file.faults
    return file.entries


def chosen_for(settings: Settings, url: str, target: str | None) -> EntryChoices:
    (entry,) = entries((url, target))
    route = Route(target or "default", "", None)
    return settings.chooser({"slow": timedelta(hours=24)})(entry, route)


def test_every_key_says_what_it_says() -> None:
    settings = loaded(EVERYTHING)
    assert (settings.project, settings.location) == ("shop", "europe-west1")
    assert settings.schedules is Schedules.GROC
    assert settings.intervals is Intervals.CLOCK
    assert settings.routing is Routing.DECLARED
    assert settings.split is True
    assert settings.missing_retry_limit == 5
    assert settings.home.job_set == "shop-jobs"
    assert settings.accept == {"deadline-cut"}
    assert settings.ignore == {"no-retries"}
    assert settings.fail_on == "warning"
    assert settings.owner == "terraform"
    assert settings.service("worker") == Service(
        "https://worker-x.a.run.app",
        "cron@shop.iam.gserviceaccount.com",
        "https://worker",
    )


def test_the_example_says_something_for_every_key_there_is() -> None:
    said = {line.split(" ")[0] for line in EVERYTHING.splitlines()}
    assert TOP.keys() <= said | {"services", "entries"}


def test_an_entry_s_settings_beat_those_for_all() -> None:
    settings = loaded(EVERYTHING)
    own = chosen_for(settings, "/a", "worker")
    assert own.schedules is Schedules.UNIX
    assert own.split is False
    assert own.intervals is Intervals.KEEP
    assert own.attempt_deadline == timedelta(minutes=20)
    assert own.accept == {"deadline-cut", "interval-to-clock"}
    assert own.destination == ToAppEngine()
    general = chosen_for(settings, "/a", "other")
    assert general.schedules is Schedules.GROC
    assert general.accept == {"deadline-cut"}
    assert general.attempt_deadline is None


def test_a_service_with_an_url_makes_http_targets_of_what_reaches_it() -> None:
    text = '[services.w]\nurl = "https://w.run.app"\noidc-service-account-email="a@b"\n'
    settings = loaded(text)
    made = chosen_for(settings, "/a", "w").destination
    assert made == ToHttp("https://w.run.app", "a@b", "https://w.run.app")
    assert chosen_for(settings, "/a", None).destination == ToAppEngine()


def test_the_limit_is_the_reached_service_s_or_ten_minutes() -> None:
    assert chosen_for(Settings(), "/a", "slow").limit == timedelta(hours=24)
    assert chosen_for(Settings(), "/a", "unheard-of").limit == timedelta(minutes=10)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("", False),
        ('[services.w]\noidc-token-audience = "x"', False),
        ('[services.w]\nurl = "https://w"', True),
        ('[[entries]]\nurl = "/a"\nattempt-deadline = 60', True),
        ('[[entries]]\nurl = "/a"', False),
    ],
)
def test_limits_are_looked_for_only_where_they_matter(
    text: str, needed: object
) -> None:
    assert loaded(text).needs_limits is needed


# --- Environments -------------------------------------------------------------------

BASE = """\
project = "shop"
location = "europe-west1"
accept = ["deadline-cut"]

[services.worker]
url = "https://prod"
oidc-service-account-email = "cron@shop"

[[entries]]
url = "/a"
schedules = "unix"
accept = ["interval-to-clock"]

[env.staging]
project = "shop-staging"
accept = []

[env.staging.services.worker]
url = "https://staging"

[[env.staging.entries]]
url = "/a"
accept = []

[[env.staging.entries]]
url = "/b"
to = "app-engine"

[env.empty]
"""


def test_an_environment_overrides_key_by_key() -> None:
    settings = loaded(BASE, "staging")
    assert settings.project == "shop-staging"
    assert settings.location == "europe-west1"
    assert settings.accept == frozenset()
    assert settings.services["worker"] == Service("https://staging", "cron@shop")
    assert [said.url for said in settings.entries] == ["/a", "/b"]
    assert settings.entries[0].schedules is Schedules.UNIX
    assert settings.entries[0].accept == frozenset()


def test_without_an_environment_none_holds() -> None:
    for settings in (loaded(BASE), loaded(BASE, "empty")):
        assert settings.project == "shop"
        assert settings.services["worker"].url == "https://prod"
        assert [said.url for said in settings.entries] == ["/a"]


@pytest.mark.parametrize(("env", "line"), [(None, 9), ("staging", 21)])
def test_an_entry_s_place_is_where_it_was_said_last(env: str | None, line: int) -> None:
    place = loaded(BASE, env).entries[0].place
    assert (place.file, place.line, place.column) == (FILE, line, 1)


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ("stagin", "there is no [env.stagin] (did you mean 'staging'?)"),
        ("qa", "there is no [env.qa] (there are: staging, empty)"),
    ],
)
def test_an_unknown_environment_is_told_with_what_there_is(env: str, said: str) -> None:
    assert faults(BASE, env) == [f"{FILE}:1:1: {said}"]


def test_where_there_are_no_environments_that_is_said() -> None:
    assert faults("", "qa") == [f"{FILE}:1:1: there is no [env.qa] (there are: none)"]


# --- Faults -------------------------------------------------------------------------

A_DURATION = "a duration such as '600s' or '10m'"
MISFITS = [
    ('projct = "x"', "1:1: 'projct' is no setting (did you mean 'project'?)"),
    (
        "missing_retry_limit = 0",
        (
            "1:1: 'missing_retry_limit' is no setting "
            "(did you mean 'missing-retry-limit'?)"
        ),
    ),
    ("zzz = 1", "1:1: 'zzz' is no setting (known: project, location, schedules, "),
    ('\n  schedules = "unx"', "2:3: schedules = 'unx': expected one of auto, groc, u"),
    ("split = 1", "1:1: split = 1: expected true or false"),
    ('split = "yes"', "1:1: split = 'yes': expected true or false"),
    ("missing-retry-limit = 3", "1:1: missing-retry-limit = 3: expected 0 or 5"),
    ("missing-retry-limit = 5.0", "1:1: missing-retry-limit = 5.0: expected 0 or 5"),
    ("missing-retry-limit = true", "1:1: missing-retry-limit = true: expected 0 or 5"),
    ("project = 7", "1:1: project = 7: expected letters, digits"),
    ('project = ""', "1:1: project = '': expected letters, digits"),
    ('location = "a/b"', "1:1: location = 'a/b': expected letters, digits"),
    ('set = "my jobs"', "1:1: set = 'my jobs': expected letters, digits"),
    ('accept = "deadline-cut"', "1:1: accept = 'deadline-cut': expected a list of i"),
    ('accept = ["groc-kept"]', "1:1: accept = ['groc-kept']: expected a list of int"),
    ('ignore = "x"', "1:1: ignore = 'x': expected a list of codes"),
    ("ignore = [1]", "1:1: ignore = [1]: expected a list of codes"),
    ('fail-on = "fatal"', "1:1: fail-on = 'fatal': expected one of error, warning, "),
    ("services = 1", "1:1: services must be tables: [services.NAME]"),
    ("[services]\nworker = 1", "2:1: services.worker must be a table"),
    (
        '[services.w]\nurl = "w.run.app"',
        "2:1: url = 'w.run.app': expected an url such as https://worker-x.a.run.app",
    ),
    ('[services.w]\nurl = "https://w?x=1"', "2:1: url = 'https://w?x=1': expected an"),
    (
        '[services.w]\nulr = "https://w"',
        "2:1: 'ulr' is no setting of service 'w' (did you mean 'url'?)",
    ),
    (
        '[services.w]\noidc-service-account-email = "cron"',
        "2:1: oidc-service-account-email = 'cron': expected an address such as",
    ),
    ('[services.w]\noidc-token-audience = ""', "2:1: oidc-token-audience = '': exp"),
    ("entries = 1", "1:1: entries must be a list of tables: [[entries]]"),
    ("entries = [1]", "1:1: entries.0 must be a table"),
    ('[[entries]]\nto = "http"', "1:1: an entry is named by its url: url = …"),
    ('[[entries]]\nurl = "/a"\nto = "run"', "3:1: to = 'run': expected one of app-e"),
    ('[[entries]]\nurl = "/a"\nnote = 1', "3:1: 'note' is no setting of an entry ("),
    (
        '[[entries]]\nurl = "/a"\n[[entries]]\nurl = "/a"',
        f"3:1: this entry has settings already, at {FILE}:1:1 (say all in one",
    ),
    (
        '[[entries]]\nurl = "/a"\nattempt-deadline = "1 hour"',
        f"3:1: attempt-deadline = '1 hour': expected {A_DURATION}",
    ),
    (
        '[[entries]]\nurl = "/a"\nattempt-deadline = true',
        f"3:1: attempt-deadline = true: expected {A_DURATION}",
    ),
    (
        '[[entries]]\nurl = "/a"\nattempt-deadline = 0',
        f"3:1: attempt-deadline = 0: expected {A_DURATION}",
    ),
    ('env = "staging"', "1:1: env must be tables: [env.NAME]"),
    ("[env]\nstaging = 1", "2:1: env.staging must be a table"),
    (
        '[env.staging]\nprojet = "x"',
        "2:1: 'projet' is no setting of [env.staging] (did you mean 'project'?)",
    ),
    ("[env.a]\n[env.a.env.b]", "2:1: 'env' is no setting of [env.a] (known: pro"),
    (
        '[env.a.services.w]\nulr = ""',
        "2:1: 'ulr' is no setting of service 'w' (did you mean 'url'?)",
    ),
    ('[services."w x"]\nulr = 1', "2:1: 'ulr' is no setting of service 'w x' (did"),
    ('schedules = "' + "x" * 99 + '"', "1:1: schedules = 'xxxxxxxxx"),
    # Not TOML at all
    ("project = shop", "1:11: not TOML: Invalid value"),
    ('project = "a"\nproject = "b"', "2:14: not TOML: Cannot overwrite a value"),
    ('\nproject = "', "2:12: not TOML: "),
    ("x = " + "[" * 5000, "1:1: not TOML: nested too deeply"),
    ("x = " + "9" * 5000, "1:1: not TOML: Exceeds the limit"),
]


@pytest.mark.parametrize(("text", "start"), MISFITS)
def test_what_does_not_fit_is_told_in_its_place(text: str, start: str) -> None:
    found = faults(text)
    assert len(found) == 1
    assert found[0].startswith(f"{FILE}:{start}"), found[0]


def test_all_faults_are_told_at_once_and_in_order() -> None:
    text = '[env.a]\nsplit = 1\n[[entries]]\nto = "x"\n[services.w]\nurl = 3\n'
    lines = [fault.split(":")[1] for fault in faults(text)]
    assert lines == ["2", "3", "4", "6"]


def test_a_long_value_is_not_told_whole() -> None:
    assert "…: expected" in faults(f'schedules = "{"x" * 99}"')[0]


@given(st.text() | st.text(alphabet="[]=\"{}.\n '#envtrisu0", max_size=60))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    settings, found = load_settings(text, FILE, None)
    assert isinstance(settings, Settings)
    assert all(fault.place.file == FILE for fault in found)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("600s", 600), ("10m", 600), ("1h", 3600), (90, 90), ("90", None), ("1d", None)],
)
def test_durations_are_numbers_with_a_unit(said: object, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert duration(said) == expected


# --- Settings against the files -----------------------------------------------------


def misfits(text: str, *said: tuple[str, str | None]) -> list[str]:
    found = entries(*said)
    reached = [entry.target or "default" for entry in found]
    return [str(fault) for fault in loaded(text).faults(found, reached)]


def test_settings_that_fit_are_no_fault() -> None:
    text = '[[entries]]\nurl = "/a"\n[[entries]]\nurl = "/b"\ntarget = "default"\n'
    assert misfits(text, ("/a", "x"), ("/b", None), ("/b", "x")) == []


def test_the_default_service_may_be_named_or_not() -> None:
    text = '[[entries]]\nurl = "/a"\ntarget = "default"\n'
    assert misfits(text, ("/a", None), ("/a", "default")) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'url = "/tasks/immport"',
            (
                "no entry of cron.yaml has the url '/tasks/immport' "
                "(did you mean '/tasks/import'?)"
            ),
        ),
        ('url = "/zzz"', "no entry of cron.yaml has the url '/zzz'"),
        (
            'url = "/tasks/import"\ntarget = "nobody"',
            (
                "no entry of cron.yaml has the url '/tasks/import' and the target "
                "'nobody' (its target is default or worker)"
            ),
        ),
        (
            'url = "/tasks/import"',
            (
                "entries with the url '/tasks/import' have several targets "
                "(default, worker) (say which with target = …)"
            ),
        ),
    ],
)
def test_an_entry_that_is_none_or_several_is_told(said: str, told: str) -> None:
    found = misfits(
        f"[[entries]]\n{said}\n", ("/tasks/import", "worker"), ("/tasks/import", None)
    )
    assert found == [f"{FILE}:1:1: {told}"]


def test_two_settings_of_one_entry_are_told() -> None:
    text = '[[entries]]\nurl = "/a"\n[[entries]]\nurl = "/a"\ntarget = "w"\n'
    assert misfits(text, ("/a", "w")) == [
        (
            f"{FILE}:3:1: this entry has settings already, at {FILE}:1:1 "
            "(say all in one [[entries]])"
        )
    ]


def test_to_http_wants_an_url_of_the_service_that_is_reached() -> None:
    text = '[[entries]]\nurl = "/a"\nto = "http"\n'
    assert misfits(text, ("/a", "w"), ("/b", "w")) == [
        (
            f"{FILE}:1:1: '/a' is to be an HTTP target, and reaches 'w' "
            "(give that service an url: [services.w] url = …)"
        )
    ]
    assert misfits(text + '[services.w]\nurl = "https://w"', ("/a", "w")) == []


def test_services_that_nothing_reaches_are_told() -> None:
    text = '[services.woker]\n[services.zzz]\n[services."*"]\n[services.worker]\n'
    assert loaded(text).unreached(["worker", "default", "worker"]) == [
        "no entry reaches the service 'woker' (did you mean 'worker'?)",
        "no entry reaches the service 'zzz' (reached are default, worker)",
    ]


def test_only_entries_that_become_http_targets_need_an_account() -> None:
    text = """\
[services.a]
url = "https://a"
[services.b]
url = "https://b"
oidc-service-account-email = "cron@b"
[services.c]
url = "https://c"
[[entries]]
url = "/c"
to = "app-engine"
"""
    found = entries(("/a", "a"), ("/b", "b"), ("/c", "c"), ("/d", None))
    reached = ["a", "b", "c", "default"]
    assert loaded(text).missing_accounts(found, reached) == ["a"]


# --- Options ------------------------------------------------------------------------

NOTHING_CHOSEN: dict[str, Any] = {
    "project": None,
    "location": None,
    "schedules": None,
    "split": None,
    "intervals": None,
    "routing": None,
    "missing_retry_limit": None,
    "job_set": None,
    "http": (),
    "oidc_service_account_email": (),
    "oidc_token_audience": (),
    "accept": (),
}


@pytest.fixture(autouse=True)
def _no_project_of_gcloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUDSDK_CORE_PROJECT", raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)


def laid_over(text: str, **chosen: object) -> Settings:
    made, _ = overlay.settings(NOTHING_CHOSEN | chosen, loaded(text))
    return made


def test_without_options_the_file_holds() -> None:
    assert laid_over(EVERYTHING) == loaded(EVERYTHING)


@pytest.mark.parametrize(
    ("option", "value", "attribute", "expected"),
    [
        ("project", "other", "project", "other"),
        ("location", "asia-east1", "location", "asia-east1"),
        ("schedules", "auto", "schedules", Schedules.AUTO),
        ("split", False, "split", False),
        ("intervals", "keep", "intervals", Intervals.KEEP),
        ("routing", "effective", "routing", Routing.EFFECTIVE),
        ("missing_retry_limit", "0", "missing_retry_limit", 0),
        ("job_set", "mine", "job_set", "mine"),
        ("accept", ("deadline-cut",), "accept", frozenset({"deadline-cut"})),
    ],
)
def test_an_option_beats_the_file(
    option: str, value: object, attribute: str, expected: object
) -> None:
    made = laid_over(EVERYTHING, **{option: value})
    assert getattr(made, attribute) == expected


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("schedules", "auto", Schedules.AUTO),
        ("split", True, True),
        ("intervals", "clock", Intervals.CLOCK),
    ],
)
def test_an_option_beats_what_the_file_says_of_single_entries(
    option: str, value: object, expected: object
) -> None:
    made = laid_over(EVERYTHING, **{option: value})
    assert getattr(chosen_for(made, "/a", "worker"), option) == expected


SERVICES = """\
[services.a]
url = "https://a"
oidc-service-account-email = "cron@a"
[services.b]
url = "https://b"
"""


def test_an_option_for_one_service_leaves_the_others() -> None:
    made = laid_over(SERVICES, http=("a=https://new/base",))
    assert made.service("a") == Service("https://new/base", "cron@a")
    assert made.service("b") == Service("https://b")


def test_an_option_for_all_services_beats_what_the_file_says_of_each() -> None:
    made = laid_over(
        SERVICES,
        http=("*=https://all", "b=https://but-b"),
        oidc_service_account_email=("cron@all",),
        oidc_token_audience=("b=aud=b", "every"),
    )
    assert made.service("a") == Service("https://all", "cron@all", "every")
    assert made.service("b") == Service("https://but-b", "cron@all", "aud=b")
    assert made.service("c") == Service("https://all", "cron@all", "every")


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("project", "", "'': expected letters"),
        ("project", "a b", "'a b': expected letters"),
        ("location", "a/b", "'a/b': expected letters"),
        ("job_set", "x\ny", "expected letters"),
        ("http", ("https://w",), "'https://w' is not SERVICE=URL"),
        ("http", ("w=w.run.app",), "'w=w.run.app' is not SERVICE=URL"),
        ("http", ("W=https://w",), "'W=https://w' is not SERVICE=URL"),
        ("oidc_service_account_email", ("w=",), "'w=' has no value"),
        ("oidc_service_account_email", ("w=cron",), "'cron': expected an address"),
        ("oidc_token_audience", ("",), "'' has no value"),
    ],
)
def test_an_option_that_does_not_fit_is_told(
    option: str, value: object, told: str
) -> None:
    with pytest.raises(click.BadParameter) as raised:
        laid_over("", **{option: value})
    assert told in raised.value.format_message()


def test_the_project_is_the_option_s_the_file_s_or_gcloud_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert laid_over("").project is None
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "of-google")
    assert laid_over("").project == "of-google"
    monkeypatch.setenv("CLOUDSDK_CORE_PROJECT", "of-gcloud")
    assert laid_over("").project == "of-gcloud"
    assert laid_over('project = "of-file"').project == "of-file"
    assert laid_over('project = "of-file"', project="given").project == "given"


def test_a_project_of_the_environment_that_is_none_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLOUDSDK_CORE_PROJECT", "no project")
    with pytest.raises(click.BadParameter, match="no project"):
        laid_over("")


@pytest.mark.parametrize(
    ("said", "meant"),
    [("us-central", "us-central1"), ("europe-west", "europe-west1")],
)
def test_app_engine_s_old_location_ids_become_cloud_scheduler_s(
    said: str, meant: str
) -> None:
    made, notes = overlay.settings(NOTHING_CHOSEN | {"location": said}, Settings())
    assert made.location == meant
    assert [(note.code, note.text) for note in notes] == [
        ("location-renamed", f"{said} is called {meant} by Cloud Scheduler")
    ]


AUDIT_CHOSEN: dict[str, Any] = {"project": None, "fail_on": None, "ignore": ()}


def test_an_audit_s_options_beat_the_file_s() -> None:
    file = loaded(EVERYTHING)
    assert overlay.judge(file, AUDIT_CHOSEN) == file
    chosen = {"project": "p", "fail_on": "never", "ignore": ("a", "b")}
    made = overlay.judge(file, chosen)
    assert (made.project, made.fail_on, made.ignore) == ("p", "never", {"a", "b"})
    with pytest.raises(click.BadParameter):
        overlay.judge(file, AUDIT_CHOSEN | {"project": "a b"})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03-08T07:30", "2026-03-08T07:30:00+00:00"),
        ("2026-03-08", "2026-03-08T00:00:00+00:00"),
        ("2026-03-08T07:30-05:00", "2026-03-08T07:30:00-05:00"),
        ("2026-03-08T07:30Z", "2026-03-08T07:30:00+00:00"),
    ],
)
def test_an_instant_without_an_offset_is_in_utc(said: str, meant: str) -> None:
    instant = options.INSTANT.convert(said, None, None)
    assert instant.isoformat() == meant
    assert options.INSTANT.convert(instant, None, None) is instant


@pytest.mark.parametrize("said", ["noon", "2026-13-01", "1066-10-14", "9999-01-01"])
def test_what_is_no_instant_is_told(said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        options.INSTANT.convert(said, None, None)
