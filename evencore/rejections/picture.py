"""What is known of rejections at one moment: evidence, whose it is, and what is done about it.

For: bringing the objects of a cluster into the shape that verdict and release look at.
Not for: what follows; that is `prospect`, which asks them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from controller.state import Newcomer, Owner, owner_and_key, owner_of
from evencore.domain import names
from evencore.domain.events import kubelet_start_in, rejection_in, told
from evencore.domain.ledger import Ledger
from evencore.domain.rejection import (
    Kind,
    Rejection,
    read_time,
    rejection_of,
)
from evencore.domain.snapshot import Nodes, Snapshot
from evencore.domain.topology import made_at, node_facts, room_since

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.views import LivePod
    from evencore.domain.events import Told
    from evencore.domain.policy import Policy
    from evencore.domain.views import NamespaceView, NodeView, PodView
    from evencore.rejections.objects import Objects

_NODE: Final = "Node"  # owns the mirror pods of static pods


@dataclass(slots=True)
class Picture:
    """Evidence and pods of each owner, by `owner_key`."""

    snapshot: Snapshot
    policy: Policy
    now: datetime
    owners: dict[str, Owner] = field(default_factory=dict)
    rejections: defaultdict[str, list[Rejection]] = field(default_factory=lambda: defaultdict(list))
    """Of the failed pods that can be seen."""
    patterns: dict[str, PodView] = field(default_factory=dict)
    """The newest rejected pod of each owner: the next one will be like it."""
    steered: defaultdict[str, list[LivePod]] = field(default_factory=lambda: defaultdict(list))
    told: dict[tuple[str, str, str, str], Told] = field(default_factory=dict)
    """(namespace, kind, name, reason) → the newest Event of ours of that reason."""
    newcomer: Newcomer | None = None
    only_counted: int = 0
    """Failed pods of kind OutOf: too little in all, which is the scheduler's affair."""


def picture_of(objects: Objects, policy: Policy, now: datetime) -> Picture:
    """Put together what the objects tell."""
    named = {_name(node): node for node in objects.nodes}
    snapshot = Snapshot(
        Nodes(node_facts(node) for node in objects.nodes),
        {_name(namespace): namespace for namespace in objects.namespaces},
        {},
        Ledger(policy.rejections.after_kubelet_start),
        {name: since for name, node in named.items() if (since := room_since(node))},
    )
    for name, node in named.items():
        if at := made_at(node):
            snapshot.evidence.node_made(name, at)
    picture = Picture(snapshot, policy, now, newcomer=_newest(named))
    outside = _failed(picture, objects.failed)
    _events(picture, (t for event in objects.events if (t := told(event))), outside)
    for pod in objects.live:
        owner, key = owner_and_key(pod)
        picture.owners[key] = owner
        picture.steered[key].append(pod)
    return picture


def newest_time(objects: Objects) -> datetime | None:
    """Return when the newest thing happened that the objects tell of: a dump stands still."""
    times = [read_time(pod.meta.creation_timestamp) for pod in objects.failed]
    times += [read_time(pod.status.start_time) for pod in objects.failed if pod.status]
    times += [read_time(pod.metadata.creation_timestamp) for pod in objects.live]
    times += [t.at for event in objects.events if (t := told(event))]
    return max((at for at in times if at), default=None)


def is_mirror(pod: PodView) -> bool:
    """Tell whether a pod only shows a static one: nobody can do anything to it through the API."""
    owner = pod.controller
    return names.MIRROR_POD in (pod.meta.annotations or {}) or (
        owner is not None and owner.kind == _NODE
    )


def _failed(picture: Picture, pods: Iterable[PodView]) -> set[str]:
    """Take in failed pods; returns the uids of those that tell nothing of an owner."""
    outside, newest = set(), dict[str, tuple[datetime, str]]()
    for pod in pods:
        found, owner = rejection_of(pod), pod.controller
        if found is None or owner is None or is_mirror(pod):
            outside.add(pod.meta.uid or "")
            continue
        if found.kind is Kind.OUT_OF:
            picture.only_counted += 1
            continue
        picture.owners[found.owner] = owner_of(owner, found.namespace)
        picture.rejections[found.owner].append(found)
        picture.snapshot.evidence.pod(found, picture.now)
        age = (found.at or picture.now, found.uid)
        if age >= newest.get(found.owner, _NEVER):
            newest[found.owner], picture.patterns[found.owner] = age, pod
    return outside


_NEVER: Final = (datetime.min.replace(tzinfo=UTC), "")


def _events(picture: Picture, events: Iterable[Told], outside: set[str]) -> None:
    """Take in Events. A StatefulSet's controller deletes rejected pods: only these are left."""
    ledger = picture.snapshot.evidence
    for said in events:
        if start := kubelet_start_in(said):
            ledger.kubelet_started(*start)
        elif found := rejection_in(said):
            if found.uid not in outside:
                ledger.event(found, picture.now)
        else:
            about = (said.namespace, said.kind, said.name, said.reason)
            before = picture.told.get(about)
            if said.reason in _OURS and (before is None or _at(said) >= _at(before)):
                picture.told[about] = said
    for key in ledger.owners():
        if key not in picture.owners:
            # Events alone tell of StatefulSets alone: see `rejection.stateful_set_key`.
            kind, namespace, name = key.split("/", 2)
            picture.owners[key] = Owner("apps/v1", kind, namespace, name, "")


_OURS: Final = frozenset({names.REJECTED_PODS_DELETED, names.POD_RELEASED, names.NEVER_FITS})


def _at(said: Told) -> datetime:
    return said.at or _NEVER[0]


def _newest(nodes: Mapping[str, NodeView]) -> Newcomer | None:
    """Return the node that joined last."""
    made = [
        (at, name)
        for name, node in nodes.items()
        if (at := read_time(node.metadata.creation_timestamp if node.metadata else None))
    ]
    since, name = max(made, default=(None, ""))
    return Newcomer(name, since) if since else None


def _name(view: NodeView | NamespaceView) -> str:
    return (view.metadata.name if view.metadata else None) or ""
