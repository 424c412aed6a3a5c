"""What a delete makes of an object: gone, or on its way. Pure.

Kubernetes rules: rest.BeforeDelete (a grace period may be shortened, never lengthened), pod
strategy CheckGracefulDelete (a pod that no kubelet has, or that has ended, needs no grace), and
Store.Delete (finalizers hold an object; propagationPolicy is said in two finalizers of its own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from simulator.clock import timestamp
from simulator.errors import bad_request, conflict
from simulator.objects import dig
from simulator.resources import PODS

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.resources import Resource

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_DEFAULT_GRACE_S: Final = 30


class Options(NamedTuple):
    """The DeleteOptions that matter here."""

    grace_s: int | None = None
    uid: str | None = None
    version: str | None = None
    propagation: str | None = None  # Background, Foreground, Orphan

    @classmethod
    def read(cls, body: Object) -> Options:
        """Read a DeleteOptions object. Raises a 400 for values of another type."""
        try:
            given = msgspec.convert(body, _Given)
        except msgspec.ValidationError as error:
            raise bad_request(f"the DeleteOptions cannot be read: {error}") from error
        wanted, propagation = given.preconditions or _Wanted(), given.propagation_policy
        if propagation is None and given.orphan_dependents is not None:
            propagation = "Orphan" if given.orphan_dependents else "Background"
        return cls(given.grace_period_seconds, wanted.uid, wanted.resource_version, propagation)

    def written(self) -> Object:
        """Give the fields of a DeleteOptions object that are set."""
        wanted = {"uid": self.uid, "resourceVersion": self.version}
        fields = {
            "gracePeriodSeconds": self.grace_s,
            "preconditions": {key: value for key, value in wanted.items() if value} or None,
            "propagationPolicy": self.propagation,
        }
        return {key: value for key, value in fields.items() if value is not None}


class _Wanted(Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _Given(Struct, rename="camel"):
    grace_period_seconds: int | None = None
    preconditions: _Wanted | None = None
    orphan_dependents: bool | None = None
    propagation_policy: Literal["Background", "Foreground", "Orphan"] | None = None


def check_preconditions(resource: Resource, obj: Object, options: Options) -> None:
    """Raise a 409 if the object is not the one that was meant."""
    metadata = obj["metadata"]
    if options.uid is not None and options.uid != metadata["uid"]:
        why = (
            f"Precondition failed: UID in precondition: {options.uid}, "
            f"UID in object meta: {metadata['uid']}"
        )
        raise conflict(resource, metadata["name"], why)
    if options.version is not None and options.version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the "
            f"ResourceVersion in record ({metadata['resourceVersion']}). "
            "The object might have been modified"
        )
        raise conflict(resource, metadata["name"], why)


def grace_of(resource: Resource, obj: Object, options: Options) -> int:
    """Tell how many seconds this object is given; only pods know grace."""
    if resource is not PODS:
        return 0
    if not dig(obj, "spec", "nodeName") or dig(obj, "status", "phase") in ("Failed", "Succeeded"):
        return 0
    if options.grace_s is not None:
        return max(0, options.grace_s)
    asked = dig(obj, "spec", "terminationGracePeriodSeconds")
    return asked if isinstance(asked, int) else _DEFAULT_GRACE_S


def after_delete(resource: Resource, obj: Object, options: Options, now: float) -> Object | None:
    """Return the object as the delete leaves it; None if it is gone at once."""
    metadata = obj["metadata"]
    finalizers = _finalizers(metadata.get("finalizers") or [], options.propagation)
    grace = grace_of(resource, obj, options)
    if "deletionTimestamp" in metadata:
        grace = min(grace, metadata.get("deletionGracePeriodSeconds", 0))
    if grace == 0 and not finalizers and not _namespace_is_full(resource, obj):
        return None
    changed = dict(metadata)
    if finalizers:
        changed["finalizers"] = finalizers
    else:
        changed.pop("finalizers", None)
    if changed.get("deletionGracePeriodSeconds") != grace:
        changed["deletionTimestamp"] = timestamp(now + grace)
        changed["deletionGracePeriodSeconds"] = grace
        if resource.generation and "deletionTimestamp" not in metadata:
            changed["generation"] = metadata.get("generation", 0) + 1
    left = {**obj, "metadata": changed}
    if _namespace_is_full(resource, obj):
        left["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
    return left


def is_over(resource: Resource, obj: Object) -> bool:
    """Tell whether an object that was being deleted has nothing left to wait for."""
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
        and not _namespace_is_full(resource, obj)
    )


def _namespace_is_full(resource: Resource, obj: Object) -> bool:
    """Namespaces have finalizers of their own: spec.finalizers, emptied through /finalize."""
    return resource.plural == "namespaces" and bool(dig(obj, "spec", "finalizers"))


def _finalizers(have: list[str], propagation: str | None) -> list[str]:
    if propagation is None:
        return have
    rest = [one for one in have if one not in (FOREGROUND, ORPHAN)]
    extra = {"Foreground": [FOREGROUND], "Orphan": [ORPHAN]}.get(propagation, [])
    return rest + extra
