"""What a service's /healthz is taken for, over real HTTP."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from migrate.cutover.ways import Health, Silent
from migrate.hosts import health_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGESTS = json.dumps({"version": "1", "entries": "e" * 64, "store": "s" * 64})


@contextmanager
def serving(*answers: tuple[str, int, str]) -> Iterator[str]:
    """Serve these (path, status, body); one path's answers in turn, else 404."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = next((n for n, one in enumerate(left) if one[0] == self.path), None)
            _, status, body = ("", 404, "none") if at is None else left[at]
            if at is not None and sum(one[0] == self.path for one in left) > 1:
                left.pop(at)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_a_host_is_known_by_its_digests() -> None:
    with serving(("/healthz", 200, DIGESTS)) as url:
        assert health_of(url) == Health("e" * 64, "s" * 64)


def test_where_the_front_end_keeps_the_path_the_other_one_is_asked() -> None:
    with serving(("/healthz/", 200, DIGESTS)) as url:
        assert health_of(url) == Health("e" * 64, "s" * 64)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([("/healthz", 200, "ok")], "not as a host does"),
        ([("/healthz", 200, "[1]")], "answers 200, not as a host does"),
        ([("/healthz", 503, "")], "answers 503, not as a host does"),
        ([], "/healthz/ answers 404"),
        (
            [("/healthz", 200, DIGESTS), ("/healthz", 200, DIGESTS.replace("e", "f"))],
            "now one, now another",
        ),
    ],
)
def test_anything_else_is_no_host(
    answers: list[tuple[str, int, str]], words: str
) -> None:
    with serving(*answers) as url:
        found = health_of(url)
    assert isinstance(found, Silent)
    assert words in found.why


def test_nobody_there_is_no_host_either() -> None:
    with serving() as url:
        pass
    found = health_of(url, timeout=1)
    assert isinstance(found, Silent)
    assert "gives no answer" in found.why
