"""Health and metrics of the controller, over plain HTTP: for kubelet and Prometheus."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

from flask import Flask, Response
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.serving import BaseWSGIServer


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: probes come every few seconds."""


def create_app(waiting: Callable[[], list[str]], metrics: Callable[[], tuple[bytes, str]]) -> Flask:
    """Make the app. `waiting`: what keeps the process from being ready; empty: nothing."""
    app = Flask("controller")

    @app.get("/healthz")
    def healthz() -> Response:
        return Response("ok\n", mimetype="text/plain")

    @app.get("/readyz")
    def readyz() -> Response:
        reasons = waiting()
        text = "".join(f"{reason}\n" for reason in reasons) or "ok\n"
        return Response(text, status=503 if reasons else 200, mimetype="text/plain")

    @app.get("/metrics")
    def page() -> Response:
        body, content_type = metrics()
        return Response(body, content_type=content_type)

    return app


def serve(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """Serve in a thread of its own. Raises OSError if nobody can listen there."""
    # Ours, because werkzeug's ends the process if the address is in use.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        server = make_server(
            host, port, app, threaded=True, request_handler=_Quiet, fd=listener.fileno()
        )
    threading.Thread(target=server.serve_forever, name="probes", daemon=True).start()
    return server
