"""What is watched becomes state and keys of work. No more: the events of a kind wait for it.

Who does not lead keeps its state and queues nothing: it would wait for weeks, and grow. Who is
elected looks at everything once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.queue import Key
from controller.state import Newcomer, Rejected, is_steered, owner_and_key, owner_of
from evencore.domain import names
from evencore.domain.event_views import EventView
from evencore.domain.learnt import NOTHING, Learnt
from evencore.domain.rejection import read_time, rejection_of, stateful_set_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.expectations import Expectations
    from controller.queue import Queue
    from controller.state import State
    from controller.views import FullNode, LivePod
    from evencore.domain.rejection import Rejection
    from evencore.domain.views import FailedPodView

OWNER: Final = "owner"  # about: the key of an owner
NODE: Final = "node"  # about: the name of a node; its labels
ROOM: Final = "room"  # about: the name of a node; something got better there
HOPE: Final = "hope"  # about: the name of a node; it was written there that something got better
PLACED: Final = "placed"  # about: namespace/name of a pod that the webhook changed
FITS: Final = "fits"  # about: the same, some time later
BARE: Final = "bare"  # about: namespace/name of a rejected pod that nobody controls

SETTLING_S: Final = 5.0
"""A pod that has no node after so long waits for something: time to ask whether one can fit."""

_STATEFUL_SET: Final = "StatefulSet"
_MOST_NODES: Final = 20_000  # of which anything is learnt
_NODE_KIND: Final = "Node"  # it owns the mirror pods of static pods, which are none of our business


class Handlers:
    """A `source.Listener` for everything that the controller watches."""

    def __init__(
        self,
        state: State,
        queue: Queue,
        expectations: Expectations,
        now: Callable[[], datetime],
    ) -> None:
        self._state, self._queue, self._expectations = state, queue, expectations
        self._now = now
        self._leading = False

    def lead(self, objects: Callable[[str], Mapping[str, Any]], rejecting: Iterable[str]) -> None:
        """Queue everything there is, and from now on what changes.

        `objects` gives what is watched, by name. `rejecting`: nodes on which somebody was rejected.
        Nobody knows what left them while nobody led, so there is reason to hope, once.
        """
        self._leading = True
        for key in {*self._state.steered.groups(), *self._state.rejected.groups()}:
            self._add(OWNER, key)
        for key, pod in objects("pods").items():
            self._placed(key, pod)
        for key, pod in objects("failed pods").items():
            if pod.controller is None:
                self._add(BARE, key)
        for node in objects("nodes"):
            self._add(NODE, node)
        for node in rejecting:
            self._add(ROOM, node)

    def __call__(self, name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        """Take in one change."""
        if name == "pods":
            self._live(key, before, after)
        elif name == "failed pods":
            self._failed(key, before, after)
        elif name == "nodes":
            self._node(key, before, after)
        elif name == "topologies":
            self._add(NODE, key)
        elif isinstance(after, EventView):
            self._event(after)

    def _add(self, work: str, about: str, after_s: float = 0.0) -> None:
        if self._leading:
            self._queue.add(Key(work, about), after_s)

    def _live(self, key: str, before: LivePod | None, after: LivePod | None) -> None:
        same = (
            before is not None and after is not None and before.metadata.uid == after.metadata.uid
        )
        self._exclusive(before, after, same=same)
        if before is not None and not same:
            self._expectations.met(before.metadata.uid)
        was = owner_and_key(before)[1] if before is not None and is_steered(before) else None
        owner, key_now = owner_and_key(after) if after is not None else (None, None)
        if before is not None and was is not None and (was != key_now or not same):
            self._lost(before, was)
        if after is None or owner is None or key_now is None:
            return
        if not after.held:
            self._expectations.met(after.metadata.uid)
        if is_steered(after):
            self._state.saw(key_now, owner)
            self._state.steered.put(key_now, after.metadata.uid, after)
            self._add(OWNER, key_now)
        elif was == key_now and same:
            self._lost(after, key_now)
        if not same:
            self._placed(key, after)
        elif before is not None and before.held and not after.held:
            self._add(FITS, key, SETTLING_S)  # more may be known of nodes than when it was made

    def _lost(self, pod: LivePod, owner: str) -> None:
        """Forget a pod that was steered; one on its way to a node may yet turn out rejected."""
        uid = pod.metadata.uid
        on_its_way = pod.steering == names.RELEASED and not pod.status.start_time
        if on_its_way and not self._state.rejected.has(owner, uid):
            self._state.limbo.put(owner, pod.metadata.namespace, uid)
        self._state.steered.drop(owner, uid)
        self._add(OWNER, owner)

    def _placed(self, key: str, pod: LivePod) -> None:
        if pod.decision:
            self._add(PLACED, key)
            self._add(FITS, key, SETTLING_S)

    def _exclusive(self, before: LivePod | None, after: LivePod | None, *, same: bool) -> None:
        """Note what has CPUs of its own where; what leaves makes room."""
        left = before.admitted_on if before else None
        if before and before.exclusive:
            self._state.exclusive.drop(before.exclusive.node, before.metadata.uid)
        if after and after.exclusive and after.exclusive.node:
            self._state.exclusive.put(after.exclusive.node, after.metadata.uid, after.exclusive)
        for pod in (before, after):
            if pod and pod.exclusive and pod.exclusive.astray:
                self._add(NODE, pod.exclusive.node)  # its label must wait, or need not any more
        if left and not (same and after and after.admitted_on == left):
            self._add(ROOM, left)

    def _failed(self, key: str, before: FailedPodView | None, after: FailedPodView | None) -> None:
        gone, found = _rejection(before), _rejection(after)
        if after is not None and after.controller is None and before is None:
            self._add(BARE, key)
        if gone is not None and (found is None or found.uid != gone.uid):
            self._expectations.met(gone.uid)
            self._state.rejected.drop(gone.owner, gone.uid)
            if before and before.controller and before.controller.kind == _STATEFUL_SET:
                self._state.limbo.put(gone.owner, gone.namespace, gone.uid)  # until its Event comes
            self._add(OWNER, gone.owner)
        if found is not None and after is not None and after.controller is not None:
            self._state.saw(found.owner, owner_of(after.controller, found.namespace))
            self._state.rejected.put(found.owner, found.uid, Rejected(after, found))
            self._state.limbo.found(found.namespace, found.uid)
            self._learn(found)
            self._add(OWNER, found.owner)

    def _learn(self, rejection: Rejection) -> None:
        known = self._state.learnt.get(rejection.node, NOTHING)
        learnt = self._state.learnt[rejection.node] = known.also(rejection)
        if len(self._state.learnt) > _MOST_NODES:  # a pod may claim any node at all
            del self._state.learnt[next(iter(self._state.learnt))]
        if _facts(known) != _facts(learnt):
            self._add(NODE, rejection.node)

    def _node(self, key: str, before: FullNode | None, after: FullNode | None) -> None:
        self._add(NODE, key)
        if after is None:
            self._state.learnt.pop(key, None)
            return
        known = self._state.newcomer
        made = read_time(after.metadata.creation_timestamp if after.metadata else None)
        changed = before is not None and _offer(before) != _offer(after)
        since = self._now() if changed else made
        if since is not None and (known is None or since > known.since):
            self._state.newcomer = Newcomer(key, since)
        if before is None or changed:
            self._add(ROOM, key)
        elif _room(before) != _room(after):
            self._add(HOPE, key)

    def _event(self, event: EventView) -> None:
        about = event.involved_object
        if about is None or not about.name or about.kind != "Pod":
            return
        self._state.limbo.found(about.namespace or "", about.uid or "")
        key = stateful_set_key(about.namespace, about.name.rpartition("-")[0])
        if self._state.owner(key) is not None:
            self._add(OWNER, key)


def _rejection(pod: FailedPodView | None) -> Rejection | None:
    """Return how a pod was rejected that somebody controls who can make another."""
    owner = pod.controller if pod else None
    return rejection_of(pod) if pod and owner and owner.kind != _NODE_KIND else None


def _facts(learnt: Learnt) -> tuple[object, bool]:
    words = sorted((word.namespace, word.width) for word in learnt.words)
    return words, learnt.strict is not None


def _offer(node: FullNode) -> tuple[object, object]:
    """Return what decides who may use a node; our own labels only tell what was so before."""
    labels = (node.metadata.labels if node.metadata else None) or {}
    return node.status, {k: v for k, v in labels.items() if not k.startswith(names.PREFIX)}


def _room(node: FullNode) -> str | None:
    return ((node.metadata.annotations if node.metadata else None) or {}).get(names.ROOM_SINCE)
