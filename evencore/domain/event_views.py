"""What we read of Events; see `views`. `events` tells what they mean."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evencore.domain.views import OwnedMetadata


class ObjectReference(Struct, frozen=True, gc=False):
    """Which object an Event is about."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class EventSource(Struct, frozen=True, gc=False):
    """Who tells, in the old shape."""

    component: str | None = None
    host: str | None = None


class EventSeries(Struct, frozen=True, gc=False, rename="camel"):
    """How often an Event was told again, in the new shape."""

    count: Any = None
    last_observed_time: str | None = None


class EventView(Struct, frozen=True, gc=False, rename="camel"):
    """An Event of core/v1 or events.k8s.io/v1: one store, two shapes; `events` puts them together.

    Fields of the second shape come last.
    """

    metadata: OwnedMetadata | None = None
    involved_object: ObjectReference | None = None
    reason: str | None = None
    message: str | None = None
    source: EventSource | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    count: Any = None
    series: EventSeries | None = None
    reporting_component: str | None = None
    reporting_instance: str | None = None
    regarding: ObjectReference | None = None
    note: str | None = None
    deprecated_source: EventSource | None = None
    deprecated_last_timestamp: str | None = None
    deprecated_count: Any = None
    reporting_controller: str | None = None
