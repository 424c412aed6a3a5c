"""What an Event says, whichever of its two shapes it has and whatever is null in it.

core/v1 and events.k8s.io/v1 show the same stored objects; recorders of both generations fill
different fields (staging/src/k8s.io/api/events/v1/types.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.rejection import Rejection, classify, later, named_width, read_time

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.event_views import EventView


class Told(NamedTuple):
    """An Event, normalised."""

    reason: str
    kind: str  # of the object that it is about
    namespace: str
    name: str
    uid: str
    node: str | None  # of the kubelet that tells
    at: datetime | None  # the last time, by the clock of who tells
    times: int  # it was told
    message: str
    by: str  # component
    made: datetime | None = None  # by the clock of the API server


def told(event: EventView) -> Told | None:
    """Read an Event; None if it does not say what it is about."""
    about, meta = event.involved_object or event.regarding, event.metadata
    if about is None or not about.uid or not event.reason:
        return None
    series, source = event.series, event.source or event.deprecated_source
    times = (
        series.last_observed_time if series else None,
        event.last_timestamp or event.deprecated_last_timestamp,
        event.event_time,
        meta.creation_timestamp if meta else None,
    )
    counts = (series.count if series else None, event.count, event.deprecated_count, 1)
    # API servers let nobody tell of another namespace's objects; ours to check once more, for it is
    # by the namespace that evidence is kept apart.
    where = (meta.namespace if meta else None) or ""
    if where and about.namespace and about.namespace != where:
        return None
    return Told(
        event.reason,
        about.kind or "",
        about.namespace or where,
        about.name or "",
        about.uid,
        (source.host if source else None) or event.reporting_instance or None,
        next((at for text in times if (at := read_time(text))), None),
        next(number for number in counts if type(number) is int and number > 0),
        event.message or event.note or "",
        (source.component if source else None)
        or event.reporting_component
        or event.reporting_controller
        or "",
        read_time(meta.creation_timestamp if meta else None),
    )


def rejection_in(said: Told) -> Rejection | None:
    """Return the rejection of a pod that a kubelet tells of; None if it tells of something else."""
    if said.kind != "Pod" or said.by != "kubelet" or not said.node:
        return None
    kind = classify(said.reason, said.message)
    if kind is None:
        return None
    width = named_width(said.message)
    return Rejection(
        said.uid,
        "",
        said.node,
        kind,
        said.reason,
        later(said.at, said.made),
        said.namespace,
        said.name,
        width,
        clock=said.at,
    )


_OF_CLUSTER: Final = "default"


def kubelet_start_in(said: Told) -> tuple[str, datetime] | None:
    """Return which node's kubelet has started, and when, if that is what the Event tells.

    Every kubelet says so at its start (pkg/kubelet/kubelet.go, BirthCry); so does kube-proxy, in
    the same words but for its name.
    """
    if said.kind != "Node" or said.by != "kubelet" or said.reason != "Starting" or not said.at:
        return None
    # Events about nodes are in this namespace, as of all that is in none (client-go
    # tools/record/event.go); elsewhere those could claim a start who may write Events there.
    if said.namespace != _OF_CLUSTER:
        return None
    return said.name, said.at
