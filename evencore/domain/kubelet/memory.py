"""The static memory manager policy: which NUMA nodes a Guaranteed container's memory is from.

Kubernetes: cm/memorymanager/policy_static.go, memory_manager.go. In bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet.hints import IMPOSSIBLE, Hints
from evencore.domain.kubelet.memory_hints import Reusable, choose_nodes, memory_hints
from evencore.domain.kubelet.memory_state import Block, MemoryState
from evencore.domain.kubelet.pod_budget import MEMORY, check_budget
from evencore.domain.kubelet.refusals import AllocateFailed, Refusal, StartError
from evencore.domain.resources import Kind, pod_total

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.hints import Hint
    from evencore.domain.kubelet.machine import Machine, NUMAMask
    from evencore.domain.kubelet.pod import Container, Pod

_MOST: Final = 2**63 - 1
_NO_INTEGER: Final = "[memorymanager] failed to represent quantity as int64"


class StaticMemory:
    """The memory of one machine and who has it."""

    def __init__(self, machine: Machine, config: Config) -> None:
        reserved = config.reserved_memory or ()
        if not sum(reserved):
            raise StartError("[memorymanager] you should specify the system reserved memory")
        self._machine, self._gate = machine, config.pod_level_managers
        self._state = MemoryState(machine.memory, reserved)
        # pod -> container -> block; None: the container is known and has no memory of its own
        self._held: dict[str, dict[str, Block | None]] = {}
        self._pod_blocks: dict[str, Block] = {}
        self._reusable: dict[str, Reusable] = {}  # of one pod, the last that had an allocation

    def hints(self, pod: Pod, container: Container) -> Hints | None:
        """Give hints for one container (GetTopologyHints)."""
        if not self._manages(pod):
            return None
        try:
            size = self._wanted(pod, container)
        except Refusal:
            return None
        held = self._held.get(pod.uid, {})
        if container.name in held:
            return _of_block(held[container.name], size)
        return self._hints(pod, size)

    def pod_hints(self, pod: Pod) -> Hints | None:
        """Give hints for a pod as a whole (GetPodTopologyHints).

        Oddity: after a restart the memory of the first container is compared with that of the
        pod; a pod with several containers then has no preference.
        """
        if not self._manages(pod):
            return None
        try:
            size = self._pod_wanted(pod)
        except Refusal:
            return None
        if pod.pod_level is not None:
            try:
                self._check_budget(pod, size or 0)
            except Refusal:
                return IMPOSSIBLE
        held = self._held.get(pod.uid, {})
        for container in pod.containers:
            if container.name in held:
                return _of_block(held[container.name], size)
        return self._hints(pod, size)

    def allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        """Bind a container's memory; what it has already it keeps (Allocate). Raises Refusal."""
        if not self._manages(pod):
            return
        held = self._held.setdefault(pod.uid, {})
        if container.name not in held:
            size = self._wanted(pod, container)
            nodes = choose_nodes(self._state, self._hints(pod, size), size or 0, hint)
            if size is None:
                held[container.name] = None
                return
            block = held[container.name] = Block(nodes, size)
            left = self._reusable.get(pod.uid, {}).get(nodes, 0)
            self._state.take(block, max(0, size - left))
            self._shrink_init_blocks(pod, container, block)
        self._update_reusable(pod, container)

    def allocate_pod(self, pod: Pod, hint: Hint) -> None:
        """Bind a pod's memory, and note what its containers have of it (AllocatePod).

        Oddity: as with CPUs, each restart allocates it once more.
        """
        try:
            total = self._pod_wanted(pod)
        except Refusal:
            return
        if not self._manages(pod) or total is None:
            return
        self._check_budget(pod, total)
        nodes = choose_nodes(self._state, self._hints(pod, total), total, hint)
        rest, parts = total, dict[str, int]()
        for container in pod.containers:
            own = self._wanted(pod, container)
            if own is not None:
                parts[container.name] = own
                rest -= 0 if container.kind is Kind.INIT else own
            elif container.kind is Kind.INIT:
                parts[container.name] = rest
        whole = self._pod_blocks[pod.uid] = Block(nodes, total)
        self._state.take(whole, total)
        sizes = {one.name: parts.get(one.name, rest) for one in pod.containers}
        self._held[pod.uid] = {
            name: Block(nodes, size) if size else None for name, size in sizes.items()
        }

    def remove(self, uid: str) -> None:
        """Take back what a pod has."""
        held = self._held.pop(uid, {})
        whole = self._pod_blocks.pop(uid, None)
        for block in held.values() if whole is None else [whole]:
            if block is not None:
                self._state.release(block)

    def started(self, pod: Pod) -> None:
        """Note that all containers of a pod have been started.

        Kubernetes: memory_manager.go: AddContainer. Unlike CPUs, memory of init containers that
        have run is given back then, so that a restart allocates it once more.
        """
        held = self._held.get(pod.uid, {})
        for container in pod.containers:
            block = held.pop(container.name, None) if container.kind is Kind.INIT else None
            if block is not None and pod.uid not in self._pod_blocks:
                self._state.release(block)

    def restart(self) -> None:
        """Start anew from the state file (validateState). Raises StartError.

        What can be wrong in it is memory that no pod has any more: see allocate_pod. Oddity: init
        containers that have run, and lost their memory (see started), are given some at a restart;
        what of it is counted twice is missing at the next one.
        """
        self._reusable = {}
        blocks = [
            block
            for uid, held in self._held.items()
            for block in ([self._pod_blocks[uid]] if uid in self._pod_blocks else held.values())
            if block is not None
        ]
        if not self._state.is_of(blocks):
            raise StartError(
                "[memorymanager] the expected machine state is different from the real one"
            )

    def numa_of(self, uid: str) -> Mapping[str, NUMAMask]:
        """Tell the NUMA nodes of each container's memory (GetMemoryNUMANodes)."""
        held = self._held.get(uid, {})
        return {name: block.nodes for name, block in held.items() if block is not None}

    def _manages(self, pod: Pod) -> bool:
        return pod.guaranteed and (pod.pod_level is None or self._gate)

    def _wanted(self, pod: Pod, container: Container) -> int | None:
        """Tell what a container asks for; None: nothing of its own. Raises Refusal."""
        if pod.pod_level is not None and not container.guaranteed:
            return None
        return _bytes(container.memory)

    def _pod_wanted(self, pod: Pod) -> int | None:
        """Tell what a pod asks for (getPodRequestedResources). Raises Refusal."""
        if pod.pod_level is not None:
            return _bytes(pod.pod_level.memory) or None
        sizes = [(one.kind, self._wanted(pod, one) or 0) for one in pod.containers]
        return pod_total(sizes)

    def _hints(self, pod: Pod, size: int | None) -> Hints | None:
        reusable = self._reusable.get(pod.uid, {})
        return memory_hints(self._machine, self._state, size, reusable)

    def _update_reusable(self, pod: Pod, container: Container) -> None:
        """Let init containers leave their memory to later ones (updatePodReusableMemory)."""
        reusable = self._reusable.get(pod.uid, {})
        self._reusable = {pod.uid: reusable}
        block = self._held[pod.uid][container.name]
        if block is None:
            return
        before = reusable.get(block.nodes, 0)
        init = container.kind is Kind.INIT
        reusable[block.nodes] = max(before, block.size) if init else max(0, before - block.size)

    def _shrink_init_blocks(self, pod: Pod, container: Container, block: Block) -> None:
        """Count memory that is taken over only once (updateInitContainersMemoryBlocks)."""
        size, held = block.size, self._held[pod.uid]
        for earlier in pod.containers:
            if earlier is container:
                return
            own = held.get(earlier.name)
            if earlier.kind is Kind.INIT and own is not None and own.nodes == block.nodes:
                part = min(own.size, size)
                own.size -= part
                size -= part

    def _check_budget(self, pod: Pod, total: int) -> None:
        parts = [(one.kind, self._wanted(pod, one) or 0) for one in pod.containers]
        check_budget(parts, total, MEMORY)


def _bytes(millis: int | None) -> int | None:
    if millis is None:
        return None
    if millis % 1000 or millis // 1000 > _MOST:
        raise AllocateFailed(_NO_INTEGER)
    return millis // 1000


def _of_block(block: Block | None, size: int | None) -> Hints | None:
    """Give the hint that led to a block (regenerateHints)."""
    return Hints([block.nodes]) if block is not None and block.size == size else None
