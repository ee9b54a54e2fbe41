"""The idempotent proxy: a run that starts something behind a Google API.

    tasks.proxy("/nightly", WorkflowsExecution("shop", "europe-west1", "nightly"))

A Cloud Scheduler job that calls *.googleapis.com itself starts one more execution for
every delivery, for those APIs know nothing of scheduled runs. Here the run is claimed
first, and the call bears the run's id in the place that its API has for it:

* Workflows: in the argument, for the workflow to pass on;
* Cloud Run jobs: as the variable CRON_RUN_ID of the containers;
* Cloud Build triggers: as the substitution _CRON_RUN_ID;
* any other HTTP call: as a header, Idempotency-Key.

Cloud Run jobs and builds do not look at such ids. So from a run's second attempt on,
what the first may have started is looked for, and not started again.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import urlsplit

import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from handlers.tasks import Run

RUN_ID: Final = "CRON_RUN_ID"
_CALL_SECONDS: Final = 60.0
_PAGES: Final = 20  # of a hundred: what was started since an attempt or two ago


class ProxyError(Exception):
    """The call failed: the run has failed with it, and may be tried again."""


_lock = threading.Lock()
_sessions: dict[str, requests.Session] = {}


def session_for(url: str) -> requests.Session:
    """Give a session: with the service's own credentials for Google's APIs alone."""
    host = urlsplit(url).hostname or ""
    kind = "google" if host.endswith(".googleapis.com") else "plain"
    with _lock:
        if kind not in _sessions:
            _sessions[kind] = _google() if kind == "google" else requests.Session()
        return _sessions[kind]


def _google() -> requests.Session:
    import google.auth  # noqa: PLC0415 - costs a start-up that most services spare
    from google.auth.transport.requests import AuthorizedSession  # noqa: PLC0415 - slow to load, and only a proxied task needs it

    credentials, _ = google.auth.default(
        scopes=["https://www.googleapis.com/auth/cloud-platform"]
    )
    session: requests.Session = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]  # google-auth's
    return session


@dataclass(frozen=True, slots=True)
class _Http:
    """Makes the calls of one run; checks before each that the run is still ours."""

    run: Run
    session: Callable[[str], requests.Session]

    def call(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        """Call, and give the answer's JSON. Raises ProxyError but for 2xx."""
        self.run.check()
        try:
            answer = self.session(url).request(
                method, url, timeout=_CALL_SECONDS, allow_redirects=False, **options
            )
        except requests.RequestException as error:
            raise ProxyError(f"{method} {url}: {error}") from error
        if not 200 <= answer.status_code < 300:
            raise ProxyError(
                f"{method} {url}: {answer.status_code} {answer.text[:500]}"
            )
        try:
            found = answer.json() if answer.content else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def pages(self, url: str, items: str, **params: str) -> Iterator[Mapping[str, Any]]:
        """Give the items of a list, newest first as these APIs give them."""
        token = ""
        for _ in range(_PAGES):
            asked = {**params, "pageSize": "100", "pageToken": token}
            page = self.call("GET", url, params=asked)
            yield from page.get(items, [])
            token = page.get("nextPageToken", "")
            if not token:
                return


@dataclass(frozen=True, slots=True)
class WorkflowsExecution:
    """Starts a workflow. Its argument gets `run_id`, `scheduled_at` and `attempt`.

    Role: roles/workflows.invoker on the workflow.
    """

    project: str
    location: str
    workflow: str
    argument: Mapping[str, Any] = field(default_factory=dict)
    endpoint: str = "https://workflowexecutions.googleapis.com"
    session: Callable[[str], requests.Session] = session_for

    def start(self, run: Run) -> None:
        """Start an execution that bears the run's id. Raises ProxyError."""
        argument = {
            **self.argument,
            "run_id": str(run.id),
            "scheduled_at": run.scheduled_at.isoformat(),
            "attempt": run.attempt,
        }
        name = (
            f"projects/{self.project}/locations/{self.location}"
            f"/workflows/{self.workflow}"
        )
        body = {"argument": json.dumps(argument)}
        http = _Http(run, self.session)
        http.call("POST", f"{self.endpoint}/v1/{name}/executions", json=body)


