"""What is told of pods that were changed, and of rejected ones that nobody controls (case 38)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from controller_parts import NOW, NUMA, Kube, failed, failed_pod, held, live_pod, pod, snapshot

from controller.placed import BareReconciler, PlacedReconciler
from controller.views import LivePod, WatchedPod, live
from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.domain.snapshot import Nodes, Snapshot
from evencore.domain.topology import NodeFacts

if TYPE_CHECKING:
    from evencore.kube.events import About

Object = dict[str, Any]


class Heard:
    """A Reporter that remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []

    def tell(self, about: About, reason: str, message: str, *, warning: bool = False) -> None:
        assert warning is (reason != names.CPU_ALIGNED)
        self.told.append((f"{about.kind}/{about.name}", reason, message))


@pytest.mark.parametrize(
    ("obj", "labels", "told"),
    [
        pytest.param(failed(pod(owner=None)), None, True, id="solo: one Event on the pod"),
        pytest.param(
            failed(pod(owner=None, ownerReferences=[{"kind": "ConfigMap", "name": "c"}])),
            None,
            True,
            id="owned, but not controlled: as solo",
        ),
        pytest.param(
            failed(pod(owner=None, annotations={names.MIRROR_POD: "x"})), None, False, id="static"
        ),
        pytest.param(failed(pod()), None, False, id="controlled: others tell of it"),
        pytest.param(failed(pod(owner=None)), {}, False, id="its namespace takes no part"),
        pytest.param(failed(pod(owner=None), why=("OutOfcpu", "x")), None, False, id="OutOf"),
        pytest.param(failed(pod(owner=None), why=("Evicted", "x")), None, False, id="evicted"),
    ],
)
def test_bare_pods_are_told_of_and_left(obj: Object, labels: Object | None, *, told: bool) -> None:
    heard, known = Heard(), snapshot(labels=labels)
    bare = BareReconciler(lambda _: failed_pod(obj), Policy(), lambda: known, heard)  # type: ignore[arg-type]  a double
    bare.reconcile("shop/web-6d-a")
    assert [(whom, reason) for whom, reason, _ in heard.told] == (
        [("Pod/web-6d-a", names.TOPOLOGY_REJECTED)] if told else []
    )
    assert all(f"rejected by n1: {NUMA[0]}; no controller makes" in text for *_, text in heard.told)


def _placed(
    kube: Kube, seen: LivePod | None, nodes: Nodes | None = None, age: float = 0
) -> tuple[PlacedReconciler, Heard]:
    heard, known = Heard(), Snapshot(nodes=nodes or Nodes())
    made = PlacedReconciler(
        kube.writer,
        lambda _: seen,
        Policy(),
        lambda: known,
        heard,  # type: ignore[arg-type]  a double
        lambda: NOW + timedelta(seconds=age),
    )
    return made, heard


ALIGNED = {
    names.DECISION: "container a: cpu 3 → 4, whole cores of 2 threads; not on n1 until 1",
    names.ORIGINAL_CPU: '{"a":"3"}',
}


@pytest.mark.parametrize(
    ("obj", "age", "want"),
    [
        (pod(annotations=ALIGNED), 5, ["container a: cpu 3 → 4, whole cores of 2 threads"]),
        (pod(annotations=ALIGNED), 3600, []),
        (held(), 5, []),
    ],
    ids=["aligned", "aligned long ago: somebody has told", "held alone"],
)
def test_what_was_aligned_is_told_of_its_owner(
    kube: Kube, obj: Object, age: float, want: list[str]
) -> None:
    placed, heard = _placed(kube, live_pod(obj), age=age)
    placed.aligned("shop/web-6d-a")
    assert heard.told == [("ReplicaSet/web-6d", names.CPU_ALIGNED, text) for text in want]


SMALL = Nodes([NodeFacts("n1", {}, 2, max_container=1, max_pod=1)])
LARGE = Nodes([NodeFacts("n1", {}, 2, max_container=22, max_pod=46)])


@pytest.mark.parametrize(
    ("obj", "nodes", "told", "again"),
    [
        pytest.param(
            pod(decision="not on n9"),
            SMALL,
            True,
            False,
            id="too large for every node: pod and owner hear",
        ),
        pytest.param(pod(decision="not on n9"), LARGE, False, True, id="it fits: looked at again"),
        pytest.param(pod(decision="not on n9"), Nodes(), False, True, id="no node is known"),
        pytest.param(pod(node="n1", decision="x"), SMALL, False, False, id="it has a node"),
        pytest.param(held(), SMALL, False, False, id="it is held"),
    ],
)
def test_a_pod_that_no_node_can_ever_admit(
    kube: Kube, obj: Object, nodes: Nodes, *, told: bool, again: bool
) -> None:
    seen = live(msgspec.convert({**kube.make(obj), "status": obj["status"]}, WatchedPod))
    placed, heard = _placed(kube, seen, nodes, age=-1e9)  # the server has a clock of its own
    assert (placed.fits("shop/web-6d-a") is not None) is again
    whom = {whom for whom, reason, _ in heard.told if reason == names.NEVER_FITS}
    assert whom == ({"Pod/web-6d-a", "ReplicaSet/web-6d"} if told else set())


@pytest.mark.parametrize(
    ("steering", "told"),
    [
        pytest.param(None, False, id="made long ago: somebody has told"),
        pytest.param(names.RELEASED, True, id="let go after a long hold: nobody has asked"),
    ],
)
def test_an_old_pod_that_no_node_can_ever_admit(
    kube: Kube, steering: str | None, *, told: bool
) -> None:
    obj = pod(decision="not on n9", steering=steering)
    seen = live(msgspec.convert({**kube.make(obj), "status": obj["status"]}, WatchedPod))
    placed, heard = _placed(kube, seen, SMALL, age=1e9)
    placed.fits("shop/web-6d-a")
    assert bool(heard.told) is told
