"""The writes of the controller, each of which can only hit the object that was meant.

And its reads of single objects: what is to be written is decided on what is there now.

For: a handful of calls that return an `Outcome` and never raise for what a server or a network
can do; not faster than the bucket, and one request at a time while the server fails (`breaker`).
Not for: deciding, remembering or repeating; that is the controller's queue.

Rules: what is changed or deleted is named by uid, so that a successor of the same name is never
hit; also by version where a decision depends on more than that. Patches name only what they
change and are made of plain values: fields that nobody here knows stay as they are.
"""

from __future__ import annotations

import random as _random
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.kube import errors
from evencore.kube.breaker import Breaker
from evencore.kube.bucket import Bucket
from evencore.kube.client import JSON, READ_TIMEOUT_S
from evencore.kube.clock import Clock, SystemClock
from evencore.kube.outcome import (
    RETRY_S,
    Conflict,
    Done,
    Failure,
    Gone,
    Later,
    Outcome,
    Refused,
    outcome_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evencore.kube.client import Client
    from evencore.kube.events import Event

__all__ = ["NAME", "Conflict", "Done", "Gone", "Later", "Outcome", "Ref", "Refused", "Writer"]

NAME: Final = "evencore-controller"
"""Our field manager, component of Events, and the agent to give to `client.connect`."""

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"

_MANAGED: Final = (("fieldManager", NAME),)
_NONE: Final[Mapping[str, str | None]] = MappingProxyType({})


class Ref(NamedTuple):
    """An object as it was read. With a `version`, a write needs it to be unchanged since."""

    namespace: str  # empty for nodes
    name: str
    uid: str
    version: str = ""


class Writer:
    """Writes through `client`; safe to share between threads, which wait here for their turn.

    `stop` ends such waits. `allowed` is asked before each request: hand in `Elector.leads`, and
    nothing is sent that another leader would not expect.
    """

    def __init__(  # noqa: PLR0913  the last five have defaults
        self,
        client: Client,
        stop: threading.Event,
        *,
        allowed: Callable[[], bool] = lambda: True,
        bucket: Bucket | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = _random.random,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> None:
        self._client = client
        self._read_timeout_s = read_timeout_s
        self._stop = stop
        self._allowed = allowed
        self._bucket = bucket or Bucket()
        self._clock = clock or SystemClock()
        self._breaker = Breaker(random)
        self._lock = threading.Lock()  # of bucket and breaker

    def read(self, path: str) -> bytes | Failure:
        """GET one object; takes no turn of a write, but waits as they do while the server fails."""
        return self._send("GET", path, None, JSON, query=(), takes_turn=False)

    def delete_pod(self, pod: Ref, *, force: bool = False) -> Outcome:
        """Delete a pod. Gone is as good as Done.

        How much grace it gets is its own affair; `force`: none, for one of which nothing runs.
        """
        wanted = {"uid": pod.uid, "resourceVersion": pod.version}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {key: value for key, value in wanted.items() if value},
            **({"gracePeriodSeconds": 0} if force else {}),
        }
        return self._write("DELETE", _pod(pod), body, JSON, query=())

    def patch_pod(self, pod: Ref, operations: Sequence[Mapping[str, Any]]) -> Outcome:
        """Apply JSON patch operations, all or none; Conflict if a `test` among them fails."""
        wanted = (("uid", pod.uid), ("resourceVersion", pod.version))
        tests = [
            {"op": "test", "path": f"/metadata/{name}", "value": value}
            for name, value in wanted
            if value
        ]
        # A request is made of lists and dicts: JSON has no other sequences and mappings.
        body = [*tests, *map(dict, operations)]
        return self._write("PATCH", _pod(pod), body, JSON_PATCH)

    def patch_node(
        self,
        node: Ref,
        labels: Mapping[str, str | None] = _NONE,
        annotations: Mapping[str, str | None] = _NONE,
    ) -> Outcome:
        """Set labels and annotations, remove those that are None, leave the others."""
        wanted = {
            "uid": node.uid,
            "resourceVersion": node.version,
            "labels": dict(labels),
            "annotations": dict(annotations),
        }
        body = {"metadata": {part: value for part, value in wanted.items() if value}}
        return self._write("PATCH", f"/api/v1/nodes/{quote(node.name, '')}", body, MERGE_PATCH)

    def create_event(self, event: Event) -> Outcome:
        """Write an Event for the first time; Conflict: one of this name is there already."""
        return self._write("POST", _events(event), event.body(NAME), JSON)

    def repeat_event(self, event: Event) -> Outcome:
        """Set count, time and message of an Event; Gone: its hour is over, create it anew."""
        # Without a uid: nobody else uses our names, and the count is absolute.
        path = f"{_events(event)}/{quote(event.name, '')}"
        return self._write("PATCH", path, event.counted(), MERGE_PATCH)

    def _write(
        self,
        verb: str,
        path: str,
        body: object,
        content_type: str,
        query: Sequence[tuple[str, str]] = _MANAGED,
    ) -> Outcome:
        answer = self._send(verb, path, body, content_type, query)
        return _done(answer) if isinstance(answer, bytes) else answer

    def _send(  # noqa: PLR0913  what a request is made of
        self,
        verb: str,
        path: str,
        body: object,
        content_type: str,
        query: Sequence[tuple[str, str]],
        *,
        takes_turn: bool = True,
    ) -> bytes | Failure:
        refusal = self._enter(takes_turn=takes_turn)
        if refusal is not None:
            return refusal
        sent_at = self._clock.now()
        try:
            answer = self._client.write(
                verb,
                path,
                body,
                query,
                content_type=content_type,
                read_timeout_s=self._read_timeout_s,
            )
        except errors.KubeError as error:
            outcome = outcome_of(error, tests=content_type == JSON_PATCH)
            return self._left(sent_at, outcome, error.retry_after)
        except BaseException:
            # A mistake of ours: it is passed on, but must not leave the breaker waiting for us.
            self._left(sent_at, Later(RETRY_S, "a mistake of ours"), None)
            raise
        with self._lock:
            self._breaker.went_well(sent_at)
        return answer

    def _enter(self, *, takes_turn: bool) -> Later | None:
        """Wait for our turn; says why there is none."""
        now = self._clock.now()
        with self._lock:
            closed_s = self._breaker.closed_for(now)
            # Who is sent away takes no token.
            wait_s = 0.0 if closed_s or not takes_turn else self._bucket.take(now)
        if wait_s and self._clock.wait(self._stop, wait_s):
            return Later(RETRY_S, "not sent: this process is stopping")
        if not self._allowed():
            return Later(RETRY_S, "not sent: this process is not the leader")
        with self._lock:
            closed_s = closed_s or self._breaker.enter(self._clock.now())
        if closed_s:
            return Later(closed_s, "not sent: the API server did not take the last write")
        return None

    def _left(self, sent_at: float, outcome: Failure, retry_after_s: float | None) -> Failure:
        """Tell the breaker what came; it may know better when to try again."""
        with self._lock:
            if not isinstance(outcome, Later):
                self._breaker.went_well(sent_at)
                return outcome
            wait_s = self._breaker.failed(sent_at, self._clock.now(), retry_after_s)
        return Later(max(wait_s, outcome.seconds), outcome.why)


def _pod(ref: Ref) -> str:
    return f"/api/v1/namespaces/{quote(ref.namespace, '')}/pods/{quote(ref.name, '')}"


def _events(event: Event) -> str:
    return f"/api/v1/namespaces/{quote(event.namespace, '')}/events"


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Answer(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _done(answer: bytes) -> Done:
    """Read uid and version of the object; a Status, or anything else, has none."""
    try:
        metadata = msgspec.json.decode(answer, type=_Answer).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Done()
    return Done(metadata.uid, metadata.resource_version)
