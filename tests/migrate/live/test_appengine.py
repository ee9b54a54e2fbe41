"""The App Engine app, looked up: where it is, what it serves, and what may go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emulator import server
from emulator.app import App as EmulatedApp
from emulator.faults import Cut, Fail, Fault, Slow
from migrate import appengine
from migrate.appengine import EMULATOR, App, app_of
from migrate.problems import Hopeless, Lost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.world import World


@pytest.fixture(autouse=True)
def _running(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with server.start(world) as running:
        monkeypatch.setenv(EMULATOR, running.url.removeprefix("http://"))
        yield


def test_an_app_is_where_cloud_scheduler_says_it_is(world):
    split = {"default": {"v1": 1.0}, "worker": {"a": 0.5, "b": 0.5}}
    world.app = EmulatedApp("shop", "us-central", split)
    assert app_of("shop") == App(
        "us-central1", world.app.domain, serving=True, services=split
    )


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (Fail(401, "who"), Hopeless, "gcloud auth application-default login"),
        (Fail(403, "no"), Hopeless, "roles/appengine.appViewer"),
        (Fail(404, "no"), Hopeless, "gcloud app create --project shop"),
        (Fail(503, "busy"), Lost, "HTTP 503"),
        (Cut(), Lost, "no answer"),
        (Slow(0.5), Lost, "no answer"),
    ],
    ids=str,
)
def test_what_goes_wrong_is_told_in_our_words(world, trouble, kind, words):
    world.faults.add(Fault(trouble, path="/v1/apps/", times=None))
    with pytest.raises(kind, match=words):
        app_of("shop", timeout=0.2)


def test_pages_of_services_are_followed_to_the_end(monkeypatch: Any):
    pages = {
        "": {"locationId": "us-east1"},
        "/services": {"services": [{"id": "default"}], "nextPageToken": "2"},
        "/services?pageToken=2": {"services": [{"id": "worker"}]},
    }
    monkeypatch.setattr(appengine, "_get", lambda _p, path, _t: pages[path])
    assert app_of("shop").services == {"default": {}, "worker": {}}


def test_without_credentials_nothing_is_asked(monkeypatch: Any, tmp_path: Any):
    monkeypatch.delenv(EMULATOR)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Hopeless, match="application-default login"):
        app_of("shop")
