"""Clusters as `evencore doctor` sees them: healthy but for what a test says."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from builders import NOW, _Object, namespace, pod

from evencore.doctor.views import Lease
from evencore.doctor.world import Builder, Call, Trial
from evencore.domain.lenient import read
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from builders import Pod

    from evencore.doctor.finding import Finding
    from evencore.doctor.world import World

ENABLED = {"evencore.io/admission": "enabled"}
Object = dict[str, Any]


def hooks(name: str = "pods.evencore.io", **fields: object) -> _Object:
    """Make a webhook configuration with one webhook, healthy but for these fields."""
    rule = {"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}
    service = {"namespace": "evencore-system", "name": "webhook"}
    one = {
        "name": name,
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "rules": [rule],
        "namespaceSelector": {"matchLabels": ENABLED},
        "clientConfig": {"service": service, "caBundle": base64.b64encode(b"PEM").decode()},
    }
    return _Object(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "evencore",
        webhooks=[{"name": "else.example"}, one | fields],
    )


def lease(ago: timedelta = timedelta(seconds=3), **fields: object) -> Lease:
    at = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "c-1", "leaseDurationSeconds": 15, "renewTime": at, **fields}
    return read(Lease, {"spec": spec})[0]


def enabled(name: str = "apps") -> _Object:
    return namespace(name).label("evencore.io/admission", "enabled")


def world(*objects: _Object, **fields: object) -> World:
    """Return a cluster that is healthy but for these objects and fields."""
    builder = Builder()
    for one in (hooks(), enabled(), namespace("evencore-system"), namespace("kube-system")):
        if not any(_same(one, other) for other in objects):
            builder.take(one.obj)
    for one in objects:
        builder.take(one.obj)
    made = builder.world({}, Policy(), NOW, "evencore-system", "evencore-controller")
    made.lease, made.trial = lease(), Trial("apps", Call.CHANGED)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _same(one: _Object, other: _Object) -> bool:
    def key(it: _Object) -> tuple[str, str]:
        return it.obj["kind"], it.obj["metadata"]["name"]

    return key(one) == key(other)


def found(
    check: Callable[[World], Iterator[Finding]], *objects: _Object, **fields: object
) -> dict[str, str]:
    """Return object → text of what a check finds."""
    return {one.object: one.text for one in check(world(*objects, **fields))}


def waiting(made: datetime = NOW, *gates: str) -> Pod:
    one = pod("held").metadata(namespace="apps", creationTimestamp=made.isoformat())
    names = [*gates, "evencore.io/hold"]
    return one.spec(schedulingGates=[{"name": name} for name in names])


def running(name: str, qos: str = "Guaranteed", **labels: str) -> Pod:
    made = pod(name).metadata(namespace="apps")
    made.obj["status"] = {"phase": "Running", "qosClass": qos}
    for key, value in labels.items():
        made.label(key.replace("_", "-"), value)
    return made
