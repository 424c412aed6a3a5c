"""What the scheduler reads of a pod, once for each version of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator import requests
from simulator.objects import dig, encode
from simulator.requests import CPU, MEMORY, Amounts, kinds
from simulator.rules.new_pods import spec_of

if TYPE_CHECKING:
    from evencore.domain.views import PodSpec, Term
    from simulator.objects import Key, Object

# Kubernetes: pkg/scheduler/util/pod_resources.go; what a container that says nothing counts as
# in scoring, so that such pods spread, too.
_CPU_AT_LEAST: Final = 100
_MEMORY_AT_LEAST: Final = 200 * 1024 * 1024


class Wishes(NamedTuple):
    """A pod as the scheduler sees it."""

    key: Key
    uid: str
    generation: int
    priority: int
    spec: PodSpec
    selects: bool  # nodeSelector or required node affinity is there
    preferred: tuple[tuple[int, Term], ...]
    tolerations: tuple[Object, ...]
    requests: Amounts
    scored: tuple[int, int]  # cpu and memory as scoring counts them
    kind: bytes  # the same for pods that no node can tell apart


def wishes_of(pod: Object) -> Wishes:
    """Read a pod."""
    raw = pod["spec"]
    spec = spec_of(pod)
    affinity = spec.affinity.node_affinity if spec.affinity else None
    preferred = tuple(
        (one.weight or 0, one.preference)
        for one in (affinity.preferred if affinity else None) or ()
        if one.preference is not None
    )
    metadata, asked = pod["metadata"], requests.of_pod(raw)
    tolerations, scored = raw.get("tolerations") or (), _scored(raw, asked)
    placement = raw.get("nodeSelector"), dig(raw, "affinity", "nodeAffinity")
    return Wishes(
        key=(metadata["namespace"], metadata["name"]),
        uid=metadata["uid"],
        generation=metadata.get("generation", 0),
        priority=raw.get("priority") or 0,
        spec=spec,
        selects=bool(spec.node_selector)
        or (affinity is not None and affinity.required is not None),
        preferred=preferred,
        tolerations=tuple(tolerations),
        requests=asked,
        scored=scored,
        kind=encode((*placement, tolerations, asked, scored)),
    )


def _scored(spec: Object, asked: Amounts) -> tuple[int, int]:
    said = [dig(one, "resources", "requests") or {} for _, one in kinds(spec)]
    cpu = sum(_CPU_AT_LEAST for one in said if CPU not in one)
    memory = sum(_MEMORY_AT_LEAST for one in said if MEMORY not in one)
    return asked.get(CPU, 0) + cpu, asked.get(MEMORY, 0) + memory
