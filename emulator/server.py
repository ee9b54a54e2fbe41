"""The emulator's socket: HTTP on this machine's loopback address, a thread a client."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from emulator import control
from emulator.errors import invalid
from emulator.wire import CutOff, Reply, Request
from emulator.world import World

if TYPE_CHECKING:
    from types import TracebackType


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    world: World

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a client go that broke off; show anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # the base's own types are private


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def _handle(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        try:
            sent = json.loads(body) if body else None
        except ValueError as error:
            refusal = invalid(f"Invalid JSON payload received. {error}")
            self._send(Reply(refusal.status, refusal.to_json()))
            return
        request = Request(self.command, unquote(url.path), query, sent)
        world = self.server.world
        if request.path.startswith(control.PREFIX):
            self._send(control.reply(world, request))
            return
        reply = CutOff() if world.closing.is_set() else world.reply(request)
        match reply:
            case CutOff():
                self.close_connection = True
            case Reply():
                self._send(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the base's

    def _send(self, reply: Reply) -> None:
        """Send head and body in one piece: two would wait for each other's receipt."""
        body = json.dumps(reply.body, indent=2).encode()
        reason = HTTPStatus(reply.status).phrase
        head = (
            f"HTTP/1.1 {reply.status} {reason}\r\n"
            "Content-Type: application/json; charset=UTF-8\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's
        """Say nothing: the journal has every request."""


@dataclass(frozen=True, slots=True)
class Running:
    """An emulator at work, until it is closed."""

    url: str  # http://127.0.0.1:PORT, without a slash at its end
    world: World
    _server: _Server
    _thread: Thread

    def close(self) -> None:
        """Stop answering; requests that wait out a delay end at once."""
        self.world.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self.world.store.close()

    def wait(self) -> None:
        """Wait until it is closed."""
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def start(world: World | None = None, *, port: int = 0) -> Running:
    """Start an emulator on 127.0.0.1, on a free port unless one is named.

    The world is `World()` where none is given: a project `demo-project` with an app in
    us-central1, an empty store in memory, the machine's clock, and requests that are
    noted but not sent. Raises OSError where the port is taken.
    """
    server = _Server(("127.0.0.1", port), _Handler)
    server.world = world = world or World()
    thread = Thread(target=server.serve_forever, args=(0.05,), name="emulator")
    thread.start()
    return Running(f"http://127.0.0.1:{server.server_port}", world, server, thread)
