"""The status of a pod as its kubelet writes it, at each station of its life. Pure.

Kubernetes: kubelet_pods.go:generateAPIPodStatus and status/generate.go; rejectPod for those that
are never started: phase, reason, message and nothing of conditions or containers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.kubelet.container_status import container_statuses, lost, terminated
from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.kubelet.model import Rejected
    from simulator.objects import Object

PREFIX: Final = "Pod was rejected: "
_ORDER: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


Make = Callable[["Object"], "Object"]


class Addresses(NamedTuple):
    """Where a pod is on the network."""

    host: str
    pod: str


def rejected(pod: Object, verdict: Rejected, now: str) -> Object:
    """Say that a pod was not let in; containers that ran before (restart) are lost."""
    status: Object = {
        "observedGeneration": pod["metadata"].get("generation"),
        "phase": "Failed",
        "message": PREFIX + verdict.message,
        "reason": verdict.reason,
        "startTime": dig(pod, "status", "startTime") or now,
    }
    if dig(pod, "status", "containerStatuses"):
        status["containerStatuses"] = lost(pod)
    return status


def is_unexplained(pod: Object) -> bool:
    """Tell whether a pod was rejected and nothing is said of its containers.

    Kubernetes rule (SyncTerminatedPod, TerminatePod): a kubelet that is started says it. A pod with
    init containers counts as never initialized, and is left as it is.
    """
    said = dig(pod, "status") or {}
    turned_away = said.get("phase") == "Failed" and (said.get("message") or "").startswith(PREFIX)
    return (
        turned_away and not said.get("containerStatuses") and not pod["spec"].get("initContainers")
    )


def explained(pod: Object) -> Object:
    """Say of a rejected pod that its containers are nowhere."""
    return {**pod["status"], "containerStatuses": lost(pod)}


def starting(pod: Object, addresses: Addresses, now: str) -> Object:
    """Say that a pod was let in and its containers are being made."""
    spec = pod["spec"]
    inits = [one["name"] for one in spec.get("initContainers") or ()]
    sidecars = [
        one["name"]
        for one in spec.get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    ]
    unready = sidecars + [one["name"] for one in spec["containers"]]
    why_not = {
        "reason": "ContainersNotReady",
        "message": f"containers with unready status: [{' '.join(unready)}]",
    }
    uninitialized = {
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{' '.join(inits)}]",
    }
    initialized = ("False", uninitialized) if inits else ("True", {})
    conditions = {
        "PodReadyToStartContainers": ("False", {}),
        "Initialized": initialized,
        "Ready": ("False", why_not),
        "ContainersReady": ("False", why_not),
    }
    waiting = {"waiting": {"reason": "PodInitializing" if inits else "ContainerCreating"}}
    return {
        **_head(pod, "Pending", conditions, addresses, now),
        **container_statuses(pod, waiting, waiting),
    }


def running(pod: Object, addresses: Addresses, now: str) -> Object:
    """Say that all containers run and are ready."""
    conditions = dict.fromkeys(_ORDER, ("True", _NOTHING))
    here = {"podIP": addresses.pod, "podIPs": [{"ip": addresses.pod}]}
    completed = terminated(0, now, now)
    return {
        **_head(pod, "Running", conditions, addresses, now),
        **here,
        **container_statuses(pod, {"running": {"startedAt": now}}, completed),
    }


def was_doubted(pod: Object) -> bool:
    """Tell whether somebody else said of a running pod that it is not ready: its node was lost."""
    said = {one["type"]: one["status"] for one in dig(pod, "status", "conditions") or ()}
    return said.get("Ready") == "False" and said.get("ContainersReady") == "True"


def still_ready(pod: Object, now: str) -> Object:
    """Say it again: the pod is ready."""
    conditions = [
        {**one, "status": "True", "lastTransitionTime": now} if one["type"] == "Ready" else one
        for one in pod["status"]["conditions"]
    ]
    return {**pod["status"], "conditions": conditions}


def ended(pod: Object, exit_code: int, now: str) -> Object:
    """Say that all containers have ended, by themselves or because they were told to."""
    phase, reason = ("Failed", "PodFailed") if exit_code else ("Succeeded", "PodCompleted")
    why = {"reason": reason}
    conditions: dict[str, tuple[str, Object]] = {
        "PodReadyToStartContainers": ("False", {}),
        "Initialized": ("True", {} if exit_code else why),
        "Ready": ("False", why),
        "ContainersReady": ("False", why),
    }
    before = dig(pod, "status") or {}
    host = before.get("hostIP", "")
    started = _started_at(pod) or now
    kept = {part: before[part] for part in ("podIP", "podIPs") if part in before}
    state = terminated(exit_code, started, now)
    return {
        **_head(pod, phase, conditions, Addresses(host, ""), now),
        **kept,
        **container_statuses(pod, state, terminated(0, started, started)),
    }


_NOTHING: Final[Object] = {}


def _head(
    pod: Object,
    phase: str,
    conditions: dict[str, tuple[str, Object]],
    addresses: Addresses,
    now: str,
) -> Object:
    generation, before = pod["metadata"].get("generation"), dig(pod, "status") or {}
    known = {one["type"]: one for one in before.get("conditions") or ()}
    made = []
    for type_, (status, why) in {**conditions, "PodScheduled": ("True", _NOTHING)}.items():
        was = known.get(type_, {})
        since = was.get("lastTransitionTime") if was.get("status") == status else now
        made.append(
            {
                "type": type_,
                "observedGeneration": generation,
                "status": status,
                "lastProbeTime": None,
                "lastTransitionTime": since,
                **why,
            }
        )
    return {
        "observedGeneration": generation,
        "phase": phase,
        "conditions": made,
        "hostIP": addresses.host,
        "hostIPs": [{"ip": addresses.host}],
        "startTime": before.get("startTime") or now,
    }


def _started_at(pod: Object) -> str | None:
    for one in dig(pod, "status", "containerStatuses") or ():
        started: str | None = dig(one, "state", "running", "startedAt")
        if started:
            return started
    return None
