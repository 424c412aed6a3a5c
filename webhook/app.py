"""The only Flask wiring: probes, metrics, and the admission route for any WSGI server.

Under gunicorn the bare admission path is before it (webhook.application), so that Flask sees only
the rest. Not for: deciding anything; all it needs is handed in.
"""

import logging

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from webhook.application import Dependencies
from webhook.asgi import MUTATE

_TEXT = "text/plain; charset=utf-8"

logger = logging.getLogger(__name__)


def create_app(dependencies: Dependencies) -> Flask:
    """Make the Flask app."""
    app = Flask("evencore-webhook", static_folder=None)
    # Flask answers 413 above it, and stops reading.
    app.config["MAX_CONTENT_LENGTH"] = dependencies.limits.body_bytes

    @app.get("/healthz")
    def healthz() -> Response:
        return _text("ok")

    @app.get("/readyz")
    def readyz() -> Response:
        reasons = dependencies.readiness()
        return _text("\n".join(reasons), 503) if reasons else _text("ok")

    @app.get("/metrics")
    def metrics() -> Response:
        page, content_type = dependencies.metrics()
        return Response(page, content_type=content_type)

    @app.post(MUTATE, provide_automatic_options=False)
    def mutate() -> Response:
        status, body = dependencies.answer(request.get_data(cache=False))
        return Response(body, status, content_type="application/json")

    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _bug)
    return app


def _http_error(error: HTTPException) -> Response:
    # From the exception's own response, for its headers: 405 must say Allow.
    response = Response(f"{error.code}: {error.name}\n", content_type=_TEXT)
    response.status_code = error.code or 500
    for name, value in error.get_headers():
        if name.lower() != "content-type":
            response.headers[name] = value
    return response


def _bug(error: Exception) -> Response:
    logger.error("%s %s failed: this is a bug", request.method, request.path, exc_info=error)
    return _text("500: internal error; the log of this process has the details", 500)


def _text(text: str, status: int = 200) -> Response:
    return Response(text + "\n", status, content_type=_TEXT)
