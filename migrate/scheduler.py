"""Cloud Scheduler's API through Google's client: the only place that talks to it.

gRPC with the application's default credentials; REST without any where
CLOUD_SCHEDULER_EMULATOR_HOST is set (HOST:PORT), as Google's other emulators have it.
v1 serves our jobs, v1beta1 those that `gcloud app deploy cron.yaml` made. The client's
own time-outs and repetitions are off: `migrate.store` has its own.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import google.auth
import grpc  # type: ignore[import-untyped]  # ships no types
import requests
from google.api_core.exceptions import GoogleAPICallError, RetryError
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError
from google.cloud import scheduler_v1
from google.protobuf.field_mask_pb2 import (  # type: ignore[import-untyped]  # as grpc
    FieldMask,
)
from google.protobuf.json_format import (  # type: ignore[import-untyped]  # as grpc
    MessageToDict,
    ParseDict,
    ParseError,
)

from migrate.appengine import EMULATOR
from migrate.pacing import READS_A_MINUTE, WRITES_A_MINUTE, Bucket, Patience
from migrate.problems import Answer, Call, Hopeless, lost, no_credentials, problem
from migrate.store import JobStore, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate.job import Json

__all__ = ["EMULATOR", "GoogleApi", "connected"]

_PAGE_SIZE: Final = 500


@contextmanager
def connected(patience: Patience | None = None) -> Iterator[JobStore]:
    """Give the jobs of the real API, or of the emulator that the environment names."""
    patience = patience or Patience()
    api = GoogleApi(patience.timeout, os.environ.get(EMULATOR, ""))
    try:
        yield JobStore(
            api=api,
            writes=Bucket(WRITES_A_MINUTE, time.monotonic, time.sleep),
            reads=Bucket(READS_A_MINUTE, time.monotonic, time.sleep),
            sleep=time.sleep,
            patience=patience,
        )
    finally:
        api.close()


@dataclass
class GoogleApi:
    """The API by Google's client; `timeout` is seconds, `emulator` HOST:PORT or ""."""

    timeout: float
    emulator: str = ""

    def page(self, parent: str, token: str, *, legacy: bool) -> Page:
        """Give a page of the jobs of one kind."""
        with _told(Call("list", f"{parent}/jobs")):
            # The pager would ask for the following pages out of our sight.
            if legacy:
                listed = self._beta.list_jobs(
                    self._beta_types.ListJobsRequest(
                        parent=parent,
                        page_size=_PAGE_SIZE,
                        page_token=token,
                        legacy_app_engine_cron=True,
                    ),
                    **self._how,
                )
            else:
                listed = self._client.list_jobs(
                    scheduler_v1.ListJobsRequest(
                        parent=parent, page_size=_PAGE_SIZE, page_token=token
                    ),
                    **self._how,
                )
            first = next(iter(listed.pages))
            found = type(first).pb(first)
            return Page(
                [MessageToDict(job) for job in found.jobs], first.next_page_token
            )

    def get(self, name: str) -> Json:
        """Give one job that is not legacy."""
        with _told(Call("get", name)):
            return _json(self._client.get_job(name=name, **self._how))

    def create(self, parent: str, job: Json, *, legacy: bool) -> Json:
        """Make a job; the server names one that has no name."""
        with _told(Call("create", job.get("name", f"{parent}/jobs/"))):
            if legacy:
                sent = self._beta_types.Job()
                marked = {**job, "legacyAppEngineCron": True}
                ParseDict(marked, self._beta_types.Job.pb(sent))
                made = self._beta.create_job(parent=parent, job=sent, **self._how)
            else:
                made = self._client.create_job(
                    parent=parent, job=_job(job), **self._how
                )
            return _json(made)

    def update(self, job: Json, mask: Sequence[str]) -> Json:
        """Set the masked fields (paths in camelCase) as `job` has them."""
        paths = [re.sub(r"([A-Z])", r"_\1", path).lower() for path in mask]
        with _told(Call("update", job["name"])):
            changed = self._client.update_job(
                job=_job(job), update_mask=FieldMask(paths=paths), **self._how
            )
            return _json(changed)

    def delete(self, name: str, *, legacy: bool) -> None:
        """Delete a job."""
        with _told(Call("delete", name)):
            if legacy:
                self._beta.delete_job(
                    self._beta_types.DeleteJobRequest(
                        name=name, legacy_app_engine_cron=True
                    ),
                    **self._how,
                )
            else:
                self._client.delete_job(name=name, **self._how)

    def pause(self, name: str) -> Json:
        """Stop an enabled job from firing."""
        with _told(Call("pause", name)):
            return _json(self._client.pause_job(name=name, **self._how))

    def resume(self, name: str) -> Json:
        """Let a paused job fire again."""
        with _told(Call("resume", name)):
            return _json(self._client.resume_job(name=name, **self._how))

    def close(self) -> None:
        """Close the connections that were opened."""
        for client in ("_client", "_beta"):
            if client in self.__dict__:
                self.__dict__[client].transport.close()

    @property
    def _how(self) -> dict[str, Any]:
        return {"retry": None, "timeout": self.timeout}

    @cached_property
    def _client(self) -> Any:
        return self._connected(scheduler_v1.CloudSchedulerClient)

    @cached_property
    def _beta(self) -> Any:
        return self._connected(self._beta_types.CloudSchedulerClient)

    @cached_property
    def _beta_types(self) -> Any:
        return import_module("google.cloud.scheduler_v1beta1")  # few commands need it

    def _connected(self, client: Any) -> Any:
        if not self.emulator:
            return client(credentials=_credentials())
        transport = client.get_transport_class("rest")(
            host=self.emulator,
            url_scheme="http",
            credentials=AnonymousCredentials(),  # type: ignore[no-untyped-call]  # google-auth types it not
        )
        # An emulator is no matter for the environment's proxies and passwords.
        transport._session.trust_env = False  # noqa: SLF001 - there is no other door
        return client(transport=transport)


