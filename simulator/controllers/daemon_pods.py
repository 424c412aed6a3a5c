"""The pod of a DaemonSet for a node, and whether that node is to have one. Pure.

Kubernetes: pkg/controller/daemon/util. The scheduler binds these pods, too: each names its node
in a required affinity, by matchFields, and tolerates what befalls nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain import selectors
from evencore.domain.lenient import read
from evencore.domain.taints import tolerates
from evencore.domain.views import PodSpec
from simulator.controllers import pods as rules
from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object

REVISION: Final = "controller-revision-hash"
GENERATION: Final = "pod-template-generation"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TOLERATED: Final = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)


def new_pod(owner: Object, node: str, revision: str) -> Object:
    """Make the pod for a node."""
    pod = rules.from_template(owner["spec"]["template"], owner)
    extra = {REVISION: revision, GENERATION: str(owner["metadata"].get("generation", 1))}
    pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), **extra}
    pod["spec"] = _tolerant(pod["spec"])
    pod["spec"]["affinity"] = _bound_to(node, pod["spec"].get("affinity") or {})
    return pod


def _tolerant(spec: Object) -> Object:
    befalls = list(_TOLERATED)
    if spec.get("hostNetwork"):
        befalls.append(("network-unavailable", "NoSchedule"))
    given = spec.get("tolerations") or []
    added = [
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": effect}
        for what, effect in befalls
    ]
    return {**spec, "tolerations": [*given, *(one for one in added if one not in given)]}


def _bound_to(node: str, affinity: Object) -> Object:
    """Name the node: matchFields of all terms are replaced, the rest of each term stays."""
    affinity = copy(affinity)
    named = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    of_node = affinity.setdefault("nodeAffinity", {})
    terms = dig(of_node, _REQUIRED, "nodeSelectorTerms") or [{}]
    of_node[_REQUIRED] = {"nodeSelectorTerms": [{**term, "matchFields": named} for term in terms]}
    return affinity


def node_of(pod: Object) -> str:
    """Tell for which node a pod was made, bound or not."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    path = ("spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    for term in dig(pod, *path) or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name":
                return str(field["values"][0])
    return ""


def by_node(pods: Sequence[Object]) -> dict[str, list[Object]]:
    """Sort pods by the node for which they were made."""
    found: dict[str, list[Object]] = {}
    for pod in pods:
        found.setdefault(node_of(pod), []).append(pod)
    return found


def revision_of(obj: Object) -> str:
    """Tell from which revision a pod was made, by its hash; the revision has the same label."""
    return dig(obj, "metadata", "labels", REVISION) or ""


def should_run(owner: Object, node: Object) -> tuple[bool, bool]:
    """Tell whether a node is to get a pod, and whether one that is there may stay."""
    spec = owner["spec"]["template"]["spec"]
    name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
    view, _ = read(PodSpec, spec)
    if spec.get("nodeName") not in (None, "", name) or not selectors.matches(view, name, labels):
        return False, False
    tolerations = _tolerant(spec)["tolerations"]
    effects = {
        taint["effect"]
        for taint in dig(node, "spec", "taints") or ()
        if not any(tolerates(one, taint) for one in tolerations)
    }
    return not effects & {"NoSchedule", "NoExecute"}, "NoExecute" not in effects
