"""Nodes as the scheduler counts them: what they have, minus what their living pods ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator import requests
from simulator.objects import dig
from simulator.requests import CPU, MEMORY

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.requests import Amounts
    from simulator.scheduler.filters import Refusal
    from simulator.scheduler.scores import Marks
    from simulator.scheduler.wishes import Wishes


PODS: Final = "pods"


class Room:
    """One node. Pods come and go; a changed Node object is `read` into it."""

    __slots__ = (
        "allocatable",
        "capacity",
        "cordoned",
        "free",
        "known",
        "labels",
        "name",
        "scored",
        "taints",
    )

    def __init__(self, node: Object) -> None:
        self.name: str = node["metadata"]["name"]
        self.allocatable: Amounts = {}
        self.free: Amounts = {}
        """What is left for requests; of `pods`, too."""
        self.scored = (0, 0)
        """CPU and memory of its pods as scoring counts them."""
        self.known: dict[bytes, Refusal | Marks] = {}
        """What was found out for a kind of pods (`Wishes.kind`); holds until something changes."""
        self.read(node)

    def read(self, node: Object) -> None:
        """Take over what the Node object says."""
        self.known.clear()
        self.labels: dict[str, str] = dict(node["metadata"].get("labels") or {})
        self.taints: tuple[Object, ...] = tuple(dig(node, "spec", "taints") or ())
        self.cordoned = bool(dig(node, "spec", "unschedulable"))
        before, self.allocatable = (
            self.allocatable,
            requests.read(dig(node, "status", "allocatable")),
        )
        for name in before.keys() | self.allocatable.keys():
            more = self.allocatable.get(name, 0) - before.get(name, 0)
            self.free[name] = self.free.get(name, 0) + more
        self.capacity = self.allocatable.get(CPU, 0), self.allocatable.get(MEMORY, 0)

    def add(self, pod: Wishes, sign: int = 1) -> None:
        """Count a pod; `sign` -1 takes it away again."""
        self.known.clear()
        for name, amount in (*pod.requests.items(), (PODS, 1)):
            self.free[name] = self.free.get(name, 0) - sign * amount
        cpu, memory = self.scored
        self.scored = cpu + sign * pod.scored[0], memory + sign * pod.scored[1]
