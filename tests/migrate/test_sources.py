"""What a PATH names: which files are read, which are not, and what is told of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from migrate.appfiles import apps, walk
from migrate.settings import Settings
from migrate.sources import SourceError, read, read_settings

CRON = "cron:\n- url: /a\n  schedule: every 5 minutes\n"
OTHER = "cron:\n- url: /b\n  schedule: every 5 minutes\n"
DISPATCH = "dispatch:\n- url: '*/a'\n  service: worker\n"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An application's folder, and an empty current folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    made = tmp_path / "the app ÷ è"
    made.mkdir()
    return made


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def urls(*paths: Path, dispatch: str | None = None) -> list[str]:
    return [entry.url for entry in read(paths, dispatch).entries]


@pytest.mark.parametrize("name", ["cron.yaml", "cron.yml"])
def test_a_folder_names_its_cron_file_and_the_dispatch_file_beside_it(
    app: Path, name: str
) -> None:
    write(app / name, CRON)
    write(app / "dispatch.yaml", DISPATCH)
    files = read([app])
    assert [entry.place.file for entry in files.entries] == [str(app / name)]
    assert [rule.service for rule in files.rules] == ["worker"]
    assert files.folders == (app,)
    assert files.faults == []


def test_a_file_of_any_name_is_read_with_the_dispatch_file_beside_it(app: Path) -> None:
    file = write(app / "cron-prod.yaml", CRON)
    write(app / "dispatch.yml", DISPATCH)
    files = read([file])
    assert len(files.entries) == 1
    assert len(files.rules) == 1
    assert files.folders == ()


def test_the_current_folder_s_dispatch_file_never_counts(app: Path) -> None:
    write(Path("dispatch.yaml"), DISPATCH)
    write(Path("cronshift.toml"), 'project = "wrong"')
    write(app / "cron.yaml", CRON)
    files = read([app])
    assert files.rules == ()
    assert read_settings(files, None, None) == (Settings(), ())


def test_dispatch_says_otherwise(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "dispatch.yaml", DISPATCH)
    other = write(app / "other.yaml", "dispatch:\n- url: '*/a'\n  service: api\n")
    assert read([app], "none").dispatch is None
    assert [rule.service for rule in read([app], str(other)).rules] == ["api"]


def test_several_paths_are_merged_in_order_and_keep_their_places(app: Path) -> None:
    first = write(app / "x/cron.yaml", CRON)
    second = write(app / "y/mine.yaml", OTHER)
    files = read([second, app / "x"])
    assert [(entry.url, entry.place.file) for entry in files.entries] == [
        ("/b", str(second)),
        ("/a", str(first)),
    ]


def test_a_file_that_is_named_twice_is_read_once(app: Path) -> None:
    file = write(app / "cron.yaml", CRON)
    other = write(app / "other.yaml", OTHER)
    write(app / "dispatch.yaml", DISPATCH)
    files = read([app, other, file, app / ".." / app.name])
    assert [entry.url for entry in files.entries] == ["/a", "/b"]
    assert files.folders == (app,)


# --- What cannot be used ------------------------------------------------------------


def told(*paths: Path, dispatch: str | None = None) -> str:
    with pytest.raises(SourceError) as raised:
        read(paths, dispatch)
    return str(raised.value)


def test_what_is_not_there_is_told(app: Path) -> None:
    assert told(app / "cron.yaml") == f"{app}/cron.yaml: no such file or folder"
    assert told(app).startswith(f"{app}: no cron.yaml in this folder")
    write(app / "cron.yaml", CRON)
    assert told(app, dispatch="gone.yaml").startswith("gone.yaml: no such file")


def test_a_name_too_long_is_told(app: Path) -> None:
    assert told(app / ("x" * 300)).endswith(": File name too long")
    write(app / "cron.yaml", CRON)
    assert told(app, dispatch="x" * 300).endswith(": File name too long")


def test_both_names_of_a_file_are_told(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "cron.yml", CRON)
    assert "both cron.yaml and cron.yml are there" in told(app)
    assert urls(app / "cron.yml") == ["/a"]


def test_two_dispatch_files_are_told(app: Path) -> None:
    write(app / "x/cron.yaml", CRON)
    write(app / "y/cron.yaml", OTHER)
    write(app / "x/dispatch.yaml", DISPATCH)
    write(app / "y/dispatch.yaml", DISPATCH)
    said = told(app / "x", app / "y")
    assert f"{app}/x/dispatch.yaml and {app}/y/dispatch.yaml" in said
    assert "--dispatch" in said
    assert urls(app / "x", app / "y", dispatch="none") == ["/a", "/b"]


def test_a_folder_in_the_place_of_a_file_is_told(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    (app / "folder").mkdir()
    assert told(app, dispatch=str(app / "folder")) == f"{app}/folder: Is a directory"
    with pytest.raises(SourceError, match="Is a directory"):
        read_settings(read([app]), app / "folder", None)


@pytest.mark.parametrize("name", ["cron.yaml", "dispatch.yaml", "cronshift.toml"])
@pytest.mark.parametrize(
    ("to", "why"),
    [("nowhere", "No such file"), ("{name}", "Too many levels"), (".", "Is a dir")],
)
def test_a_link_to_nowhere_is_not_taken_for_no_file(
    app: Path, name: str, to: str, why: str
) -> None:
    write(app / "cron.yaml", CRON)
    (app / name).unlink(missing_ok=True)
    (app / name).symlink_to(to.format(name=name))
    with pytest.raises(SourceError, match=why):
        read_settings(read([app]), None, None)


def test_a_pipe_is_read_as_a_file_is(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    ours, theirs = os.pipe()
    os.write(theirs, DISPATCH.encode())
    os.close(theirs)
    assert len(read([app], f"/dev/fd/{ours}").rules) == 1
    os.close(ours)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(app: Path) -> None:
    file = write(app / "cron.yaml", CRON)
    file.chmod(0)
    assert told(app) == f"{file}: Permission denied"


def test_bytes_that_are_no_text_are_a_fault_in_their_place(app: Path) -> None:
    (app / "cron.yaml").write_bytes(b"cron:\n- url: /\xff\n")
    (app / "dispatch.yaml").write_bytes(b"\xff\xfed\0")
    found = read([app]).faults
    assert [(fault.code, fault.place.line) for fault in found] == [
        ("not-utf-8", 2),
        ("not-utf-8", 1),
    ]


@pytest.mark.parametrize("where", ["cron.xml", "WEB-INF/cron.xml"])
def test_java_s_cron_xml_is_told_to_be_written_as_yaml(app: Path, where: str) -> None:
    write(app / where, "<?xml version='1.0'?><cronentries></cronentries>")
    (fault,) = read([app]).faults
    assert fault.code == "xml"
    assert fault.place.file == str(app / where)


@pytest.mark.parametrize("text", ["cron:\n", "cron: []\n"])
def test_a_file_that_deletes_all_is_no_fault(app: Path, text: str) -> None:
    write(app / "cron.yaml", text)
    files = read([app])
    assert (files.entries, files.faults) == ([], [])


def test_an_empty_file_is_a_fault(app: Path) -> None:
    write(app / "cron.yaml")
    assert [fault.code for fault in read([app]).faults] == ["empty-file"]


# --- Settings -----------------------------------------------------------------------


def test_settings_stand_beside_cron_yaml(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "cronshift.toml", 'project = "shop"\n[env.qa]\nproject = "shop-qa"\n')
    files = read([app])
    assert read_settings(files, None, None)[0].project == "shop"
    assert read_settings(files, None, "qa")[0].project == "shop-qa"


def test_config_names_other_settings(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "cronshift.toml", 'project = "shop"')
    other = write(app / "other.toml", 'project = "other"')
    assert read_settings(read([app]), other, None)[0].project == "other"


def test_settings_that_are_missing_or_several_are_told(app: Path) -> None:
    write(app / "x/cron.yaml", CRON)
    write(app / "y/cron.yaml", OTHER)
    files = read([app / "x", app / "y"])
    with pytest.raises(SourceError, match="--env qa needs a "):
        read_settings(files, None, "qa")
    with pytest.raises(SourceError, match="No such file"):
        read_settings(files, app / "gone.toml", None)
    write(app / "x/cronshift.toml")
    write(app / "y/cronshift.toml")
    with pytest.raises(SourceError, match="say which counts with --config"):
        read_settings(files, None, None)


def test_settings_that_are_no_text_are_a_fault(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    (app / "cronshift.toml").write_bytes(b"\xff")
    settings, (fault,) = read_settings(read([app]), None, None)
    assert settings == Settings()
    assert fault.code == "not-utf-8"


# --- jobs.yaml ----------------------------------------------------------------------


def test_a_folder_s_cron_yaml_and_jobs_yaml_are_one_list(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "jobs.yaml", OTHER)
    assert urls(app) == ["/a", "/b"]
    assert urls(app / "cron.yaml") == ["/a"]
    whole = read([app / "cron.yaml"], whole=True)
    assert [entry.url for entry in whole.entries] == ["/a", "/b"]
    (app / "cron.yaml").unlink()
    assert urls(app) == ["/b"]


def test_an_entry_in_both_lists_counts_once_with_a_warning(app: Path) -> None:
    write(app / "cron.yaml", CRON)
    write(app / "jobs.yaml", CRON + CRON.partition("\n")[2] + OTHER.partition("\n")[2])
    files = read([app])
    assert [entry.url for entry in files.entries] == ["/a", "/a", "/b"]
    (double,) = files.doubles
    assert double.startswith(f"{app / 'jobs.yaml'}:2:1: /a stands in")


def test_an_empty_cron_yaml_deletes_nothing_where_jobs_yaml_has_all(app: Path) -> None:
    write(app / "cron.yaml", "cron:\n")
    assert read([app]).emptied
    assert [one.code for one in read([app]).crons[0].remarks] == ["deletes-all"]
    write(app / "jobs.yaml", OTHER)
    assert not read([app]).emptied
    assert read([app]).crons[0].remarks == ()


def test_lists_of_two_folders_stay_two(app: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for folder in (app, other):
        write(folder / "cron.yaml", CRON)
        write(folder / "jobs.yaml", CRON.replace("/a", "/z"))
    files = read([app, other])
    assert [entry.url for entry in files.entries] == ["/a", "/z", "/a", "/z"]
    assert not files.doubles


# --- App yamls ----------------------------------------------------------------------


def test_app_yamls_are_found_below_a_folder_and_what_is_none_is_passed_over(
    app: Path,
) -> None:
    write(app / "app.yaml", "runtime: python313\n")
    write(app / "worker/app.yml", "runtime: python313\nservice: worker\n")
    write(app / "cron.yaml", CRON)
    write(app / "dispatch.yaml", DISPATCH)
    write(app / ".git/app.yaml", "runtime: python313\nservice: hidden\n")
    write(app / "node_modules/x/app.yaml", "runtime: nodejs22\nservice: module\n")
    write(app / "my-env/pyvenv.cfg")
    write(app / "my-env/app.yaml", "runtime: python313\nservice: of-venv\n")
    write(app / "big.yaml", "runtime: python313\nservice: big\n" + "#" * 300_000)
    write(app / "broken.yaml", "runtime: [\n")
    write(app / "values.yaml", "env: prod\nreplicas: 3\n")
    write(app / "runtime.txt", "runtime: python313\nservice: text\n")
    (app / "binary.yaml").write_bytes(b"runtime: \xff\n")
    (app / "dangling.yaml").symlink_to(app / "gone.yaml")
    found = {app_file.service: app_file.file for app_file in apps(app)}
    assert found == {
        "default": str(app / "app.yaml"),
        "worker": str(app / "worker/app.yml"),
    }


def test_files_are_walked_in_order(app: Path) -> None:
    for name in ("b/2", "a/1", "c"):
        write(app / name)
    walked = [str(path.relative_to(app)) for path in walk(app)]
    assert walked == ["c", "a/1", "b/2"]
