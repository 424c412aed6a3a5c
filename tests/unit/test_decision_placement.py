"""Where a pod may go (rules 4 and 6): its width, the nodes that fit, those that refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from admission import Answer, admit
from apiserver import eligible
from builders import (
    NOW,
    Node,
    Pod,
    container,
    expression,
    failed,
    labels,
    node,
    node_topology,
    pod,
    snapshot,
)

from evencore.domain.names import node_label_value
from evencore.domain.policy import Policy


def widths(*threads: int) -> list[Node]:
    return [node(f"n{number}").width(each) for number, each in enumerate(threads)]


def left(answer: Answer, *nodes: Node) -> list[str]:
    """Return the nodes on which the pod may run afterwards, by an evaluator of the tests' own."""
    return eligible(answer.after, [n.obj for n in nodes])


WIDTHS = {
    "no node is known: the default": ([], "4"),
    "one width": (widths(4), "4"),
    "the commonest": (widths(8, 2, 2), "4"),
    "a tie goes to the larger, which suits both": (widths(2, 8, 2, 8), "8"),
    "nodes that tell no width do not count": ([node("a"), node("b"), *widths(8)], "8"),
    "cores of one thread": (widths(1, 1, 2), "3"),
    "the commonest on which it can run": (
        [
            node("a").width(8).largest(4),
            node("b").width(8).largest(4),
            node("c").width(2).largest(4),
        ],
        "4",
    ),
    "the commonest, if it can run on none": (
        [
            node("a").width(8).largest(2),
            node("b").width(8).largest(2),
            node("c").width(1).largest(2),
        ],
        "8",
    ),
    "what the admin says": ([node("a").width(2).topology(threadsPerCore=8)], "8"),
}


@pytest.mark.parametrize(("nodes", "want"), WIDTHS.values(), ids=WIDTHS)
def test_the_width_for_a_pod(nodes: list[Node], want: str) -> None:
    assert admit(pod().cpu("3"), snapshot(*nodes)).cpu == {"app": (want, want)}


def test_the_default_width_is_a_setting() -> None:
    policy = Policy.from_mapping({"defaultThreadsPerCore": 8})
    assert admit(pod().cpu("3"), None, policy).cpu == {"app": ("8", "8")}


NARROW, WIDE = node("a").label("pool", "x").width(2), node("b").label("pool", "y").width(8)
SELECTED = {
    "by node selector": pod().spec(nodeSelector={"pool": "y"}),
    "by required affinity": pod().required(labels(expression("pool", "In", "y"))),
    "by name": pod().required(
        {"matchFields": [expression("metadata.name", "In", "b")]},
    ),
}


@pytest.mark.parametrize("built", SELECTED.values(), ids=SELECTED)
def test_only_nodes_that_the_pod_allows_count_for_its_width(built: Pod) -> None:
    built.obj["spec"]["containers"] = [container(cpu="3").obj]
    known = snapshot(NARROW, node("c").label("pool", "x").width(2), WIDE)
    assert admit(built, known).cpu == {"app": ("8", "8")}


def test_nodes_whose_cores_the_request_does_not_fill_are_kept_out() -> None:
    nodes = widths(2, 2, 4, 8)
    assert left(admit(pod().cpu("5"), snapshot(*nodes)), *nodes) == ["n0", "n1"]


MIXED = [
    node("small").named().width(2).largest(4),
    node("large").named().width(2).largest(22, 46),
    node("fresh"),
]
REQUIRED_CASES = {
    "fits everywhere": (pod().cpu("4"), ["small", "large", "fresh"]),
    "too large for one": (pod().cpu("6"), ["large", "fresh"]),
    "too large after rounding": (pod().cpu("4500m"), ["large", "fresh"]),
    "the sum is too large for one": (
        pod().containers(container("a", cpu="4"), container("b", cpu="4")),
        ["large", "fresh"],
    ),
    "an init container is too large for one": (
        pod().inits(container("init", cpu="6")),
        ["large", "fresh"],
    ),
    "an init container runs before, so it adds nothing": (
        pod().cpu("4").inits(container("init", cpu="4")),
        ["small", "large", "fresh"],
    ),
    "a sidecar adds to the sum": (
        pod().cpu("4").inits(container("proxy", cpu="2").sidecar()),
        ["large", "fresh"],
    ),
    "too large for all that are known": (pod().cpu("100"), ["fresh"]),
}


