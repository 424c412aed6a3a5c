"""Paths: which resource, namespace, object and subresource a URL means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.resources import Resource


class Target(NamedTuple):
    """What a path points at; an empty name is the collection."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class Routes:
    """Finds targets among the served resources."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_path = {(one.group, one.version, one.plural): one for one in resources}

    def find(self, path: str) -> Target | None:
        """Give what a path means; None: nothing is there."""
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["api"]:
            group, parts = "", parts[1:]
        elif parts[:1] == ["apis"] and len(parts) > 1:
            group, parts = parts[1], parts[2:]
        else:
            return None
        if not parts:
            return None
        version, parts = parts[0], parts[1:]
        namespace = ""
        # namespaces/x/pods is in a namespace; namespaces/x and namespaces/x/status are it.
        if len(parts) > 2 and parts[0] == "namespaces":  # noqa: PLR2004  two and something more
            inner = self._by_path.get((group, version, parts[2]))
            if inner is not None and inner.namespaced:
                namespace, parts = parts[1], parts[2:]
        if not parts or len(parts) > 3:  # noqa: PLR2004  plural, name, subresource
            return None
        resource = self._by_path.get((group, version, parts[0]))
        if resource is None:
            return None
        _, name, subresource = (*parts, "", "")[:3]
        if subresource and subresource not in resource.subresources:
            return None
        # A single object of a namespaced resource is only found in its namespace.
        if name and resource.namespaced and not namespace:
            return None
        return Target(resource, namespace, name, subresource)
