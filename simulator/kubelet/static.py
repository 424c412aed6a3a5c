"""A simple, honest node model: static CPU manager, full-pcpus-only, Topology Manager.

For: the same verdicts and texts as the kubelet's for CPUs.
Not for: which CPU ids exactly (lowest whole cores first, here), memory and device managers,
pod-level resources that get CPUs (alpha), and CPU manager options other than full-pcpus-only.

Kubernetes: pkg/kubelet/cm/cpumanager/policy_static.go, topologymanager/scope_*.go of 1.36.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evencore.domain.resources import Kind, pod_total
from simulator.kubelet import hints
from simulator.kubelet.model import Admitted, Answer, Rejected
from simulator.objects import dig
from simulator.requests import CPU, kinds, read
from simulator.rules.new_pods import qos

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.kubelet.hints import Hint, Verdict
    from simulator.kubelet.machine import CPUs, Machine
    from simulator.objects import Object

_NONE: Final[CPUs] = frozenset()
NOT_ALIGNED: Final = Rejected(
    "TopologyAffinityError", "Resources cannot be allocated with Topology locality"
)


@dataclass(frozen=True, slots=True)
class Policies:
    """The settings of a kubelet that count here."""

    static: bool
    full_cores: bool
    topology: str  # one of hints.NONE, BEST_EFFORT, RESTRICTED, SINGLE
    pod_scope: bool
    reserved: CPUs


class _Refused(Exception):  # noqa: N818  no error: a verdict on its way out
    def __init__(self, verdict: Rejected) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


class StaticModel:
    """The NodeModel of one machine."""

    def __init__(self, machine: Machine, policies: Policies) -> None:
        self._machine, self._policies = machine, policies
        self._pods: dict[str, dict[str, CPUs]] = {}
        self._totals = self._by_node(machine.cpus)

    def admit(self, pod: Object) -> Answer:
        """Decide about a pod; one that holds CPUs already keeps them if it is admitted."""
        uid = pod["metadata"]["uid"]
        answer = self._decide(pod)
        if isinstance(answer, Rejected):
            self.remove(uid)
        return answer

    def remove(self, uid: str) -> None:
        """Take back the CPUs of a pod."""
        self._pods.pop(uid, None)

    def restart(self, pods: Sequence[Object]) -> list[Answer]:
        """Decide again. CPUs of pods that are refused are free only when all have been asked."""
        running = {pod["metadata"]["uid"] for pod in pods}
        for uid in self._pods.keys() - running:
            self.remove(uid)
        answers = [self._decide(pod) for pod in pods]
        for pod, answer in zip(pods, answers, strict=True):
            if isinstance(answer, Rejected):
                self.remove(pod["metadata"]["uid"])
        return answers

    def held(self) -> CPUs:
        """Tell which CPUs are exclusively assigned."""
        return _NONE.union(*(cpus for pod in self._pods.values() for cpus in pod.values()))

    def _decide(self, pod: Object) -> Answer:
        wanted = [
            (kind, one["name"], self._exclusive(pod, one)) for kind, one in kinds(pod["spec"])
        ]
        held = self._pods.setdefault(pod["metadata"]["uid"], {})
        try:
            self._allocate_all(wanted, held)
        except _Refused as refused:
            return refused.verdict
        return Admitted(dict(held))

    def _exclusive(self, pod: Object, container: Object) -> int:
        """Tell how many CPUs a container gets for itself (guaranteedCPUs); 0: shared pool."""
        if not self._policies.static or dig(pod, "spec", "resources"):
            return 0
        if (dig(pod, "status", "qosClass") or qos(pod)) != "Guaranteed":
            return 0
        millis = read(dig(container, "resources", "requests")).get(CPU, 0)
        return 0 if millis % 1000 else millis // 1000

    def _allocate_all(self, wanted: list[tuple[Kind, str, int]], held: dict[str, CPUs]) -> None:
        reusable = _NONE
        verdict = self._judge_pod(wanted, held) if self._policies.pod_scope else None
        for kind, name, count in wanted:
            nodes = (verdict or self._judge(count, held.get(name), reusable)).nodes
            if not count:
                continue
            held[name] = self._allocate(count, held.get(name), reusable, nodes)
            # Kubernetes rule (updateCPUsToReuse): what an init container had, later ones may take.
            reusable = reusable | held[name] if kind is Kind.INIT else reusable - held[name]

    def _judge_pod(self, wanted: list[tuple[Kind, str, int]], held: dict[str, CPUs]) -> Verdict:
        total = pod_total((kind, count) for kind, _, count in wanted)
        own = _NONE.union(*held.values()) if held else None
        return self._judge(total, own, _NONE)

    def _judge(self, count: int, own: CPUs | None, reusable: CPUs) -> Verdict:
        """Ask the Topology Manager about one container, or a pod as a whole."""
        everywhere = frozenset(self._machine.numa_nodes)
        hinted = self._hints(count, own, reusable) if count else None
        verdict = hints.judge(self._policies.topology, hinted, everywhere)
        if not verdict.admitted:
            raise _Refused(NOT_ALIGNED)
        return verdict

    def _hints(self, count: int, own: CPUs | None, reusable: CPUs) -> list[Hint]:
        if own is None:
            available = self._by_node(self._free() | reusable)
            pinned = self._machine.numa_of(reusable)
            return hints.hints_for(count, self._totals, available, pinned)
        if len(own) != count:
            return []
        return hints.hints_for(count, self._totals, self._by_node(own))

    def _allocate(
        self, count: int, own: CPUs | None, reusable: CPUs, nodes: frozenset[int] | None
    ) -> CPUs:
        self._check_cores(count)
        if own is not None:
            return own
        free = self._free() | reusable
        aligned = free & self._machine.within(nodes) if nodes is not None else _NONE
        taken = self._pick(aligned, min(count, len(aligned)))
        rest, missing = free - taken, count - len(taken)
        if missing > len(rest):
            why = (
                f"not enough cpus available to satisfy request: requested={missing}, "
                f"available={len(rest)}"
            )
            raise _Refused(
                Rejected(
                    "UnexpectedAdmissionError",
                    f"Allocate failed due to {why}, which is unexpected",
                )
            )
        return taken | self._pick(rest, missing)

    def _check_cores(self, count: int) -> None:
        """Refuse parts of cores, before it is looked at what the pod has (enforceSMTAlignment)."""
        threads = self._machine.threads_per_core
        if not self._policies.full_cores:
            return
        if count % threads:
            why = f"requested {count} cpus not multiple cpus per core = {threads}"
            raise _Refused(Rejected("SMTAlignmentError", f"SMT Alignment Error: {why}"))
        shared = self._machine.cpus - self.held()
        physical = len(shared - self._machine.cores_of(self._policies.reserved))
        if count > physical:
            why = (
                f"not enough free physical CPUs: available physical CPUs = {physical}, "
                f"requested CPUs = {count}, CPUs per core = {threads}"
            )
            raise _Refused(Rejected("SMTAlignmentError", f"SMT Alignment Error: {why}"))

    def _free(self) -> CPUs:
        return self._machine.cpus - self.held() - self._policies.reserved

    def _by_node(self, cpus: Iterable[int]) -> Counter[int]:
        counted = Counter(self._machine.places[cpu].numa for cpu in cpus)
        return Counter({node: counted[node] for node in self._machine.numa_nodes})

    def _pick(self, cpus: CPUs, count: int) -> CPUs:
        """Take whole cores first, then single threads of cores that are not whole any more."""
        cores: dict[int, list[int]] = {}
        for cpu in sorted(cpus):
            cores.setdefault(self._machine.places[cpu].core, []).append(cpu)
        taken: list[int] = []
        for threads in cores.values():
            whole = len(threads) == self._machine.threads_per_core
            if whole and len(taken) + len(threads) <= count:
                taken += threads
        left = sorted((len(threads), cpu) for threads in cores.values() for cpu in threads)
        single = [cpu for _, cpu in left if cpu not in taken]
        return frozenset(taken + single[: count - len(taken)])