@pytest.mark.parametrize(("built", "want"), REQUIRED_CASES.values(), ids=REQUIRED_CASES)
def test_nodes_that_can_never_admit_a_pod_are_kept_out(built: Pod, want: list[str]) -> None:
    assert left(admit(built, snapshot(*MIXED)), *MIXED) == want


def test_who_fits_nowhere_is_told() -> None:
    known = snapshot(*MIXED[:2])
    assert admit(pod().cpu("100"), known).warnings == [
        (
            "no known node can ever admit this pod: "
            "100 CPUs in one container and 100 in all; at most 22 and 46"
        )
    ]


def test_where_no_node_is_known_nobody_is_told_that_none_fits() -> None:
    assert admit(pod().owner(), snapshot(failed("n7"))).warnings == []


def test_a_node_known_only_by_its_topology_object_is_kept_out_by_name() -> None:
    nodes = [node("n1"), node("n2")]
    seen = node_topology("n1").numa("4").attribute("topologyManagerPolicy", "none")
    assert left(admit(pod().cpu("6"), snapshot(*nodes, seen)), *nodes) == ["n2"]


def test_preferred_puts_the_same_into_preferences_and_loses_no_node() -> None:
    answer = admit(pod().cpu("6").annotate("evencore.io/topology", "preferred"), snapshot(*MIXED))
    assert answer.required is None
    assert [p["weight"] for p in answer.preferred] == [100]


def test_off_leaves_the_affinity_as_it_is() -> None:
    answer = admit(pod().cpu("5").annotate("evencore.io/topology", "off"), snapshot(*MIXED))
    assert answer.cpu == {"app": ("6", "6")}
    assert "affinity" not in answer.after["spec"]


def owned() -> Pod:
    return pod().owner("rs-1")


HERE = [node("n1"), node("n2"), node("n3")]
EXCLUSIONS: dict[str, tuple[Pod, list[Pod], list[str]]] = {
    "a node that refused": (owned(), [failed("n1")], ["n2", "n3"]),
    "two nodes": (owned(), [failed("n1"), failed("n3")], ["n2"]),
    "every node: then none, for the pod would wait for ever": (
        owned().annotate("evencore.io/on-rejection", "exclude"),
        [failed("n1"), failed("n2"), failed("n3")],
        ["n1", "n2", "n3"],
    ),
    "a node that is gone": (owned(), [failed("gone")], ["n1", "n2", "n3"]),
    "another owner's": (owned(), [failed("n1", "rs-2")], ["n1", "n2", "n3"]),
    "nobody's": (pod(), [failed("n1")], ["n1", "n2", "n3"]),
    "an owner in name only": (
        pod().owner("rs-1", controller=False),
        [failed("n1")],
        ["n1", "n2", "n3"],
    ),
    "too long ago": (
        owned(),
        [failed("n1").rejected("n1", ago=timedelta(minutes=2))],
        ["n1", "n2", "n3"],
    ),
    "a misaligned request, which another node would refuse as well": (
        owned(),
        [
            failed("n1").rejected(
                "n1", "SMTAlignmentError", "requested 3 cpus not multiple cpus per core = 2"
            )
        ],
        ["n1", "n2", "n3"],
    ),
    "too little CPU by count": (
        owned(),
        [failed("n1").rejected("n1", "OutOfcpu", "")],
        ["n1", "n2", "n3"],
    ),
    "report only": (
        owned().annotate("evencore.io/on-rejection", "report"),
        [failed("n1")],
        ["n1", "n2", "n3"],
    ),
    "exclude": (
        owned().annotate("evencore.io/on-rejection", "exclude"),
        [failed("n1")],
        ["n2", "n3"],
    ),
    "topology off is about rung 2 alone": (
        owned().annotate("evencore.io/topology", "off"),
        [failed("n1")],
        ["n2", "n3"],
    ),
    "the last node that the pod allows": (
        owned().required({"matchFields": [expression("metadata.name", "In", "n1")]}),
        [failed("n1")],
        ["n1"],
    ),
}


@pytest.mark.parametrize(("built", "rejected", "want"), EXCLUSIONS.values(), ids=EXCLUSIONS)
def test_nodes_that_refused_the_last_pods_of_an_owner(
    built: Pod, rejected: list[Pod], want: list[str]
) -> None:
    assert left(admit(built, snapshot(*HERE, *rejected)), *HERE) == want


