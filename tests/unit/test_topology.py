"""What is known of a node, from its admin, its labels and its NodeResourceTopology."""

from __future__ import annotations

import pytest
from builders import Node, NodeTopology, node, node_topology

from evencore.domain.lenient import read
from evencore.domain.topology import NodeFacts, node_facts
from evencore.domain.views import NodeView, TopologyView


def facts(built: Node, topology: NodeTopology | None = None) -> NodeFacts:
    view, problems = read(NodeView, built.obj)
    assert not problems
    seen = read(TopologyView, topology.obj)[0] if topology else None
    return node_facts(view, seen)


def known(built: Node, topology: NodeTopology | None = None) -> tuple[int | None, ...]:
    found = facts(built, topology)
    return found.width, found.max_container, found.max_pod


N = "n1"
NOTHING = (None, None, None)
SNN = "single-numa-node"

CASES: dict[str, tuple[Node, NodeTopology | None, tuple[int | None, ...]]] = {
    "nothing": (node(N), None, NOTHING),
    "labels": (node(N).width(2).largest(22, 46), None, (2, 22, 46)),
    "a width label that no processor has": (node(N).width(3), None, NOTHING),
    "a width label that is no number": (
        node(N).label("evencore.io/threads-per-core", "two"),
        None,
        NOTHING,
    ),
    "a maximum that is no number": (node(N).largest(-4, 7), None, (None, None, 7)),
    "the admin's width over the label": (
        node(N).width(2).topology(threadsPerCore=4),
        None,
        (4, *NOTHING[1:]),
    ),
    "the admin's NUMA nodes over the labels": (
        node(N).width(2).largest(100).topology(numa=[22, 24], policy=SNN),
        None,
        (2, 24, 46),
    ),
    "labels over what is discovered": (
        node(N).largest(10),
        node_topology(N).numa("22", "24"),
        (None, 10, 10),
    ),
    "single-numa-node, scope container": (
        node(N).topology(numa=[22, 24], policy=SNN, threadsPerCore=2),
        None,
        (2, 24, 46),
    ),
    "NUMA nodes that are no whole cores": (
        node(N).topology(numa=[7, 9], policy=SNN, threadsPerCore=2),
        None,
        (2, 8, 14),
    ),
    "NUMA nodes that are no whole cores, and nobody checks": (
        node(N).topology(numa=[7, 9], policy=SNN, threadsPerCore=2, fullPcpusOnly=False),
        None,
        (2, 9, 16),
    ),
    "single-numa-node, scope pod": (
        node(N).topology(numa=[22, 24], policy=SNN, scope="pod", threadsPerCore=2),
        None,
        (2, 24, 24),
    ),
    "any other policy may span NUMA nodes": (
        node(N).topology(numa=[22, 24], policy="restricted"),
        None,
        (None, 46, 46),
    ),
    "no policy told": (node(N).topology(numa=[22, 24]), None, (None, 46, 46)),
    "only whole cores of a NUMA node count": (
        node(N).topology(numa=[23, 21], policy=SNN, threadsPerCore=2),
        None,
        (2, 22, 42),
    ),
    "only whole cores of the sum count where NUMA nodes may be spanned": (
        node(N).topology(numa=[23, 22], policy="restricted", threadsPerCore=2),
        None,
        (2, 44, 44),
    ),
    "no exclusive CPUs at all: nothing is pinned there": (
        node(N).topology(numa=[0, 0], policy=SNN),
        None,
        NOTHING,
    ),
    "an empty annotation object": (node(N).width(2).topology(), None, (2, None, None)),
    "discovered zones": (
        node(N),
        node_topology(N).numa("22", "24").attribute("topologyManagerPolicy", SNN),
        (None, 24, 46),
    ),
    "discovered scope": (
        node(N),
        node_topology(N)
        .numa("22", 24)
        .attribute("topologyManagerPolicy", SNN)
        .attribute("topologyManagerScope", "pod"),
        (None, 24, 24),
    ),
    "the deprecated list of policies": (
        node(N),
        node_topology(N).numa("22", "24").policies("SingleNUMANodePodLevel"),
        (None, 24, 24),
    ),
    "attributes over the deprecated list": (
        node(N),
        node_topology(N)
        .numa("22", "24")
        .policies("SingleNUMANodePodLevel")
        .attribute("topologyManagerPolicy", "none"),
        (None, 46, 46),
    ),
    "a discovered fraction counts down": (
        node(N),
        node_topology(N).numa("22500m"),
        (None, 22, 22),
    ),
    "a zone that cannot be read: nothing is known": (
        node(N),
        node_topology(N).numa("22", "junk").attribute("topologyManagerPolicy", SNN),
        NOTHING,
    ),
    "a policy that does not exist": (
        node(N),
        node_topology(N).numa("22", "24").attribute("topologyManagerPolicy", "strict"),
        (None, 46, 46),
    ),
    "an empty NodeResourceTopology": (node(N).width(2), node_topology(N), (2, None, None)),
}


