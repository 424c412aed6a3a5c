"""What a DaemonSet does next: pods that are missing, too many, failed or outdated. Pure.

Kubernetes: podsShouldBeOnNode and rollingUpdate of pkg/controller/daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.controllers import pods as rules
from simulator.controllers.amounts import share
from simulator.controllers.daemon_pods import node_of, revision_of, should_run
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object


class Plan(NamedTuple):
    """What to do; `failed` pods are deleted when their node's back-off allows it."""

    create: list[str]
    delete: list[Object]
    failed: list[Object]


def by_node(pods: Sequence[Object]) -> dict[str, list[Object]]:
    """Sort pods by the node for which they were made."""
    found: dict[str, list[Object]] = {}
    for pod in pods:
        found.setdefault(node_of(pod), []).append(pod)
    return found


def plan(owner: Object, nodes: Sequence[Object], pods: Sequence[Object]) -> Plan:
    """Go through all nodes, and the pods of nodes that are gone."""
    made = Plan([], [], [])
    placed = by_node(pods)
    for node in nodes:
        name = node["metadata"]["name"]
        wanted, may_stay = should_run(owner, node)
        here = placed.pop(name, [])
        if wanted and not here:
            made.create.append(name)
        elif may_stay:
            _keep_one(here, made)
        else:
            made.delete.extend(pod for pod in here if not rules.is_going_away(pod))
    # A node that is gone takes its pods with it through PodGC; those not bound yet are ours.
    for left in placed.values():
        made.delete.extend(
            pod for pod in left if not pod["spec"].get("nodeName") and not rules.is_going_away(pod)
        )
    return made


def _keep_one(here: Sequence[Object], made: Plan) -> None:
    """Sort out the pods of one node: failed ones go, and of several the younger ones."""
    running = []
    for pod in here:
        if rules.is_going_away(pod):
            continue
        if rules.phase(pod) == "Failed":
            made.failed.append(pod)
        elif rules.phase(pod) == "Succeeded":
            made.delete.append(pod)
        else:
            running.append(pod)
    running.sort(key=lambda pod: pod["metadata"]["creationTimestamp"])
    made.delete.extend(running[1:])


def outdated(
    owner: Object, nodes: Sequence[Object], pods: Sequence[Object], revision: str, now: float
) -> list[Object]:
    """Tell which pods a rolling update deletes now, at most maxUnavailable being away."""
    spec = owner["spec"]
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return []
    least, placed = spec.get("minReadySeconds", 0), by_node(pods)
    wanted = [node["metadata"]["name"] for node in nodes if should_run(owner, node)[0]]
    most = share(dig(spec, "updateStrategy", "rollingUpdate", "maxUnavailable"), len(wanted))
    away, candidates, found = 0, [], []
    for name in wanted:
        here = [pod for pod in placed.get(name, ()) if rules.is_active(pod)]
        up = [pod for pod in here if rules.available_in(pod, least, now) == 0]
        away += not up
        old = [pod for pod in here if revision_of(pod) != revision]
        if old and up:
            candidates += old
        else:
            found += old
    return found + candidates[: max(0, most - away)]


def status_of(
    owner: Object, nodes: Sequence[Object], pods: Sequence[Object], revision: str, now: float
) -> Object:
    """Count nodes by how their pod does."""
    least, placed = owner["spec"].get("minReadySeconds", 0), by_node(pods)
    desired = scheduled = misplaced = ready = updated = available = 0
    for node in nodes:
        here = placed.get(node["metadata"]["name"], [])
        if not should_run(owner, node)[0]:
            misplaced += bool(here)
            continue
        desired += 1
        if not here:
            continue
        scheduled += 1
        first = min(here, key=lambda pod: pod["metadata"]["creationTimestamp"])
        ready += rules.is_ready(first)
        available += rules.available_in(first, least, now) == 0
        updated += revision_of(first) == revision
    optional = {
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": desired - available,
    }
    return {
        "currentNumberScheduled": scheduled,
        "numberMisscheduled": misplaced,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
        "observedGeneration": owner["metadata"].get("generation", 0),
        **{part: number for part, number in optional.items() if number},
    }
