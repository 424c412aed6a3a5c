"""Faults that can be switched on in front of the API server: which request meets which.

For: `Fault`, as Python code and scenario files write it, and whether it speaks of a request.
Pure but for the counts of what was hit.
Not for: doing harm; that is `switchboard`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from evencore.strict import Strict
from simulator.errors import ApiError

if TYPE_CHECKING:
    import random

Action = Literal["drop", "lose", "delay", "error", "disconnect", "expire", "conflict"]
Verb = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
Seconds = Annotated[float, Field(gt=0)]
Code = Literal[429, 500, 503, 504]

# Reasons and texts are those that clients know (k8s.io/apimachinery/pkg/api/errors).
_REFUSALS: Final[dict[int, tuple[str, str]]] = {
    429: (
        "TooManyRequests",
        "the server has received too many requests and has asked us to try again later",
    ),
    500: (
        "InternalError",
        "an error on the server has prevented the request from succeeding",
    ),
    503: (
        "ServiceUnavailable",
        "the server is currently unable to handle the request",
    ),
    504: (
        "Timeout",
        (
            "the server was unable to return a response in the time allotted, but may still be "
            "processing the request"
        ),
    ),
}
_CHANGES: Final = ("update", "patch", "delete")


class Asker(NamedTuple):
    """Who asks for what: user agent and user, verb and path."""

    agent: str
    user: str
    verb: str
    path: str


class Fault(Strict):
    """One thing that goes wrong, for some clients, paths and verbs."""

    action: Action
    """drop: the connection ends without an answer, and nothing was done. lose: the same after it
    was done. delay: it is done later. error: `code` is the answer. disconnect: watches are torn
    off. expire: 410, to watches as an ERROR event. conflict: 409 to who changes or deletes."""
    client: str = "*"
    """Pattern of the user agent or of the user's name."""
    path: str = "*"
    """Pattern of the path, without its query."""
    verbs: tuple[Verb, ...] = ()
    """As in RBAC; none means any."""
    code: Code | None = None
    """Of an error."""
    retry_after_seconds: Annotated[int, Field(gt=0)] | None = None
    """Sent with an error; a 429 without one says 1, as the API server does."""
    after_seconds: Seconds | None = None
    """How long a delay is, or how long a watch lives before it is torn off; cluster's time."""
    times: Annotated[int, Field(gt=0)] | None = None
    """Over after so many hits; none: until it is switched off."""
    for_seconds: Seconds | None = None
    """Over after so much of the cluster's time."""
    probability: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Of a hit, for each request that it speaks of; by the seed of the cluster."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.action == "error") != (self.code is not None):
            raise ValueError(
                f"code belongs to the action error, which needs it, not to {self.action}"
            )
        if self.retry_after_seconds and self.action != "error":
            raise ValueError(f"retryAfterSeconds belongs to the action error, not to {self.action}")
        if self.after_seconds and self.action not in ("delay", "disconnect"):
            raise ValueError(f"afterSeconds belongs to delay and disconnect, not to {self.action}")
        if self.action == "delay" and not self.after_seconds:
            raise ValueError("a delay needs afterSeconds")
        return self

    def speaks_of(self, asker: Asker) -> bool:
        """Tell whether it is about such a request."""
        return (
            (not self.verbs or asker.verb in self.verbs)
            and (self.action != "disconnect" or asker.verb == "watch")
            and (self.action != "conflict" or asker.verb in _CHANGES)
            and fnmatchcase(asker.path, self.path)
            and (fnmatchcase(asker.agent, self.client) or fnmatchcase(asker.user, self.client))
        )


class Switch:
    """A fault that is on; `hits` counts what it has met."""

    def __init__(self, fault: Fault, chance: random.Random) -> None:
        self.fault, self._chance = fault, chance
        self.hits = 0
        self.is_on = True

    def off(self) -> None:
        """Switch it off for good."""
        self.is_on = False

    def hit(self, asker: Asker) -> bool:
        """Tell whether this request is hit, and count it."""
        fault = self.fault
        if not self.is_on or not fault.speaks_of(asker):
            return False
        if fault.probability < 1 and self._chance.random() >= fault.probability:
            return False
        self.hits += 1
        if self.hits == fault.times:
            self.off()
        return True


def refusal(fault: Fault) -> ApiError:
    """Give the answer that an error is. For the action error only."""
    code = fault.code or 500
    reason, text = _REFUSALS[code]
    wait_s = fault.retry_after_seconds or (1 if code == 429 else None)  # noqa: PLR2004  the status
    return ApiError(code, reason, text, retry_after_s=wait_s)
