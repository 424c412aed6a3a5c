"""Containers that are started again: how long they wait, and what the status says meanwhile. Pure.

Not for: when containers end; that is in `lives`.

Kubernetes: kuberuntime_manager.go (doBackOff: 10 s, doubled to at most 5 min, from the beginning
again once containers have run for 10 min) and kubelet_pods.go (what waits shows its last end).
The first start again waits for nothing. Sidecars never end here, so they go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.kubelet.container_status import terminated

if TYPE_CHECKING:
    from simulator.objects import Object

_FIRST_S: Final = 10
_LONGEST_S: Final = 300
_FORGIVEN_AFTER_S: Final = 600.0
_BOTH: Final = ("Ready", "ContainersReady")


class Back(NamedTuple):
    """How often containers ended in a row, and for how long they wait after the last time."""

    times: int = 0
    seconds: int = 0

    def next(self, ran_s: float) -> Back:
        """Count one more end, of containers that ran for so long."""
        times = 1 if ran_s >= _FORGIVEN_AFTER_S else self.times + 1
        wait = 0 if times == 1 else min(_FIRST_S << min(times - 2, 10), _LONGEST_S)
        return Back(times, wait)


def starts_again(pod: Object, exit_code: int) -> bool:
    """Tell whether containers that have ended are started again."""
    policy = pod["spec"].get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def is_down(pod: Object) -> bool:
    """Tell whether the containers of a running pod have ended and wait to be started again."""
    return any("running" not in one["state"] for one in pod["status"]["containerStatuses"])


def down(pod: Object, exit_code: int, seconds: int, now: str) -> Object:
    """Say that the containers have ended and wait `seconds` to be started again."""
    shown = []
    for one in pod["status"]["containerStatuses"]:
        since = (one["state"].get("running") or {}).get("startedAt") or now
        over = terminated(exit_code, since, now)
        over["terminated"]["containerID"] = one.get("containerID", "")
        said = {**one, "state": over, "ready": False, "started": False}
        if seconds:
            text = f"back-off {_span(seconds)} restarting failed container={one['name']} "
            text += f"pod={_named(pod)}"
            said["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
            said["lastState"] = over
        shown.append(said)
    names = " ".join(one["name"] for one in shown)
    text = f"containers with unready status: [{names}]"
    why = {"reason": "ContainersNotReady", "message": text}
    return _with(pod, shown, "False", why, now)


def up_again(pod: Object, now: str) -> Object:
    """Say that containers that waited run again."""
    shown = []
    for one in pod["status"]["containerStatuses"]:
        last = one["state"] if "terminated" in one["state"] else one["lastState"]
        count = one["restartCount"] + 1
        said = {**one, "state": {"running": {"startedAt": now}}, "lastState": last}
        said |= {"ready": True, "started": True, "restartCount": count}
        said["containerID"] = f"pocket://{pod['metadata']['uid']}/{one['name']}/{count}"
        shown.append(said)
    return _with(pod, shown, "True", {}, now)


def backing_off(pod: Object, container: str) -> str:
    """Give the text of the BackOff Event."""
    return f"Back-off restarting failed container {container} in pod {_named(pod)}"


def _with(pod: Object, containers: list[Object], ready: str, why: Object, now: str) -> Object:
    conditions = []
    for one in pod["status"]["conditions"]:
        if one["type"] in _BOTH:
            since = one["lastTransitionTime"] if one["status"] == ready else now
            bare = {k: v for k, v in one.items() if k not in ("reason", "message")}
            one = {**bare, "status": ready, "lastTransitionTime": since, **why}  # noqa: PLW2901  said anew
        conditions.append(one)
    return {**pod["status"], "conditions": conditions, "containerStatuses": containers}


def _named(pod: Object) -> str:
    metadata = pod["metadata"]
    return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"


def _span(seconds: int) -> str:
    """Write a duration as Go does."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