@pytest.mark.parametrize(("built", "topology", "want"), CASES.values(), ids=CASES)
def test_the_best_source_counts(
    built: Node, topology: NodeTopology | None, want: tuple[int | None, ...]
) -> None:
    assert known(built, topology) == want


def test_zones_of_other_types_do_not_count() -> None:
    topology = node_topology(N).numa("22")
    topology.obj["zones"].append(
        {"name": "cache", "type": "L3", "resources": [{"name": "cpu", "allocatable": "8"}]}
    )
    assert known(node(N), topology)[1] == 22


@pytest.mark.parametrize(
    ("built", "want"),
    [
        pytest.param(node(N), True, id="nobody says so"),
        pytest.param(node(N).topology(fullPcpusOnly=True), True, id="the admin says yes"),
        pytest.param(node(N).topology(fullPcpusOnly=False), False, id="the admin says no"),
    ],
)
def test_a_node_is_thought_to_check_alignment_unless_its_admin_says_no(
    built: Node, *, want: bool
) -> None:
    assert facts(built).checks_alignment is want


SOURCE = "node n1: annotation evencore.io/topology"
PROBLEMS = {
    "{": [f"{SOURCE}: '{{' is not JSON"],
    "": [f"{SOURCE}: '' is not JSON"],
    '{"policy": "Strict"}': [
        (
            f"{SOURCE}: policy: must be 'none', 'best-effort', 'restricted' or 'single-numa-node',"
            " not 'Strict'"
        )
    ],
    '{"scope": 1}': [f"{SOURCE}: scope: must be 'container' or 'pod', not 1"],
    '{"threadsPerCore": 3}': [f"{SOURCE}: threadsPerCore: must be 1, 2, 4 or 8, not 3"],
    '{"numas": [1]}': [
        (
            f"{SOURCE}: numas: unknown; allowed here: fullPcpusOnly, numa, policy, scope,"
            " threadsPerCore"
        )
    ],
}


@pytest.mark.parametrize(("text", "want"), PROBLEMS.items())
def test_what_an_admin_wrote_wrongly_is_told(text: str, want: list[str]) -> None:
    assert list(facts(node(N).annotate("evencore.io/topology", text)).problems) == want


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "7",
        '"x"',
        '{"numa": 3}',
        '{"numa": []}',
        '{"numa": [-1]}',
        '{"numa": ["4"]}',
        '{"numa": [1.5]}',
        '{"fullPcpusOnly": "no"}',
        '{"numa": [5000]}',
        "[" * 5000,
    ],
    ids=lambda text: text[:20],
)
def test_what_has_another_shape_is_a_problem_and_never_an_error(text: str) -> None:
    found = facts(node(N).width(2).annotate("evencore.io/topology", text))
    assert len(found.problems) == 1
    assert (found.width, found.max_container) == (2, None)


def test_all_problems_of_an_annotation_are_told() -> None:
    text = '{"policy": "x", "scope": "y", "z": 1}'
    assert len(facts(node(N).annotate("evencore.io/topology", text)).problems) == 3


def test_a_node_without_metadata_is_a_node_of_which_nothing_is_known() -> None:
    assert node_facts(NodeView()) == NodeFacts("", {})
