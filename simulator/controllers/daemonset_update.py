"""How the rolling update of a DaemonSet goes on: which old pods go, which nodes get a second. Pure.

For: maxUnavailable, where the old pod goes first, and maxSurge, where the new one comes first.
Not for: nodes without any pod, and pods that ended: `daemonset_plan`.

Kubernetes: rollingUpdate of pkg/controller/daemon/update.go. Old pods that are not available hold
nothing up: they are replaced beyond any limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.controllers import pods as rules
from simulator.controllers.amounts import share
from simulator.controllers.daemon_pods import by_node, revision_of, should_run
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.objects import Object


class Update(NamedTuple):
    """Old pods to delete, and nodes that get a new pod beside the old one."""

    delete: list[Object]
    create: list[str]


class _Here(NamedTuple):
    """The pods of one node, and whether each can do its work; None: there is none of that kind."""

    node: str
    old: Object | None
    new: Object | None
    old_up: bool
    new_up: bool


def surges(owner: Object) -> bool:
    """Tell whether a node may have two pods during an update."""
    return bool(share(dig(owner, "spec", "updateStrategy", "rollingUpdate", "maxSurge"), 100))


def update(
    owner: Object, nodes: Iterable[Object], pods: Sequence[Object], revision: str, now: float
) -> Update:
    """Tell what a rolling update does now."""
    spec = owner["spec"]
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return Update([], [])
    least, placed = spec.get("minReadySeconds", 0), by_node(pods)
    here = []
    for node in nodes:
        if should_run(owner, node)[0]:
            name = node["metadata"]["name"]
            active = [pod for pod in placed.get(name, ()) if rules.is_active(pod)]
            old = next((pod for pod in active if revision_of(pod) != revision), None)
            new = next((pod for pod in active if revision_of(pod) == revision), None)
            up = [
                pod is not None and rules.available_in(pod, least, now) == 0 for pod in (old, new)
            ]
            here.append(_Here(name, old, new, *up))
    limits = dig(spec, "updateStrategy", "rollingUpdate") or {}
    if surges(owner):
        return _new_first(here, share(limits["maxSurge"], len(here)))
    return _old_first(here, share(limits.get("maxUnavailable"), len(here)))


def _old_first(here: Sequence[_Here], most_away: int) -> Update:
    away = sum(not (one.old_up or one.new_up) for one in here)
    broken = [one.old for one in here if one.old and not one.old_up]
    candidates = [one.old for one in here if one.old and one.old_up]
    return Update([*broken, *candidates[: max(0, most_away - away)]], [])


def _new_first(here: Sequence[_Here], most_extra: int) -> Update:
    done = [one.old for one in here if one.old and one.new and (one.new_up or not one.old_up)]
    extra = sum(bool(one.old and one.new and not one.new_up) for one in here)
    waiting = [one for one in here if one.old and not one.new]
    broken = [one.node for one in waiting if not one.old_up]
    candidates = [one.node for one in waiting if one.old_up]
    return Update(done, [*broken, *candidates[: max(0, most_extra - extra)]])
