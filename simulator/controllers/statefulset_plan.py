"""What a StatefulSet does next with the pods it has. Pure.

Kubernetes: pkg/controller/statefulset/stateful_set_control.go. OrderedReady goes on with a pod
only when all before it run and are ready; Parallel does not wait. A pod that ended is deleted
first and made again, with the same name, once it is gone: there is never more than one of a name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.controllers import pods as rules
from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulator.objects import Object

REVISION: Final = "controller-revision-hash"
_INDEX: Final = "apps.kubernetes.io/pod-index"
_NAME: Final = "statefulset.kubernetes.io/pod-name"

CREATE: Final = "create"
DELETE: Final = "delete"
RECREATE: Final = "recreate"  # delete a pod that ended


class Step(NamedTuple):
    """One thing to do; `pod` is the one to delete."""

    verb: str
    ordinal: int
    pod: Object | None = None


def ordinal_of(owner: Object, pod: Object) -> int | None:
    """Read the number of a pod from its name; None: no pod of this StatefulSet."""
    found = re.fullmatch(r"(.*)-([0-9]+)", pod["metadata"]["name"])
    return int(found[2]) if found and found[1] == owner["metadata"]["name"] else None


def wanted_ordinals(spec: Object) -> range:
    """Tell which ordinals there are to be."""
    start = dig(spec, "ordinals", "start") or 0
    return range(start, start + spec.get("replicas", 1))


def steps(owner: Object, pods: Mapping[int, Object], revision: str, now: float) -> list[Step]:
    """Tell what to do now; what must wait is not in it."""
    spec = owner["spec"]
    ordered = spec.get("podManagementPolicy") != "Parallel"
    least = spec.get("minReadySeconds", 0)
    wanted = wanted_ordinals(spec)
    found: list[Step] = []
    for ordinal in wanted:
        step, waits = _replica(ordinal, pods.get(ordinal), least, now)
        if step:
            found.append(step)
        if ordered and (step or waits):
            return found
    if any(step.verb == RECREATE for step in found):
        return found
    gone = [ordinal for ordinal in sorted(pods, reverse=True) if ordinal not in wanted]
    if gone:
        return found + _condemned(gone[:1] if ordered else gone, pods)
    return found or _outdated(spec, pods, wanted, revision)


def _replica(
    ordinal: int, pod: Object | None, least: float, now: float
) -> tuple[Step | None, bool]:
    """Tell what to do about one wanted pod, and whether those after it have to wait."""
    if pod is None:
        return Step(CREATE, ordinal), True
    going = rules.is_going_away(pod)
    if rules.is_over(pod):
        return (None if going else Step(RECREATE, ordinal, pod)), True
    available = rules.available_in(pod, least, now) == 0
    return None, going or not rules.is_running_and_ready(pod) or not available


def _condemned(ordinals: Iterable[int], pods: Mapping[int, Object]) -> list[Step]:
    return [
        Step(DELETE, ordinal, pods[ordinal])
        for ordinal in ordinals
        if not rules.is_going_away(pods[ordinal])
    ]


def _outdated(spec: Object, pods: Mapping[int, Object], wanted: range, revision: str) -> list[Step]:
    """Tell which pod is to be updated: from the last down to the partition, one at a time."""
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return []
    partition = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
    for ordinal in reversed(wanted):
        pod = pods.get(ordinal)
        if ordinal < partition or pod is None:
            return []
        if revision_of(pod) != revision and not rules.is_going_away(pod):
            return [Step(DELETE, ordinal, pod)]
        if not rules.is_running_and_ready(pod) or rules.is_going_away(pod):
            return []
    return []


def revision_of(pod: Object) -> str:
    """Tell from which revision of the template a pod was made."""
    return dig(pod, "metadata", "labels", REVISION) or ""


def revision_for(spec: Object, ordinal: int, current: str, update: str) -> str:
    """Tell from which revision a pod is to be made: below the partition from the old one."""
    rolling = dig(spec, "updateStrategy", "type") != "OnDelete"
    partition = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
    return current if rolling and ordinal < partition else update


def new_pod(owner: Object, ordinal: int, revision: str, template: Object) -> Object:
    """Make the pod of an ordinal: its identity is its name."""
    pod = copy(rules.from_template(template, owner))
    name = f"{owner['metadata']['name']}-{ordinal}"
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["name"] = name
    identity = {_INDEX: str(ordinal), REVISION: revision, _NAME: name}
    metadata["labels"] = {**metadata.get("labels", {}), **identity}
    spec["hostname"] = name
    if owner["spec"].get("serviceName"):
        spec["subdomain"] = owner["spec"]["serviceName"]
    return pod


def status_of(  # noqa: PLR0913, PLR0917  what a status tells of
    owner: Object, before: Object, pods: Mapping[int, Object], current: str, update: str, now: float
) -> Object:
    """Count the pods as they were seen; an update that is through makes its revision current."""
    spec, seen = owner["spec"], list(pods.values())
    there = [pod for pod in seen if not rules.is_going_away(pod)]
    ready = [pod for pod in seen if rules.is_running_and_ready(pod)]
    least = spec.get("minReadySeconds", 0)
    updated = sum(revision_of(pod) == update for pod in there)
    if updated == len(ready) == len(seen) == spec.get("replicas", 1):
        current = update
    counts = {
        "readyReplicas": len(ready),
        "currentReplicas": sum(revision_of(pod) == current for pod in there),
        "updatedReplicas": updated,
    }
    return {
        "observedGeneration": owner["metadata"].get("generation", 0),
        "replicas": len(seen),
        **{part: number for part, number in counts.items() if number},
        "currentRevision": current,
        "updateRevision": update,
        "collisionCount": before.get("collisionCount", 0),
        "availableReplicas": sum(rules.available_in(pod, least, now) == 0 for pod in ready),
    }
