"""Requests become answers: who asks, what is asked, and refusals as Status objects.

For: everything between the bytes of HTTP and the calls of `objects`.
Not for: what is done with objects.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from simulator.admission.chain import User
from simulator.api import warnings
from simulator.api.discovery import AGGREGATED, Discovery
from simulator.api.http import Request, Response, Stream
from simulator.api.openapi import OpenApi
from simulator.api.routing import Routes
from simulator.api.writes import ADMIN
from simulator.errors import ApiError, no_such_path, unauthorized
from simulator.objects import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulator.api.verbs import Verbs
    from simulator.objects import Object
    from simulator.resources import Resource

_log = logging.getLogger(__name__)

VERSION: Final = "v1.36.2"
"""The Kubernetes whose behaviour was measured (docs/decisions/0007)."""

_HEALTH: Final = ("/healthz", "/livez", "/readyz")
_BEARER: Final = "bearer "


class App:
    """Answers requests. `tokens`: bearer token → user; None: nobody has to say who they are."""

    def __init__(
        self, verbs: Verbs, resources: Iterable[Resource], tokens: Mapping[str, User] | None
    ) -> None:
        served = tuple(resources)
        self._verbs, self._tokens = verbs, tokens
        self._routes = Routes(served)
        self._discovery, self._openapi = Discovery(served), OpenApi(served)

    async def __call__(self, request: Request) -> Response | Stream:
        """Answer one request; whatever goes wrong is a Status."""
        try:
            user = self._user(request)
            target = self._routes.find(request.path)
            if target is not None:
                return await self._verbs.answer(request, target, user)
            return self._document(request)
        except ApiError as error:
            return _refusal(error)
        except Exception as error:  # noqa: BLE001  a fault of ours must not end the connection
            _log.exception("%s %s failed", request.method, request.path)
            text = f"Internal error occurred: {type(error).__name__}: {error}"
            return _refusal(ApiError(500, "InternalError", text))

    def _user(self, request: Request) -> User:
        if self._tokens is None:
            return ADMIN
        header = request.headers.get("authorization", "")
        token = header[len(_BEARER) :].strip() if header.lower().startswith(_BEARER) else ""
        user = self._tokens.get(token)
        if user is None and request.path not in _HEALTH:
            raise unauthorized()
        return user or User("system:anonymous", ("system:unauthenticated",))

    def _document(self, request: Request) -> Response:
        """Answer what is not about objects."""
        path = request.path.rstrip("/")
        if path in _HEALTH:
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if path == "/version":
            return Response(200, encode(_version()))
        found: Object | None = None
        if path.startswith("/openapi/v3"):
            found = self._openapi.answer(path)
        elif path.startswith(("/api", "/apis")):
            aggregated = AGGREGATED in request.headers.get("accept", "").replace(" ", "")
            aggregated = aggregated and path in ("/api", "/apis")
            found = self._discovery.answer(path, aggregated=aggregated)
            if found is not None and aggregated:
                return Response(200, encode(found), AGGREGATED)
        if found is None:
            raise no_such_path()
        return Response(200, encode(found))


def _refusal(error: ApiError) -> Response:
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    told = warnings.header(error.warnings)
    if told:
        headers["Warning"] = told
    return Response(error.code, encode(error.status()), headers=headers)


def _version() -> Object:
    major, minor, _ = VERSION.removeprefix("v").split(".")
    return {"major": major, "minor": minor, "gitVersion": VERSION, "platform": "python"}
