"""Nodes as the scheduler counts them: what they have, minus what their living pods ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator import requests
from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.requests import Amounts
    from simulator.scheduler.wishes import Wishes


class Room:
    """One node. Pods come and go; a changed Node object is `read` into it."""

    __slots__ = ("allocatable", "cordoned", "labels", "name", "pods", "scored", "taints", "used")

    def __init__(self, node: Object) -> None:
        self.name: str = node["metadata"]["name"]
        self.used: Amounts = {}
        self.scored = (0, 0)
        self.pods = 0
        self.read(node)

    def read(self, node: Object) -> None:
        """Take over what the Node object says."""
        self.labels: dict[str, str] = dict(node["metadata"].get("labels") or {})
        self.taints: tuple[Object, ...] = tuple(dig(node, "spec", "taints") or ())
        self.cordoned = bool(dig(node, "spec", "unschedulable"))
        self.allocatable: Amounts = requests.read(dig(node, "status", "allocatable"))

    def add(self, pod: Wishes, sign: int = 1) -> None:
        """Count a pod; `sign` -1 takes it away again."""
        for name, amount in pod.requests.items():
            self.used[name] = self.used.get(name, 0) + sign * amount
        cpu, memory = self.scored
        self.scored = cpu + sign * pod.scored[0], memory + sign * pod.scored[1]
        self.pods += sign
