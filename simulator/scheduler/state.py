"""What the scheduler remembers of the cluster: nodes with room, and which pod counts where.

For: following nodes and pods; a pod that is about to be bound counts already ("assumed").
Not for: decisions and the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.scheduler.rooms import Room

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.scheduler.wishes import Wishes


class Placed(NamedTuple):
    """A pod and the node on which it counts."""

    pod: Wishes
    node: str


class State:
    """Nodes in the order in which they came."""

    def __init__(self) -> None:
        self.rooms: list[Room] = []
        self._by_name: dict[str, Room] = {}
        self._placed: dict[str, Placed] = {}

    def room(self, name: str) -> Room | None:
        """Give a node."""
        return self._by_name.get(name)

    def set_node(self, node: Object) -> Room:
        """Take over a new or changed node."""
        name = node["metadata"]["name"]
        room = self._by_name.get(name)
        if room is not None:
            room.read(node)
            return room
        room = self._by_name[name] = Room(node)
        self.rooms.append(room)
        for placed in self._placed.values():
            if placed.node == name:
                room.add(placed.pod)
        return room

    def drop_node(self, name: str) -> None:
        """Forget a node; its pods are remembered until they go themselves."""
        room = self._by_name.pop(name, None)
        if room is not None:
            self.rooms.remove(room)

    def place(self, pod: Wishes, node: str) -> None:
        """Count a pod on a node; on another one or changed, it is moved."""
        self.lift(pod.uid)
        self._placed[pod.uid] = Placed(pod, node)
        if node in self._by_name:
            self._by_name[node].add(pod)

    def placed(self, uid: str) -> Placed | None:
        """Tell where a pod counts."""
        return self._placed.get(uid)

    def lift(self, uid: str) -> bool:
        """Count a pod no longer; False: it did not count."""
        placed = self._placed.pop(uid, None)
        if placed is None:
            return False
        if placed.node in self._by_name:
            self._by_name[placed.node].add(placed.pod, -1)
        return True
