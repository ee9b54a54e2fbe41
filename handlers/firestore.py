"""Runs in Firestore: one document a register, conditional writes, no transactions.

A create carries the precondition that there is no document, a replace that it has the
update time that was read: one call each, where a transaction takes three. A TTL
policy on `expire_at` removes old documents (docs/handlers.md has the command).
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from google.api_core import exceptions
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.cloud import firestore

from handlers.record import (
    Conflict,
    Record,
    RegisterKey,
    Stored,
    StoreError,
    StoreUnreachableError,
    from_fields,
    to_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# The service's words, and the emulator's.
_DATASTORE_MODE: Final = re.compile(r"in Datastore Mode|not set to Firestore Mode")
_NO_DATABASE: Final = re.compile(
    r"\b(database|project)\b.*does not exist", re.IGNORECASE
)
CALL_SECONDS: Final = 5.0
"""The client's own default hides up to a minute of retries behind one call."""

# What says that somebody was faster: to a create, and to a replace.
_TAKEN: Final = (exceptions.AlreadyExists, exceptions.Aborted)
_MOVED: Final = (
    exceptions.FailedPrecondition,
    exceptions.NotFound,
    exceptions.Aborted,
)


class FirestoreStore:
    """A store in a collection of a project's Firestore database."""

    def __init__(self, project: str, collection: str, database: str) -> None:
        self._project = project
        self._collection = collection
        self._database = database
        self._lock = threading.Lock()
        self._made: tuple[int, firestore.Client] | None = None

    def _client(self) -> firestore.Client:
        """Give this process's client; one that was made before a fork would hang."""
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                client = firestore.Client(
                    project=self._project, database=self._database
                )
                self._made = os.getpid(), client
            return self._made[1]

    def _document(self, name: str) -> firestore.DocumentReference:
        return self._client().collection(self._collection).document(name)

    def check(self) -> None:
        """Reach the database once. Raises StoreError with the way out."""
        with self._as_store_errors():
            self._document("check").get(retry=None, timeout=CALL_SECONDS)

    def read(self, key: RegisterKey) -> Stored | None:
        """Give the record of a register, if it has one."""
        with self._as_store_errors():
            found = self._document(key.digest).get(retry=None, timeout=CALL_SECONDS)
        fields = found.to_dict()
        if fields is None:
            return None
        return Stored(from_fields(key, fields), found.update_time)

    def create(self, record: Record) -> Stored | Conflict:
        """Write the first record of a register."""
        try:
            with self._as_store_errors(_TAKEN):
                written = self._document(record.key.digest).create(
                    to_fields(record), retry=None, timeout=CALL_SECONDS
                )
        except _TAKEN:
            return Conflict()
        return Stored(record, written.update_time)

    def replace(self, record: Record, version: object) -> Stored | Conflict:
        """Write over `version` of a record."""
        try:
            with self._as_store_errors(_MOVED):
                option = self._client().write_option(last_update_time=version)
                written = self._document(record.key.digest).update(
                    to_fields(record), option, retry=None, timeout=CALL_SECONDS
                )
        except _MOVED:
            return Conflict()
        return Stored(record, written.update_time)

    @contextmanager
    def _as_store_errors(
        self, conflicts: tuple[type[exceptions.GoogleAPICallError], ...] = ()
    ) -> Iterator[None]:
        """Turn what is none of `conflicts` into a StoreError; those pass."""
        where = f"Firestore, project {self._project!r}, database {self._database!r}"
        try:
            yield
        except DefaultCredentialsError as error:
            raise StoreError(
                f"{where}: no credentials; on this machine: "
                "gcloud auth application-default login"
            ) from error
        except GoogleAuthError as error:
            raise StoreUnreachableError(f"{where}: {error}") from error
        except (exceptions.FailedPrecondition, exceptions.NotFound) as error:
            self._raise_if_unusable(where, error)
            if isinstance(error, conflicts):
                raise
            raise StoreError(f"{where}: {error.message}; see CRON_STORE") from error
        except (exceptions.Forbidden, exceptions.Unauthorized) as error:
            raise StoreError(
                f"{where}: {error.message}; the service's account needs "
                f"roles/datastore.user: gcloud projects add-iam-policy-binding "
                f"{self._project} --member serviceAccount:ACCOUNT "
                "--role roles/datastore.user"
            ) from error
        except exceptions.InvalidArgument as error:
            self._raise_if_unusable(where, error)
            raise StoreError(f"{where}: {error.message}; see CRON_STORE") from error
        except exceptions.GoogleAPICallError as error:
            if isinstance(error, conflicts):
                raise
            raise StoreUnreachableError(f"{where}: {error.message}") from error

    def _raise_if_unusable(
        self, where: str, error: exceptions.GoogleAPICallError
    ) -> None:
        """Tell a database that cannot serve from a record that has changed."""
        message = error.message
        create = (
            f"gcloud firestore databases create --project {self._project} "
            "--database=cron-runs --location=LOCATION --type=firestore-native, and "
            f"CRON_STORE=firestore://{self._project}/{self._collection}"
            "?database=cron-runs"
        )
        if _DATASTORE_MODE.search(message):
            raise StoreError(
                f"{where} is in Datastore mode, which this client cannot use (the "
                f"default of older App Engine apps). Make a second one: {create}"
            ) from error
        # A document that is gone is not found either, with a path that names its
        # database: "No document to update: projects/p/databases/d/documents/...".
        if _NO_DATABASE.search(message):
            raise StoreError(f"{where}: {message}. Make one: {create}") from error
