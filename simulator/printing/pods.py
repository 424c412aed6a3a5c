"""The table of pods.

Kubernetes rule (printPod): STATUS is the reason of the pod, else its phase; then containers that
wait or have ended say why; a pod that is being deleted is Terminating; one with gates
SchedulingGated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import dig
from simulator.printing.cells import AGE, NAME, NONE, Column, Printer, age_of, since, wide

if TYPE_CHECKING:
    from simulator.objects import Object


def _cells(pod: Object, now: float) -> list[Any]:
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    statuses = status.get("containerStatuses") or []
    sidecars = [one for one in spec.get("initContainers") or () if _always(one)]
    started = [
        one
        for one in status.get("initContainerStatuses") or ()
        if any(one["name"] == sidecar["name"] for sidecar in sidecars)
    ]
    every = [*started, *statuses]
    ready = sum(1 for one in every if one.get("ready"))
    total = len(spec.get("containers") or ()) + len(sidecars)
    return [
        pod["metadata"].get("name", ""),
        f"{ready}/{total}",
        _status(pod),
        _restarts(every, now),
        age_of(pod, now),
        status.get("podIP") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(pod),
    ]


def _always(container: Object) -> bool:
    return container.get("restartPolicy") == "Always"


def _status(pod: Object) -> str:
    status = pod.get("status") or {}
    reason: str = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    running = False
    for one in reversed(status.get("containerStatuses") or []):
        state = one.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended:
            reason = ended.get("reason") or _exit(ended)
        elif one.get("ready") and "running" in state:
            running = True
    if reason == "Completed" and running:
        reason = "Running"
    if "deletionTimestamp" in pod["metadata"]:
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return reason


def _exit(ended: Object) -> str:
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _restarts(statuses: list[Object], now: float) -> str:
    count = sum(one.get("restartCount", 0) for one in statuses)
    ends = [dig(one, "lastState", "terminated", "finishedAt") for one in statuses]
    last = max((end for end in ends if end), default=None)
    return f"{count} ({since(last, now)} ago)" if count and last else str(count)


def _gates(pod: Object) -> str:
    gates = dig(pod, "spec", "readinessGates") or []
    if not gates:
        return NONE
    have = {one["type"]: one["status"] for one in dig(pod, "status", "conditions") or ()}
    met = sum(1 for gate in gates if have.get(gate["conditionType"]) == "True")
    return f"{met}/{len(gates)}"


PRINTERS: Final = {
    "pods": Printer(
        (
            NAME,
            Column("Ready"),
            Column("Status"),
            Column("Restarts"),
            AGE,
            *wide("IP", "Node", "Nominated Node", "Readiness Gates"),
        ),
        _cells,
    )
}
