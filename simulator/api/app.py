"""Requests become answers: who asks, what is asked, and refusals as Status objects.

For: everything between the bytes of HTTP and the calls of `objects`.
Not for: what is done with objects.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from simulator.api import bodies, forms, warnings
from simulator.api.discovery import AGGREGATED, Discovery
from simulator.api.http import Request, Response, Stream
from simulator.api.openapi import EMPTY_V2, PROTOBUF, PROTOBUF_ASKED, OpenApi
from simulator.api.routing import Routes
from simulator.auth import asked, authorization, impersonation, reviews
from simulator.auth.authentication import ANONYMOUS
from simulator.errors import ApiError, bad_request, method_not_allowed, no_such_path, not_acceptable
from simulator.objects import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.admission.chain import User
    from simulator.api.routing import Target
    from simulator.api.verbs import Verbs
    from simulator.auth.authentication import Authentication
    from simulator.auth.authorization import Authorizer
    from simulator.objects import Object
    from simulator.resources import Resource

_log = logging.getLogger(__name__)

VERSION: Final = "v1.36.2"
"""The Kubernetes whose behaviour was measured (docs/decisions/0007)."""

_HEALTH: Final = ("/healthz", "/livez", "/readyz")


class App:
    """Answers requests of those who may."""

    def __init__(
        self,
        verbs: Verbs,
        resources: Iterable[Resource],
        authentication: Authentication,
        authorizer: Authorizer,
    ) -> None:
        served = tuple(resources)
        self._verbs = verbs
        self._authentication, self._authorizer = authentication, authorizer
        self._routes = Routes((*served, *reviews.ALL))
        self._discovery, self._openapi = Discovery((*served, *reviews.ALL)), OpenApi(served)

    async def __call__(self, request: Request) -> Response | Stream:
        """Answer one request; whatever goes wrong is a Status."""
        try:
            user = self._acting(request, self._user(request))
            target = self.target_of(request)
            self._check(request, target, user)
            if target is None:
                return self._document(request)
            if target.resource.create_only:
                return self._review(request, target, user)
            return await self._verbs.answer(request, target, user)
        except ApiError as error:
            return refused(error)
        except RecursionError:
            # Objects have a few levels; only what a client sends can have a thousand.
            return refused(bad_request("the body of the request is nested too deeply"))
        except Exception as error:  # noqa: BLE001  a fault of ours must not end the connection
            _log.exception("%s %s failed", request.method, request.path)
            text = f"Internal error occurred: {type(error).__name__}: {error}"
            return refused(ApiError(500, "InternalError", text))

    def name_of(self, request: Request) -> str:
        """Tell who sends a request; empty if nobody knows them."""
        try:
            return self._user(request).name
        except ApiError:
            return ""

    def target_of(self, request: Request) -> Target | None:
        """Tell what a request is about; None: no object or collection."""
        return self._routes.find(request.path)

    def _user(self, request: Request) -> User:
        try:
            return self._authentication.user(request.headers)
        except ApiError:
            if request.path in _HEALTH:
                return ANONYMOUS
            raise

    def _acting(self, request: Request, user: User) -> User:
        """Tell as whom a user acts. Raises a 403 if they may not."""
        wish = impersonation.wanted(request.headers)
        if wish is None:
            return user
        for needed in wish.needs:
            authorization.check(self._authorizer, user, needed)
        return wish.user

    def _check(self, request: Request, target: Target | None, user: User) -> None:
        """Refuse what the user may not. Raises a 403."""
        wish = asked.of_request(request.method, request.path, request.query)
        authorization.check(self._authorizer, user, wish)
        if (
            target is not None
            and wish.verb == "patch"
            and self._verbs.would_create(request, target)
        ):
            authorization.check(self._authorizer, user, wish._replace(verb="create"))

    def _review(self, request: Request, target: Target, user: User) -> Response:
        if request.method != "POST" or target.name:
            raise method_not_allowed()
        given = bodies.read_object(request)
        told = reviews.answer(self._authorizer, target.resource, target.namespace, user, given)
        return Response(201, encode(told))

    def _document(self, request: Request) -> Response:
        """Answer what is not about objects."""
        path = request.path.rstrip("/")
        if path in _HEALTH:
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if path == "/version":
            return Response(200, encode(_version()))
        if path.startswith("/openapi"):
            accept = request.headers.get("accept", "")
            if path == "/openapi/v2" and PROTOBUF_ASKED in accept:
                return Response(200, EMPTY_V2, PROTOBUF)
            if not forms.reads_json(accept):
                raise not_acceptable(["application/json"])
            written = self._openapi.answer(path)
            if written is None:
                raise no_such_path()
            return Response(200, written)
        found: Object | None = None
        if path.startswith(("/api", "/apis")):
            aggregated = AGGREGATED in request.headers.get("accept", "").replace(" ", "")
            aggregated = aggregated and path in ("/api", "/apis")
            found = self._discovery.answer(path, aggregated=aggregated)
            if found is not None and aggregated:
                return Response(200, encode(found), AGGREGATED)
        if found is None:
            raise no_such_path()
        return Response(200, encode(found))


def refused(error: ApiError) -> Response:
    """Give a refusal as an answer."""
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
