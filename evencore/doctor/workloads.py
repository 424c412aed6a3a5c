"""Workloads that do not get what they ask for, and will not without somebody's help."""

from __future__ import annotations

from datetime import timedelta
from shlex import quote
from typing import TYPE_CHECKING, Final

from evencore.doctor.finding import Finding, Severity
from evencore.domain import names
from evencore.domain.text import count
from evencore.domain.verdict import exclusions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.state import Owner
    from evencore.doctor.views import SeenPod
    from evencore.doctor.world import World
    from evencore.domain.views import Metadata

_LATELY: Final = timedelta(minutes=15)
_HASH: Final = "pod-template-hash"
LOOPING: Final = 3
"""Rejections from which it is worth to look at an owner's template."""


def unpinned(world: World) -> Iterator[Finding]:
    """Find pods that we aligned and that are not Guaranteed: an injector came after us."""
    for pod in world.pods:
        annotations = (pod.metadata.annotations if pod.metadata else None) or {}
        qos = pod.status.qos_class if pod.status else None
        if names.ORIGINAL_CPU in annotations and qos not in (None, "Guaranteed"):
            namespace, _, name = pod.name.partition("/")
            yield Finding(
                "pinning-lost",
                Severity.WARNING,
                f"Pod {pod.name}",
                f"its CPUs were aligned, but it is {qos} and gets none of its own: a container was "
                "added later whose requests are not its limits (a sidecar injector)",
                f"kubectl -n {namespace} get pod {name} "
                "-o custom-columns=N:.spec.containers[*].name,R:.spec.containers[*].resources",
            )


def nowhere(world: World) -> Iterator[Finding]:
    """Find owners for whom every node that takes pods is excluded."""
    open_nodes = world.nodes.nodes.keys() - world.cordoned
    for key, owner in _owners(world):
        evidence = world.picture.snapshot.evidence.of(key, world.now)
        rooms = world.picture.snapshot.rooms
        found = exclusions(evidence.nodes, rooms, world.now, world.policy.exclusions)
        if open_nodes and found and open_nodes <= {exclusion.node for exclusion in found}:
            yield Finding(
                "all-nodes-excluded",
                Severity.WARNING,
                _named(owner),
                f"all of {count(len(open_nodes), 'node')} that take pods have just rejected its "
                f"pods: {found[0].reason}",
                f"evencore rejections -n {owner.namespace} -o wide",
            )


def fixed_nodes(world: World) -> Iterator[Finding]:
    """Find owners that are rejected for ever, for their template names the node (case 31)."""
    for key, node in sorted(world.pinned.items()):
        owner = world.picture.owners[key]
        yield Finding(
            "node-name-in-template",
            Severity.ERROR,
            _named(owner),
            f"its template says nodeName {node}, which keeps rejecting its pods: no scheduler and "
            "no exclusion can send them elsewhere",
            f"kubectl -n {owner.namespace} edit "
            # Anybody may write any ownerReference, and this is to be copied into a shell.
            f"{quote(owner.kind.lower())} {quote(owner.name)}",
        )


def rollouts(world: World) -> Iterator[Finding]:
    """Find rolling updates whose new pods need the room that their old pods hold."""
    running: dict[tuple[str, str], dict[str, int]] = {}
    for pod in world.pods:
        if (of := _deployment(pod)) and pod.status and pod.status.phase == "Running":
            revisions = running.setdefault((pod.namespace, of[0]), {})
            revisions[of[1]] = revisions.get(of[1], 0) + 1
    for (namespace, deployment), revision in sorted(_waiting(world)):
        old = sum(
            number
            for other, number in running.get((namespace, deployment), {}).items()
            if other != revision
        )
        if old:
            strategy = '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
            yield Finding(
                "rollout-waits",
                Severity.WARNING,
                f"Deployment {namespace}/{deployment}",
                f"its new pods find no room while {count(old, 'old pod')} hold theirs: "
                "the update waits for itself",
                f"kubectl -n {namespace} patch deployment {deployment} -p '{strategy}'",
            )


def looping(world: World) -> list[tuple[str, Owner]]:
    """Return the owners whose templates are worth a look."""
    return [
        (key, owner)
        for key, owner in _owners(world)
        if len(world.picture.snapshot.evidence.of(key, world.now).times) >= LOOPING
        or len(world.picture.rejections[key]) >= LOOPING
    ]


def _owners(world: World) -> list[tuple[str, Owner]]:
    return sorted(world.picture.owners.items(), key=lambda item: (item[1].namespace, item[1].name))


def _waiting(world: World) -> set[tuple[tuple[str, str], str]]:
    """Return the deployments, and which revision of theirs is held or was rejected lately."""
    found = set()
    for pod in world.pods:
        if pod.held and (of := _deployment(pod)):
            found.add(((pod.namespace, of[0]), of[1]))
    for key, owner in world.picture.owners.items():
        newest = world.picture.snapshot.evidence.of(key, world.now).newest
        pattern = world.picture.patterns.get(key)
        if newest and world.now - newest < _LATELY and pattern:
            revision = _revision(pattern.meta, owner.kind, owner.name)
            if revision:
                found.add(((owner.namespace, revision[0]), revision[1]))
    return found


def _deployment(pod: SeenPod) -> tuple[str, str] | None:
    """Return the Deployment of a pod and the revision in its name; None if it is of none."""
    owner = pod.controller
    return _revision(pod.metadata, owner.kind, owner.name) if owner and pod.metadata else None


def _revision(meta: Metadata, kind: str, name: str) -> tuple[str, str] | None:
    """Tell a ReplicaSet's Deployment: their names differ by the hash in the label of the pods."""
    revision = (meta.labels or {}).get(_HASH)
    if kind != "ReplicaSet" or not revision or not name.endswith(f"-{revision}"):
        return None
    return name.removesuffix(f"-{revision}"), revision


def _named(owner: Owner) -> str:
    return f"{owner.kind} {owner.namespace}/{owner.name}"
