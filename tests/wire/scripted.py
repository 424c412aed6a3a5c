"""An API server on loopback that does exactly what a test tells it, however badly.

For: playing answers, in order, for each path, over real sockets (and TLS, if asked to).
Not for: knowing Kubernetes; `storm.py` has a server that does.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable

CLEAN, CUT, HOLD = "clean", "cut", "hold"
"""How a stream ends: properly; in the middle of things; not at all, until the test is over."""

PATIENCE_S = 10.0
"""How long a test waits for what must happen before it fails; never reached in a good run."""


@dataclass(frozen=True)
class Answer:
    """A whole body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """Chunks as they are, one write each; a callable among them is called at its turn."""

    pieces: tuple[bytes | Callable[[], object], ...] = ()
    end: str = HOLD


@dataclass(frozen=True)
class Mute:
    """Read the request and say nothing, not even a status line."""


@dataclass(frozen=True)
class Seen:
    """A request as it came, with the test clock's time."""

    at: float
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    verb: str = "GET"
    body: bytes = b""

    @property
    def watch(self) -> bool:
        return self.query.get("watch") == "true"


Step = Answer | Stream | Mute


class ScriptedServer:
    """Plays `script(path, *steps)`; a path without a step left holds a watch open, fails a list.

    A path may say `?` and a fieldSelector, and is then for requests with that one.
    `otherwise(path, answer)` is what lists of a path are then answered, for ever.
    """

    def __init__(
        self,
        now: Callable[[], float] = lambda: 0.0,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.now = now
        self.tls = tls
        self._steps: dict[str, deque[Step]] = defaultdict(deque)
        self._otherwise: dict[str, Answer] = {}
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self.connections = 0
        self.brain: Callable[[Seen], Step] | None = None
        self.seen: list[Seen] = []
        self.faults: list[BaseException] = []
        self._httpd = _Httpd(("127.0.0.1", port), _handler(self))
        self._httpd.owner = self
        if tls is not None:
            self._httpd.socket = tls.wrap_socket(self._httpd.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.port = self._httpd.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(
            target=self._httpd.serve_forever, kwargs={"poll_interval": 0.01}
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._httpd.shutdown()
        self._thread.join()
        for connection in list(self._connections):
            _shut(connection)
        self._httpd.server_close()  # joins the threads of all connections
        assert not self.faults, self.faults

    def script(self, path: str, *steps: Step) -> None:
        with self._changed:
            self._steps[path].extend(steps)

    def otherwise(self, path: str, answer: Answer) -> None:
        with self._changed:
            self._otherwise[path] = answer

    def wait_seen(self, count: int, path: str | None = None) -> list[Seen]:
        """Wait until `count` requests (to `path`) have come; returns all that have."""
        with self._changed:
            done = self._changed.wait_for(lambda: len(self._at(path)) >= count, PATIENCE_S)
            assert done, f"{count} requests expected, these came: {self.seen}"
            return self._at(path)

    def _at(self, path: str | None) -> list[Seen]:
        return [one for one in self.seen if path in (None, one.path)]

    def take(self, seen: Seen) -> Step:
        selected = f"{seen.path}?{seen.query.get('fieldSelector', '')}"
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()
            for path in (selected, seen.path):
                if self.brain is None and self._steps[path]:
                    return self._steps[path].popleft()
        if self.brain is not None:
            return self.brain(seen)
        if seen.watch:
            return Stream()
        return self._otherwise.get(seen.path, Answer(500, b"the script has ended"))

    def play(self, handler: BaseHTTPRequestHandler, step: Step) -> None:
        if isinstance(step, Answer):
            handler.send_response(step.status)
            for name, value in step.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(step.body)))
            handler.end_headers()
            handler.wfile.write(step.body)
            return
        if isinstance(step, Stream):
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for piece in step.pieces:
                if callable(piece):
                    piece()
                else:
                    handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if step.end == CLEAN:
                handler.wfile.write(b"0\r\n\r\n")
                return
        if isinstance(step, Mute) or step.end == HOLD:
            self._closing.wait(PATIENCE_S * 2)
        handler.close_connection = True

    def connected(self, connection: socket.socket) -> None:
        self._connections.add(connection)
        self.connections += 1


class _Httpd(ThreadingHTTPServer):
    daemon_threads = False
    owner: ScriptedServer

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002  the base class has them
        import sys  # noqa: PLC0415  only here

        error = sys.exc_info()[1]
        # A client that goes away is what half of the tests are about.
        if error is not None and not isinstance(error, OSError):
            self.owner.faults.append(error)


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            server.connected(self.connection)

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            query = dict(parse_qsl(url.query))
            seen = Seen(server.now(), url.path, query, headers, self.command, body)
            server.play(self, server.take(seen))

        def do_POST(self) -> None:
            self.do_GET()

        def do_PATCH(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # it is closed already
        return


def thing(name: str, payload: Any = "", version: int = 0, namespace: str = "") -> dict[str, Any]:  # noqa: ANN401  tests put odd values there
    """Make an object as the API server would send it; `Thing` in support.py reads it.

    Without a version it is always news.
    """
    metadata = {"name": name, "uid": f"uid-{name}"}
    if version:
        metadata["resourceVersion"] = str(version)
    if namespace:
        metadata["namespace"] = namespace
    return {"kind": "Thing", "metadata": metadata, "payload": payload, "unknown": {"a": [1]}}


def a_list(items: Iterable[object], version: int = 1, token: str = "") -> Answer:
    """Make one page of a list."""
    metadata = {"resourceVersion": str(version), **({"continue": token} if token else {})}
    return Answer(body=json.dumps({"metadata": metadata, "items": list(items)}).encode())


def event(kind: str, obj: object) -> bytes:
    """Make one line of a watch."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def status(code: int, message: str = "as scripted", **more: object) -> dict[str, object]:
    """Make a Status object."""
    return {"kind": "Status", "code": code, "message": message, **more}


def refusal(code: int, message: str = "as scripted", **headers: str) -> Answer:
    """Make an answer that carries a Status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(code, json.dumps(status(code, message)).encode(), named)
