"""What was answered to a pod of the same kind: pods come in crowds.

The pods of a ReplicaSet differ in their names and in what no decision looks at. What was answered
to one is answered to the next, with its own uid, as long as all that the answer follows from is
the same: the nodes, what is known of the namespace, and that no pod of the owner was rejected (of
rejections a decision also looks at how long ago they were).

For: knowing pods again. Not for: deciding and answering; see `mutate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.json import Encoder
from msgspec.structs import replace

from evencore.domain.ledger import Ledger
from evencore.domain.rejection import owner_key

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.decision import Decision
    from evencore.domain.snapshot import Maxima, Nodes, Snapshot
    from evencore.domain.views import NamespaceView, PodView

MOST_KEPT: Final = 256
"""Kinds of pods kept at a time, for the same nodes."""
LONGEST: Final = 4096
"""Bytes of a pod, as far as we read it, of its answer, and characters of what is written on its
namespace, which stays with them. Anybody may send larger ones."""

_encode = Encoder().encode


class Told(NamedTuple):
    """What became of a pod."""

    decision: Decision
    result: str
    rest: bytes  # of the answer, behind the uid


class _Kept(NamedTuple):
    """The same, and what of the cluster it followed from besides the nodes."""

    namespace: NamespaceView | None
    maxima: Maxima | None
    told: Told


class Crowds:
    """The kinds of pods that were seen lately, and what became of them. Threads may share it."""

    def __init__(self) -> None:
        # In one piece, so that nobody sees the answers for other nodes.
        self._known: tuple[Nodes | None, dict[bytes, _Kept]] = (None, {})

    def find(self, kind: bytes, namespace: str, snapshot: Snapshot) -> Told | None:
        """Return what became of a pod of this kind, if that still follows."""
        nodes, known = self._known
        kept = known.get(kind) if nodes is snapshot.nodes else None
        if (
            kept is not None
            and kept.namespace is snapshot.namespaces.get(namespace)
            and kept.maxima == snapshot.maxima.get(namespace)
        ):
            return kept.told
        return None

    def keep(self, kind: bytes, namespace: str, snapshot: Snapshot, told: Told) -> None:
        """Keep what became of a pod."""
        written = snapshot.namespaces.get(namespace)
        if max(len(kind), len(told.rest), _length(written)) > LONGEST:
            return
        nodes, known = self._known
        if nodes is not snapshot.nodes or len(known) >= MOST_KEPT:
            known = {}
            self._known = (snapshot.nodes, known)
        known[kind] = _Kept(written, snapshot.maxima.get(namespace), told)


def _length(namespace: NamespaceView | None) -> int:
    meta = namespace.metadata if namespace else None
    texts = (meta.labels, meta.annotations) if meta else ()
    return sum(len(key) + len(value) for each in texts if each for key, value in each.items())


def kind_of(pod: PodView, namespace: str, snapshot: Snapshot, now: datetime) -> bytes | None:
    """Return all that the answer to a pod follows from but the cluster; None: never the same again.

    Of what we read of a pod that is everything but its name, its uid and when it was made.
    """
    meta, owner = pod.metadata, pod.controller
    if meta is None:
        return None
    if owner and snapshot.evidence.of(owner_key(owner, namespace), now).times:
        return None
    return _encode((namespace, pod.spec, meta.labels, meta.annotations, meta.owner_references))


def unrejected(snapshot: Snapshot) -> Snapshot:
    """Return the cluster without rejections: what a pod that has a kind is to be decided by.

    One that is heard of while we decide, by another thread, would be in an answer that is kept,
    and its end forgotten.
    """
    return replace(snapshot, evidence=_NO_REJECTIONS)


_NO_REJECTIONS: Final = Ledger()
