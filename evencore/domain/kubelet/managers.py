"""The resource managers of one kubelet together: CPU, memory, topology.

Kubernetes: cm/container_manager_linux.go. It is the kubelet's fourth check of a new pod, and the
one that allocates; the node predicates come after it (`node`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evencore.domain.kubelet import start
from evencore.domain.kubelet.memory import StaticMemory
from evencore.domain.kubelet.refusals import Refusal
from evencore.domain.kubelet.scopes import TopologyManager
from evencore.domain.kubelet.static_policy import StaticPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.hints import Hint
    from evencore.domain.kubelet.machine import Machine, NUMAMask
    from evencore.domain.kubelet.pod import Pod
    from evencore.domain.kubelet.scopes import Affinities, Provider


@dataclass(frozen=True, slots=True)
class Admitted:
    """A pod may run. Containers that are not in `cpusets` run on the shared pool."""

    cpusets: Mapping[str, CPUSet]
    affinity: Mapping[str, Hint]
    memory_numa: Mapping[str, NUMAMask]
    pod_cpuset: CPUSet = 0  # pod-level allocation only: the set of the whole pod
    sharing: frozenset[str] = frozenset()  # with it: the containers that share what is left


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pod may not run. `partial`: what its containers had before one failed; it is free again."""

    reason: str
    message: str
    partial: Mapping[str, CPUSet]
    affinity: Mapping[str, Hint] = field(default_factory=dict)


Answer = Admitted | Rejected


class Managers:
    """CPU, memory and topology manager. Raises StartError if the kubelet would not start."""

    def __init__(self, machine: Machine, config: Config) -> None:
        start.check(config, machine)
        self.cpu = StaticPolicy(machine, config)
        self._memory: StaticMemory | None = None
        providers: list[Provider] = [self.cpu]
        if config.reserved_memory is not None:
            self._memory = StaticMemory(machine, config)
            providers.append(self._memory)
        self._topology = TopologyManager(machine, config, providers)

    def admit(self, pod: Pod) -> Answer:
        """Allocate for a pod. One that is rejected has its `partial` until it is removed."""
        affinity: Affinities = {}
        try:
            self._topology.admit(pod, affinity)
        except Refusal as refusal:
            return self.rejected(pod, refusal, affinity)
        held = dict(self.cpu.held.get(pod.uid, {}))
        whole = self.cpu.pod_sets.get(pod.uid, 0)
        sharing = frozenset[str]()
        if whole:
            sharing = frozenset(one.name for one in pod.containers if not self.cpu.wanted(pod, one))
        memory = self._memory.numa_of(pod.uid) if self._memory else {}
        return Admitted(held, affinity, memory, whole, sharing)

    def rejected(self, pod: Pod, refusal: Refusal, affinity: Mapping[str, Hint]) -> Rejected:
        """Tell of a refusal, of these managers or of a later check."""
        partial = dict(self.cpu.held.get(pod.uid, {}))
        return Rejected(refusal.reason, refusal.message, partial, affinity)

    def started(self, pod: Pod) -> None:
        """Note that all containers of a pod have been started."""
        if self._memory:
            self._memory.started(pod)

    def remove(self, uid: str) -> None:
        """Take back all that a pod has."""
        self.cpu.remove(uid)
        if self._memory:
            self._memory.remove(uid)

    def restart(self) -> None:
        """Start again with what the state files hold. Raises StartError."""
        self.cpu.restart()
        if self._memory:
            self._memory.restart()
