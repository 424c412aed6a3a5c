"""Which pods belong to a workload: adopts those that fit, lets go of those that no longer do.

Kubernetes rule: pkg/controller/controller_ref_manager.go. A pod has one controller; who matches
a pod without one takes it, and whose selector no longer matches gives it away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.controllers.pods import controller_reference, is_going_away
from simulator.objects import dig
from simulator.resources import PODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.controllers.client import Client
    from simulator.objects import Object
    from simulator.selectors import Requirement


class Claims(NamedTuple):
    """What is ours, what becomes ours, and what is ours no longer."""

    kept: list[Object]
    adopted: list[Object]
    released: list[Object]


def claims(
    selector: Sequence[Requirement], owned: Sequence[Object], orphans: Sequence[Object]
) -> Claims:
    """Decide; a pod that is being deleted is neither adopted nor released."""
    kept = [pod for pod in owned if _matches(selector, pod)]
    lost = [pod for pod in owned if not _matches(selector, pod)]
    found = [pod for pod in orphans if _matches(selector, pod)]
    return Claims(
        kept,
        [pod for pod in found if not is_going_away(pod)],
        [pod for pod in lost if not is_going_away(pod)],
    )


async def settle(client: Client, owner: Object, found: Claims) -> list[Object]:
    """Write the new owners; returns the pods that are ours now."""
    if is_going_away(owner):
        return found.kept
    mine = list(found.kept)
    reference, uid = controller_reference(owner), owner["metadata"]["uid"]
    for pod in found.adopted:
        others = dig(pod, "metadata", "ownerReferences") or []
        mine.append(await _own(client, pod, [*others, reference]))
    for pod in found.released:
        await _own(client, pod, [one for one in _references(pod) if one["uid"] != uid])
    return mine


async def _own(client: Client, pod: Object, references: list[Object]) -> Object:
    def change(obj: Object) -> Object:
        metadata = {**obj["metadata"], "ownerReferences": references}
        if not references:
            del metadata["ownerReferences"]
        return {**obj, "metadata": metadata}

    return await client.update(PODS, pod, change)


def _references(pod: Object) -> list[Object]:
    return dig(pod, "metadata", "ownerReferences") or []


def _matches(selector: Sequence[Requirement], pod: Object) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return all(requirement.holds(labels) for requirement in selector)
