"""Tokens: real signatures, real certificates, fetched over real HTTP."""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt
from google.auth.crypt import RSASigner

from handlers import create_app
from handlers.hosting import Platform
from handlers.oidc import SIGNATURE_REMOVED, Certificates, CertificatesError, Verifier
from handlers.request import (
    Admitted,
    Refusal,
    Sender,
)
from handlers.settings import Oidc
from tests.handlers.support import Recorder, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AUDIENCE = "https://cron.example.com"
EMAIL = "cron@shop.iam.gserviceaccount.com"


NESTED = base64.urlsafe_b64encode(b"[" * 6000).decode()


class Signer:
    """Stands for Google's: a key, and the certificate that is published for it."""

    def __init__(self, key_id: str) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .sign(key, hashes.SHA256())
        )
        self.key_id = key_id
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM).decode()
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        self._signer = RSASigner.from_string(pem, key_id)

    def token(self, **changes: object) -> str:
        now = int(time.time())
        claims = {
            "iss": "https://accounts.google.com",
            "aud": AUDIENCE,
            "email": EMAIL,
            "email_verified": True,
            "iat": now,
            "exp": now + 3600,
            **changes,
        }
        kept = {name: value for name, value in claims.items() if value is not None}
        token: bytes = jwt.encode(self._signer, kept)
        return token.decode()


