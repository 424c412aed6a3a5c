"""The books of one kubelet, for one way in which its node may be: who runs there, what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import predicates
from evencore.domain.kubelet.managers import Rejected
from evencore.domain.kubelet.node import Node
from evencore.domain.kubelet.predicates import Used
from evencore.domain.kubelet.refusals import Refusal
from evencore.standing.verdicts import Admitted, Refused

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine
    from evencore.domain.kubelet.pod import Pod
    from evencore.domain.kubelet.predicates import Allocatable
    from evencore.standing.knowledge import Way


class StaticBook:
    """A kubelet with the static CPU manager. Raises StartError."""

    def __init__(self, machine: Machine, config: Config, allocatable: Allocatable) -> None:
        self._node = Node(machine, config, allocatable)
        self.machine = machine

    @property
    def unheld(self) -> CPUSet:
        """CPUs that may be given out, and nobody has."""
        return self._node.unheld

    def wanted(self, pod: Pod) -> int:
        """Tell how many exclusive CPUs a pod needs at one time."""
        return self._node.wanted(pod)

    def adopt(self, pod: Pod, cpus: CPUSet) -> None:
        """Take over a pod that runs with these CPUs."""
        self._node.adopt(pod, cpus)

    def admit(self, pod: Pod) -> Admitted | Refused:
        """Decide about a new pod; an admitted one runs."""
        answer = self._node.admit(pod)
        if isinstance(answer, Rejected):
            return Refused(answer.reason, answer.message)
        cpus = answer.pod_cpuset
        for own in answer.cpusets.values():
            cpus |= own
        taken = {
            id_: (cpus & mask).bit_count()
            for id_, mask in self.machine.numas.items()
            if cpus & mask
        }
        return Admitted(taken, self.free_whole())

    def remove(self, pod: Pod) -> None:
        """Let a pod end."""
        self._node.remove(pod.uid)

    def free(self) -> dict[int, int]:
        """Count free CPUs by NUMA node."""
        return self._node.free()

    def free_whole(self) -> dict[int, int]:
        """Count the CPUs of whole free cores by NUMA node."""
        free = self._node.unheld
        return {
            id_: sum(core.whole.bit_count() for core in cores if not core.whole & ~free)
            for id_, cores in self.machine.cores_by_numa.items()
        }


class SharedBook:
    """A kubelet without it: every container runs on all CPUs, and only requests must fit."""

    def __init__(self, machine: Machine, allocatable: Allocatable) -> None:
        self.machine = machine
        self._allocatable, self._used = allocatable, Used()
        self._here: set[str] = set()

    def adopt(self, pod: Pod, cpus: CPUSet) -> None:  # noqa: ARG002  nobody has any here
        """Take over a pod that runs."""
        self._here.add(pod.uid)
        self._used.add(pod)

    def wanted(self, pod: Pod) -> int:  # noqa: ARG002  whatever it asks for
        """Tell that it gets none."""
        return 0

    def admit(self, pod: Pod) -> Admitted | Refused:
        """Decide about a new pod; an admitted one runs."""
        try:
            predicates.check(pod, self._used, self._allocatable)
        except Refusal as refusal:
            return Refused(refusal.reason, refusal.message)
        self.adopt(pod, 0)
        return Admitted({}, self.free())

    def remove(self, pod: Pod) -> None:
        """Let a pod end."""
        if pod.uid in self._here:
            self._here.remove(pod.uid)
            self._used.add(pod, -1)

    @property
    def unheld(self) -> CPUSet:
        """No CPU can be given out."""
        return 0

    def free(self) -> dict[int, int]:
        """Tell that there is none to give out."""
        return dict.fromkeys(self.machine.numas, 0)

    def free_whole(self) -> dict[int, int]:
        """Tell that there is none to give out."""
        return self.free()


Book = StaticBook | SharedBook


def book_of(way: Way, allocatable: Allocatable) -> Book:
    """Open the books of one kubelet. Raises StartError if it would not start."""
    if way.config is None:
        return SharedBook(way.machine, allocatable)
    return StaticBook(way.machine, way.config, allocatable)
