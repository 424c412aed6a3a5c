"""What is known of a node's machine and kubelet, and every way in which the rest may be.

Sources, best first: a node file (`--machines`), the annotation evencore.io/topology, rejections,
labels, the NodeResourceTopology. Nothing is guessed that decides: what nobody tells becomes several
`Way`s, and whoever asks is told what is the same in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from evencore.domain import names
from evencore.domain.kubelet.config import FULL_PCPUS_ONLY, Config
from evencore.domain.labelling import label_reasons
from evencore.domain.lenient import read
from evencore.domain.objects import map_at
from evencore.domain.quantity import QuantityError, parse_nanos
from evencore.domain.text import one_of
from evencore.domain.topology import number_of, told
from evencore.domain.views import NodeView, TopologyView
from evencore.standing.hardware import Numa, machine_of, reserved_in
from evencore.standing.objects import zones_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.domain.kubelet.machine import Machine
    from evencore.domain.learnt import Learnt
    from evencore.domain.objects import Object
    from evencore.domain.topology import Topology
    from evencore.nodefiles.files import NodeFile
    from evencore.standing.objects import Zone

ASSUMED: Final = (
    "where no --machines file tells: memoryManagerPolicy None, of the options of the CPU and "
    "topology managers none but full-pcpus-only, no devices, every core with all its threads online"
)
"""What is taken for granted of every node that is known by its objects alone."""


_MOST_CPUS: Final = 4096
"""Of one NUMA node; the same that the annotation may tell."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a node may be set up."""

    machine: Machine
    config: Config | None  # None: no static CPU manager, every container runs on all CPUs
    chosen: tuple[str, ...] = ()  # what nobody tells, and is so here


@dataclass(frozen=True, slots=True)
class Known:
    """A node as far as it is known."""

    ways: tuple[Way, ...] = ()
    unknown: str = ""  # why nothing can be said, if there is no way
    policy: str = ""  # of the topology manager; empty: not known
    open: tuple[str, ...] = ()  # what nobody tells
    stated: bool = False  # by a node file: exact


def known_by_file(file: NodeFile) -> Known:
    """Take what a node file says."""
    config = file.config() if file.kubelet.static else None
    way = Way(file.machine.build(), config)
    return Known((way,), policy=file.kubelet.topology_manager_policy, stated=True)


def known_of(node: Object, topology: Object | None, learnt: Learnt) -> Known:
    """Find out what the objects of a cluster tell of a node."""
    view = read(NodeView, node)[0]
    said = told(view, read(TopologyView, topology)[0] if topology else None)
    zones = zones_of(topology)
    numas = _numas(node, said.admin, said.seen, zones)
    policy = said.admin.policy or said.seen.policy
    if isinstance(numas, str):
        return Known(unknown=numas, policy=policy or "")
    if not any(numa.given for numa in numas):
        machine = machine_of(numas, 1)
        shared = [Way(machine, None)] if machine else []
        return Known(tuple(shared), policy=policy or "")
    if all(numa.given == numa.cpus for numa in numas):
        return Known(
            unknown="all its CPUs are said to be for pods: no static CPU manager starts so",
            policy=policy or "",
        )
    settings = _Settings(
        _policies(said.admin, said.seen, learnt),
        _widths(view, said.admin, learnt),
        _checked(view, said.admin, learnt),
    )
    ways = tuple(settings.ways(numas))
    if not ways:
        return Known(unknown="the CPUs of its NUMA nodes are no whole cores", policy=policy or "")
    return Known(ways, policy=policy or "", open=settings.open)


