"""The ReplicaSets of a Deployment: one per template, numbered by revision. Pure.

Kubernetes: pkg/controller/deployment/util/deployment_util.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers.hashes import template_hash
from simulator.controllers.pods import controller_reference
from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.objects import Object

HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MOST: Final = "deployment.kubernetes.io/max-replicas"
_NOT_COPIED: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    DESIRED,
    MOST,
)


def replicas_of(replica_set: Object) -> int:
    """Tell how many pods a ReplicaSet is to have."""
    wanted: int = replica_set["spec"].get("replicas", 0)
    return wanted


def total(replica_sets: Iterable[Object]) -> int:
    """Add up how many pods ReplicaSets are to have."""
    return sum(map(replicas_of, replica_sets))


def revision_of(obj: Object) -> int:
    """Read the revision; 0 if there is none."""
    said = dig(obj, "metadata", "annotations", REVISION)
    return int(said) if isinstance(said, str) and said.isdecimal() else 0


def newest(deployment: Object, replica_sets: Sequence[Object]) -> Object | None:
    """Find the ReplicaSet of today's template; of several the oldest."""
    wanted = _bare(deployment["spec"]["template"])
    same = [one for one in replica_sets if _bare(one["spec"]["template"]) == wanted]
    return min(same, key=_age, default=None)


def _bare(template: Object) -> Object:
    metadata = template.get("metadata") or {}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _age(replica_set: Object) -> tuple[str, str]:
    metadata = replica_set["metadata"]
    return metadata["creationTimestamp"], metadata["name"]


def by_age(replica_sets: Iterable[Object]) -> list[Object]:
    """Sort ReplicaSets, the oldest first."""
    return sorted(replica_sets, key=_age)


def make(deployment: Object, replicas: int, annotations: Object) -> Object:
    """Make the ReplicaSet of today's template."""
    metadata, spec = deployment["metadata"], deployment["spec"]
    hash_ = template_hash(spec["template"], dig(deployment, "status", "collisionCount") or 0)
    template, selector = copy(spec["template"]), copy(spec["selector"])
    labels = {**(dig(template, "metadata", "labels") or {}), HASH: hash_}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: hash_}
    made: Object = {"replicas": replicas, "selector": selector, "template": template}
    if spec.get("minReadySeconds"):
        made["minReadySeconds"] = spec["minReadySeconds"]
    return {
        "metadata": {
            "name": f"{metadata['name']}-{hash_}",
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": made,
    }


def annotations_for(deployment: Object, revision: int, surge: int) -> Object:
    """Give the annotations by which a ReplicaSet remembers what it was scaled for."""
    given = dig(deployment, "metadata", "annotations") or {}
    wanted = deployment["spec"]["replicas"]
    return {
        **{key: value for key, value in given.items() if key not in _NOT_COPIED},
        DESIRED: str(wanted),
        MOST: str(wanted + surge),
        REVISION: str(revision),
    }
