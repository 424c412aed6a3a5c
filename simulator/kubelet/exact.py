"""The kubelet's CPU, memory and topology manager as a NodeModel: evencore.domain.kubelet.

Exact in verdicts, texts and CPU ids (docs/kubelet.md). The node predicates come after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import managers
from evencore.domain.kubelet.managers import Managers
from evencore.domain.kubelet.pod import pod_of
from evencore.domain.qos import QoS
from evencore.domain.resources import read_amounts
from simulator.kubelet.model import Admitted, Rejected
from simulator.objects import dig
from simulator.rules.new_pods import spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.pod import Pod
    from evencore.nodefiles.files import NodeFile
    from simulator.kubelet.model import Answer, NodeModel
    from simulator.objects import Object


def model_of(file: NodeFile) -> NodeModel:
    """Make the model of one node."""
    if file.kubelet.static:
        return StaticModel(Managers(file.machine.build(), file.config()))
    return SharedModel(file.kubelet.reserved_system_cpus)


class StaticModel:
    """A node with cpuManagerPolicy static."""

    def __init__(self, its: Managers) -> None:
        self._managers = its

    @property
    def reserved(self) -> CPUSet:
        """CPUs that are never given out exclusively."""
        return self._managers.cpu.reserved

    def admit(self, pod: Object) -> Answer:
        """Decide about a new pod; an admitted one holds its CPUs until `remove`."""
        read = _read(pod)
        answer = _answer(self._managers.admit(read))
        if isinstance(answer, Admitted):
            self._managers.started(read)
        else:
            self._managers.remove(read.uid)
        return answer

    def remove(self, uid: str) -> None:
        """Take back the CPUs of a pod."""
        self._managers.remove(uid)

    def restart(self, pods: Sequence[Object]) -> list[Answer]:
        """Decide again about the running pods. Raises StartError if the kubelet stays down.

        CPUs of pods that are refused are free only when all have been asked.
        """
        running = {pod["metadata"]["uid"] for pod in pods}
        for uid in self._managers.cpu.held.keys() - running:
            self._managers.remove(uid)
        self._managers.restart()
        answers = [_answer(self._managers.admit(_read(pod))) for pod in pods]
        for pod, answer in zip(pods, answers, strict=True):
            if isinstance(answer, Rejected):
                self._managers.remove(pod["metadata"]["uid"])
        return answers

    def held(self) -> CPUSet:
        """Tell which CPUs are exclusively assigned."""
        found = 0
        for pod in self._managers.cpu.held.values():
            for cpus in pod.values():
                found |= cpus
        return found


class SharedModel:
    """A node with cpuManagerPolicy none: every container runs on all CPUs."""

    def __init__(self, reserved: CPUSet) -> None:
        self.reserved = reserved

    def admit(self, pod: Object) -> Answer:  # noqa: ARG002  the protocol's
        """Admit it."""
        return Admitted({})

    def remove(self, uid: str) -> None:
        """Do nothing: nobody has anything."""

    def restart(self, pods: Sequence[Object]) -> list[Answer]:
        """Admit all of them."""
        return [Admitted({}) for _ in pods]

    def held(self) -> CPUSet:
        """Tell that none are."""
        return 0


def _read(pod: Object) -> Pod:
    qos = dig(pod, "status", "qosClass")
    amounts = read_amounts(spec_of(pod))
    return pod_of(pod["metadata"]["uid"], amounts, QoS(qos) if qos else None)


def _answer(answer: managers.Answer) -> Answer:
    if isinstance(answer, managers.Admitted):
        return Admitted(answer.cpusets)
    return Rejected(answer.reason, answer.message)
