"""What became of a write, in five kinds that a reconciler can act on.

For: turning our errors into values: a write that was refused is an ordinary result, not an
exception. Pure.
Not for: what to do next; that is the caller's decision, each kind says what it means.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from evencore.kube import errors
from evencore.kube.backoff import LONGEST_RETRY_AFTER_S

RETRY_S: Final = 1.0
"""Seconds until the next try where the server named none; the writer may know better."""

_UNPROCESSABLE: Final = 422
_IDENTITY: Final = frozenset(("metadata.uid", "metadata.resourceVersion"))


class Done(NamedTuple):
    """It is as we wanted. `uid` and `version`: the object's as answered, empty if not told."""

    uid: str = ""
    version: str = ""


class Gone(NamedTuple):
    """404: there is no such object any more; whoever remembers it should forget it."""

    why: str


class Conflict(NamedTuple):
    """It is not the object that we had read (other uid or version), or exists: decide anew."""

    why: str


class Refused(NamedTuple):
    """Any other 4xx: the same again would be refused again. For the log, and an Event."""

    why: str


class Later(NamedTuple):
    """429, 5xx, no answer, or a limit of ours: try again in `seconds`, not before.

    Nobody knows whether it was done. Done twice does no harm: a delete then finds nothing, a patch
    that names a version meets another one, other patches say the same again.
    """

    seconds: float
    why: str


Failure = Gone | Conflict | Refused | Later
Outcome = Done | Failure


def outcome_of(error: errors.KubeError, *, tests: bool = False) -> Failure:
    """Turn an error of the client into an outcome; `tests`: it was a JSON patch with test ops.

    Kubernetes rules: a JSON patch that cannot be applied, be it for a `test` that did not hold,
    is 422 without causes (apiserver's patch handler), while an object that does not pass
    validation is 422 with the fields to blame. A merge patch that names another uid blames
    metadata.uid, for it is immutable.
    """
    why = str(error)
    if isinstance(error, errors.NotFound):
        return Gone(why)
    if isinstance(error, errors.Conflict):
        return Conflict(why)
    if error.status == _UNPROCESSABLE:
        another = bool(_IDENTITY.intersection(error.fields)) or (tests and not error.fields)
        return Conflict(why) if another else Refused(why)
    # Unauthorized: the client has loaded its credentials again, so the next try may go through.
    if isinstance(error, errors.Unauthorized | errors.Throttled | errors.Unavailable):
        asked_s = RETRY_S if error.retry_after is None else error.retry_after
        return Later(min(asked_s, LONGEST_RETRY_AFTER_S), why)
    return Refused(why)