@dataclass(frozen=True, slots=True)
class CloudRunJob:
    """Executes a Cloud Run job, with CRON_RUN_ID in its containers' environment.

    The API has no other place: an execution's labels are the job's. Roles:
    roles/run.invoker and roles/run.viewer on the job (`run.jobs.runWithOverrides`
    comes with roles/run.developer).
    """

    project: str
    location: str
    job: str
    endpoint: str = "https://run.googleapis.com"
    session: Callable[[str], requests.Session] = session_for

    def start(self, run: Run) -> None:
        """Execute the job, unless an attempt before did. Raises ProxyError."""
        name = f"projects/{self.project}/locations/{self.location}/jobs/{self.job}"
        url = f"{self.endpoint}/v2/{name}"
        http = _Http(run, self.session)
        if run.attempt > 1 and any(
            self._bears(execution, str(run.id))
            for execution in http.pages(f"{url}/executions", "executions")
        ):
            return
        own = {"env": [{"name": RUN_ID, "value": str(run.id)}]}
        body = {"overrides": {"containerOverrides": [own]}}
        http.call("POST", f"{url}:run", json=body)

    @staticmethod
    def _bears(execution: Mapping[str, Any], run_id: str) -> bool:
        return any(
            variable.get("name") == RUN_ID and variable.get("value") == run_id
            for container in execution.get("template", {}).get("containers", [])
            for variable in container.get("env", [])
        )


@dataclass(frozen=True, slots=True)
class CloudBuildTrigger:
    """Runs a build trigger, with the substitution _CRON_RUN_ID.

    `source` is the API's RepoSource, such as {"branchName": "main"}. A build that
    wants the id as a tag says so itself: tags: ["cron-$_CRON_RUN_ID"]. Role:
    roles/cloudbuild.builds.editor.
    """

    project: str
    location: str
    trigger: str
    source: Mapping[str, Any] = field(default_factory=dict)
    endpoint: str = "https://cloudbuild.googleapis.com"
    session: Callable[[str], requests.Session] = session_for

    SUBSTITUTION: ClassVar[str] = f"_{RUN_ID}"

    def start(self, run: Run) -> None:
        """Run the trigger, unless an attempt before did. Raises ProxyError."""
        place = f"projects/{self.project}/locations/{self.location}"
        url = f"{self.endpoint}/v1/{place}"
        http = _Http(run, self.session)
        wanted = f'trigger_id="{self.trigger}"'
        if run.attempt > 1 and any(
            build.get("substitutions", {}).get(self.SUBSTITUTION) == str(run.id)
            for build in http.pages(f"{url}/builds", "builds", filter=wanted)
        ):
            return
        substitutions = {
            **self.source.get("substitutions", {}),
            self.SUBSTITUTION: str(run.id),
        }
        body = {
            "projectId": self.project,
            "triggerId": self.trigger,
            "source": {**self.source, "substitutions": substitutions},
        }
        http.call("POST", f"{url}/triggers/{self.trigger}:run", json=body)


@dataclass(frozen=True, slots=True)
class HttpCall:
    """Calls a url, with the run's id in a header that its service knows.

    The service's own credentials go to *.googleapis.com alone.
    """

    url: str
    method: str = "POST"
    body: Mapping[str, Any] | None = None
    token_header: str = "Idempotency-Key"  # noqa: S105 - a header's name, no secret
    session: Callable[[str], requests.Session] = session_for

    def start(self, run: Run) -> None:
        """Make the call. Raises ProxyError."""
        headers = {self.token_header: str(run.id)}
        options = {} if self.body is None else {"json": dict(self.body)}
        http = _Http(run, self.session)
        http.call(self.method, self.url, headers=headers, **options)


Target = WorkflowsExecution | CloudRunJob | CloudBuildTrigger | HttpCall
