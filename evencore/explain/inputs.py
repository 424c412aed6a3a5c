"""Documents become what `explain` needs: pods as the API server would get them, and a snapshot.

What people have in their files is not yet what a webhook sees: the API server fills in resources,
and controllers own their pods by a uid that only the cluster knows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.collect import Collected, collect, flatten
from evencore.domain.defaulting import defaulted
from evencore.domain.ledger import SETTLE
from evencore.domain.lenient import read
from evencore.domain.manifests import FoundPod, Manifests, find_pods
from evencore.domain.objects import map_at, text_at
from evencore.domain.resources import read_amounts
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta

    from evencore.domain.objects import Object, Source


@dataclass(frozen=True, slots=True)
class Prepared:
    """The two sides of an explanation."""

    manifests: Manifests
    cluster: Collected


def prepare(
    manifests: Iterable[tuple[Source, object]],
    cluster: Iterable[object] = (),
    namespace: str = "",
    settle: timedelta = SETTLE,
) -> Prepared:
    """Put together the documents of manifests and those that tell of a cluster. Never raises.

    Namespaces and LimitRanges in the manifests count as if they were applied: laid over those of
    the cluster, for people keep them in the same files. `namespace` is for what names none;
    `settle`: see `evidence.Ledger`.
    """
    documents = list(manifests)
    found = find_pods(documents, namespace)
    written = [item for _, value in documents for item in flatten(value)]
    known = [item for value in cluster for item in flatten(value)]
    facts = _applied(known, written, namespace)
    limit_ranges: defaultdict[str, list[Object]] = defaultdict(list)
    for item in facts:
        if item.get("kind") == "LimitRange":
            limit_ranges[_metadata(item, "namespace")].append(item)
    owners = _owners(known)
    pods = (_completed(one, limit_ranges[one.namespace]) for one in found.pods)
    return Prepared(
        replace(found, pods=tuple(_owned(one, owners) for one in pods)),
        collect(facts, settle),
    )


def _completed(found: FoundPod, limit_ranges: Sequence[Object]) -> FoundPod:
    """Fill in resources, if they can be read: a wrong limit must not become two wrong values."""
    spec = read(PodView, found.pod)[0].spec
    if spec is None or read_amounts(spec).problems:
        return found
    return replace(found, pod=defaulted(found.pod, limit_ranges))


def _applied(known: Sequence[Object], written: Sequence[Object], namespace: str) -> list[Object]:
    """Lay the Namespaces and LimitRanges of manifests over the objects of a cluster."""
    result: dict[object, Object] = dict(enumerate(known))
    place = {
        (item.get("kind"), _metadata(item, "namespace"), _metadata(item, "name")): number
        for number, item in enumerate(known)
        if item.get("kind") in ("Namespace", "LimitRange")
    }
    for item in written:
        kind, name = item.get("kind"), _metadata(item, "name")
        if kind == "LimitRange":
            where = _metadata(item, "namespace") or namespace
            key = (kind, where, name)
            new = item | {"metadata": {"name": name, "namespace": where}}
            result[place.get(key, key)] = new
        elif kind == "Namespace":
            key = (kind, "", name)
            before = result.get(place.get(key, key), {})
            # kubectl apply leaves labels that others put there, such as that of admission.
            merged = {
                part: map_at(map_at(before, "metadata"), part)
                | map_at(map_at(item, "metadata"), part)
                for part in ("labels", "annotations")
            }
            result[place.get(key, key)] = {"kind": kind, "metadata": {"name": name, **merged}}
    return list(result.values())


class _Owner(NamedTuple):
    """An owner of pods that the cluster knows; the newest sorts last."""

    created: str
    name: str
    uid: str


def _owners(known: Iterable[Object]) -> Mapping[tuple[str, str], list[_Owner]]:
    """Return who owns pods in the cluster, by namespace and kind."""
    owners: defaultdict[tuple[str, str], set[_Owner]] = defaultdict(set)
    for item in known:
        if item.get("kind") == "Pod":
            pod = read(PodView, item)[0]
            owner = pod.controller
            if owner is not None and owner.uid:
                one = _Owner(pod.meta.creation_timestamp or "", owner.name, owner.uid)
                owners[pod.meta.namespace or "", owner.kind].add(one)
    return {key: sorted(found) for key, found in owners.items()}


# How controllers name what they own: rand.SafeEncodeString, and the minute of a schedule.
_GENERATED = {
    "Deployment": r"-[bcdfghjklmnpqrstvwxz2456789]{1,10}",
    "Rollout": r"-[bcdfghjklmnpqrstvwxz2456789]{1,10}",
    "CronJob": r"-[0-9]{5,10}",
}


def _owned(found: FoundPod, owners: Mapping[tuple[str, str], list[_Owner]]) -> FoundPod:
    """Give a pod the uid that its owner has in the cluster, so that rejections count for it."""
    references = found.pod["metadata"].get("ownerReferences") if found.path else None
    if not references or references[0]["uid"]:
        return found
    suffix = _GENERATED.get(found.kind, "")
    pattern = re.compile(re.escape(found.name) + suffix)
    candidates = owners.get((found.namespace, references[0]["kind"]), [])
    for owner in reversed(candidates):
        if pattern.fullmatch(owner.name):
            owned = _with_owner(found, owner)
            if not suffix:
                return owned
            note = (
                f"judged with the rejections of {references[0]['kind']} {owner.name}; "
                "a changed template starts without them"
            )
            return replace(owned, notes=(*owned.notes, note))
    return found


def _with_owner(found: FoundPod, owner: _Owner) -> FoundPod:
    metadata = found.pod["metadata"]
    first, *others = metadata["ownerReferences"]
    references = [first | {"uid": owner.uid, "name": owner.name}, *others]
    new = found.pod | {"metadata": metadata | {"ownerReferences": references}}
    return replace(found, pod=new)


def _metadata(item: Object, key: str) -> str:
    return text_at(map_at(item, "metadata"), key)
