"""LimitRanger: gives new pods the defaults of their namespace, and holds them to its bounds.

Kubernetes: plugin/pkg/admission/limitranger, as far as CPU and memory of containers go. Of
several LimitRanges each adds what is missing and each must be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.quantity import parse_nanos
from simulator.errors import forbidden
from simulator.objects import copy
from simulator.resources import LIMIT_RANGES, PODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.admission.chain import Attributes
    from simulator.objects import Object
    from simulator.store.store import Store


class LimitDefaults:
    """The mutating half: what a container does not say is taken from the LimitRanges."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Complete a new pod."""
        items = list(_items(self._store, attributes))
        if not items or attributes.obj is None:
            return attributes.obj
        pod = copy(attributes.obj)
        for container in _containers(pod):
            resources = container.get("resources") or {}
            for item in items:
                for part, default in (("requests", "defaultRequest"), ("limits", "default")):
                    merged = {**(item.get(default) or {}), **(resources.get(part) or {})}
                    if merged:
                        resources[part] = merged
            container["resources"] = resources
        return pod


class LimitBounds:
    """The validating half: minimum and maximum of each container, after all mutation."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Refuse a new pod that is out of bounds, with every reason."""
        found = [
            why
            for item in _items(self._store, attributes)
            for container in _containers(attributes.obj or {})
            for why in _out_of_bounds(container.get("resources") or {}, item)
        ]
        if found:
            metadata = (attributes.obj or {})["metadata"]
            name = metadata.get("name") or metadata.get("generateName", "")
            said = found[0] if len(found) == 1 else f"[{', '.join(found)}]"
            raise forbidden(PODS, name, said)
        return attributes.obj


def _items(store: Store, attributes: Attributes) -> Iterator[Object]:
    target = attributes.target
    if attributes.operation != "CREATE" or target.resource is not PODS or target.subresource:
        return
    for record in store.table(LIMIT_RANGES).records(target.namespace):
        for item in record.object["spec"].get("limits") or ():
            if item.get("type") == "Container":
                yield item


def _containers(pod: Object) -> Iterator[Object]:
    spec = pod.get("spec") or {}
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()


def _out_of_bounds(resources: Object, item: Object) -> Iterator[str]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, least in (item.get("min") or {}).items():
        if name not in requests:
            yield f"minimum {name} usage per Container is {least}.  No request is specified"
        elif parse_nanos(requests[name]) < parse_nanos(least):
            yield f"minimum {name} usage per Container is {least}, but request is {requests[name]}"
    for name, most in (item.get("max") or {}).items():
        if name not in limits:
            yield f"maximum {name} usage per Container is {most}.  No limit is specified"
        elif parse_nanos(limits[name]) > parse_nanos(most):
            yield f"maximum {name} usage per Container is {most}, but limit is {limits[name]}"
