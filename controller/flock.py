"""The steered pods of one owner, as the release of held ones looks at them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain import names
from evencore.domain.rejection import read_time
from evencore.domain.release import Flock, HeldPod
from evencore.domain.selectors import excluded_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from controller.views import LivePod


def flock(pods: Iterable[LivePod], let_go: Callable[[str], bool], now: datetime) -> Flock:
    """Sort pods by how far they have come.

    `let_go` tells of a uid that its gate was taken off and that this was not seen yet. A pod that
    others hold as well waits for them first. A kubelet has admitted a pod when it says since when
    (status.startTime) and not that it failed.
    """
    held: list[HeldPod] = []
    in_flight, admitted = 0, []
    for pod in pods:
        meta = pod.metadata
        if meta.deletion_timestamp is not None:
            continue
        if pod.held and not let_go(meta.uid):
            if pod.gates == (names.HOLD,):
                held.append(HeldPod(read_time(meta.creation_timestamp) or now, meta.uid))
        elif pod.held or pod.steering == names.RELEASED:
            started = read_time(pod.status.start_time) if not pod.held else None
            if started:
                admitted.append(started)
            else:
                in_flight += 1
    return Flock(sorted(held), in_flight, admitted)


def waits_in_vain(pod: LivePod, excluded: frozenset[str]) -> bool:
    """Tell whether a pod is kept off nodes that are not excluded any more, and off no other.

    `excluded`: the nodes that are excluded for its owner now. Such a pod was never on a node, and a
    fresh one in its place would find more room.
    """
    if pod.spec.node_name or pod.held or pod.metadata.deletion_timestamp is not None:
        return False
    kept_off = excluded_nodes(pod.spec.affinity)
    return bool(kept_off) and not kept_off & excluded
