"""How a Deployment moves its replicas from old ReplicaSets to the new one. Pure.

Kubernetes: pkg/controller/deployment (rolling.go, recreate.go, sync.go). Never more than maxSurge
pods too many, never fewer than maxUnavailable allows; pods that are not available go first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.controllers.amounts import share
from simulator.controllers.deployment_sets import DESIRED, MOST, by_age, replicas_of, total
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object


class Room(NamedTuple):
    """How many pods more, and how many fewer, there may be during an update."""

    surge: int
    unavailable: int


def room(deployment: Object) -> Room:
    """Resolve the percentages; if both come out as 0, one pod may be away."""
    spec = deployment["spec"]
    if dig(spec, "strategy", "type") != "RollingUpdate":
        return Room(0, 0)
    rolling, wanted = dig(spec, "strategy", "rollingUpdate") or {}, spec["replicas"]
    surge = share(rolling.get("maxSurge"), wanted)
    unavailable = share(rolling.get("maxUnavailable"), wanted, up=False)
    return Room(surge, min(unavailable or (not surge), wanted) if wanted else unavailable)


def new_size(deployment: Object, new: Object | None, everything: Sequence[Object]) -> int:
    """Tell how many replicas the new ReplicaSet is to have now."""
    wanted: int = deployment["spec"]["replicas"]
    have = replicas_of(new) if new else 0
    if dig(deployment, "spec", "strategy", "type") != "RollingUpdate" or have >= wanted:
        return wanted
    free = wanted + room(deployment).surge - total(everything)
    return have + max(0, min(free, wanted - have))


def old_sizes(deployment: Object, new: Object, old: Sequence[Object]) -> dict[str, int]:
    """Tell, by name, which old ReplicaSets are to shrink and to what."""
    sizes = {one["metadata"]["name"]: replicas_of(one) for one in old}
    if not sum(sizes.values()):
        return {}
    least = deployment["spec"]["replicas"] - room(deployment).unavailable
    not_there = replicas_of(new) - _available(new)
    spare = sum(sizes.values()) + replicas_of(new) - least - not_there
    if spare <= 0:
        return {}
    before = dict(sizes)
    for one in by_age(old):  # pods that do not serve are no loss
        name = one["metadata"]["name"]
        cut = min(spare, max(0, sizes[name] - _available(one)))
        sizes[name] -= cut
        spare -= cut
    spare = sum(map(_available, (new, *old))) - least
    for one in by_age(old):
        name = one["metadata"]["name"]
        cut = max(0, min(spare, sizes[name]))
        sizes[name] -= cut
        spare -= cut
    return {name: size for name, size in sizes.items() if size != before[name]}


def _available(replica_set: Object) -> int:
    return dig(replica_set, "status", "availableReplicas") or 0


def was_rescaled(deployment: Object, replica_sets: Sequence[Object]) -> bool:
    """Tell whether a ReplicaSet with pods was made for another number of replicas."""
    wanted = str(deployment["spec"]["replicas"])
    return any(
        dig(one, "metadata", "annotations", DESIRED) not in (None, wanted)
        for one in replica_sets
        if replicas_of(one)
    )


def rescaled(deployment: Object, new: Object | None, old: Sequence[Object]) -> dict[str, int]:
    """Spread another number of replicas over the ReplicaSets: all alike, in proportion."""
    wanted: int = deployment["spec"]["replicas"]
    active = [one for one in (*old, *((new,) if new else ())) if replicas_of(one)]
    if not active:
        return {new["metadata"]["name"]: wanted} if new else {}
    if len(active) == 1:
        return {active[0]["metadata"]["name"]: wanted}
    if new is not None and _is_saturated(deployment, new):
        return {one["metadata"]["name"]: 0 for one in active if one is not new}
    if dig(deployment, "spec", "strategy", "type") != "RollingUpdate":
        return {}
    most = wanted + room(deployment).surge if wanted else 0
    left = most - total(active)
    sizes: dict[str, int] = {}
    largest_first = by_age(active)
    if left > 0:
        largest_first.reverse()  # of equals the newest grows and the oldest shrinks
    largest_first.sort(key=replicas_of, reverse=True)
    for one in largest_first:
        said = dig(one, "metadata", "annotations", MOST)
        was = int(said) if isinstance(said, str) and said.isdecimal() else total(active)
        part = round(replicas_of(one) * most / (was or 1)) - replicas_of(one)
        part = max(0, min(part, left)) if left > 0 else min(0, max(part, left))
        sizes[one["metadata"]["name"]] = replicas_of(one) + part
        left -= part
    first = largest_first[0]["metadata"]["name"]
    sizes[first] = max(0, sizes[first] + left)
    return sizes


def _is_saturated(deployment: Object, new: Object) -> bool:
    wanted = deployment["spec"]["replicas"]
    said = dig(new, "metadata", "annotations", DESIRED)
    return bool(replicas_of(new) == wanted == _available(new) and said == str(wanted))
