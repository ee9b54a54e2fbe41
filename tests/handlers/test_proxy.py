"""The proxy against a stand-in for Google's APIs, over real HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from google.auth.credentials import AnonymousCredentials
from google.auth.transport.requests import AuthorizedSession

from handlers import Tasks, create_app
from handlers.proxy import (
    CloudBuildTrigger,
    CloudRunJob,
    HttpCall,
    Target,
    WorkflowsExecution,
    session_for,
)
from tests.handlers.support import CRON, SCHEDULER, ManualClock, settings, utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Apis:
    """Stands for the APIs: starts what it is told, and lists it, newest first.

    `lose` calls are carried out and then not answered; `refuse` is a status.
    """

    def __init__(self) -> None:
        self.executions: list[dict[str, Any]] = []
        self.builds: list[dict[str, Any]] = []
        self.workflows: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str, dict[str, str]]] = []
        self.lose = 0
        self.refuse = 0
        self.page = 2
        apis = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                apis.note(self)
                parts = urlsplit(self.path)
                asked = {
                    name: value[0] for name, value in parse_qs(parts.query).items()
                }
                name = "builds" if parts.path.endswith("/builds") else "executions"
                kept = getattr(apis, name)
                if "filter" in asked:
                    wanted = asked["filter"].split('"')[1]
                    kept = [one for one in kept if one["buildTriggerId"] == wanted]
                begin = int(asked.get("pageToken") or 0)
                page: dict[str, Any] = {name: kept[begin : begin + apis.page]}
                if begin + apis.page < len(kept):
                    page["nextPageToken"] = str(begin + apis.page)
                self.reply(200, page)

            def do_POST(self) -> None:
                apis.note(self)
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                if apis.refuse:
                    self.reply(apis.refuse, {"error": {"status": "REFUSED"}})
                    return
                apis.carry_out(urlsplit(self.path).path, body)
                if apis.lose:
                    apis.lose -= 1
                    self.close_connection = True
                    return
                path = urlsplit(self.path).path
                said = "done" if path == "/call" else {"name": "operations/1"}
                self.reply(200, said)

            def reply(self, status: int, body: dict[str, Any] | str) -> None:
                text = body if isinstance(body, str) else json.dumps(body)
                self.reply_text(status, text.encode())

            def reply_text(self, status: int, text: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self._thread.start()

    def note(self, request: BaseHTTPRequestHandler) -> None:
        path = urlsplit(request.path).path
        self.calls.append((request.command, path, dict(request.headers.items())))

    def carry_out(self, path: str, body: dict[str, Any]) -> None:
        if path == "/v2/projects/shop/locations/eu/jobs/report:run":
            containers = body["overrides"]["containerOverrides"]
            self.executions.insert(0, {"template": {"containers": containers}})
        elif path == "/v1/projects/shop/locations/eu/triggers/t1:run":
            source = body["source"]
            build = {
                "buildTriggerId": body["triggerId"],
                "substitutions": source["substitutions"],
            }
            self.builds.insert(0, build)
        elif path == "/v1/projects/shop/locations/eu/workflows/w/executions":
            self.workflows.insert(0, json.loads(body["argument"]))

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self._thread.join()


@pytest.fixture
def apis() -> Iterator[Apis]:
    stand_in = Apis()
    yield stand_in
    stand_in.close()


def with_token(_: str) -> requests.Session:
    session = requests.Session()
    session.headers["Authorization"] = "Bearer the-app's-own"
    return session


def target(kind: str, apis: Apis) -> Target:
    own = {"endpoint": apis.url, "session": with_token}
    place = {"project": "shop", "location": "eu"}
    match kind:
        case "workflow":
            return WorkflowsExecution(**place, workflow="w", argument={"a": 1}, **own)  # type: ignore[arg-type]  # a table's values
        case "job":
            return CloudRunJob(**place, job="report", **own)  # type: ignore[arg-type]  # a table's values
        case "build":
            source = {"branchName": "main", "substitutions": {"_ENV": "prod"}}
            return CloudBuildTrigger(**place, trigger="t1", source=source, **own)  # type: ignore[arg-type]  # a table's values
        case _:
            return HttpCall(f"{apis.url}/call", body={"a": 1}, session=with_token)


class Service:
    """A service whose one task is a proxy."""

    def __init__(self, folder: Path, proxied: Target) -> None:
        tasks = Tasks()
        tasks.proxy("/nightly", proxied)
        cron = "cron:\n- {url: /nightly, schedule: every day 09:00}\n"
        clock = ManualClock(utc("2026-11-30T09:00:00.200"))
        self.client = create_app(settings(folder, cron), tasks, clock).test_client()

    def deliver(self, headers: dict[str, str]) -> str:
        answer = self.client.get("/nightly", headers=headers)
        return answer.headers["X-Cron-Outcome"]


KINDS = ["workflow", "job", "build", "call"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_tick_starts_one_execution_whoever_fires(
    tmp_path: Path, apis: Apis, kind: str
) -> None:
    service = Service(tmp_path, target(kind, apis))
    outcomes = [service.deliver(sender) for sender in (CRON, SCHEDULER, CRON)]
    assert outcomes == ["ran", "duplicate", "duplicate"]
    assert [method for method, *_ in apis.calls] == ["POST"]
    headers = apis.calls[0][2]
    assert headers["Authorization"] == "Bearer the-app's-own"


@pytest.mark.parametrize("kind", ["job", "build"])
def test_what_a_lost_answer_started_is_found_and_not_started_again(
    tmp_path: Path, apis: Apis, kind: str
) -> None:
    service = Service(tmp_path, target(kind, apis))
    apis.lose = 1
    assert service.deliver(CRON) == "failed"
    # Others start much meanwhile: the run's own is on a later page.
    others = apis.executions if kind == "job" else apis.builds
    others[:0] = [{"buildTriggerId": "t1"} for _ in range(7)]
    assert service.deliver(CRON) == "ran"
    assert [method for method, *_ in apis.calls].count("POST") == 1


@pytest.mark.parametrize("kind", ["job", "build"])
def test_what_was_never_started_is_started_by_the_next_attempt(
    tmp_path: Path, apis: Apis, kind: str
) -> None:
    service = Service(tmp_path, target(kind, apis))
    apis.refuse = 429
    assert service.deliver(CRON) == "failed"
    apis.refuse = 0
    assert service.deliver(CRON) == "ran"
    assert len(apis.executions) + len(apis.builds) == 1


def test_a_workflow_is_told_its_run_the_same_in_every_attempt(
    tmp_path: Path, apis: Apis
) -> None:
    service = Service(tmp_path, target("workflow", apis))
    apis.lose = 1
    assert service.deliver(CRON) == "failed"
    assert service.deliver(SCHEDULER) == "ran"
    later, first = apis.workflows
    assert (later["attempt"], first["attempt"]) == (2, 1)
    assert later["run_id"] == first["run_id"]
    assert later["scheduled_at"] == "2026-11-30T09:00:00+00:00"
    assert later["a"] == 1


def test_a_build_keeps_its_own_substitutions(tmp_path: Path, apis: Apis) -> None:
    assert Service(tmp_path, target("build", apis)).deliver(CRON) == "ran"
    (build,) = apis.builds
    assert set(build["substitutions"]) == {"_ENV", "_CRON_RUN_ID"}


def test_a_call_bears_the_runs_id_in_every_attempt(tmp_path: Path, apis: Apis) -> None:
    service = Service(tmp_path, target("call", apis))
    apis.lose = 1
    assert [service.deliver(CRON) for _ in range(2)] == ["failed", "ran"]
    first, later = (headers["Idempotency-Key"] for *_, headers in apis.calls)
    assert first == later
    assert len(first) == 32


@pytest.mark.parametrize("status", [302, 400, 403, 500])
def test_an_api_that_refuses_fails_the_run_and_is_quoted(
    tmp_path: Path, apis: Apis, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    apis.refuse = status
    assert Service(tmp_path, target("job", apis)).deliver(CRON) == "failed"
    assert f"{status} " in capsys.readouterr().out


def test_the_services_credentials_go_to_googles_apis_alone() -> None:
    for url in ("https://example.com/", "https://googleapis.com.evil.example/"):
        assert type(session_for(url)) is requests.Session


def test_googles_apis_get_the_services_own_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = AnonymousCredentials()
    monkeypatch.setattr("google.auth.default", lambda **_: (own, "shop"))
    monkeypatch.setattr("handlers.proxy._sessions", {})
    session = session_for("https://run.googleapis.com/v2/x")
    assert isinstance(session, AuthorizedSession)
    assert session.credentials is own
    assert session_for("https://cloudbuild.googleapis.com/v1/x") is session
