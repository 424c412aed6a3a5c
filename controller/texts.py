"""What the controller tells: the words of decisions, once each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain import names
from evencore.domain.rejection import Kind
from evencore.domain.text import count
from evencore.kube.events import About

if TYPE_CHECKING:
    from collections.abc import Collection

    from controller.state import Owner
    from controller.views import LivePod
    from controller.workload import Workload
    from evencore.domain.evidence import Evidence
    from evencore.domain.rejection import Rejection

REPLACED: Final = (
    "it waited for a node though none is excluded any more: deleted, so that its owner makes "
    "a fresh one that may go everywhere"
)

_MOST_NODES: Final = 5


def about(owner: Owner) -> About:
    """Point at an owner."""
    return About(owner.api_version, owner.kind, owner.namespace, owner.name, owner.uid)


def about_pod(pod: LivePod) -> About:
    """Point at a pod."""
    return About("v1", "Pod", pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)


def aligned(pod: LivePod) -> str | None:
    """Return what the webhook wrote on a pod of its CPUs; None if it left them alone."""
    written = pod.metadata.annotations
    if written is None or not written.original_cpu:
        return None
    return _written(pod, "container ") or "its CPU requests were rounded up to whole cores"


def held(pod: LivePod) -> str:
    """Return what the webhook wrote on a pod of its being held."""
    return _written(pod, "held") or f"held by the scheduling gate {names.HOLD}"


def _written(pod: LivePod, begin: str) -> str:
    return "; ".join(s for s in pod.decision.split("; ") if s.startswith(begin))


def deleted(number: int, left: int) -> str:
    """Tell that rejected pods were cleaned up."""
    return f"{count(number, 'rejected pod')} deleted, {left} left"


def bare(node: str, reason: str) -> str:
    """Tell of a rejected pod that nobody controls."""
    return (
        f"rejected by {node}: {reason}; no controller makes another one: delete it and create it "
        "again, best under a Deployment or a Job"
    )


def rejections(
    evidence: Evidence, pods: Collection[Rejection], owner: Owner, workload: Workload | None
) -> str:
    """Tell how often an owner was rejected and where, and what people must do about it.

    `pods`: its rejected pods that are still there; there is one, or evidence.
    """
    newest = max(pods, key=lambda one: (one.at is not None, one.at), default=None)
    if evidence.nodes:
        number = sum(node.rejections for node in evidence.nodes)
        last, reason = evidence.nodes[0].node, evidence.nodes[0].reason
        where = ", ".join(f"{n.node} ({n.rejections})" for n in evidence.nodes[:_MOST_NODES])
        text = f"{count(number, 'pod')} rejected within the last hour"
        text += f", the last on {last}: {reason}; nodes: {where}"
    else:
        text = f"{count(len(pods), 'rejected pod')}"
        text += f", the last on {newest.node}: {newest.reason}" if newest else ""
    if newest is not None and newest.kind is Kind.MISALIGNED and newest.width:
        text += (
            f"; {newest.node} has {newest.width} CPUs per core and takes whole cores only: ask for "
            f"a multiple of {newest.width}, or label the namespace {names.ADMISSION}="
            f"{names.ENABLED} and have the webhook round up"
        )
    if workload and workload.node_name:
        text += (
            f"; its pod template sets spec.nodeName: {workload.node_name}, so no scheduler is "
            "asked and every new pod meets the same kubelet: take spec.nodeName out of the "
            "template, a nodeSelector or affinity chooses nodes and waits for room"
        )
    if workload and owner.kind == "Job" and not workload.per_index:
        used = min(len(pods), workload.backoff_limit)
        by = "a placement refusal" if used == 1 else "placement refusals"
        retries = "retry" if workload.backoff_limit == 1 else "retries"
        text += f"; {used} of {workload.backoff_limit} {retries} used by {by}"
    return text
