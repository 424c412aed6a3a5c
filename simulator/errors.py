"""Refusals, in the shape in which a Kubernetes API server gives them.

For: one exception that becomes a Status object, and a constructor for each kind of refusal.
Texts that clients are known to look at are the API server's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object
    from simulator.resources import Resource


class Cause(NamedTuple):
    """One fault of an object: where, which kind of fault, and what is wrong in words."""

    field: str
    reason: str
    message: str


class ApiError(Exception):
    """A request that is refused."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        *,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details = details
        self.retry_after_s = retry_after_s
        self.warnings: Sequence[str] = ()  # what the client is told besides

    def status(self) -> Object:
        """Give the Status object for the answer."""
        details = dict(self.details or {})
        if self.retry_after_s is not None:
            details["retryAfterSeconds"] = self.retry_after_s
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            # Go leaves an unknown reason out.
            **({"reason": self.reason} if self.reason else {}),
            **({"details": details} if details else {}),
            "code": self.code,
        }


class NotFound(ApiError):  # noqa: N818  named as its reason is
    """There is no such object: the one refusal that some callers can live with."""


def _details(resource: Resource, name: str) -> Object:
    group = {"group": resource.group} if resource.group else {}
    return {"name": name, **group, "kind": resource.plural}


def not_found(resource: Resource, name: str) -> NotFound:
    """Say that there is no such object."""
    text = f'{resource.qualified} "{name}" not found'
    return NotFound(404, "NotFound", text, _details(resource, name))


def no_such_path() -> ApiError:
    """Say that there is nothing at this path."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: Resource, name: str) -> ApiError:
    """Say that the name is taken."""
    text = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, _details(resource, name))


def conflict(resource: Resource, name: str, why: str = "") -> ApiError:
    """Say that the object is not what the client took it for."""
    why = why or (
        "the object has been modified; please apply your changes to the latest version "
        "and try again"
    )
    text = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", text, _details(resource, name))


def expired(message: str) -> ApiError:
    """Say that the past that was asked for is forgotten: the client must list again."""
    return ApiError(410, "Expired", message)


def too_new(asked: int, current: int) -> ApiError:
    """Say that the version that was asked for has not come yet."""
    return ApiError(
        504,
        "Timeout",
        f"Too large resource version: {asked}, current: {current}",
        {
            "causes": [
                {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            ]
        },
        retry_after_s=1,
    )


def invalid(resource: Resource, name: str, causes: Sequence[Cause]) -> ApiError:
    """Tell all faults of an object at once."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    title = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {
        "name": name,
        **({"group": resource.group} if resource.group else {}),
        "kind": resource.kind,
        "causes": [
            {"reason": cause.reason, "message": cause.message, "field": cause.field}
            for cause in causes
        ],
    }
    return ApiError(422, "Invalid", f'{title} "{name}" is invalid: {told}', details)


def bad_request(message: str) -> ApiError:
    """Say that the request makes no sense."""
    return ApiError(400, "BadRequest", message)


def forbidden(resource: Resource, name: str, why: str) -> ApiError:
    """Say that the object may not be made or changed so."""
    text = f'{resource.qualified} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", text, _details(resource, name))


def unauthorized() -> ApiError:
    """Say that nobody knows this client."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> ApiError:
    """Say that the path is there and the method is not."""
    text = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", text)


def unsupported_media_type(got: str, wanted: Sequence[str]) -> ApiError:
    """Say that the body is in a form that nobody here reads."""
    text = (
        f"the body of the request was in an unknown format ({got or 'none named'}) - "
        f"accepted media types include: {', '.join(wanted)}"
    )
    return ApiError(415, "UnsupportedMediaType", text)


def not_acceptable(wanted: Sequence[str]) -> ApiError:
    """Say that the client reads no form that we write."""
    text = f"only the following media types are accepted: {', '.join(wanted)}"
    return ApiError(406, "NotAcceptable", text)
