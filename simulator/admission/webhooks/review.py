"""The AdmissionReview that a webhook is sent, as a function of values.

For: every field as the real API server fills it; tests hold them against recorded requests.
Not for: what comes back (`answers`).

Kubernetes: apiserver/pkg/admission/plugin/webhook/request/admissionreview.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator import versions
from simulator.admission.webhooks.matching import name_of, namespace_of
from simulator.auth.credentials import user_info
from simulator.resources import NEW_EVENTS, STATUS

if TYPE_CHECKING:
    from simulator.admission.chain import Attributes
    from simulator.objects import Object
    from simulator.resources import Resource

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"

_OPTIONS: Final = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}
# Subresources whose body is a kind of its own.
_OWN_KINDS: Final = {
    "binding": {"kind": "Binding", "apiVersion": "v1"},
    "eviction": {"kind": "Eviction", "apiVersion": "policy/v1"},
    "scale": {"kind": "Scale", "apiVersion": "autoscaling/v1"},
}


def shown(resource: Resource, attributes: Attributes, obj: Object | None) -> Object | None:
    """Give an object in the shape in which the webhook knows it."""
    if obj is None:
        return None
    own = _OWN_KINDS.get(attributes.target.subresource)
    if own is not None:
        target = attributes.target
        named = {"name": target.name, "namespace": target.namespace}
        return {**own, **obj, "metadata": {**(obj.get("metadata") or {}), **named}}
    if resource is not NEW_EVENTS and attributes.target.resource is NEW_EVENTS:
        obj = versions.incoming(NEW_EVENTS, obj)
    seen = versions.outgoing(resource, obj)
    # A status is a struct in Go: it is written even if nothing is in it.
    return {**seen, "status": seen.get("status") or {}} if STATUS in resource.subresources else seen


def stored(resource: Resource, attributes: Attributes, seen: Object) -> Object:
    """Take `shown` back, after a patch."""
    target = attributes.target
    if target.subresource in _OWN_KINDS:
        return seen
    obj = versions.incoming(resource, seen)
    return versions.incoming(target.resource, obj) if target.resource is not NEW_EVENTS else obj


def request_of(uid: str, resource: Resource, attributes: Attributes) -> Object:
    """Make the request of a review, without the objects."""
    target, operation = attributes.target, attributes.operation
    below, options = target.subresource, attributes.options
    name, namespace = name_of(attributes), namespace_of(attributes)
    rest = {key: value for key, value in options.items() if key not in ("kind", "apiVersion")}
    return {
        "uid": uid,
        "kind": _kind(resource, attributes),
        "resource": _gvr(resource),
        **({"subResource": below} if below else {}),
        "requestKind": _kind(target.resource, attributes),
        "requestResource": _gvr(target.resource),
        **({"requestSubResource": below} if below else {}),
        **({"name": name} if name else {}),
        **({"namespace": namespace} if namespace else {}),
        "operation": operation,
        "userInfo": user_info(attributes.user),
        "dryRun": attributes.dry_run,
        # A patch is shown as the update that it is.
        "options": {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1", **rest},
    }


def review_of(request: Object, obj: Object | None, old: Object | None) -> Object:
    """Put a review together."""
    whole = {**request, "object": obj, "oldObject": old}
    return {"kind": KIND, "apiVersion": API_VERSION, "request": whole}


def _kind(resource: Resource, attributes: Attributes) -> Object:
    own = _OWN_KINDS.get(attributes.target.subresource)
    if own is None:
        return {"group": resource.group, "version": resource.version, "kind": resource.kind}
    typed = {**own, **(attributes.obj or {})}
    group, _, version = typed["apiVersion"].rpartition("/")
    return {"group": group, "version": version, "kind": typed["kind"]}


def _gvr(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}
