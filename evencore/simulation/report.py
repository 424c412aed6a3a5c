"""The report: what would become of all pods, node by node and workload by workload."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.lenient import read
from evencore.domain.objects import map_at, text_at
from evencore.domain.views import PodView
from evencore.simulation.placing import New, Outcome, Placing
from evencore.simulation.scheduling import rooms_of
from evencore.simulation.stranding import stranded
from evencore.simulation.webhook import Webhook
from evencore.standing.asked import read_pod
from evencore.standing.building import arriving, machines_by_name, stand
from evencore.standing.knowledge import ASSUMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from evencore.domain.manifests import FoundPod
    from evencore.domain.objects import Object
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.nodefiles.files import NodesFile
    from evencore.simulation.placing import Fate
    from evencore.simulation.scheduling import Room
    from evencore.simulation.stranding import Stranded
    from evencore.standing.asked import Asked
    from evencore.standing.node import Standing
    from evencore.standing.objects import Objects


@dataclass(slots=True)
class Workload:
    """Pods of one owner or manifest, in the order in which they were looked at."""

    origin: str  # BOUND, WAITING or WITH
    namespace: str
    name: str  # "Deployment web"
    fates: list[Fate] = field(default_factory=list)

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many pods each became."""
        return Counter(fate.outcome for fate in self.fates)


BOUND = "bound"  # a scheduler chose their node; their kubelet has not let them in yet
WAITING = "waiting"  # no node yet
WITH = "with"  # not there yet


class NodeReport(NamedTuple):
    """One node."""

    standing: Standing
    before: dict[int, int] | None  # CPUs of whole free cores by NUMA node; None: not known
    after: dict[int, int] | None
    stranded: Stranded | None
    admitted: int  # pods


