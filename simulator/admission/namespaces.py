"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import forbidden, not_found
from simulator.resources import NAMESPACES

if TYPE_CHECKING:
    from simulator.admission.chain import Attributes
    from simulator.objects import Object
    from simulator.store.store import Store

_IMMORTAL: Final = ("default", "kube-system", "kube-public")


class NamespaceLifecycle:
    """Refuses writes for the sake of their namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Refuse what cannot be made, and the deletion of the first namespaces."""
        target = attributes.target
        if target.resource is NAMESPACES:
            if attributes.operation == "DELETE" and target.name in _IMMORTAL:
                raise forbidden(NAMESPACES, target.name, "this namespace may not be deleted")
            return attributes.obj
        if attributes.operation != "CREATE" or not target.resource.namespaced:
            return attributes.obj
        record = self._store.table(NAMESPACES).get(("", target.namespace))
        if record is None:
            raise not_found(NAMESPACES, target.namespace)
        if "deletionTimestamp" in record.object["metadata"] and not target.subresource:
            metadata = (attributes.obj or {}).get("metadata") or {}
            raise forbidden(
                target.resource,
                metadata.get("name", ""),
                f"unable to create new content in namespace {target.namespace} "
                "because it is being terminated",
            )
        return attributes.obj
