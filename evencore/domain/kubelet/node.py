"""One node: what its kubelet says to pods that arrive, end, or run while it restarts.

    node = Node(machine, config)
    answer = node.admit(pod_of("uid", read_amounts(spec)))

Kubernetes: kubelet.go: HandlePodAdditions; allocation/allocation_manager.go: canAdmitPod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import predicates
from evencore.domain.kubelet.managers import Admitted, Managers, Rejected
from evencore.domain.kubelet.predicates import Allocatable, Used
from evencore.domain.kubelet.refusals import Refusal

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine
    from evencore.domain.kubelet.managers import Answer
    from evencore.domain.kubelet.pod import Pod


class Node:
    """A machine with its kubelet. Raises StartError if that does not start."""

    def __init__(
        self, machine: Machine, config: Config, allocatable: Allocatable | None = None
    ) -> None:
        """Start it. `allocatable`: as its Node object has it; None: worked out from the rest."""
        self._machine = machine
        self._managers = Managers(machine, config)
        memory = None
        if machine.memory:
            memory = sum(machine.memory) - sum(config.reserved_memory or ())
        cpu = machine.cpus.bit_count() * 1000 - config.kept_millis
        self._allocatable = allocatable or Allocatable(config.max_pods, cpu, memory)
        self._pods: dict[str, Pod] = {}  # in order of arrival
        self._used = Used()

    @property
    def reserved(self) -> CPUSet:
        """CPUs that are never given out exclusively."""
        return self._managers.cpu.reserved

    @property
    def unheld(self) -> CPUSet:
        """CPUs that may be given out exclusively, and nobody has."""
        return self._managers.cpu.free

    def wanted(self, pod: Pod) -> int:
        """Tell how many exclusive CPUs a pod needs at one time."""
        return self._managers.cpu.pod_wanted(pod)

    def adopt(self, pod: Pod, cpus: CPUSet) -> None:
        """Take over a pod that runs with these CPUs, however it came by them.

        Nobody is asked whether it may. Which of its containers has which is not known.
        """
        self._managers.cpu.adopt(pod.uid, cpus)
        self._pods[pod.uid] = pod
        self._used.add(pod)

    def admit(self, pod: Pod) -> Answer:
        """Decide about a new pod; an admitted one runs, with all its containers."""
        answer = self._decide(pod)
        if isinstance(answer, Rejected):
            self._managers.remove(pod.uid)
        else:
            self._managers.started(pod)
        return answer

    def remove(self, uid: str) -> None:
        """Note that a pod has ended, or is unknown: all its containers have stopped."""
        pod = self._pods.pop(uid, None)
        if pod is not None:
            self._used.add(pod, -1)
        self._managers.remove(uid)

    def restart(self) -> dict[str, Answer]:
        """Restart the kubelet: every running pod is admitted again, in order of arrival.

        What rejected ones had is not free before all have been asked: stale state is kept until
        the kubelet knows all pods. Raises StartError if it does not come up again.
        """
        self._managers.restart()
        running, self._pods, self._used = self._pods, {}, Used()
        answers = {uid: self._decide(pod) for uid, pod in running.items()}
        for uid in running.keys() - self._pods.keys():
            self._managers.remove(uid)
        return answers

    def free(self) -> dict[int, int]:
        """Count CPUs of each NUMA node that are neither exclusively held nor reserved."""
        free = self._managers.cpu.free
        return {node: (free & cpus).bit_count() for node, cpus in self._machine.numas.items()}

    def free_cores(self) -> dict[int, int]:
        """Count cores of each NUMA node of which every online thread is free."""
        free = self._managers.cpu.free
        return {
            node: sum(1 for core in cores if not core.whole & ~free)
            for node, cores in self._machine.cores_by_numa.items()
        }

    def _decide(self, pod: Pod) -> Answer:
        answer = self._managers.admit(pod)
        if isinstance(answer, Admitted):
            try:
                predicates.check(pod, self._used, self._allocatable)
            except Refusal as refusal:
                return self._managers.rejected(pod, refusal, answer.affinity)
            self._pods[pod.uid] = pod
            self._used.add(pod)
        return answer
