"""What can go wrong at the API server's door, in a few kinds that a caller can act on.

For: turning answers and broken connections into `KubeError`s whose text says what happened, to
what, and what to do. The original is chained.
Not for: retrying; whoever called decides.

Texts are cut short: the API server likes to quote whole objects, and logs are no place for them.
"""
# ruff: noqa: N818  NotFound, Conflict, Gone: the API's own words are clearer than NotFoundError

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CHARACTERS = 240
"""Of what the server or a library said; whole objects do not fit."""


class Call(NamedTuple):
    """What was asked of whom. The query is left out: continue tokens are long and say nothing."""

    verb: str
    path: str
    server: str

    def __str__(self) -> str:
        return f"{self.verb} {self.path} at {self.server}"


class KubeError(Exception):
    """Base of everything that this package raises on purpose.

    `status`: the HTTP status, None if there was no answer.
    `retry_after`: seconds for which the server wants to be left alone, None if it did not say.
    `fields`: the fields of the object that a 422 blames (metadata.uid); empty if it names none.
    """

    advice: ClassVar[str] = "see the API server's log"

    def __init__(
        self,
        text: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        fields: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text)
        self.status = status
        self.retry_after = retry_after
        self.fields = fields


class NoConfiguration(KubeError):
    """Nothing tells where the API server is, or what does cannot be read."""


class Unauthorized(KubeError):
    """401: the server does not know us."""

    advice = "check that the token or client certificate is current"


class Forbidden(KubeError):
    """403: the server knows us and says no."""

    advice = "grant the missing rule in a Role or ClusterRole of this account"


class NotFound(KubeError):
    """404: no such object, or no such API."""

    advice = "check the name, and that this version of Kubernetes serves this API"


class Conflict(KubeError):
    """409: the object is not what the caller thought (other version, other uid, exists)."""

    advice = "read the object again and decide anew"


class Gone(KubeError):
    """410: the version or continue token is older than the server remembers."""

    advice = "list again"


class Invalid(KubeError):
    """400, 422 and other 4xx: the request will not get better by repeating it."""

    advice = "this is a mistake in the request, please report it"


class Throttled(KubeError):
    """429: come back later, see `retry_after`."""

    advice = "ask less often; see API Priority and Fairness if it lasts"


class Unavailable(KubeError):
    """5xx, or no answer at all: network, TLS, a stream cut short, silence."""

    advice = "try again later; if it lasts, look at the API server and the way to it"


class Silent(Unavailable):
    """No byte came for the whole read timeout: the peer or the way to it is dead."""


class Unreadable(KubeError):
    """The answer came, but is not what the API promises."""

    advice = "check that the address belongs to a Kubernetes API server, not to a proxy's page"


_BY_STATUS: dict[int, type[KubeError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: Throttled,
}


class Cause(msgspec.Struct):
    """The part of metav1.StatusCause that we use."""

    field: str | None = None


class Details(msgspec.Struct, rename="camel"):
    """The part of metav1.StatusDetails that we use; all numbers are seconds."""

    retry_after_seconds: float | None = None
    causes: list[Cause] | None = None


class Status(msgspec.Struct):
    """The part of metav1.Status that we use: the body of a refusal and of an ERROR event."""

    code: int | None = None
    message: str | None = None
    details: Details | None = None


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """`text` on one line, without control characters, at most `most` characters long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: most * 4]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def from_answer(call: Call, status: int, body: bytes, headers: Mapping[str, str]) -> KubeError:
    """Make the error for an answer that is not 2xx; `body` may be cut off, empty or anything."""
    try:
        found = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = Status(message=body.decode("utf-8", "replace"))
    return from_status(call, status, found, headers.get("Retry-After"))


def from_status(
    call: Call, status: int, found: Status, retry_after: str | None = None
) -> KubeError:
    """Make the error for a Status object; `retry_after` is the header of that name, if any."""
    kind = _BY_STATUS.get(status) or (Invalid if 400 <= status < 500 else Unavailable)  # noqa: PLR2004  HTTP's classes
    details = found.details or Details()
    seconds = details.retry_after_seconds
    if retry_after is not None and retry_after.strip().isdecimal():
        # The other form, a date, is never sent by Kubernetes.
        seconds = float(retry_after)
    said = shortened(found.message or "no reason given")
    return kind(
        f"{call} was answered {status}: {said}: {kind.advice}",
        status=status,
        retry_after=seconds,
        fields=tuple(cause.field for cause in details.causes or () if cause.field),
    )


def from_exception(call: Call, error: Exception) -> KubeError:
    """Make the error for a request or stream that broke; raise it `from` the original."""
    import urllib3.exceptions  # noqa: PLC0415  who asks has it; for others it is a tenth of a start

    kind: type[KubeError] = Unavailable
    if isinstance(error, urllib3.exceptions.ReadTimeoutError | TimeoutError):
        kind = Silent
        said = "no bytes came within the read timeout"
    elif isinstance(error, urllib3.exceptions.ConnectTimeoutError) and not isinstance(
        error,
        # A connection that was refused; it is a subclass, though nothing timed out.
        urllib3.exceptions.NewConnectionError,
    ):
        said = "no connection within the connect timeout"
    elif isinstance(error, ValueError) and not isinstance(error, urllib3.exceptions.HTTPError):
        # http.client quotes a bad header whole, and that header may be the token.
        said = f"the request could not be built ({type(error).__name__})"
    else:
        tls = "SSLError " if isinstance(error, urllib3.exceptions.SSLError) else ""
        said = shortened(f"{tls}{error}") or type(error).__name__
    advice = kind.advice
    if "certificate" in said.lower() or "ssl" in said.lower():
        advice = "check the certificate authority and the server name in the configuration"
    return kind(f"{call} failed: {said}: {advice}")
