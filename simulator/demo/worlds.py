"""One of the two clusters, and what is counted in it.

For: doing things to it as an admin does, and looking at what has become of the pods.
Not for: when, or in which words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.errors import ApiError
from simulator.resources import EVENTS, NODES, PODS
from simulator.scenario.deeds import call, deeds
from simulator.scenario.ledger import Ledger, workload_of
from simulator.scenario.model import Step
from simulator.scenario.player import Outcome
from simulator.scenario.warned import Warnings, times_of
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.cluster import Cluster
    from simulator.objects import Object
    from simulator.scenario.ledger import Workload
    from simulator.scenario.warned import Source
    from simulator.server import ApiServer
    from simulator.store.store import Store
    from simulator.store.table import Change

HOLD: Final = "evencore.io/hold"
"""The scheduling gate by which evencore holds a pod."""


class Row(NamedTuple):
    """What has become of the pods of one workload: rejected since the start, the others now."""

    failed: int = 0
    held: int = 0
    running: int = 0


class Said(NamedTuple):
    """What the Events of one reason about one workload said last, and how often."""

    warning: bool
    reason: str
    about: str
    message: str
    times: int


class World:
    """A running cluster; everything is counted from the making of this on."""

    def __init__(self, name: str, cluster: Cluster) -> None:
        self.name = name
        self._cluster = cluster
        self._surprises: list[str] = []
        cluster.settle()
        self._ledger, self._held, self._warnings = self.server.call(self._follow)

    @property
    def server(self) -> ApiServer:
        """Its API server."""
        return self._cluster.server

    def do(self, step: Step, manifests: Iterable[Object]) -> Iterator[str]:
        """Do a step, and yield in words what was done."""
        for deed in deeds(step, manifests):
            try:
                self.server.wait_for(deed.act(self._cluster, call(step.verb)))
            except ApiError as error:
                self._surprises.append(f"{deed.text} was refused: {error.message}")
                yield self._surprises[-1]
            else:
                yield deed.text

    def make(self, *objects: Object, namespace: str = "default") -> None:
        """Apply objects. Raises RuntimeError if the cluster refuses one."""
        for said in self.do(Step(at=0.0, namespace=namespace, apply=list(objects)), objects):
            if self._surprises:
                raise RuntimeError(f"{self.name}: {said}")

    def rows(self) -> dict[Workload, Row]:
        """Count the pods of each workload."""

        def counted() -> dict[Workload, Row]:
            held = self._held.by_workload()
            return {
                workload: Row(counts.rejected, held.get(workload, 0), counts.running)
                for workload, counts in self._ledger.workloads.items()
            }

        return self.server.call(counted)

    def outcome(self, seconds: float) -> Outcome:
        """Give all that a scenario can expect something of."""

        def found() -> Outcome:
            counted = self._ledger.workloads.items()
            workloads = {workload: replace(counts) for workload, counts in counted}
            warnings = dict(self._warnings.by_source)
            return Outcome(seconds, workloads, self._ledger.nodes, warnings, self._surprises)

        return self.server.call(found)

    def labelled(self, key: str) -> bool:
        """Tell whether all nodes have this label."""
        nodes = self.server.call(lambda: list(self.server.store.table(NODES).records()))
        return all(key in (node.object["metadata"].get("labels") or ()) for node in nodes)

    def events(self, component: str) -> list[Said]:
        """Give what a component told of workloads, in order, folded by workload and reason.

        Of those about single pods an admin reads with `kubectl describe pod`.
        """
        records = self.server.call(lambda: list(self.server.store.table(EVENTS).records()))
        said: dict[tuple[str, str], Said] = {}
        for event in sorted((record.object for record in records), key=_first):
            about = event["involvedObject"]
            if event.get("reportingComponent") != component or about["kind"] == "Pod":
                continue
            name = f"{about['kind']}/{about['name']}"
            key = name, str(event["reason"])
            times = times_of(event) + (said[key].times if key in said else 0)
            warning = event.get("type") == "Warning"
            said[key] = Said(warning, key[1], name, str(event["message"]), times)
        return list(said.values())

    def _follow(self) -> tuple[Ledger, _Held, Warnings]:
        store = self.server.store
        return Ledger(store), _Held(store), Warnings(store, _ignore)


class _Held:
    """The pods that evencore's gate holds now; belongs to the thread of the cluster."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pods: dict[str, Workload] = {}
        store.table(PODS).listen(self._note)

    def by_workload(self) -> dict[Workload, int]:
        """Count them."""
        counted: dict[Workload, int] = {}
        for workload in self._pods.values():
            counted[workload] = counted.get(workload, 0) + 1
        return counted

    def _note(self, change: Change) -> None:
        pod = change.record.object
        gates = pod["spec"].get("schedulingGates") or ()
        held = change.type != DELETED and any(gate["name"] == HOLD for gate in gates)
        if held:
            self._pods.setdefault(pod["metadata"]["uid"], workload_of(pod, self._store))
        else:
            self._pods.pop(pod["metadata"]["uid"], None)


def _ignore(source: Source, message: str) -> None:
    """Let a new warning pass: they are read at the end."""


def _first(event: Object) -> str:
    return str(event.get("firstTimestamp") or "")
