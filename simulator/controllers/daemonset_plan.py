"""What a DaemonSet does next: pods that are missing, too many or failed; and its status. Pure.

Not for: pods of an older template; `daemonset_update` sees to them.

Kubernetes: podsShouldBeOnNode of pkg/controller/daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.controllers import pods as rules
from simulator.controllers.daemon_pods import by_node, revision_of, should_run
from simulator.controllers.daemonset_update import surges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object


class Plan(NamedTuple):
    """What to do; `failed` pods are deleted when their node's back-off allows it."""

    create: list[str]
    delete: list[Object]
    failed: list[Object]


def plan(owner: Object, nodes: Sequence[Object], pods: Sequence[Object], revision: str) -> Plan:
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
            _sort_out(here, made, revision if surges(owner) else None)
        else:
            made.delete.extend(pod for pod in here if not rules.is_going_away(pod))
    # A node that is gone takes its pods with it through PodGC; those not bound yet are ours.
    for left in placed.values():
        made.delete.extend(
            pod for pod in left if not pod["spec"].get("nodeName") and not rules.is_going_away(pod)
        )
    return made


def _sort_out(here: Sequence[Object], made: Plan, revision: str | None) -> None:
    """Sort out the pods of one node: failed ones go, and of several the younger ones.

    With a `revision` an update may have made a second pod: one of it stays, and one older one.
    """
    kept = set()
    for pod in sorted(here, key=lambda pod: pod["metadata"]["creationTimestamp"]):
        if rules.is_going_away(pod):
            continue
        kind = revision is not None and revision_of(pod) == revision
        if rules.phase(pod) == "Failed":
            made.failed.append(pod)
        elif rules.phase(pod) == "Succeeded" or kind in kept:
            made.delete.append(pod)
        else:
            kept.add(kind)


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
