"""The steered pods of one owner, as the release of held ones looks at them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain import names
from evencore.domain.rejection import read_time
from evencore.domain.release import Flock, HeldPod
from evencore.domain.selectors import excluded_nodes
from evencore.domain.verdict import excluded_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from controller.views import LivePod
    from evencore.domain.verdict import Exclusion


def flock(
    pods: Iterable[LivePod], let_go: Callable[[str], bool], now: datetime, lost: int = 0
) -> Flock:
    """Sort pods by how far they have come.

    `let_go` tells of a uid that its gate was taken off and that this was not seen yet. `lost`: how
    many were let go and are out of sight (`limbo`). A kubelet has admitted a pod when it says since
    when (status.startTime) and not that it failed.
    """
    held: list[HeldPod] = []
    shared: list[HeldPod] = []
    in_flight, admitted = lost, []
    for pod in pods:
        meta = pod.metadata
        if meta.deletion_timestamp is not None:
            continue
        if pod.held and not let_go(meta.uid):
            waiting = held if pod.gates == (names.HOLD,) else shared
            waiting.append(HeldPod(read_time(meta.creation_timestamp) or now, meta.uid))
        elif pod.held or pod.steering == names.RELEASED:
            started = read_time(pod.status.start_time) if not pod.held else None
            if started:
                admitted.append(started)
            else:
                in_flight += 1
    return Flock(sorted(held), in_flight, admitted, sorted(shared))


def waits(pod: LivePod) -> bool:
    """Tell whether a pod that nobody holds has no node yet."""
    return not (pod.spec.node_name or pod.gates or pod.metadata.deletion_timestamp)


def waits_in_vain(pod: LivePod, excluded: Iterable[Exclusion]) -> bool:
    """Tell whether a pod waits, kept off nodes that are not excluded any more, and off no other.

    `excluded`: the nodes that are excluded for its owner now. Such a pod was never on a node, and a
    fresh one in its place would find more room. What keeps it off nodes must be what we wrote on
    it: its author may have named nodes as well, and would do so again.
    """
    if not waits(pod):
        return False
    ours = _both_names(excluded_in(pod.decision))
    kept_off = excluded_nodes(pod.spec.affinity) & ours
    return bool(kept_off) and not kept_off & _both_names(e.node for e in excluded)


def _both_names(nodes: Iterable[str]) -> frozenset[str]:
    """Return the names of nodes, and what `evencore.io/node` says on them."""
    return frozenset(name for node in nodes for name in (node, names.node_label_value(node)))