@pytest.mark.parametrize("mode", ["off", "preferred", "required"])
def test_where_no_known_node_fits_none_is_excluded_either(mode: str) -> None:
    """With topology off or preferred a pod may still try them; kept off all it would wait."""
    nodes = [node("n1").named().largest(2), node("n2").named().largest(2)]
    built = owned().cpu("4").annotate("evencore.io/topology", mode)
    answer = admit(built, snapshot(*nodes, failed("n1"), failed("n2")))
    assert answer.labels == {}
    assert left(answer, *nodes) == ([] if mode == "required" else ["n1", "n2"])


def test_an_exclusion_ends_with_its_time() -> None:
    known = snapshot(*HERE, failed("n1").rejected("n1", ago=timedelta(0)))
    just_before = NOW + timedelta(seconds=119)
    assert left(admit(owned(), known, now=just_before), *HERE) == ["n2", "n3"]
    assert left(admit(owned(), known, now=NOW + timedelta(minutes=2)), *HERE) == ["n1", "n2", "n3"]


def test_a_node_with_our_label_is_excluded_by_it() -> None:
    answer = admit(owned(), snapshot(node("n1").named(), node("n2").named(), failed("n1")))
    assert answer.required == [labels(expression("evencore.io/node", "NotIn", "n1"))]


def test_a_node_without_our_label_is_excluded_by_a_field_of_exactly_one_value() -> None:
    answer = admit(owned(), snapshot(*HERE, failed("n1"), failed("n2")))
    assert answer.required == [
        {
            "matchFields": [
                expression("metadata.name", "NotIn", "n1"),
                expression("metadata.name", "NotIn", "n2"),
            ]
        }
    ]


@pytest.mark.parametrize("labelled", [True, False])
def test_a_node_whose_name_is_no_label_value_is_excluded_all_the_same(*, labelled: bool) -> None:
    name = "n" * 60 + ".example.com"
    long = node(name)
    if labelled:
        long.label("evencore.io/node", node_label_value(name))
    assert left(admit(owned(), snapshot(long, *HERE, failed(name))), long, *HERE) == [
        "n1",
        "n2",
        "n3",
    ]


def test_no_more_than_twenty_nodes_are_excluded_and_the_freshest_evidence_counts() -> None:
    refusing = [
        failed(f"n{n:02}").rejected(f"n{n:02}", ago=timedelta(seconds=n)) for n in range(30)
    ]
    answer = admit(owned().annotate("evencore.io/on-rejection", "exclude"), snapshot(*refusing))
    assert answer.required is not None
    ((part, found),) = answer.required[0].items()
    assert part == "matchFields"
    assert [r["values"] for r in found] == [[f"n{n:02}"] for n in range(20)]


def test_fit_and_exclusion_go_into_one_term() -> None:
    nodes = [*(n.named() for n in widths(2, 2)), node("small").named().width(2).largest(2)]
    answer = admit(owned().cpu("4"), snapshot(*nodes, failed("n0")))
    assert answer.required == [
        labels(
            expression("evencore.io/max-container-cpus", "NotIn", "2"),
            expression("evencore.io/node", "NotIn", "n0"),
        )
    ]
    assert left(answer, *nodes) == ["n1"]


def test_an_affinity_of_very_many_terms_is_left_as_it_is() -> None:
    """Twenty names in each of thousands of terms make a pod that no etcd takes."""
    terms = [labels(expression("zone", "In", str(number))) for number in range(201)]
    known = snapshot(node("n0"), node("n1"), failed("n1"))
    kept = admit(pod().cpu("3").owner().required(*terms), known)
    assert (kept.cpu["app"], kept.required) == (("4", "4"), terms)
    assert "its required node affinity has 201 terms, too many to write into" in kept.warnings[0]
    assert "evencore.io/steering" not in kept.labels
    written = admit(pod().cpu("3").owner().required(*terms[:200]), known)
    assert written.required is not None
    assert all("matchFields" in term for term in written.required)


def test_required_rules_name_only_static_facts_in_a_way_that_fresh_nodes_pass() -> None:
    nodes = [*widths(4, 2), node("small").largest(2), node("x")]
    answer = admit(owned().cpu("6"), snapshot(*nodes, failed("x")))
    operators = {
        r["operator"] for term in answer.required or [] for part in term.values() for r in part
    }
    assert operators == {"NotIn"}
    assert left(answer, node("fresh")) == ["fresh"]


def test_a_pod_that_is_bound_to_a_node_is_aligned_to_the_width_of_that_node() -> None:
    cluster = snapshot(node("n1").width(4), node("n2").width(2), node("n3").width(2))
    answer = admit(pod().cpu("5").spec(nodeName="n1"), cluster)
    assert answer.cpu == {"app": ("8", "8")}
