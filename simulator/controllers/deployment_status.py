"""The status of a Deployment, as `kubectl rollout status` reads it. Pure.

Kubernetes: pkg/controller/deployment (sync.go, progress.go). Any replica that comes is progress,
also one that will be rejected: a hot loop looks like a rollout that goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.clock import parse_timestamp, timestamp
from simulator.controllers.deployment_plan import room
from simulator.controllers.deployment_sets import total
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object

CREATED: Final = "NewReplicaSetCreated"
FOUND: Final = "FoundNewReplicaSet"
_THROUGH: Final = "NewReplicaSetAvailable"
_PROGRESS: Final = ("updatedReplicas", "readyReplicas", "availableReplicas")


def counts(deployment: Object, new: Object | None, everything: Sequence[Object]) -> Object:
    """Add up what the ReplicaSets say."""

    def added(part: str) -> int:
        return sum(dig(one, "status", part) or 0 for one in everything)

    available = added("availableReplicas")
    numbers = {
        "replicas": added("replicas"),
        "updatedReplicas": dig(new, "status", "replicas") or 0,
        "readyReplicas": added("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total(everything) - available),
    }
    made: Object = {part: number for part, number in numbers.items() if number}
    made["observedGeneration"] = deployment["metadata"].get("generation", 0)
    made["terminatingReplicas"] = added("terminatingReplicas")
    collisions = dig(deployment, "status", "collisionCount")
    return made if collisions is None else {**made, "collisionCount": collisions}


def status_of(
    deployment: Object, new: Object | None, everything: Sequence[Object], created: str, now: float
) -> Object:
    """Compute the whole status; `created`: why the new ReplicaSet is news, if it is."""
    made = counts(deployment, new, everything)
    have = {one["type"]: one for one in dig(deployment, "status", "conditions") or ()}
    least = deployment["spec"]["replicas"] - room(deployment).unavailable
    enough = made.get("availableReplicas", 0) >= least
    why = (
        ("MinimumReplicasAvailable", "Deployment has minimum availability.")
        if enough
        else ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    )
    _set(have, "Available", "True" if enough else "False", why, now)
    _progress(have, deployment, new, made, created, now)
    failures = [
        one
        for replica_set in everything
        for one in dig(replica_set, "status", "conditions") or ()
        if one["type"] == "ReplicaFailure"
    ]
    if failures:
        why = (failures[0]["reason"], failures[0]["message"])
        _set(have, "ReplicaFailure", failures[0]["status"], why, now)
    else:
        have.pop("ReplicaFailure", None)
    return {**made, "conditions": list(have.values())}


def _progress(  # noqa: PLR0913, PLR0917  what progress is told from
    have: dict[str, Object],
    deployment: Object,
    new: Object | None,
    made: Object,
    created: str,
    now: float,
) -> None:
    spec, before = deployment["spec"], deployment.get("status") or {}
    if spec.get("progressDeadlineSeconds") is None or new is None:
        return
    name = f'"{new["metadata"]["name"]}"'
    if created:
        verb = "Created" if created == CREATED else "Found"
        _renew(have, (created, f"{verb} new replica set {name}"), now)
    known = have.get("Progressing")
    same = made.get("replicas", 0) == made.get("updatedReplicas", 0)
    if same and known is not None and known["reason"] == _THROUGH:
        return
    if is_complete(deployment, made):
        _renew(have, (_THROUGH, f"ReplicaSet {name} has successfully progressed."), now)
    elif _went_on(before, made):
        _renew(have, ("ReplicaSetUpdated", f"ReplicaSet {name} is progressing."), now)
    elif known is not None and _is_late(known, spec["progressDeadlineSeconds"], now):
        text = f"ReplicaSet {name} has timed out progressing."
        _set(have, "Progressing", "False", ("ProgressDeadlineExceeded", text), now)


def is_complete(deployment: Object, status: Object) -> bool:
    """Tell whether all replicas are new ones, and available."""
    wanted = deployment["spec"]["replicas"]
    parts = ("updatedReplicas", "replicas", "availableReplicas")
    return all(status.get(part, 0) == wanted for part in parts)


def _went_on(before: Object, made: Object) -> bool:
    def old(status: Object) -> int:
        return int(status.get("replicas", 0) - status.get("updatedReplicas", 0))

    more = any(made.get(part, 0) > before.get(part, 0) for part in _PROGRESS)
    return more or old(made) < old(before)


def deadline_left(deployment: Object, now: float) -> float | None:
    """Tell in how many seconds a rollout without progress has failed; None: none is going on."""
    patience = deployment["spec"].get("progressDeadlineSeconds")
    for one in dig(deployment, "status", "conditions") or ():
        if one["type"] == "Progressing" and patience is not None and _is_going_on(one):
            return parse_timestamp(one["lastUpdateTime"]) + float(patience) - now
    return None


def _is_going_on(condition: Object) -> bool:
    return bool(condition["status"] == "True" and condition["reason"] != _THROUGH)


def _is_late(condition: Object, patience: float, now: float) -> bool:
    since = parse_timestamp(condition["lastUpdateTime"])
    return _is_going_on(condition) and since + patience <= now


def _renew(have: dict[str, Object], why: tuple[str, str], now: float) -> None:
    """Note progress: the deadline counts from now."""
    known = have.pop("Progressing", None)
    _set(have, "Progressing", "True", why, now)
    if known is not None and known["status"] == "True":
        have["Progressing"]["lastTransitionTime"] = known["lastTransitionTime"]


def _set(
    have: dict[str, Object], type_: str, status: str, why: tuple[str, str], now: float
) -> None:
    known = have.get(type_)
    if known is not None and (known["status"], known["reason"]) == (status, why[0]):
        return
    same = known is not None and known["status"] == status
    have.pop(type_, None)
    have[type_] = {
        "type": type_,
        "status": status,
        "lastUpdateTime": timestamp(now),
        "lastTransitionTime": known["lastTransitionTime"] if known and same else timestamp(now),
        "reason": why[0],
        "message": why[1],
    }
