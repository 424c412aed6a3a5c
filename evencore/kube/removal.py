"""What evencore has left in a cluster besides its own objects, and how it is taken away.

For: `evencore uninstall`. First the webhook configuration, or new pods would be held again; then
the gates, for nobody would take them off any more; then labels and annotations of nodes.
Not for: what people wrote (the label of namespaces, the annotation evencore.io/topology), nor what
is written on running pods: their affinity cannot be changed, and its NotIn does no harm.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from evencore.domain import names
from evencore.domain.rejection import read_time
from evencore.kube.client import JSON
from evencore.kube.dump import listed
from evencore.kube.errors import KubeError
from evencore.kube.outcome import Done, Outcome, outcome_of
from evencore.kube.resource import Resource
from evencore.kube.source import NODES
from evencore.kube.writer import JSON_PATCH, MERGE_PATCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from evencore.kube.client import Client

WEBHOOK: Final = "pods.evencore.io"
"""The name of our webhook within a configuration, whatever the configuration is called."""

_CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_WAITING_PODS: Final = Resource("/api/v1/pods", field_selector="status.phase=Pending")

_LEASES: Final = Resource(
    "/apis/coordination.k8s.io/v1/leases", field_selector="metadata.name=evencore-controller"
)

_LABELS: Final = (
    names.NODE,
    names.THREADS_PER_CORE,
    names.MAX_CONTAINER_CPUS,
    names.MAX_POD_CPUS,
)
_ANNOTATIONS: Final = (names.LABEL_REASONS, names.ROOM_SINCE)

Object = dict[str, Any]


class Step(NamedTuple):
    """One write, and what it does in words."""

    says: str
    verb: str
    path: str
    body: object
    content_type: str = JSON


def steps(client: Client) -> list[Step]:
    """Read what there is to take away, in the order in which it must go. Raises KubeError."""
    configurations = listed(client, Resource(_CONFIGURATIONS), "MutatingWebhookConfiguration")
    pods = listed(client, _WAITING_PODS, "Pod")
    nodes = listed(client, NODES, "Node")
    return [*of_configurations(configurations), *of_pods(pods), *of_nodes(nodes)]


def at_work(client: Client, now: datetime) -> str | None:
    """Name the controller that holds the usual Lease and renews it; None: none, or not known."""
    try:
        for one in listed(client, _LEASES, "Lease"):
            spec = one.get("spec") or {}
            renewed, lasts = read_time(spec.get("renewTime")), spec.get("leaseDurationSeconds")
            if not spec.get("holderIdentity") or renewed is None or type(lasts) is not int:
                continue
            if now - renewed <= timedelta(seconds=lasts):
                return str(spec["holderIdentity"])
    except KubeError:  # who may not read Leases can uninstall all the same
        return None
    return None


def carry_out(client: Client, step: Step) -> Outcome:
    """Do one step; nothing is repeated here."""
    try:
        client.write(step.verb, step.path, step.body, content_type=step.content_type)
    except KubeError as error:
        return outcome_of(error, tests=step.content_type == JSON_PATCH)
    return Done()


def of_configurations(found: Iterable[Object]) -> Iterator[Step]:
    """Delete webhook configurations that hold our webhook and no other; else say so."""
    for one in found:
        meta = one["metadata"]
        hooks = [hook.get("name") for hook in one.get("webhooks") or ()]
        if WEBHOOK not in hooks:
            continue
        path = f"{_CONFIGURATIONS}/{quote(meta['name'], '')}"
        what = f"MutatingWebhookConfiguration {meta['name']}"
        if set(hooks) == {WEBHOOK}:
            yield Step(f"delete {what}", "DELETE", path, _only(meta))
        else:
            number = hooks.index(WEBHOOK)
            patch = [_test("/metadata/resourceVersion", meta["resourceVersion"])]
            patch.append({"op": "remove", "path": f"/webhooks/{number}"})
            yield Step(f"take {WEBHOOK} out of {what}", "PATCH", path, patch, JSON_PATCH)


def of_pods(found: Iterable[Object]) -> Iterator[Step]:
    """Take our gate off pods; gates of others stay, and so they may go on waiting."""
    for one in found:
        meta = one["metadata"]
        gates = [gate.get("name") for gate in one["spec"].get("schedulingGates") or ()]
        if names.HOLD not in gates:
            continue
        path = f"/api/v1/namespaces/{quote(meta['namespace'], '')}/pods/{quote(meta['name'], '')}"
        number = gates.index(names.HOLD)
        patch = [
            _test("/metadata/uid", meta["uid"]),
            _test(f"/spec/schedulingGates/{number}/name", names.HOLD),
            {"op": "remove", "path": f"/spec/schedulingGates/{number}"},
        ]
        says = f"take the gate {names.HOLD} off pod {meta['namespace']}/{meta['name']}"
        yield Step(says, "PATCH", path, patch, JSON_PATCH)


def of_nodes(found: Iterable[Object]) -> Iterator[Step]:
    """Take our labels and annotations off nodes."""
    for one in found:
        meta = one["metadata"]
        labels = {key: None for key in _LABELS if key in (meta.get("labels") or {})}
        annotations = {key: None for key in _ANNOTATIONS if key in (meta.get("annotations") or {})}
        if not labels and not annotations:
            continue
        change = {"metadata": {"uid": meta["uid"], "labels": labels, "annotations": annotations}}
        path = f"{NODES.path}/{quote(meta['name'], '')}"
        says = f"take {', '.join([*labels, *annotations])} off node {meta['name']}"
        yield Step(says, "PATCH", path, change, MERGE_PATCH)


def _only(meta: Object) -> Object:
    """Name exactly this object: one of the same name that came since is another one."""
    wanted = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": wanted}


def _test(path: str, value: str) -> Object:
    return {"op": "test", "path": path, "value": value}
