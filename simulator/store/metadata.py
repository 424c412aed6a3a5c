"""What the API server itself writes into an object's metadata, and what it keeps there.

Kubernetes rules: rest.BeforeCreate and rest.BeforeUpdate of k8s.io/apiserver, and the registry's
strategies (generation counts changes of the spec only).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.clock import timestamp
from simulator.errors import ApiError, Cause, conflict, invalid

if TYPE_CHECKING:
    from simulator.chance import Chance
    from simulator.objects import Object
    from simulator.resources import Resource

# A generated name keeps its whole suffix within the 63 characters of a DNS label.
_LONGEST_BASE: Final = 58
_OWN: Final = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
# Besides spec, what counts as content for kinds that have none.
_NO_CONTENT: Final = frozenset(("metadata", "status", "apiVersion", "kind"))


def for_create(
    resource: Resource, namespace: str, obj: Object, now: float, chance: Chance
) -> Object:
    """Return the object with the metadata of a new one; its content is shared with `obj`."""
    given = obj.get("metadata") or {}
    metadata = {k: v for k, v in given.items() if k not in (*_OWN, "resourceVersion", "selfLink")}
    name = given.get("name") or ""
    if not name and given.get("generateName"):
        name = given["generateName"][:_LONGEST_BASE] + chance.suffix()
    if not name:
        why = "name or generateName is required"
        raise invalid(resource, "", [Cause("metadata.name", "FieldValueRequired", _required(why))])
    metadata["name"] = name
    if resource.namespaced:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)
    metadata["uid"] = chance.uid()
    metadata["creationTimestamp"] = timestamp(now)
    if resource.generation:
        metadata["generation"] = 1
    else:
        metadata.pop("generation", None)
    return {**obj, "metadata": metadata}


def refuse_a_version(obj: Object) -> None:
    """Kubernetes rule (etcd3 store.Create): what is new has no version. Raises its 500."""
    if (obj.get("metadata") or {}).get("resourceVersion") not in (None, "", "0"):
        text = "resourceVersion should not be set on objects to be created"
        raise ApiError(500, "", text)


def refuse_no_version(resource: Resource, name: str, obj: Object) -> None:
    """Kubernetes rule (AllowUnconditionalUpdate): some kinds are never overwritten unseen."""
    if not resource.unconditional and not (obj.get("metadata") or {}).get("resourceVersion"):
        place = "metadata.resourceVersion"
        told = "Invalid value: 0x0: must be specified for an update"
        refusal = invalid(resource, name, [Cause(place, "FieldValueInvalid", told)])
        refusal.message = f'{resource.qualified} "{name}" is invalid: {place}: {told}'
        raise refusal


def _required(why: str) -> str:
    return f"Required value: {why}"


def for_update(resource: Resource, old: Object, new: Object, *, counts: bool) -> Object:
    """Return `new` with what a client cannot change taken from `old`.

    Raises a 409 if `new` was made from another version or another object of that name.
    """
    before, given = old["metadata"], new.get("metadata") or {}
    name = before["name"]
    if given.get("uid") and given["uid"] != before["uid"]:
        raise conflict(
            resource,
            name,
            f"Precondition failed: UID in precondition: {given['uid']}, "
            f"UID in object meta: {before['uid']}",
        )
    if given.get("resourceVersion") not in (None, "", before["resourceVersion"]):
        raise conflict(resource, name)
    metadata = {k: v for k, v in given.items() if k not in (*_OWN, "generation", "selfLink")}
    for part in ("name", "namespace", "generateName", *_OWN, "generation", "resourceVersion"):
        if part in before:
            metadata[part] = before[part]
    updated = {**new, "metadata": metadata}
    if counts and resource.generation and _content(old) != _content(updated):
        metadata["generation"] = before.get("generation", 0) + 1
    return updated


def _content(obj: Object) -> Object:
    return {k: v for k, v in obj.items() if k not in _NO_CONTENT}
