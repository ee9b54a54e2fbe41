"""Tokens of Cloud Scheduler's HTTP targets: signed by Google, for us, by our job.

The signature is checked with google-auth against Google's certificates, which are
cached for as long as Google says. A fetch that fails refuses; it never admits.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import requests
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from handlers.hosting import Platform
from handlers.request import (
    Admitted,
    Refusal,
    Sender,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from handlers.settings import Oidc

SIGNATURE_REMOVED: Final = "SIGNATURE_REMOVED_BY_GOOGLE"
"""What Cloud Run puts in a signature's place once its IAM has checked it."""

ISSUERS: Final = frozenset({"accounts.google.com", "https://accounts.google.com"})
_SKEW: Final = timedelta(seconds=10)
_FETCH_SECONDS: Final = 5.0
_LEAST_AGE: Final = 60.0
_MOST_AGE: Final = 86_400.0
_DEFAULT_AGE: Final = 3_600.0


class CertificatesError(Exception):
    """The certificates cannot be had."""


class Certificates:
    """Google's certificates by key id, fetched when needed and then kept."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._known: Mapping[str, str] = {}
        self._good_until = 0.0
        self._asked_at = float("-inf")

    def holding(self, key_id: str) -> Mapping[str, str]:
        """Give the certificates, fetched anew if old or without `key_id`.

        Not more than once a minute for an unknown id. Raises CertificatesError.
        """
        with self._lock:
            now = time.monotonic()
            stale = now >= self._good_until
            may_ask = now >= self._asked_at + _LEAST_AGE
            if stale or (key_id not in self._known and may_ask):
                self._fetch(now)
            return self._known

    def _fetch(self, now: float) -> None:
        self._asked_at = now
        try:
            answer = requests.get(self._url, timeout=_FETCH_SECONDS)
            answer.raise_for_status()
            found = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise CertificatesError(f"{self._url}: {error}") from error
        if not isinstance(found, dict) or not found:
            raise CertificatesError(f"{self._url}: no certificates in the answer")
        self._known = {str(key): str(value) for key, value in found.items()}
        age = re.search(
            r"max-age=(\d{1,9})", answer.headers.get("Cache-Control", ""), re.ASCII
        )
        seconds = float(age[1]) if age else _DEFAULT_AGE
        self._good_until = now + min(max(seconds, _LEAST_AGE), _MOST_AGE)


@dataclass(frozen=True, slots=True)
class Verifier:
    """Checks the tokens of one service."""

    oidc: Oidc
    platform: Platform
    certificates: Certificates

    def verify(self, token: str, now: datetime) -> Admitted | Refusal:
        """Decide whether the token's bearer is one of our jobs."""
        if token.rpartition(".")[2] == SIGNATURE_REMOVED:
            return self._checked_by_google(token, now)
        try:
            header = jwt.decode_header(token)  # type: ignore[no-untyped-call]  # google-auth's
            certificates = self.certificates.holding(str(header.get("kid")))
            claims = jwt.decode(  # type: ignore[no-untyped-call]  # google-auth's
                token,
                certs=certificates,
                clock_skew_in_seconds=int(_SKEW.total_seconds()),
            )
        except CertificatesError as error:
            return Refusal(
                f"Google's certificates cannot be fetched, so no token can be checked: "
                f"{error}",
                "the service must reach that address",
            )
        except (GoogleAuthError, ValueError, TypeError, RecursionError) as error:
            return Refusal(f"the token does not hold: {error}")
        return admit(claims, self.oidc)

    def _checked_by_google(self, token: str, now: datetime) -> Admitted | Refusal:
        """Pass on its claims alone what Cloud Run's IAM has checked and stripped."""
        if self.platform is not Platform.CLOUD_RUN:
            return Refusal("the token's signature is removed, and this is no Cloud Run")
        if not self.oidc.iam:
            return Refusal(
                "the token's signature is removed: Cloud Run's IAM has checked it, if "
                "the service admits no unauthenticated callers",
                "set CRON_OIDC_IAM=1 if it was deployed with "
                "--no-allow-unauthenticated; if not, anybody can write such a token",
            )
        claims = _claims(token)
        if claims is None:
            return Refusal("the token's claims cannot be read")
        expires = claims.get("exp")
        if now.timestamp() > _seconds(expires) + _SKEW.total_seconds():
            return Refusal(f"the token has expired, or never says when: {expires!r}")
        return admit(claims, self.oidc)


def _claims(token: str) -> Mapping[str, object] | None:
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        text = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = json.loads(text)
    except (binascii.Error, ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


def _seconds(claim: object) -> float:
    """Read a time since 1970; what is no time is long ago."""
    if isinstance(claim, bool) or not isinstance(claim, int | float):
        return 0.0
    seconds = float(str(claim))  # an int of hundreds of digits becomes infinite
    return seconds if math.isfinite(seconds) else 0.0


def admit(claims: Mapping[str, object], oidc: Oidc) -> Admitted | Refusal:
    """Decide by the claims of a token that is known to be Google's and in time."""
    issuer, audience = claims.get("iss"), claims.get("aud")
    if issuer not in ISSUERS:
        return Refusal(f"the token's issuer is {issuer!r}, not Google")
    if not isinstance(audience, str) or audience not in oidc.audiences:
        return Refusal(
            f"the token is for {audience!r}",
            "CRON_OIDC_AUDIENCE must have the audience of the job's OIDC token",
        )
    email = claims.get("email")
    if not isinstance(email, str) or email not in oidc.emails:
        return Refusal(
            f"the token is that of {email!r}",
            "CRON_OIDC_EMAILS must have the service account of the job",
        )
    if claims.get("email_verified") is not True:
        return Refusal(f"the e-mail {email!r} is not verified")
    return Admitted(Sender.OIDC)
