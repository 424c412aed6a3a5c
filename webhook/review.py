"""AdmissionReview v1, in and out: bytes to a request, an answer to bytes. No decisions here.

Rules of the API server (VerifyAdmissionResponse): the answer carries the group-version-kind of the
review and the uid of the request; patch and patchType come together or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from evencore.domain.lenient import read
from evencore.domain.text import cut
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from collections.abc import Sequence

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"

MOST_WARNINGS: Final = 4
LONGEST_WARNING: Final = 120  # bytes; the API server cuts longer ones


class NotAReview(ValueError):  # noqa: N818  it names what the body is not
    """A body that is no AdmissionReview v1 with a request; says why."""


class GroupVersionKind(Struct, frozen=True, gc=False):
    """The kind of the object of a request."""

    group: str = ""
    version: str = ""
    kind: str = ""


class Request(Struct, frozen=True, gc=False, rename="camel"):
    """The request of a review, as far as we use it."""

    uid: str
    kind: GroupVersionKind | None = None
    sub_resource: str | None = None
    name: str | None = None
    namespace: str | None = None
    operation: str | None = None
    object: PodView | None = None

    @property
    def creates_a_pod(self) -> bool:
        """Whether this is the one thing that we change: CREATE of pods, no subresource."""
        return (
            self.operation == "CREATE"
            and not self.sub_resource
            and self.kind == _POD
            and self.object is not None
        )


_POD = GroupVersionKind("", "v1", "Pod")


class Review(Struct, frozen=True, gc=False, rename="camel"):
    """An AdmissionReview with a request."""

    api_version: str
    kind: str
    request: Request


# Numbers keep their text: as binary floats 4.001 and 9007199254740993.5 would lose digits.
_strict = msgspec.json.Decoder(Review, float_hook=str)
_any = msgspec.json.Decoder(float_hook=str)
_encode = msgspec.json.Encoder().encode


def decode(body: bytes) -> tuple[Request, tuple[str, ...]]:
    """Read a request, and the paths of what had to be left out of its object (normally none).

    Raises NotAReview for everything that is no AdmissionReview v1 with a request and a uid.
    """
    problems: tuple[str, ...] = ()
    try:
        review = _strict.decode(body)
    except msgspec.ValidationError:
        review, problems = _leniently(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _no_json(error) from error
    if review.api_version != API_VERSION or review.kind != KIND:
        raise NotAReview(
            f"the body is a {cut(ascii(review.api_version + ' ' + review.kind), LONGEST_WARNING)}; "
            f"this webhook answers {API_VERSION} {KIND}"
        )
    return review.request, problems


def _no_json(error: Exception) -> NotAReview:
    return NotAReview(f"the body is no JSON: {cut(str(error), LONGEST_WARNING)}")


def _leniently(body: bytes) -> tuple[Review, tuple[str, ...]]:
    """Read a review some part of which has another type than it should have."""
    try:
        value: Any = _any.decode(body)
    except RecursionError as error:
        raise NotAReview("the body is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # A part of another type is told before what is wrong with the JSON behind it.
        raise _no_json(error) from error
    request = value.get("request") if isinstance(value, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("uid"), str):
        raise NotAReview(f"the body is no {KIND} that has a request with a uid")
    view, problems = read(Request, request)
    return Review(str(value.get("apiVersion")), str(value.get("kind")), view), problems


class Status(Struct, frozen=True, gc=False):
    """Why an object is refused, as the API server tells its author."""

    message: str
    code: int = 403
    reason: str = "Forbidden"


class Response(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The answer to a request. `patch`: JSON, which goes out as base64."""

    uid: str
    allowed: bool
    patch_type: str | None = None
    patch: bytes | None = None
    status: Status | None = None
    warnings: tuple[str, ...] = ()


class Answer(Struct, frozen=True, gc=False, rename="camel"):
    """An AdmissionReview with a response."""

    response: Response
    api_version: str = API_VERSION
    kind: str = KIND


def allowed(uid: str, warnings: tuple[str, ...] = ()) -> bytes:
    """Answer: the object passes as it is."""
    return _encode(Answer(Response(uid, True, warnings=presentable(warnings))))


def patched(
    uid: str, operations: Sequence[dict[str, Any]], warnings: tuple[str, ...] = ()
) -> bytes:
    """Answer: the object passes with these JSON Patch operations, of which there must be some."""
    patch, shown = _encode(operations), presentable(warnings)
    return _encode(Answer(Response(uid, True, "JSONPatch", patch, None, shown)))


def denied(uid: str, message: str, warnings: tuple[str, ...] = ()) -> bytes:
    """Answer: the object is refused; `message` is what its author reads."""
    response = Response(uid, False, status=Status(message), warnings=presentable(warnings))
    return _encode(Answer(response))


_BEFORE_UID = b'{"response":{"uid":'


def rest_of(answer: bytes, uid: str) -> bytes:
    """Return what of an answer is the same whatever its uid."""
    return answer[len(_BEFORE_UID) + len(_encode(uid)) :]


def again(uid: str, rest: bytes) -> bytes:
    """Give an answer once more, with another uid."""
    return b"".join((_BEFORE_UID, _encode(uid), rest))


def presentable(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most 4 warnings of less than 120 bytes, without control characters.

    The API server cuts what is longer. What does not fit is counted in the last one.
    """
    if len(warnings) > MOST_WARNINGS:
        rest = len(warnings) - MOST_WARNINGS + 1
        warnings = (*warnings[: MOST_WARNINGS - 1], f"evencore: {rest} more warnings, see its log")
    return tuple(
        warning
        if warning.isprintable() and len(warning.encode()) < LONGEST_WARNING
        else cut(_printable(warning), LONGEST_WARNING)
        for warning in warnings
    )


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