def _numas(
    node: Object, admin: Topology, seen: Topology, zones: tuple[Zone, ...]
) -> tuple[Numa, ...] | str:
    """Tell the CPUs of each NUMA node, or why they are not known."""
    given = admin.numa or seen.numa
    if not given:
        return "nobody tells of its NUMA nodes"
    ids, distances = list(range(len(given))), [dict[int, int]() for _ in given]
    sizes: list[int | None] = [None for _ in given]
    if len(zones) == len(given):
        ids = [zone.id for zone in zones]
        sizes, distances = [z.capacity for z in zones], [z.distances for z in zones]
        if admin.numa is None:
            given = tuple(zone.allocatable or 0 for zone in zones)
    elif zones:
        return f"an admin tells of {len(given)} NUMA nodes, its NodeResourceTopology of others"
    capacity = _capacity(node)
    if None in sizes:
        if capacity is None or capacity % len(given):
            return "nobody tells how its CPUs are spread over its NUMA nodes"
        sizes = [capacity // len(given)] * len(given)
    if any(size is None or size < some for size, some in zip(sizes, given, strict=True)):
        return "more CPUs can be given out than it has, by what is told of its NUMA nodes"
    if max(filter(None, sizes), default=0) > _MOST_CPUS:
        return f"more than {_MOST_CPUS} CPUs in one NUMA node are taken for a mistake"
    rows = zip(ids, sizes, given, distances, strict=True)
    return tuple(Numa(id_, size or 0, some, far) for id_, size, some, far in rows)


def _capacity(node: Object) -> int | None:
    try:
        return parse_nanos(map_at(map_at(node, "status"), "capacity").get("cpu")) // 10**9
    except QuantityError:
        return None


def _policies(admin: Topology, seen: Topology, learnt: Learnt) -> list[tuple[str, str]]:
    """List what policy and scope of the topology manager may be."""
    policy, scope = admin.policy or seen.policy, admin.scope or seen.scope
    policies = [policy] if policy else ["single-numa-node", "restricted"]
    if not policy and not learnt.strict:  # the others never refuse
        policies += ["best-effort", "none"]
    scopes = [scope] if scope else ["container", "pod"]
    return [
        (one, other) for one in policies for other in (scopes if one != "none" else ["container"])
    ]


def _widths(view: NodeView, admin: Topology, learnt: Learnt) -> list[int]:
    """List how many threads per core there may be: 1 or 2 if nobody tells."""
    metadata = view.metadata
    label = ((metadata.labels if metadata else None) or {}).get(names.THREADS_PER_CORE)
    known = admin.threads_per_core or (learnt.width and learnt.width.width) or number_of(label)
    return [known] if known else [2, 1]


def _checked(view: NodeView, admin: Topology, learnt: Learnt) -> list[bool]:
    """List whether the kubelet may run with full-pcpus-only."""
    if learnt.width:
        return [True]
    if admin.full_pcpus_only is not None:
        return [admin.full_pcpus_only]
    # The controller labels a width only where it is checked.
    return [True] if names.THREADS_PER_CORE in label_reasons(view) else [True, False]


@dataclass(frozen=True, slots=True)
class _Settings:
    """What each setting may be."""

    policies: list[tuple[str, str]]
    widths: list[int]
    checked: list[bool]

    @property
    def open(self) -> tuple[str, ...]:
        """Name those that nobody tells."""
        policies, scopes = ({one[i] for one in self.policies} for i in (0, 1))
        found = ["topology policy"] if len(policies) > 1 else []
        found += ["its scope"] if len(scopes) > 1 and policies != {"none"} else []
        found += [f"threads per core ({one_of(self.widths)})"] if len(self.widths) > 1 else []
        return (
            (*found, FULL_PCPUS_ONLY) if len(self.checked) > 1 and self.widths != [1] else (*found,)
        )

    def ways(self, numas: tuple[Numa, ...]) -> Iterator[Way]:
        """Iterate over every way in which they may be."""
        for (policy, scope), width, checked in product(self.policies, self.widths, self.checked):
            machine = machine_of(numas, width)
            if machine is None or (width == 1 and checked != self.checked[0]):
                continue  # a core of one thread is always whole
            config = Config(
                topology_policy=policy,
                pod_scope=scope == "pod",
                cpu_options=frozenset({FULL_PCPUS_ONLY} if checked else ()),
                reserved_cpus=reserved_in(machine, numas),
            )
            yield Way(machine, config, self._chosen(policy, scope, width, checked=checked))

    def _chosen(self, policy: str, scope: str, width: int, *, checked: bool) -> tuple[str, ...]:
        found = [policy] if len({one for one, _ in self.policies}) > 1 else []
        found += [f"scope {scope}"] if len({one for _, one in self.policies}) > 1 else []
        if len(self.widths) > 1:
            found.append(f"{width} thread{'s' if width > 1 else ''} per core")
        if len(self.checked) > 1 and width > 1:
            found.append(f"{'with' if checked else 'without'} {FULL_PCPUS_ONLY}")
        return tuple(found)
