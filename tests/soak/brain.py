"""Webhook and controller without threads, fed by the store of a pocket cluster.

For: the same run for the same seed, on a virtual clock, hours of it within seconds. Everything is
the product's own but for watching, waiting and electing; those have tests on the wire.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import apiserver
import msgspec

from controller.cleaner import Cleaner
from controller.expectations import Expectations
from controller.handlers import HOPE, OWNER, ROOM, Handlers
from controller.limbo import Limbo
from controller.owners import Hands, OwnerReconciler
from controller.queue import Key, Queue
from controller.releaser import Releaser
from controller.replacer import Replacer
from controller.reporter import REPORT, Reporter
from controller.rooms import RoomReconciler
from controller.state import State
from controller.teller import Teller
from controller.views import FullNode, WatchedPod, live
from controller.workload import Workloads
from evencore.domain.decision import decide
from evencore.domain.event_views import EventView
from evencore.domain.evidence import Ledger
from evencore.domain.patching import operations
from evencore.domain.scope import takes_part
from evencore.domain.snapshot import Nodes, Snapshot
from evencore.domain.topology import made_at, node_facts, room_since
from evencore.domain.views import FailedPodView, NamespaceView, PodView, read
from evencore.kube.bucket import Bucket
from evencore.kube.witnesses import Witnesses
from evencore.kube.writer import Writer
from simulator.resources import EVENTS, NAMESPACES, NODES, PODS
from simulator.store.table import DELETED, Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evencore.domain.policy import Policy
    from evencore.kube.client import Client
    from simulator.admission.chain import Attributes
    from simulator.resources import Resource
    from simulator.store.store import Store

Object = dict[str, Any]

REJECTIONS: Final = frozenset(
    {"TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError"}
)
_WATCHED: Final = (NAMESPACES, NODES, PODS, EVENTS)
_TURN: Final = Key("~", "all that is due has had its turn")


class Eyes:
    """What is watched, as views, by kind and name; tells a listener of each change."""

    def __init__(self, store: Store, policy: Policy, now: Callable[[], datetime]) -> None:
        self._ledger = Ledger(policy.rejections.after_kubelet_start, threading.Lock())
        self._witnesses = Witnesses(self._ledger, now)
        self._rooms: dict[str, datetime] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.snapshot = Snapshot(evidence=self._ledger, rooms=self._rooms)
        for resource in _WATCHED:
            for record in store.table(resource).records():
                self.take(resource, record.object, gone=False)

    def take(
        self,
        resource: Resource,
        obj: Object,
        *,
        gone: bool,
        listener: Callable[[str, str, Any, Any], None] = lambda *_: None,
    ) -> None:
        """Take in a change, as the watches tell it that are interested."""
        meta = obj["metadata"]
        key = "/".join(filter(None, (meta.get("namespace"), meta["name"])))
        for name, view in _views(resource, obj):
            after, known = None if gone else view, self.known.setdefault(name, {})
            before = known.pop(key, None)
            if after is not None:
                known[key] = after
            if before is None and after is None:
                continue
            self._heed(name, before, after)
            listener(name, key, before, after)

    def _heed(self, name: str, before: Any, after: Any) -> None:  # noqa: ANN401  views
        if name in {"failed pods", "rejections", "kubelet starts"}:
            self._witnesses.changed(name, before, after)
        elif name == "nodes":
            node = after or before
            if after and (at := made_at(after)):
                self._ledger.node_made(node.metadata.name, at)
            self._rooms.pop(node.metadata.name, None)
            if after and (since := room_since(after)):
                self._rooms[node.metadata.name] = since
            facts = Nodes(map(node_facts, self.known["nodes"].values()))
            self.snapshot = replace(self.snapshot, nodes=facts)
        elif name == "namespaces":
            self.snapshot = replace(self.snapshot, namespaces=dict(self.known["namespaces"]))


def _views(resource: Resource, obj: Object) -> Iterator[tuple[str, Any]]:
    """Yield under what names an object is watched; None where a selector leaves it out."""
    if resource is PODS:
        phase = obj["status"].get("phase")
        alive = phase not in {"Failed", "Succeeded"}
        yield "pods", live(msgspec.convert(obj, WatchedPod)) if alive else None
        yield "failed pods", msgspec.convert(obj, FailedPodView) if phase == "Failed" else None
    elif resource is NODES:
        yield "nodes", msgspec.convert(obj, FullNode)
    elif resource is NAMESPACES:
        yield "namespaces", msgspec.convert(obj, NamespaceView)
    elif obj["reason"] in REJECTIONS:
        yield "rejections", msgspec.convert(obj, EventView)
    elif obj["reason"] == "Starting":
        yield "kubelet starts", msgspec.convert(obj, EventView)


class Webhook:
    """A mutating plug-in: what the webhook would answer. It can be taken away."""

    def __init__(self, policy: Policy, now: Callable[[], datetime]) -> None:
        self.eyes: Eyes | None = None
        self._policy, self._now = policy, now

    def watch(self, store: Store) -> None:
        """Watch the cluster: what happens is known at once."""
        eyes = self.eyes = Eyes(store, self._policy, self._now)

        def take(resource: Resource, change: Change) -> None:
            eyes.take(resource, change.record.object, gone=change.type == DELETED)

        for one in _WATCHED:
            store.table(one).listen(partial(take, one))

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Return the pod as it is created."""
        obj, namespace = attributes.obj, attributes.target.namespace
        creates = attributes.operation == "CREATE" and attributes.target.resource is PODS
        if obj is None or self.eyes is None or not creates:
            return obj
        known = self.eyes.snapshot
        if not takes_part(namespace, known.namespaces.get(namespace), self._policy):
            return obj
        view = read(PodView, obj)[0]
        decision = decide(view, namespace, self._policy, known, self._now())
        return apiserver.apply(obj, operations(view, decision))


