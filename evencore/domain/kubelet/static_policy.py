"""The static CPU manager policy: who gets exclusive CPUs, and which.

Kubernetes: cm/cpumanager/policy_static.go, cpu_manager.go. Its state is the shared pool and the
sets of containers, as in the state file; it outlives a restart, all else does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import config as options
from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.hints import IMPOSSIBLE, cpu_hints
from evencore.domain.kubelet.partition import partition
from evencore.domain.kubelet.picking import Picker
from evencore.domain.kubelet.pod_budget import CPU, check_budget
from evencore.domain.kubelet.refusals import Refusal, SMTAlignment, StartError
from evencore.domain.resources import Kind, pod_total

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.hints import Hint, Hints
    from evencore.domain.kubelet.machine import Machine
    from evencore.domain.kubelet.pod import Container, Pod


class StaticPolicy:
    """The CPUs of one machine and who has them. Raises StartError if it cannot be set up."""

    def __init__(self, machine: Machine, config: Config) -> None:
        self._machine, self._gate = machine, config.pod_level_managers
        self._picker = Picker(machine, config)
        self._full_cores = options.FULL_PCPUS_ONLY in config.cpu_options
        self._by_socket = options.ALIGN_BY_SOCKET in config.cpu_options
        self.reserved = self._picker.reserve(config)
        self._reserved_cores = machine.cores_of(self.reserved)
        # Strict reservation keeps the reserved CPUs out of the shared pool, no more than that.
        strict = options.STRICT_RESERVATION in config.cpu_options
        self._known = machine.cpus & ~self.reserved if strict else machine.cpus
        self.shared: CPUSet = self._known
        self.held: dict[str, dict[str, CPUSet]] = {}  # pod -> container -> its CPUs
        self.pod_sets: dict[str, CPUSet] = {}  # pod -> what it has as a whole
        self._reusable: dict[str, CPUSet] = {}  # of one pod, the last that had an allocation

    @property
    def free(self) -> CPUSet:
        """CPUs that may be given out: shared ones that are not reserved."""
        return self.shared & ~self.reserved

    def wanted(self, pod: Pod, container: Container) -> int:
        """Tell how many CPUs a container gets for itself; 0: it runs in a shared pool.

        Kubernetes: guaranteedCPUs. The request counts, not the limit. With pod-level resources
        nothing is exclusive, unless the alpha gate is on and the container is Guaranteed by itself.
        """
        if not pod.guaranteed:
            return 0
        if pod.pod_level is not None and not (self._gate and container.guaranteed):
            return 0
        return container.whole_cpus

    def pod_wanted(self, pod: Pod) -> int:
        """Tell how many CPUs a pod needs at one time (podGuaranteedCPUs)."""
        if pod.pod_level is not None and self._gate:
            millis = pod.pod_level.cpu if pod.guaranteed else 0
            return 0 if millis % 1000 else millis // 1000
        return pod_total((one.kind, self.wanted(pod, one)) for one in pod.containers)

    def hints(self, pod: Pod, container: Container) -> Hints | None:
        """Give hints for one container (GetTopologyHints)."""
        count = self.wanted(pod, container)
        if not count:
            return None
        own = self.held.get(pod.uid, {}).get(container.name)
        if own is None:
            return self._hints(self.free, self._reusable.get(pod.uid, 0), count)
        return self._hints(own, 0, count) if own.bit_count() == count else IMPOSSIBLE

    def pod_hints(self, pod: Pod) -> Hints | None:
        """Give hints for a pod as a whole (GetPodTopologyHints)."""
        count = self.pod_wanted(pod)
        if not count:
            return None
        if pod.pod_level is not None:
            try:
                self._check_budget(pod)
            except Refusal:
                return IMPOSSIBLE
        held = self.held.get(pod.uid, {})
        for container in pod.containers:
            own = held.get(container.name)
            if own is not None and own.bit_count() != self.wanted(pod, container):
                return IMPOSSIBLE
        assigned = 0
        for own in held.values():
            assigned |= own
        if assigned.bit_count() == count:
            return self._hints(assigned, 0, count)
        return self._hints(self.free, self._reusable.get(pod.uid, 0) | assigned, count)

    def allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        """Give a container its CPUs; what it has already it keeps (Allocate). Raises Refusal."""
        count = self.wanted(pod, container)
        if not count:
            return
        # Oddity: before it is looked at what the pod has. A restart on a full node kills it.
        self._check_cores(count)
        held = self.held.setdefault(pod.uid, {})
        if container.name not in held:
            held[container.name] = self._take(count, hint, self._reusable.get(pod.uid, 0))
        reusable, own = self._reusable.get(pod.uid, 0), held[container.name]
        # What a finished init container had, later ones may have; sidecars and apps use it up.
        reusable = reusable | own if container.kind is Kind.INIT else reusable & ~own
        self._reusable = {pod.uid: reusable}

    def allocate_pod(self, pod: Pod, hint: Hint) -> None:
        """Give a pod one set, and parts of it to its containers (AllocatePod). Raises Refusal.

        Oddity: it allocates again at each restart. The pod gets other CPUs, and those that it had
        are lost to the node (kubernetes#140989).
        """
        count = self.pod_wanted(pod)
        if not count:
            return
        self._check_budget(pod)
        self._check_cores(count)  # of the total only: containers inside may split cores
        whole = self.pod_sets[pod.uid] = self._take(count, hint, 0)
        wanted = {container: self.wanted(pod, container) for container in pod.containers}
        self.held[pod.uid] = partition(whole, wanted, self._picker.pick)

    def adopt(self, uid: str, cpus: CPUSet) -> None:
        """Note that a pod has CPUs that were not given out here."""
        if cpus:
            self.held[uid] = {"": cpus}
            self.shared &= ~cpus

    def remove(self, uid: str) -> None:
        """Take back what a pod has (removeStaleState, RemoveContainer)."""
        held = self.held.pop(uid, None)
        if held is None:
            return
        back = self.pod_sets.pop(uid, 0)
        if not back:
            for own in held.values():
                back |= own
        self.shared |= back

    def restart(self) -> None:
        """Start anew from the state file (validateState). Raises StartError."""
        self._reusable = {}
        if not self.shared:  # only strict reservation lets it run empty
            if self.held:
                raise StartError("default cpuset cannot be empty")
            self.shared = self._known
        self._check_books()
        found = self.shared
        for own in (*self.pod_sets.values(), *(s for h in self.held.values() for s in h.values())):
            found |= own
        if found != self._known:
            raise StartError(
                f'current set of available CPUs "{cpuset.show(self._known)}" '
                f'doesn\'t match with CPUs in state "{cpuset.show(found)}"'
            )

    def _check_books(self) -> None:
        """Refuse a state file in which two pods, or a pod and the shared pool, have a CPU.

        Only cores that were taken with a thread that somebody had lead to that: see `accumulator`.
        """
        shared = cpuset.show(self.shared)
        if self._known & self.reserved != self.shared & self.reserved:
            if self._known & self.reserved:
                which = f'not all reserved cpus: "{cpuset.show(self.reserved)}"'
            else:
                which = (
                    f'some of strictly reserved cpus: "{cpuset.show(self.reserved & self.shared)}"'
                )
            raise StartError(f'{which} are present in defaultCpuSet: "{shared}"')
        for uid, held in self.held.items():
            for container, own in held.items():
                if own & self.shared:
                    raise StartError(
                        f"pod: {uid}, container: {container} "
                        f'cpuset: "{cpuset.show(own)}" overlaps with default cpuset "{shared}"'
                    )

    def _check_budget(self, pod: Pod) -> None:
        parts = [(one.kind, self.wanted(pod, one)) for one in pod.containers]
        check_budget(parts, self.pod_wanted(pod), CPU)

    def _check_cores(self, count: int) -> None:
        """Refuse parts of cores (enforceSMTAlignment).

        Oddity: free CPUs of the whole machine count, wherever they are and whether or not their
        cores are whole; but not those that the pod's own init containers would hand over.
        """
        if not self._full_cores:
            return
        threads = self._machine.cpus_per_core
        if count % threads:
            raise SMTAlignment(f"requested {count} cpus not multiple cpus per core = {threads}")
        free = (self.shared & ~self._reserved_cores).bit_count()
        if count > free:
            raise SMTAlignment(
                f"not enough free physical CPUs: available physical CPUs = {free}, "
                f"requested CPUs = {count}, CPUs per core = {threads}"
            )

    def _hints(self, free: CPUSet, reusable: CPUSet, count: int) -> Hints:
        return cpu_hints(self._machine, free, reusable, count, by_socket=self._by_socket)

    def _take(self, count: int, hint: Hint, reusable: CPUSet) -> CPUSet:
        """Take CPUs out of the shared pool.

        Oddity: reusable ones only widen the choice, none is preferred; what nobody takes over
        stays with the pod. A pod may hold more than it can use at one time.
        """
        taken = self._picker.pick_near(hint.nodes, self.free | reusable, count)
        self.shared &= ~taken
        return taken
