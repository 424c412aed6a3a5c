"""The kubelet's last look at a pod: does it still fit this node, by requests, labels and taints.

Kubernetes: pkg/kubelet/lifecycle/predicate.go. All resources come before all else, the first
that fails is named; CPU in thousandths, the rest in whole units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.selectors import matches
from evencore.domain.taints import tolerates
from simulator.kubelet.model import Rejected
from simulator.objects import dig
from simulator.requests import of_pod
from simulator.requests import read as amounts
from simulator.rules.new_pods import spec_of
from simulator.scheduler.filters import NO_MATCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object
    from simulator.requests import Amounts

_FIRST: Final = ("cpu", "memory", "ephemeral-storage")


def objection(pod: Object, node: Object, others: Sequence[Amounts]) -> Rejected | None:
    """Tell why a pod may not run on a node beside others that ask for so much; None: it may."""
    return room_for(pod, node, others) or _placement(pod, node)


def room_for(pod: Object, node: Object, others: Sequence[Amounts]) -> Rejected | None:
    """Tell which resource is too small for a pod beside others; None: there is room."""
    have = amounts(dig(node, "status", "allocatable"))
    if len(others) + 1 > have.get("pods", 0):
        return _out_of("pods", 1, len(others), have.get("pods", 0))
    asked = of_pod(pod["spec"])
    for name in (*_FIRST, *sorted(asked.keys() - set(_FIRST))):
        used = sum(one.get(name, 0) for one in others)
        if asked.get(name, 0) and asked[name] > have.get(name, 0) - used:
            return _out_of(name, asked[name], used, have.get(name, 0))
    return None


def _out_of(name: str, asked: int, used: int, have: int) -> Rejected:
    text = f"Node didn't have enough resource: {name}, requested: {asked}, used: {used}"
    return Rejected(f"OutOf{name}", f"{text}, capacity: {have}")


def _placement(pod: Object, node: Object) -> Rejected | None:
    name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
    chooses = pod["spec"].get("nodeSelector") or pod["spec"].get("affinity")
    if chooses and not matches(spec_of(pod), name, labels):
        return _failed("NodeAffinity", NO_MATCH)
    for taint in dig(node, "spec", "taints") or ():
        if taint.get("effect") == "NoExecute" and not any(
            tolerates(one, taint) for one in pod["spec"].get("tolerations") or ()
        ):
            return _failed("TaintToleration", "node(s) had taints that the pod didn't tolerate")
    return None


def _failed(predicate: str, why: str) -> Rejected:
    return Rejected(predicate, f"Predicate {predicate} failed: {why}")
