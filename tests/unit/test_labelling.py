"""Which labels a node should carry, why, and what stands against it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import NamedTuple

import pytest
from builders import NOW, Node, NodeTopology, node, node_topology

from evencore.domain import names
from evencore.domain.exclusive import InUse
from evencore.domain.labelling import Labelling, label_reasons, labelling
from evencore.domain.learnt import NOTHING, Learnt, learn
from evencore.domain.lenient import read
from evencore.domain.rejection import Kind, Rejection
from evencore.domain.views import NodeView, TopologyView

WIDTH, CONTAINER, POD = names.THREADS_PER_CORE, names.MAX_CONTAINER_CPUS, names.MAX_POD_CPUS
SNN = "single-numa-node"


def rejection(
    width: int | None = None, kind: Kind = Kind.MISALIGNED, minutes: int = 0, pod: str = "web-1"
) -> Rejection:
    at = NOW + timedelta(minutes=minutes)
    return Rejection("u", "o", "n1", kind, kind.value, at, "shop", pod, width)


def learnt(*rejections: Rejection) -> Learnt:
    return learn(rejections).get("n1", NOTHING)


def decided(
    built: Node,
    topology: NodeTopology | None = None,
    told: Learnt = NOTHING,
    in_use: InUse | None = None,
) -> Labelling:
    view, problems = read(NodeView, built.obj)
    assert not problems
    seen = read(TopologyView, topology.obj)[0] if topology else None
    return labelling(view, seen, told, in_use or InUse())


def ours(built: Node, key: str, value: object) -> Node:
    """Let a label be one that the controller set."""
    reasons = label_reasons(read(NodeView, built.obj)[0]) | {key: f"{value}: because"}
    return built.label(key, value).annotate(names.LABEL_REASONS, json.dumps(reasons))


def bare() -> Node:
    return node("n1").named()


def full(**more: object) -> Node:
    return node("n1").named().topology(fullPcpusOnly=True, threadsPerCore=2, **more)


class Case(NamedTuple):
    """A node, and the labels that are to be set on it."""

    node: Node
    labels: dict[str, str | None]
    problem: str | None = None
    topology: NodeTopology | None = None
    told: Learnt = NOTHING
    in_use: InUse = InUse()
    waiting: bool = False


BUSY = InUse(3, 6)
LEARNT_2 = learnt(rejection(2))
LEARNT_4 = learnt(rejection(4))

CASES = {
    "a node of which nothing is known gets its name": Case(node("n1"), {names.NODE: "n1"}),
    "a name of another by hand stays": Case(
        node("n1").label(names.NODE, "n2"), {}, "set by hand, but should be n1"
    ),
    "no name while a pod is there that keeps off it": Case(
        node("n1"),
        {},
        f"{names.NODE} waits: a pod that keeps off this node came here before it had the label",
        in_use=InUse(1, 4, astray=1),
    ),
    "its name is taken off again for pods that came meanwhile": Case(
        bare(), {names.NODE: None}, in_use=InUse(2, 8, astray=2, settled=1)
    ),
    "its name stays when a pod is bound there that its kubelet will refuse": Case(
        bare(), {}, in_use=InUse(1, 4, astray=1)
    ),
    "a name of another by hand harms no pod": Case(
        node("n1").label(names.NODE, "n2"), {}, "waits: a pod", in_use=InUse(1, 4, astray=1)
    ),
    "a width where an admin says that it is checked": Case(full(), {WIDTH: "2"}),
    "no width where nobody says that": Case(bare().topology(threadsPerCore=2), {}),
    "a width that a rejection proves to be checked": Case(
        bare().topology(threadsPerCore=2), {WIDTH: "2"}, told=LEARNT_2
    ),
    "a width that is learnt": Case(bare(), {WIDTH: "4"}, told=LEARNT_4),
    "no width where an admin says that none is checked": Case(
        bare().topology(threadsPerCore=2, fullPcpusOnly=False), {}
    ),
    "an admin who says so, but a kubelet that checks": Case(
        bare().topology(fullPcpusOnly=False), {}, "says fullPcpusOnly false, but", told=LEARNT_2
    ),
    "an annotation that its kubelet contradicts": Case(
        full(), {}, "says 2 threads per core, its kubelet 4", told=LEARNT_4
    ),
    "a learnt width against a label by hand": Case(
        bare().width(2), {}, "'2', set by hand, but should be 4: learnt", told=LEARNT_4
    ),
    "an annotation goes over a label by hand": Case(full().width(4), {WIDTH: "2"}),
    "but not while pods have exclusive CPUs": Case(
        full().width(4), {}, "stays while pods", in_use=BUSY, waiting=True
    ),
    "our own width is changed by what its kubelet says": Case(
        ours(bare(), WIDTH, 2), {WIDTH: "4"}, told=LEARNT_4
    ),
    "but not while pods have exclusive CPUs either": Case(
        ours(bare(), WIDTH, 2), {}, "stays while pods", told=LEARNT_4, in_use=BUSY, waiting=True
    ),
    "what was ours and changed by hand is by hand": Case(
        ours(bare(), WIDTH, 2).width(1), {}, "set by hand", told=LEARNT_4
    ),
    "an absent width is set while pods run that bear it": Case(
        full(), {WIDTH: "2"}, in_use=InUse(1, 4, frozenset({4}), 4)
    ),
    "but not if one runs that could not": Case(
        full(),
        {},
        "a container with 3 exclusive CPUs runs here",
        in_use=InUse(1, 3, frozenset({3})),
    ),
    "bounds from an annotation, in whole cores": Case(
        full(numa=[23, 24], policy=SNN), {WIDTH: "2", CONTAINER: "24", POD: "46"}
    ),
    "in whole cores only where that is checked": Case(
        bare().topology(threadsPerCore=2, numa=[23, 21], policy=SNN), {CONTAINER: "23", POD: "44"}
    ),
    "bounds from a NodeResourceTopology": Case(
        bare(),
        {CONTAINER: "24", POD: "24"},
        topology=node_topology("n1")
        .numa("22", "24")
        .attribute("topologyManagerPolicy", SNN)
        .attribute("topologyManagerScope", "pod"),
    ),
    "our bounds rise while pods run": Case(
        ours(ours(bare(), CONTAINER, 20), POD, 20),
        {CONTAINER: "22", POD: "22"},
        topology=node_topology("n1").numa("22"),
        in_use=BUSY,
    ),
    "and fall when none does": Case(
        ours(ours(bare(), CONTAINER, 24), POD, 24),
        {CONTAINER: "22", POD: "22"},
        topology=node_topology("n1").numa("22"),
    ),
    "but not before": Case(
        ours(bare(), CONTAINER, 24).label(POD, 22),
        {},
        "'24' and stays while pods",
        topology=node_topology("n1").numa("22"),
        in_use=BUSY,
        waiting=True,
    ),
    "bounds by hand stay, whatever agents say": Case(
        bare().largest(40), {}, "set by hand", topology=node_topology("n1").numa("44")
    ),
    "an annotation raises bounds by hand": Case(
        bare().largest(20).topology(numa=[22]), {CONTAINER: "22", POD: "22"}, in_use=BUSY
    ),
    "an annotation replaces what is no number": Case(
        bare().label(CONTAINER, "many").label(POD, 22).topology(numa=[22]),
        {CONTAINER: "22"},
        in_use=BUSY,
    ),
    "no bound below what runs": Case(
        bare().topology(numa=[22]),
        {POD: "22"},
        "max-container-cpus would be 22, but a container with 24 exclusive CPUs runs here",
        in_use=InUse(1, 24, frozenset({24}), 22),
    ),
    "nothing is pinned there, so nothing is said": Case(bare().topology(numa=[0, 0]), {}),
    "a policy that its kubelet contradicts": Case(
        bare().topology(policy="best-effort"),
        {},
        "says policy best-effort, but its kubelet refused pod shop/web-1 at 2026-03-01T10:40Z",
        told=learnt(rejection(kind=Kind.NO_ALIGNED_NUMA)),
    ),
    "a policy that agents tell, and its kubelet contradicts": Case(
        bare(),
        {},
        "NodeResourceTopology says policy none, but its kubelet refused pod",
        topology=node_topology("n1").policies("None"),
        told=learnt(rejection(kind=Kind.NO_ALIGNED_NUMA)),
    ),
    "a width by hand that is not checked rounds no bound": Case(
        bare().width(2).topology(fullPcpusOnly=False, numa=[23]), {CONTAINER: "23", POD: "23"}
    ),
    "a policy that bears it out": Case(
        bare().topology(policy=SNN), {}, told=learnt(rejection(kind=Kind.NO_ALIGNED_NUMA))
    ),
    "facts that nobody tells any more leave their labels": Case(
        ours(ours(bare(), WIDTH, 2), CONTAINER, 24), {}
    ),
    "an annotation that cannot be read": Case(
        bare().annotate(names.NODE_TOPOLOGY, "{"), {}, "is not JSON"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_labels(case: Case) -> None:
    found = decided(case.node, case.topology, case.told, case.in_use)
    assert found.labels == case.labels
    assert len(found.reasons) == len(case.labels)
    assert found.waiting == case.waiting
    if case.problem is None:
        assert found.problems == ()
    else:
        assert case.problem in " | ".join(found.problems)
        assert all(problem.startswith("node n1: ") for problem in found.problems)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_written_is_written_once(case: Case) -> None:
    first = decided(case.node, case.topology, case.told, case.in_use)
    again = Node("n1")
    again.obj["metadata"] = dict(case.node.obj["metadata"])
    for part, new in (("labels", first.labels), ("annotations", first.annotations)):
        all_ = {**(again.obj["metadata"].get(part) or {}), **new}
        again.obj["metadata"][part] = {key: it for key, it in all_.items() if it is not None}
    assert decided(again, case.topology, case.told, case.in_use).labels == {}


def test_a_long_name_is_hashed() -> None:
    name = "n" * 64
    value = decided(node(name)).labels[names.NODE]
    assert value is not None
    assert len(value) == 63
    assert value == names.node_label_value(name) != name[:63]


def test_why_is_kept_on_the_node_beside_what_was_known_before() -> None:
    built = ours(bare(), CONTAINER, 24)
    found = decided(built, told=LEARNT_4)
    sentence = "learnt from its kubelet, which refused pod shop/web-1 at 2026-03-01T10:40Z"
    assert found.reasons == (f"{WIDTH}=4: {sentence}",)
    assert json.loads(found.annotations[names.LABEL_REASONS]) == {
        WIDTH: f"4: {sentence}",
        CONTAINER: "24: because",
    }


def test_the_reason_of_a_bound_names_what_it_was_made_of() -> None:
    found = decided(full(numa=[23, 24], policy=SNN))
    assert (
        f"{CONTAINER}=24: annotation {names.NODE_TOPOLOGY}: NUMA nodes of 23, 24 CPUs, "
        "single-numa-node, whole cores of 2 threads"
    ) in found.reasons


def test_a_name_needs_no_reason() -> None:
    assert decided(ours(node("n1"), WIDTH, 2)).annotations == {}


@pytest.mark.parametrize("text", ["[", "[]", '{"a": 1}', '{"evencore.io/max-pod-cpus": 3}'])
def test_reasons_that_are_none_do_no_harm(text: str) -> None:
    built = node("n1").annotate(names.LABEL_REASONS, text)
    assert label_reasons(read(NodeView, built.obj)[0]) == {}


def test_the_newest_word_of_a_kubelet_counts_in_any_order() -> None:
    both = rejection(2, pod="old"), rejection(4, minutes=5, pod="new")
    for order in (both, both[::-1]):
        witness = learnt(*order).width
        assert witness is not None
        assert (witness.width, witness.pod) == (4, "shop/new")


def test_what_has_no_time_and_what_names_nothing_teaches_nothing() -> None:
    timeless = Rejection("u", "o", "n1", Kind.MISALIGNED, "SMTAlignmentError", None, width=2)
    assert learnt(timeless, rejection(kind=Kind.UNEXPECTED)) == NOTHING