class Report(NamedTuple):
    """Everything that `evencore simulate` tells."""

    now: datetime
    evencore: bool
    workloads: tuple[Workload, ...]
    nodes: tuple[NodeReport, ...]
    sizes: tuple[int, ...]  # exclusive CPUs of the containers that `stranded` is about
    notes: tuple[str, ...]

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many pods became what, in all."""
        return sum((one.outcomes for one in self.workloads), Counter[Outcome]())


class Wanted(NamedTuple):
    """Pods that are to be made."""

    found: FoundPod
    copies: int | None  # None: one for each node


class Question(NamedTuple):
    """What a simulation starts from."""

    objects: Objects
    wanted: Sequence[Wanted]
    snapshot: Snapshot  # its evidence is added to
    policy: Policy
    now: datetime
    evencore: bool
    machines: NodesFile | None = None


def simulate(question: Question, doing: Callable[[str], None] = lambda _step: None) -> Report:
    """Play it through. `doing` is told what takes long. Never raises."""
    objects = question.objects
    doing(f"putting pods on {len(objects.nodes)} nodes")
    files = machines_by_name(question.machines)
    standings = {name: stand(objects, name, files.get(name)) for name in sorted(objects.nodes)}
    before = {name: standing.free() for name, standing in standings.items()}
    bound = {
        name: [asked for pod in pods if (asked := read_pod(pod))]
        for name, pods in objects.bound.items()
    }
    webhook = Webhook(question.policy, question.snapshot, question.now, on=question.evencore)
    rooms = rooms_of(objects.nodes.values(), bound)
    placing = Placing(rooms, standings, webhook)
    workloads: dict[tuple[str, str, str], Workload] = {}

    def book(origin: str, namespace: str, name: str, fate: Fate) -> None:
        key = (origin, namespace, name)
        workloads.setdefault(key, Workload(*key)).fates.append(fate)

    for name in standings:
        for asked in arriving(objects, name):
            book(BOUND, *_of(asked.raw), placing.arrive(asked, name))
    held = 0
    pods = list(_pods(question, rooms))
    for number, (origin, name, new) in enumerate(pods):
        if number % max(len(pods) // _STEPS, 1) == 0:
            doing(f"placing pod {number + 1} of {len(pods)}")
        if map_at(new.pod, "spec").get("schedulingGates") and new.made:
            held += 1  # whoever gated it decides when it comes
            continue
        book(origin, new.namespace, name, placing.place(new))
    found = tuple(workloads.values())
    sizes = _sizes(found) or _sizes_there(bound)
    doing("looking for stranded cores")
    admitted = Counter(
        fate.node for one in found for fate in one.fates if fate.outcome is Outcome.ADMITTED
    )
    nodes = tuple(
        NodeReport(
            standing, before[name], standing.free(), stranded(standing, sizes), admitted[name]
        )
        for name, standing in standings.items()
    )
    return Report(
        question.now, question.evencore, found, nodes, sizes, tuple(_notes(question, nodes, held))
    )


_STEPS = 20


def _pods(question: Question, rooms: Mapping[str, Room]) -> Iterator[tuple[str, str, New]]:
    """Iterate over all pods that need a node, in the order in which they are made."""
    for number, pod in enumerate(question.objects.waiting):
        namespace, name = _of(pod)
        yield WAITING, name, New(pod, namespace, f"waiting/{number}", made=True)
    for place, (found, copies) in enumerate(question.wanted):
        pod = _fresh(found.pod, f"owner/{place}")
        only = _daemons(pod, rooms) if copies is None else [None] * copies
        for number, node in enumerate(only):
            new = New(pod, found.namespace or "default", f"with/{place}/{number}", only=node)
            yield WITH, found.place, new


def _daemons(pod: Object, rooms: Mapping[str, Room]) -> list[str | None]:
    """List the nodes for which a DaemonSet makes a pod."""
    asked = read_pod(pod)
    return [name for name, room in rooms.items() if asked and not room.unsuited(asked, daemon=True)]


def _fresh(pod: Object, owner: str) -> Object:
    """Return a pod that many can be made of: no uid of its own, and an owner with one."""
    metadata = {key: value for key, value in map_at(pod, "metadata").items() if key != "uid"}
    references = metadata.get("ownerReferences")
    if isinstance(references, list):
        metadata["ownerReferences"] = [one | {"uid": one.get("uid") or owner} for one in references]
    return pod | {"metadata": metadata}


def _of(pod: Object) -> tuple[str, str]:
    """Return namespace and owner of a pod, or the pod itself."""
    view = read(PodView, pod)[0]
    owner = view.controller
    namespace = view.meta.namespace or "default"
    if owner is None:
        return namespace, f"Pod {text_at(map_at(pod, 'metadata'), 'name')}"
    return namespace, f"{owner.kind} {owner.name}"


def _sizes(workloads: Iterable[Workload]) -> tuple[int, ...]:
    """List the exclusive CPUs of the containers that were looked at."""
    found = (fate.asked for one in workloads for fate in one.fates if fate.asked)
    return tuple(sorted({cpus for asked in found for cpus in asked.cpu_of.values()}))


def _sizes_there(bound: dict[str, list[Asked]]) -> tuple[int, ...]:
    every = (asked for pods in bound.values() for asked in pods)
    return tuple(sorted({cpus for asked in every for cpus in asked.cpu_of.values()}))


def _notes(question: Question, nodes: Sequence[NodeReport], held: int) -> Iterator[str]:
    """Say what was approximated and assumed."""
    yield (
        "the scheduler is approximated: requests, taints, node selection, the emptiest node; no "
        "preferences, spreading, pod affinity, volumes, preemption"
    )
    if any(not one.standing.known.stated for one in nodes):
        yield ASSUMED
    if held:
        yield f"{held} pods that have scheduling gates were left out"
    missing = sorted(question.objects.bound.keys() - question.objects.nodes.keys())
    if missing:
        yield f"pods are bound to nodes that are not in the dump: {', '.join(missing)}"
    unknown = sorted(machines_by_name(question.machines).keys() - question.objects.nodes.keys())
    if unknown:
        yield f"the node file names nodes that are not in the dump: {', '.join(unknown)}"