class Controller:
    """One controller that leads; it works between two moments of the clock."""

    def __init__(self, store: Store, client: Client, policy: Policy) -> None:
        clock = store.clock
        self._pending: deque[tuple[Resource, Change]] = deque()

        def now() -> datetime:
            return datetime.fromtimestamp(clock.now(), UTC)

        self.eyes = Eyes(store, policy, now)
        view = lambda: self.eyes.snapshot  # noqa: E731  always the newest
        state, expectations = State(Limbo(clock.now)), Expectations(clock.now)
        self._queue = Queue(clock.now)
        self._handlers = Handlers(state, self._queue, expectations, now)
        for name, views in self.eyes.known.items():
            for key, found in views.items():
                self._handlers(name, key, None, found)
        bucket = Bucket(1e6, 1_000_000)
        writer = Writer(client, threading.Event(), bucket=bucket, clock=_Still(clock.now))
        workloads = Workloads(writer, clock.now)
        reporter = Reporter(writer, self._queue, now)
        hands = Hands(
            Releaser(writer, policy, view, expectations, now),
            Replacer(writer, workloads, expectations),
            Cleaner(writer, policy, expectations),
            Teller(reporter, workloads),
        )
        owners = OwnerReconciler(state, view, policy, hands, expectations, now)
        rooms = RoomReconciler(self.eyes.known["nodes"].get, state, view, writer, self._queue, now)
        self._work: dict[str, Callable[[str], float | None]] = {
            OWNER: owners.reconcile,
            ROOM: rooms.reconcile,
            HOPE: rooms.hope,
            REPORT: reporter.write,
        }
        self._handlers.lead(
            lambda name: self.eyes.known.get(name, {}), self.eyes.snapshot.evidence.rejecting()
        )
        self._leave = [store.table(one).listen(partial(self._seen, one)) for one in _WATCHED]

    def _seen(self, resource: Resource, change: Change) -> None:
        self._pending.append((resource, change))

    def kill(self) -> None:
        """End, with all that was in memory."""
        for leave in self._leave:
            leave()

    def work(self) -> None:
        """See what has changed, and do all that is due."""
        while self._pending:
            resource, change = self._pending.popleft()
            gone = change.type == DELETED
            self.eyes.take(resource, change.record.object, gone=gone, listener=self._handlers)
        self._queue.add(_TURN)
        while (key := self._queue.get()) != _TURN:
            assert key is not None
            again = self._work.get(key.work, lambda _: None)(key.about)
            self._queue.done(key)
            if again is not None:
                self._queue.add(key, max(again, 0.01))
        self._queue.done(_TURN)


class _Still:
    """The clock of a writer that never has to wait."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Say that time has passed."""
        del stop, seconds
        return False
