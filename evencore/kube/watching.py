"""The layer that watches: one stream of events, from a version until it ends.

For: opening a watch with bookmarks and bounds, and turning its lines into events.
Not for: opening it again; that is `reflector`.

Kubernetes' rules: the server ends a watch after timeoutSeconds; a version that it has forgotten
is answered 410, as HTTP status or as an ERROR event; a BOOKMARK carries nothing but a version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evencore.kube import errors
from evencore.kube.decoding import ERROR

if TYPE_CHECKING:
    from collections.abc import Generator

    from evencore.kube.client import Client
    from evencore.kube.decoding import Decoder, Event
    from evencore.kube.lifeline import Lifeline
    from evencore.kube.resource import Resource

T = TypeVar("T")

SHORTEST_S, LONGEST_S = 240.0, 300.0
"""What we ask for as timeoutSeconds; jittered so that watches do not all end together."""

GRACE_S = 10.0
"""Silence for this long after the server should have ended the watch: the stream is dead."""


def watch(  # noqa: PLR0913  every one of them is another thing
    client: Client,
    resource: Resource,
    decoder: Decoder[T],
    lifeline: Lifeline,
    *,
    version: str,
    seconds: float,
    grace_s: float = GRACE_S,
) -> Generator[Event[T] | None, None, None]:
    """Yield None once the server has accepted the watch, then its events after `version`.

    Ends when the server ends it. Raises Gone (list again), Unavailable (cut, silent for `seconds`
    and `grace_s`, or aborted by the lifeline) and whatever else an answer can be.
    """
    query = [
        *resource.query(),
        ("watch", "true"),
        ("allowWatchBookmarks", "true"),
        ("resourceVersion", version),
        ("timeoutSeconds", str(int(seconds))),
    ]
    reply = client.get(
        resource.path, query, accept=resource.watch_accept, read_timeout_s=seconds + grace_s
    )
    with lifeline.holding(reply):
        yield None
        for line in reply.lines():
            event = decoder.event(line)
            if event is None:
                continue
            if event.kind == ERROR:
                status = event.status or errors.Status()
                raise errors.from_status(reply.call, status.code or 500, status)
            yield event
