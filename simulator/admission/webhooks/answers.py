"""What a webhook answered: read, verified, and its patch applied, as functions of values.

Kubernetes: VerifyAdmissionResponse (request/admissionreview.go), ToStatusErr
(errors/statuserror.go), callAttrMutatingHook (mutating/dispatcher.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from simulator.admission.webhooks.review import API_VERSION, KIND
from simulator.errors import ApiError, bad_request
from simulator.patches.plain import json_patch

if TYPE_CHECKING:
    from simulator.objects import Object

_JSON_PATCH: Final = "JSONPatch"
_LEAST_REFUSAL: Final = 400


class CannotCall(Exception):  # noqa: N818  a webhook's fault, not ours; failurePolicy decides
    """A webhook that could not be asked, or whose answer is none; the text says why."""


class Status(Struct, frozen=True):
    """Why a write is refused, as metav1.Status has it."""

    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: dict[str, Any] | None = None


class Response(Struct, frozen=True, rename="camel"):
    """The response of a review."""

    uid: str = ""
    allowed: bool = False
    status: Status | None = None
    patch: bytes | None = None
    patch_type: str | None = None
    warnings: tuple[str, ...] | None = None


class _Review(Struct, frozen=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    response: Response | None = None


_decoder = msgspec.json.Decoder(_Review)


def read(body: bytes, uid: str) -> Response:
    """Read and verify an answer. Raises CannotCall."""
    try:
        review = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CannotCall(f"failed to call webhook: {error}") from error
    why = _why_invalid(review, uid)
    if why or review.response is None:
        raise CannotCall(f"received invalid webhook response: {why}")
    return review.response


def _why_invalid(review: _Review, uid: str) -> str:
    response = review.response
    if response is None:
        return "webhook response was absent"
    if response.uid != uid:
        return f'expected response.uid="{uid}", got "{response.uid}"'
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        got = f"{review.api_version}, Kind={review.kind}"
        return f"expected webhook response of {API_VERSION}, Kind={KIND}, got {got}"
    if response.patch and response.patch_type is None:
        return "webhook returned response.patch but not response.patchType"
    if not response.patch and response.patch_type is not None:
        return "webhook returned response.patchType but not response.patch"
    if response.patch_type not in (None, _JSON_PATCH):
        return f'webhook returned invalid response.patchType of "{response.patch_type}"'
    return ""


class Denied(ApiError):  # noqa: N818  a verdict
    """A refusal in the words of a webhook, which may give no reason."""

    def status(self) -> Object:
        """Give the Status object for the answer."""
        return {key: value for key, value in super().status().items() if value or key != "reason"}


def denied(name: str, status: Status | None) -> ApiError:
    """Make the refusal of a webhook: its own code, reason and details, 400 if it names none."""
    status = status or Status()
    text, reason = status.message, status.reason or ""
    by = f'admission webhook "{name}" denied the request'
    said = f"{by}: {text or reason}" if text or reason else f"{by} without explanation"
    code = max(status.code or 0, _LEAST_REFUSAL)
    return Denied(code, reason, said, status.details)


def internal(why: str) -> ApiError:
    """Say that something went wrong that is not the client's fault."""
    causes = {"causes": [{"message": why}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", causes)


def not_for_dry_run(name: str) -> ApiError:
    """Refuse a dry run that a webhook could not keep from having effects."""
    return bad_request(f'admission webhook "{name}" does not support dry run')


def patched(name: str, seen: Object | None, patch: bytes) -> Object | None:
    """Apply the patch of an answer strictly. Raises a 500: no failurePolicy covers that."""
    try:
        operations = msgspec.json.decode(patch)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise internal(f"the patch of {name} is no JSON: {error}") from error
    if operations == []:
        return seen
    if seen is None:
        raise internal(
            f'admission webhook "{name}" attempted to modify the object, which is not supported '
            "for this operation"
        )
    try:
        found: Any = json_patch(seen, operations)
    except ApiError as error:
        raise internal(f"{name}: {error.message}") from error
    if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
        raise internal(f"the patch of {name} leaves no object")
    if (found.get("kind"), found.get("apiVersion")) != (seen.get("kind"), seen.get("apiVersion")):
        raise internal(f"the patch of {name} makes another kind of the object")
    return found
