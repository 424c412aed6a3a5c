"""What is known of each node, from whom, and what contradicts it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain import names
from evencore.domain.exclusive import NONE, InUse
from evencore.domain.labelling import label_reasons, labelling
from evencore.domain.learnt import NOTHING, Learnt
from evencore.domain.policy import Policy
from evencore.domain.rejection import read_time
from evencore.domain.topology import node_facts, told
from evencore.nodes.problems import mixed_widths, split_cores

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from evencore.domain.rejection import Rejection
    from evencore.domain.topology import NodeFacts, Told
    from evencore.domain.views import NodeView
    from evencore.nodes.objects import Objects

LATELY: Final = timedelta(hours=1)

ANNOTATION: Final = "annotation"
LABEL: Final = "label"
OBJECT: Final = "NodeResourceTopology"

LABELS: Final = (
    names.NODE,
    names.THREADS_PER_CORE,
    names.MAX_CONTAINER_CPUS,
    names.MAX_POD_CPUS,
)


class Fact(NamedTuple):
    """Something that is known of a node, and who tells it."""

    value: str
    source: str  # ANNOTATION, LABEL or OBJECT


class Label(NamedTuple):
    """A label of ours on a node."""

    key: str
    value: str
    because: str


@dataclass(frozen=True, slots=True)
class NodeReport:
    """One node; None = not known."""

    facts: NodeFacts
    policy: Fact | None
    scope: Fact | None
    width: Fact | None
    checked: bool | None  # whether its kubelet runs with full-pcpus-only
    numa: tuple[int, ...]  # CPUs of each NUMA node that can be given out exclusively
    numa_source: str | None
    labels: tuple[Label, ...]
    to_label: tuple[str, ...]  # what the controller would set, each with its reason
    learnt: Learnt
    in_use: InUse
    room: int | None  # exclusive CPUs in all
    room_since: datetime | None
    rejections: Mapping[str, int]  # lately, by reason
    last_rejection: datetime | None
    problems: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether anything is known of its cores."""
        facts = self.facts
        return not (facts.width is facts.max_container is facts.max_pod is None)


@dataclass(frozen=True, slots=True)
class Report:
    """All nodes that were asked for."""

    now: datetime
    nodes: tuple[NodeReport, ...]
    problems: tuple[str, ...]  # of the cluster as a whole
    notes: tuple[str, ...]  # what could not be read


def report(
    objects: Objects, now: datetime, only: Collection[str] = (), notes: Iterable[str] = ()
) -> Report:
    """Tell of all nodes, or of those named in `only`, and of the cluster as a whole."""
    lately: dict[str, list[Rejection]] = {}
    for rejection in objects.rejections.values():
        if rejection.at is None or rejection.at >= now - LATELY:
            lately.setdefault(rejection.node, []).append(rejection)
    every = [
        _node(name, node, objects, lately.get(name, []))
        for name, node in sorted(objects.nodes.items())
    ]
    mixed = mixed_widths(one.facts for one in every)
    return Report(
        now,
        tuple(one for one in every if not only or one.facts.name in only),
        (mixed,) if mixed else (),
        tuple(notes),
    )


def _node(name: str, node: NodeView, objects: Objects, lately: list[Rejection]) -> NodeReport:
    topology = objects.topologies.get(name)
    learnt, in_use = objects.learnt.get(name, NOTHING), objects.in_use.get(name, NONE)
    facts, said = node_facts(node, topology), told(node, topology)
    # Of the policy, and of who takes part, nothing is known here: the defaults, and several.
    arch = facts.labels.get(names.ARCH)
    believed = learnt.believed(Policy().default_threads_per_core, (), arch)
    wanted = labelling(node, topology, believed, in_use)
    numa = tuple(said.admin.numa or said.seen.numa or ())
    size = objects.sizes.get(name)
    split = split_cores(name, facts.width, numa, size)
    annotations = (node.metadata.annotations if node.metadata else None) or {}
    return NodeReport(
        facts,
        _either(said.admin.policy, said.seen.policy),
        _either(said.admin.scope, said.seen.scope),
        _width(said, facts),
        _checked(said, facts, learnt, label_reasons(node)),
        numa,
        (ANNOTATION if said.admin.numa else OBJECT) if numa else None,
        _labels(facts, label_reasons(node)),
        wanted.reasons,
        learnt,
        in_use,
        sum(numa) if numa else None if size is None else size[1] // 1000,
        read_time(annotations.get(names.ROOM_SINCE)),
        dict(Counter(rejection.reason for rejection in lately).most_common()),
        max((rejection.at for rejection in lately if rejection.at), default=None),
        (*wanted.problems, *((split,) if split else ())),
    )


def _either(admin: str | None, seen: str | None) -> Fact | None:
    if admin:
        return Fact(admin, ANNOTATION)
    return Fact(seen, OBJECT) if seen else None


def _width(said: Told, facts: NodeFacts) -> Fact | None:
    if facts.width is None:
        return None
    return Fact(str(facts.width), ANNOTATION if said.admin.threads_per_core else LABEL)


def _checked(
    said: Told, facts: NodeFacts, learnt: Learnt, reasons: Mapping[str, str]
) -> bool | None:
    """Tell whether a kubelet checks alignment, by what it did or by what its admin says."""
    if learnt.width:
        return True
    if said.admin.full_pcpus_only is not None:
        return said.admin.full_pcpus_only
    # The controller labels a width only where it is checked.
    ours = reasons.get(names.THREADS_PER_CORE, "").startswith(f"{facts.width}: ")
    return True if ours and facts.width is not None else None


def _labels(facts: NodeFacts, reasons: Mapping[str, str]) -> tuple[Label, ...]:
    found = []
    for key in LABELS:
        value = facts.labels.get(key)
        if value is None:
            continue
        because = "set by hand"
        if key == names.NODE and value == names.node_label_value(facts.name):
            because = "the node's name"
        elif reasons.get(key, "").startswith(f"{value}: "):
            because = reasons[key].removeprefix(f"{value}: ")
        found.append(Label(key, value, because))
    return tuple(found)
