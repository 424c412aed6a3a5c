"""The numbered templates of a StatefulSet or DaemonSet: which one is today's, which may go. Pure.

For: what `kubectl rollout history` lists and `undo` applies: the patch that brings a template back.
Not for: Deployments, whose ReplicaSets are their history; and not for writing (`history`).

Kubernetes: pkg/controller/history and the two controllers that use it. A template that comes
back is not written again: its revision gets the next number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.controllers import daemon_pods
from simulator.controllers.hashes import template_hash
from simulator.controllers.pods import controller_reference
from simulator.objects import dig
from simulator.resources import DAEMON_SETS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from simulator.objects import Object

# The two controllers keep the hash under different labels.
_HASH: Final = "controller.kubernetes.io/hash"


class Today(NamedTuple):
    """The revision of today's template: `kept` or one to be made, and the number it is to have."""

    kept: Object | None
    number: int


def data_of(template: Object) -> Object:
    """Give the patch that brings a template back; nothing else of a workload is history."""
    return {"spec": {"template": {**template, "$patch": "replace"}}}


def template_of(revision: Object) -> Object:
    """Give the template that a revision keeps."""
    template = dig(revision, "data", "spec", "template") or {}
    return {part: value for part, value in template.items() if part != "$patch"}


def today(owner: Object, revisions: Sequence[Object]) -> Today:
    """Find the revision of today's template; it has the highest number of all."""
    data = data_of(owner["spec"]["template"])
    same = [one for one in revisions if one.get("data") == data]
    kept = max(same, key=number_of, default=None)
    others = [number_of(one) for one in revisions if one is not kept]
    least = max(others, default=0) + 1
    return Today(kept, max(least, number_of(kept)) if kept else least)


def number_of(revision: Object) -> int:
    """Give the number of a revision."""
    number: int = revision.get("revision", 0)
    return number


def make(owner: Object, number: int) -> Object:
    """Make the revision of today's template."""
    metadata, template = owner["metadata"], owner["spec"]["template"]
    hash_ = template_hash(template)
    label = daemon_pods.REVISION if owner["kind"] == DAEMON_SETS.kind else _HASH
    made: Object = {
        "name": f"{metadata['name']}-{hash_}",
        "labels": {**(dig(template, "metadata", "labels") or {}), label: hash_},
        "ownerReferences": [controller_reference(owner)],
    }
    if metadata.get("annotations"):
        made["annotations"] = metadata["annotations"]  # kubernetes.io/change-cause is among them
    return {"metadata": made, "revision": number, "data": data_of(template)}


def surplus(revisions: Iterable[Object], live: Collection[str], limit: int | None) -> list[Object]:
    """Tell which revisions are too many, oldest first; what pods were made from, `live`, stays."""
    if limit is None:
        return []
    idle = [one for one in revisions if one["metadata"]["name"] not in live]
    idle.sort(key=number_of)
    return idle[: max(0, len(idle) - limit)]
