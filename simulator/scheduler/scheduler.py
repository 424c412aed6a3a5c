"""Follows pods and nodes, tries one pod after the other, and writes what came of it.

For: the I/O around `queue`, `choice` and `messages`. Not for: decisions.

Kubernetes: eventhandlers.go (what wakes whom) and schedule_one.go. Writes are
system:kube-scheduler's: pods/binding, the PodScheduled condition, Events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.admission.chain import User
from simulator.api import actions
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.auth.credentials import of_certificate
from simulator.clock import timestamp
from simulator.errors import ApiError
from simulator.objects import dig
from simulator.recording import Recorder, Told
from simulator.resources import NODES, PODS, STATUS
from simulator.scheduler import messages
from simulator.scheduler.choice import choose
from simulator.scheduler.filters import FIT, refusal_by
from simulator.scheduler.queue import LONGEST_WAIT_S, Entry, Queue
from simulator.scheduler.repeats import Repeats
from simulator.scheduler.state import State
from simulator.scheduler.wishes import wishes_of
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.writes import Writes
    from simulator.clock import Timer
    from simulator.errands import Send
    from simulator.objects import Object
    from simulator.scheduler.choice import Choice
    from simulator.scheduler.rooms import Room
    from simulator.scheduler.state import Placed
    from simulator.store.store import Store
    from simulator.store.table import Change

NAME: Final = "default-scheduler"
_ACCOUNT: Final = "system:kube-scheduler"
USER: Final = User(_ACCOUNT, ("system:authenticated",), credential=of_certificate(_ACCOUNT))
CYCLE_S: Final = 0.002
"""What one pod takes."""

_ENDED: Final = ("Succeeded", "Failed")


class Scheduler:
    """The default scheduler of a cluster."""

    def __init__(self, store: Store, writes: Writes, send: Send) -> None:
        self._store, self._writes, self._send = store, writes, send
        self._clock = store.clock
        self._recorder = Recorder(writes, store.clock, USER, NAME, f"{NAME}-pocket")
        self._repeats = Repeats(self._recorder, writes, store.clock, send, Call(USER))
        self._random = store.chance.stream(NAME)
        self._state, self._queue = State(), Queue()
        self._start = 0
        self._next: Timer | None = None
        for resource, note in ((NODES, self._note_node), (PODS, self._note_pod)):
            for record in store.table(resource).records():
                note(record.object, gone=False)
            store.table(resource).listen(_told(note))

    def _note_node(self, node: Object, *, gone: bool) -> None:
        name = node["metadata"]["name"]
        if gone:
            self._state.drop_node(name)
            return
        room = self._state.set_node(node)
        # Kubernetes rule (queueing hints): a node wakes those whose refusals it no longer gives.
        self._wake(
            lambda entry: (
                any(refusal_by(plugin, entry.pod, room) is None for plugin in entry.refused_by)
                or not entry.refused_by
            )
        )

    def _note_pod(self, pod: Object, *, gone: bool) -> None:
        uid, spec = pod["metadata"]["uid"], pod["spec"]
        ended = gone or dig(pod, "status", "phase") in _ENDED
        if ended:
            self._queue.remove(uid)
            if self._state.lift(uid):
                self._wake(lambda entry: FIT in entry.refused_by)
        elif spec.get("nodeName"):
            self._queue.remove(uid)
            placed = self._state.placed(uid)
            # Statuses change often, what a pod asks for hardly ever: generation counts that.
            if placed is None or not _same(placed, pod):
                self._state.place(wishes_of(pod), spec["nodeName"])
        elif _is_waiting(pod):
            self._enqueue(pod)
        else:
            self._queue.remove(uid)

    def _enqueue(self, pod: Object) -> None:
        entry = self._queue.get(pod["metadata"]["uid"])
        if entry is None:
            if self._state.placed(pod["metadata"]["uid"]) is None:
                self._queue.put(Entry(wishes_of(pod), self._clock.now()), self._clock.now())
                self._kick()
            return
        before, entry.pod = entry.pod, wishes_of(pod)
        if entry.pod != before:
            # What the pod asks for has changed: it may fit now.
            self._wake(lambda one: one is entry)

    def _wake(self, helps: Callable[[Entry], bool]) -> None:
        if self._queue.wake(helps, self._clock.now()):
            self._kick()

    def _kick(self, seconds: float = CYCLE_S) -> None:
        """Have the next pod tried, soon if nothing else is said."""
        if self._next is not None:
            if self._next.due <= self._clock.now() + seconds:
                return
            self._next.cancel()
        due = self._clock.now() + seconds
        self._next = self._clock.after(seconds, lambda: self._cycle(due))

    def _cycle(self, began: float) -> None:
        self._next = None
        entry = self._queue.pop(self._clock.now())
        if entry is not None:
            self._try(entry)
            # From when it was due: a busy machine makes a cycle late, not the ones after it, too.
            self._kick(began + CYCLE_S - self._clock.now())
        elif (due := self._queue.next_due()) is not None:
            self._kick(due - self._clock.now())

    def _try(self, entry: Entry) -> None:
        record = self._store.table(PODS).get(entry.pod.key)
        if record is None:
            return
        rooms = self._state.rooms
        choice = choose(entry.pod, rooms, self._start, self._random)
        if rooms:
            self._start = (self._start + choice.looked_at) % len(rooms)
        if choice.room is not None:
            self._state.place(entry.pod, choice.room.name)
            self._send(self._bind(entry, record.object, choice.room))
            return
        self._put_back(entry)
        entry.met_error = False
        entry.refused_by = frozenset(one.plugin for one in choice.refusals.values())
        self._queue.wait(entry)
        failed = entry.failed
        self._clock.after(
            LONGEST_WAIT_S, lambda: self._wake(lambda one: one is entry and one.failed == failed)
        )
        self._send(self._tell_unschedulable(record.object, choice))

    def _put_back(self, entry: Entry) -> None:
        entry.attempts += 1
        entry.failed = self._clock.now()

    async def _bind(self, entry: Entry, pod: Object, room: Room) -> None:
        namespace, name = entry.pod.key
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": entry.pod.uid},
            "target": {"kind": "Node", "name": room.name},
        }
        target = Target(PODS, namespace, name, "binding")
        try:
            await actions.bind(self._store, self._writes, target, binding, Call(USER))
        except ApiError:
            self._forget(entry)
            return
        text = f"Successfully assigned {namespace}/{name} to {room.name}"
        await self._recorder.new(pod, Told("Normal", "Scheduled", text, "Binding"))

    def _forget(self, entry: Entry) -> None:
        """Take back an assumption that did not come true; try again if the pod still waits."""
        self._state.lift(entry.pod.uid)
        record = self._store.table(PODS).get(entry.pod.key)
        if (
            record is None
            or record.object["metadata"]["uid"] != entry.pod.uid
            or not _is_waiting(record.object)
        ):
            return
        self._put_back(entry)
        entry.met_error = True
        self._queue.put(entry, self._clock.now())
        self._kick()

    async def _tell_unschedulable(self, pod: Object, choice: Choice) -> None:
        message = messages.unschedulable(len(self._state.rooms), choice.refusals)
        await self._repeats.tell(pod, Told("Warning", "FailedScheduling", message, "Scheduling"))
        uid, (namespace, name) = pod["metadata"]["uid"], _key(pod)

        def changed(current: Object) -> Object:
            now = timestamp(self._clock.now())
            return messages.with_condition(current, message, now) if _is(current, uid) else current

        try:
            await self._writes.update(Target(PODS, namespace, name, STATUS), changed, Call(USER))
        except ApiError:
            return  # the pod is gone, or others write faster: the next attempt tells again


def _told(note: Callable[..., None]) -> Callable[[Change], None]:
    return lambda change: note(change.record.object, gone=change.type == DELETED)


def _key(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _is(pod: Object, uid: str) -> bool:
    return bool(pod["metadata"]["uid"] == uid) and not pod["spec"].get("nodeName")


def _same(placed: Placed, pod: Object) -> bool:
    generation = pod["metadata"].get("generation", 0)
    return (placed.node, placed.pod.generation) == (pod["spec"]["nodeName"], generation)


def _is_waiting(pod: Object) -> bool:
    """Tell whether a pod is this scheduler's to place: gated ones are nobody's."""
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and not spec.get("schedulingGates")
        and spec.get("schedulerName") == NAME
        and "deletionTimestamp" not in pod["metadata"]
    )
