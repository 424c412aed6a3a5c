"""One store, several shapes: what an object looks like in each version that is served.

For: events (core and events.k8s.io are one object with fields of two names) and resources with
two versions of one content.
Not for: deciding which version is stored; the resource table says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import without_nulls
from simulator.resources import NEW_EVENTS

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.resources import Resource

# Kubernetes: pkg/apis/events/v1/conversion.go; the deprecated names carry core's fields.
_NEW_NAMES: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_CONTENT: Final = ("metadata", "spec")
_CORE_NAMES: Final = {new: core for core, new in _NEW_NAMES.items()}


def outgoing(resource: Resource, obj: Object) -> Object:
    """Give a stored object in the shape of the resource that was asked for."""
    if obj.get("apiVersion") == resource.api_version:
        return obj
    if resource is NEW_EVENTS:
        obj = {_NEW_NAMES.get(name, name): value for name, value in obj.items()}
    return {**obj, "apiVersion": resource.api_version, "kind": resource.kind}


def incoming(resource: Resource, obj: Object) -> Object:
    """Give an object as it is stored.

    Nulls in metadata and spec are as good as absent; elsewhere they are unset times, which the
    API server shows as null itself (an event's, a condition's).
    """
    obj = {
        part: without_nulls(value) if part in _CONTENT else value
        for part, value in obj.items()
        if value is not None or part not in _CONTENT
    }
    if resource is NEW_EVENTS:
        obj = {_CORE_NAMES.get(name, name): value for name, value in obj.items()}
        return {**obj, "apiVersion": "v1", "kind": "Event"}
    return {**obj, "apiVersion": resource.api_version, "kind": resource.kind}


def same_shape(resource: Resource) -> bool:
    """Tell whether what is stored differs from what is served in its apiVersion at most."""
    return resource is not NEW_EVENTS
