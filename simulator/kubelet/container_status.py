"""What the status of a pod says of its containers. Pure.

Kubernetes: kubelet_pods.go (convertToAPIContainerStatuses). What was said before of a container
that ran stays: how often it was started again, and how it ended last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.objects import Object

_NOWHERE: Final = "The container could not be located when the pod was terminated"


def container_statuses(pod: Object, state: Object, init_state: Object) -> Object:
    """Put all app containers and sidecars in one state, init containers in another."""
    found: Object = {}
    inits = pod["spec"].get("initContainers") or ()
    if inits:
        found["initContainerStatuses"] = [
            _container(pod, one, state if one.get("restartPolicy") == "Always" else init_state)
            for one in inits
        ]
    found["containerStatuses"] = [_container(pod, one, state) for one in pod["spec"]["containers"]]
    return found


def _container(pod: Object, container: Object, state: Object) -> Object:
    waits, runs, sidecar = (
        "waiting" in state,
        "running" in state,
        container.get("restartPolicy") == "Always",
    )
    init = container in _inits(pod) and not sidecar
    image = container.get("image", "")
    before = _before(pod, container["name"])
    never_ran = waits or not (runs or before)
    status: Object = {
        "name": container["name"],
        "state": dict(state),
        "lastState": before.get("lastState") or {},
        "ready": runs or (init and "terminated" in state),
        "restartCount": before.get("restartCount", 0),
        "image": image,
        "imageID": "" if never_ran else image,
        "started": runs,
    }
    if not never_ran:
        made = f"pocket://{pod['metadata']['uid']}/{container['name']}"
        status["containerID"] = before.get("containerID") or made
    asked: Any = container.get("resources") or {}
    if runs and asked:
        status["resources"] = asked
        if asked.get("requests"):
            status["allocatedResources"] = asked["requests"]
    return status


def _before(pod: Object, name: str) -> Object:
    """Give what was said of a container before."""
    for part in ("containerStatuses", "initContainerStatuses"):
        for one in dig(pod, "status", part) or ():
            if one["name"] == name:
                found: Object = one
                return found
    return {}


def terminated(exit_code: int, started: str, finished: str) -> Object:
    """Give the state of a container that has ended."""
    reason = "Error" if exit_code else "Completed"
    times = {"startedAt": started, "finishedAt": finished}
    return {"terminated": {"exitCode": exit_code, "reason": reason, **times}}


def lost(pod: Object) -> list[Object]:
    """Say of the app containers that nobody knows what became of them."""
    why = {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": _NOWHERE}
    state = {"terminated": {**why, "startedAt": None, "finishedAt": None}}
    return [_container(pod, one, state) for one in pod["spec"]["containers"]]


def _inits(pod: Object) -> list[Object]:
    return pod["spec"].get("initContainers") or []