def _credentials() -> Any:
    try:
        credentials, _ = google.auth.default(
            scopes=["https://www.googleapis.com/auth/cloud-platform"]
        )
    except GoogleAuthError as error:
        raise Hopeless(no_credentials(str(error))) from None
    return credentials


def _job(job: Json) -> scheduler_v1.Job:
    sent = scheduler_v1.Job()
    known = {k: v for k, v in job.items() if k != "legacyAppEngineCron"}
    ParseDict(known, scheduler_v1.Job.pb(sent), ignore_unknown_fields=True)
    return sent


def _json(job: Any) -> Json:
    return dict(MessageToDict(type(job).pb(job)))


@contextmanager
def _told(call: Call) -> Iterator[None]:
    """Raise what Google's libraries raise as an ApiError."""
    try:
        yield
    except GoogleAPICallError as error:
        raise problem(call, _answer(error)) from None
    except (requests.RequestException, grpc.RpcError, RetryError, ParseError) as error:
        raise lost(call, type(error).__name__) from None
    except GoogleAuthError as error:
        raise Hopeless(no_credentials(str(error))) from None


def _answer(error: GoogleAPICallError) -> Answer:
    """Read an error of either transport; over HTTP, its class alone says too little."""
    status, message = "", error.message
    if isinstance(error.response, requests.Response):
        status, message = _of_body(error.response)
    elif error.grpc_status_code is not None:
        status = error.grpc_status_code.name
    metadata = {k: str(v) for k, v in (error.metadata or {}).items()}
    return Answer(status, str(message), str(error.reason or ""), metadata)


def _of_body(response: requests.Response) -> tuple[str, str]:
    """Give status and message; a body that is none of Google's says: unavailable."""
    try:
        told = response.json()["error"]
        return str(told["status"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        unsure = response.status_code >= 500
        status = "UNAVAILABLE" if unsure else "INVALID_ARGUMENT"
        return status, f"HTTP {response.status_code} {response.reason}"
