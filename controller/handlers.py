"""What is watched becomes state and keys of work. No more: the events of a kind wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.queue import Key
from controller.state import Newcomer, is_steered, owner_of
from evencore.domain import names
from evencore.domain.rejection import owner_key, read_time, rejection_of, stateful_set_key
from evencore.domain.views import EventView

if TYPE_CHECKING:
    from controller.expectations import Expectations
    from controller.queue import Queue
    from controller.state import State
    from controller.views import FullNode, LivePod
    from evencore.domain.views import FailedPodView

OWNER: Final = "owner"  # about: the key of an owner
NODE: Final = "node"  # about: the name of a node; its labels
ROOM: Final = "room"  # about: the name of a node; something got better there
PLACED: Final = "placed"  # about: namespace/name of a pod that the webhook changed
BARE: Final = "bare"  # about: namespace/name of a rejected pod that nobody controls


class Handlers:
    """A `source.Listener` for everything that the controller watches."""

    def __init__(self, state: State, queue: Queue, expectations: Expectations) -> None:
        self._state, self._queue, self._expectations = state, queue, expectations

    def __call__(self, name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        """Take in one change."""
        if name == "pods":
            self._live(key, before, after)
        elif name == "failed pods":
            self._failed(key, before, after)
        elif name in ("nodes", "topologies"):
            self._node(name, key, before, after)
        elif isinstance(after, EventView):
            self._event(after)

    def _live(self, key: str, before: LivePod | None, after: LivePod | None) -> None:
        self._count(before, after)
        if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
            self._expectations.met(before.metadata.uid)
            self._forget(before)
        if after is None:
            return
        if not after.held:
            self._expectations.met(after.metadata.uid)
        if is_steered(after) and (owner := after.controller):
            self._state.owners[self._key(after)] = owner_of(owner, after.metadata.namespace)
            self._state.steered.put(self._key(after), after.metadata.uid, after)
            self._queue.add(Key(OWNER, self._key(after)))
        if before is None and after.metadata.annotations is not None:
            self._queue.add(Key(PLACED, key))

    def _forget(self, pod: LivePod) -> None:
        if is_steered(pod) and pod.controller:
            self._state.steered.drop(self._key(pod), pod.metadata.uid)
            self._queue.add(Key(OWNER, self._key(pod)))

    @staticmethod
    def _key(pod: LivePod) -> str:
        owner = pod.controller
        return owner_key(owner, pod.metadata.namespace) if owner else ""

    def _count(self, before: LivePod | None, after: LivePod | None) -> None:
        """Count the pods that may have CPUs of their own; one that leaves makes room."""
        left = before.exclusive_node if before else None
        came = after.exclusive_node if after else None
        if left == came:
            return
        if came:
            self._state.exclusive[came] += 1
        if left:
            self._state.exclusive[left] -= 1
            self._queue.add(Key(ROOM, left))

    def _failed(self, key: str, before: FailedPodView | None, after: FailedPodView | None) -> None:
        for pod, is_there in ((before, False), (after, True)):
            if pod is None:
                continue
            rejection, owner = rejection_of(pod), pod.controller
            if owner is None and is_there:
                self._queue.add(Key(BARE, key))
            if rejection is None:
                continue
            if is_there and owner:
                self._state.owners[rejection.owner] = owner_of(owner, rejection.namespace)
                self._state.rejected.put(rejection.owner, rejection.uid, pod)
            else:
                self._state.rejected.drop(rejection.owner, rejection.uid)
            if not is_there:
                self._expectations.met(rejection.uid)
            if rejection.width:
                self._queue.add(Key(NODE, rejection.node))
            self._queue.add(Key(OWNER, rejection.owner))

    def _node(self, name: str, key: str, before: FullNode | None, after: FullNode | None) -> None:
        self._queue.add(Key(NODE, key))
        if name != "nodes" or after is None:
            return
        self._state.newcomer = _newest(self._state.newcomer, key, after)
        if before is None or _grew(before, after):
            self._queue.add(Key(ROOM, key))

    def _event(self, event: EventView) -> None:
        about = event.involved_object
        if about is not None and about.name and about.kind == "Pod":
            owner = about.name.rpartition("-")[0]
            key = stateful_set_key(about.namespace, owner)
            if key in self._state.owners:
                self._queue.add(Key(OWNER, key))


def _grew(before: FullNode, after: FullNode) -> bool:
    """Tell whether a node may take what it could not take before, or we have written so."""
    return (before.status, _seen(before)) != (after.status, _seen(after))


def _seen(node: FullNode) -> tuple[object, object]:
    meta = node.metadata
    return (meta.labels, (meta.annotations or {}).get(names.ROOM_SINCE)) if meta else (None, None)


def _newest(known: Newcomer | None, name: str, node: FullNode) -> Newcomer | None:
    """Return the node that was made last: who was rejected before that may hope."""
    made = read_time(node.metadata.creation_timestamp if node.metadata else None)
    if made is None or (known is not None and made <= known.since):
        return known
    return Newcomer(name, made)