class CertsServer:
    """Publishes certificates, and counts how often it is asked."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.status = 200
        self.asked = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked += 1
                body = json.dumps(server.known).encode()
                self.send_response(server.status)
                self.send_header("Cache-Control", "public, max-age=3600")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/certs"
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def google() -> Signer:
    return Signer("google")


@pytest.fixture(scope="module")
def stranger() -> Signer:
    return Signer("google")  # claims the same key id


@pytest.fixture
def certs(google: Signer) -> Iterator[CertsServer]:
    server = CertsServer()
    server.known[google.key_id] = google.certificate
    yield server
    server.close()


def verifier(
    certs: CertsServer,
    platform: Platform = Platform.ELSEWHERE,
    *,
    iam: bool = False,
) -> Verifier:
    oidc = Oidc(frozenset({AUDIENCE}), frozenset({EMAIL}), certs.url, iam)
    return Verifier(oidc, platform, Certificates(certs.url))


def verify(checked: Verifier, token: str) -> Admitted | Refusal:
    return checked.verify(token, datetime.now(UTC))


def test_our_jobs_token_comes_in(google: Signer, certs: CertsServer) -> None:
    assert verify(verifier(certs), google.token()) == Admitted(Sender.OIDC)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://evil.example"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"aud": "https://other.example.com"}, "is for"),
        ({"aud": None}, "is for"),
        ({"aud": [AUDIENCE]}, "is for"),
        ({"aud": AUDIENCE + "/"}, "is for"),
        ({"email": "other@shop.iam.gserviceaccount.com"}, "is that of"),
        ({"email": None}, "is that of"),
        ({"email": EMAIL.upper()}, "is that of"),
        ({"email_verified": False}, "not verified"),
        ({"email_verified": "true"}, "not verified"),
        ({"email_verified": None}, "not verified"),
        ({"exp": int(time.time()) - 60}, "does not hold"),
        ({"iat": int(time.time()) + 600}, "does not hold"),
        ({"exp": None}, "does not hold"),
    ],
)
def test_a_token_that_is_not_ours_is_refused(
    google: Signer, certs: CertsServer, changes: dict[str, object], reason: str
) -> None:
    refusal = verify(verifier(certs), google.token(**changes))
    assert isinstance(refusal, Refusal)
    assert reason in refusal.reason


def test_a_strangers_signature_is_refused(stranger: Signer, certs: CertsServer) -> None:
    assert isinstance(verify(verifier(certs), stranger.token()), Refusal)


def unsigned(token: str, signature: str = SIGNATURE_REMOVED) -> str:
    return f"{token.rpartition('.')[0]}.{signature}"


@pytest.mark.parametrize(
    "token",
    [
        "",
        "abc",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "undefined",
        "eyJhbGciOiJub25lIn0.e30.",
        "\x00.\x00.\x00",
        "é.è.à",
        "." * 50_000,
        f"{NESTED}.{NESTED}.{NESTED}",
    ],
)
def test_junk_for_a_token_is_refused(certs: CertsServer, token: str) -> None:
    assert isinstance(verify(verifier(certs), token), Refusal)
    cloud_run = verifier(certs, Platform.CLOUD_RUN, iam=True)
    assert isinstance(verify(cloud_run, token), Refusal)
    assert isinstance(verify(cloud_run, f"{token}.{SIGNATURE_REMOVED}"), Refusal)


def test_a_token_without_an_algorithm_is_refused(
    google: Signer, certs: CertsServer
) -> None:
    head = base64.urlsafe_b64encode(b'{"alg":"none","kid":"google"}').decode()
    claims = google.token().split(".")[1]
    assert isinstance(verify(verifier(certs), f"{head}.{claims}."), Refusal)


# --- Certificates -----------------------------------------------------------------


def test_certificates_are_kept_while_they_are_good(
    google: Signer, certs: CertsServer
) -> None:
    checked = verifier(certs)
    for _ in range(5):
        assert verify(checked, google.token()) == Admitted(Sender.OIDC)
    assert certs.asked == 1


def test_a_new_key_is_fetched_but_not_for_every_unknown_one(
    google: Signer, certs: CertsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Certificates(certs.url)
    kept.holding(google.key_id)
    later = time.monotonic() + 61
    monkeypatch.setattr("handlers.oidc.time.monotonic", lambda: later)
    certs.known["new"] = google.certificate
    assert "new" in kept.holding("new")
    for _ in range(5):
        assert "unknown" not in kept.holding("unknown")
    assert certs.asked == 2


def test_a_stranger_cannot_make_it_fetch_again_and_again_from_an_address_that_fails(
    google: Signer, certs: CertsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Certificates(certs.url)
    kept.holding(google.key_id)
    later = time.monotonic() + 61
    monkeypatch.setattr("handlers.oidc.time.monotonic", lambda: later)
    certs.status = 500
    with pytest.raises(CertificatesError):
        kept.holding("unknown")
    for _ in range(5):
        assert "unknown" not in kept.holding("unknown")
    assert certs.asked == 2


@pytest.mark.parametrize("status", [500, 404])
def test_a_failing_fetch_refuses(
    google: Signer, certs: CertsServer, status: int
) -> None:
    certs.status = status
    refusal = verify(verifier(certs), google.token())
    assert isinstance(refusal, Refusal)
    assert "certificates cannot be fetched" in refusal.reason


@pytest.mark.parametrize("answer", [{}, []])
def test_an_answer_without_certificates_refuses(
    certs: CertsServer, answer: dict[str, str]
) -> None:
    certs.known = answer
    with pytest.raises(CertificatesError):
        Certificates(certs.url).holding("google")


def test_nobody_at_the_certificates_address_refuses(google: Signer) -> None:
    oidc = Oidc(frozenset({AUDIENCE}), frozenset({EMAIL}))
    away = Certificates("http://127.0.0.1:1/certs")
    refusal = verify(Verifier(oidc, Platform.ELSEWHERE, away), google.token())
    assert isinstance(refusal, Refusal)


# --- Cloud Run behind IAM -----------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "iam", "comes_in", "told"),
    [
        (Platform.CLOUD_RUN, True, True, ""),
        (Platform.CLOUD_RUN, False, False, "CRON_OIDC_IAM=1"),
        (Platform.ELSEWHERE, True, False, "no Cloud Run"),
        (Platform.APP_ENGINE, True, False, "no Cloud Run"),
    ],
)
def test_a_stripped_token_comes_in_only_behind_cloud_runs_iam(
    google: Signer,
    certs: CertsServer,
    platform: Platform,
    iam: bool,  # noqa: FBT001 - a table's column
    comes_in: bool,  # noqa: FBT001 - a table's column
    told: str,
) -> None:
    result = verify(verifier(certs, platform, iam=iam), unsigned(google.token()))
    assert isinstance(result, Admitted if comes_in else Refusal)
    if isinstance(result, Refusal):
        assert told in f"{result.reason} {result.fix}"


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://other.example.com"},
        {"email": "other@shop.iam.gserviceaccount.com"},
        {"email_verified": False},
        {"iss": "https://evil.example"},
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
    ],
)
def test_a_stripped_tokens_claims_are_checked_all_the_same(
    google: Signer, certs: CertsServer, changes: dict[str, object]
) -> None:
    checked = verifier(certs, Platform.CLOUD_RUN, iam=True)
    token = unsigned(google.token(**changes))
    assert isinstance(verify(checked, token), Refusal)


def test_another_word_for_the_signature_is_no_leave(
    google: Signer, certs: CertsServer
) -> None:
    checked = verifier(certs, Platform.CLOUD_RUN, iam=True)
    for word in ("SIGNATURE_REMOVED", SIGNATURE_REMOVED.lower(), ""):
        assert isinstance(verify(checked, unsigned(google.token(), word)), Refusal)


# --- Through the service --------------------------------------------------------------


def test_an_http_targets_job_runs_by_its_token_and_scope(
    tmp_path: Path, google: Signer, certs: CertsServer
) -> None:
    cron = "cron:\n- {url: /a, schedule: every day 09:00}\n"
    tasks = Recorder("/a")
    known = settings(
        tmp_path,
        cron,
        K_SERVICE="cron",
        CRON_OIDC_AUDIENCE=AUDIENCE,
        CRON_OIDC_EMAILS=EMAIL,
        CRON_SCOPE="shop/europe-west1",
    )
    # On Cloud Run certificates come over https alone; these are served on loopback.
    oidc = Oidc(frozenset({AUDIENCE}), frozenset({EMAIL}), certs.url)
    known = replace(known, oidc=oidc)
    app = create_app(known, tasks, lambda: datetime(2026, 11, 30, 9, tzinfo=UTC))
    client = app.test_client()

    def deliver(token: str, scope: str = "") -> tuple[int, str]:
        headers = {
            "Authorization": f"Bearer {token}",
            "X-CloudScheduler": "true",
            "X-CloudScheduler-JobName": "a",
            "X-CloudScheduler-ScheduleTime": "2026-11-30T09:00:00Z",
        }
        if scope:
            headers["X-Cron-Scope"] = scope
        answer = client.get("/a", headers=headers)
        return answer.status_code, answer.headers.get("X-Cron-Outcome", "")

    assert deliver("") == (403, "")
    assert deliver(google.token(aud="x")) == (403, "")
    assert deliver(google.token()) == (200, "ran")
    # CRON_SCOPE names the app's own: a move to HTTP targets dedups too.
    assert deliver(google.token(), "shop/europe-west1") == (200, "duplicate")
    assert deliver(google.token(), "other/europe-west1") == (200, "ran")
    assert len(tasks.runs) == 2
