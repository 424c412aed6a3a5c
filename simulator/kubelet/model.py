"""What a kubelet asks its node: may this pod run here, and on which CPUs.

One small interface; `exact` is what stands behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evencore.domain.kubelet.cpuset import CPUSet
    from simulator.objects import Object


class Admitted(NamedTuple):
    """The pod may run; `cpusets`: exclusive CPUs by container, none for the shared pool."""

    cpusets: Mapping[str, CPUSet]


class Rejected(NamedTuple):
    """The pod may not run. `message` as in the Event; the status puts a prefix before it."""

    reason: str
    message: str


Answer = Admitted | Rejected


class NodeModel(Protocol):
    """The CPUs of one node and who has them."""

    @property
    def reserved(self) -> CPUSet:
        """CPUs that are never given out exclusively."""

    def admit(self, pod: Object) -> Answer:
        """Decide about a new pod; an admitted one holds its CPUs until `remove`."""

    def remove(self, uid: str) -> None:
        """Take back the CPUs of a pod that has ended, or was never admitted."""

    def restart(self, pods: Sequence[Object]) -> list[Answer]:
        """Decide again about the running pods, in order of creation, as a new kubelet does.

        Raises StartError if that does not come up.
        """

    def held(self) -> CPUSet:
        """Tell which CPUs are exclusively assigned."""
