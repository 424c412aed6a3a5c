"""Node selection as the scheduler and the kubelet do it, one node at a time and all at once."""

from __future__ import annotations

import time
from typing import Any

import pytest
from builders import Pod, expression, fields, labels, pod

from evencore.domain.selectors import NodeIndex, matches

NODES = {
    "n1": {"zone": "a", "disk": "ssd", "rank": "5"},
    "n2": {"zone": "b", "rank": "-3"},
    "n3": {"rank": "five"},
    "n4": {},
    "n5": {"zone": "", "rank": "9223372036854775808"},
}
ALL = set(NODES)


def _expressions(*requirements: dict[str, Any]) -> Pod:
    return pod().required(labels(*requirements))


def _fields(*requirements: dict[str, Any]) -> Pod:
    return pod().required(fields(*requirements))


IN_A = expression("zone", "In", "a")
NAMED = expression("metadata.name", "In", "n2")

CASES: dict[str, tuple[Pod, set[str]]] = {
    "nothing asked": (pod(), ALL),
    "nulls": (pod().spec(nodeSelector=None, affinity=None), ALL),
    "node affinity without required terms": (pod().preferred(labels(IN_A)), ALL),
    "a node selector": (pod().spec(nodeSelector={"zone": "a"}), {"n1"}),
    "a node selector for an empty value": (pod().spec(nodeSelector={"zone": ""}), {"n5"}),
    "a node selector of two labels": (pod().spec(nodeSelector={"zone": "a", "disk": "hdd"}), set()),
    "In": (_expressions(expression("zone", "In", "a", "c")), {"n1"}),
    "NotIn, which nodes without the label pass": (
        _expressions(expression("zone", "NotIn", "a")),
        ALL - {"n1"},
    ),
    "Exists": (_expressions(expression("zone", "Exists")), {"n1", "n2", "n5"}),
    "DoesNotExist": (_expressions(expression("zone", "DoesNotExist")), {"n3", "n4"}),
    "DoesNotExist of a label that no node has": (
        _expressions(expression("gone", "DoesNotExist")),
        ALL,
    ),
    "Gt": (_expressions(expression("rank", "Gt", "-3")), {"n1"}),
    "Lt": (_expressions(expression("rank", "Lt", "5")), {"n2"}),
    "Gt of two values": (_expressions(expression("rank", "Gt", "1", "2")), set()),
    "Gt of no number": (_expressions(expression("rank", "Gt", "x")), set()),
    "Gt of a float": (_expressions(expression("rank", "Gt", "1.5")), set()),
    "Gt of Arabic digits": (_expressions(expression("rank", "Gt", "\u0663")), set()),
    "an operator that does not exist": (_expressions(expression("zone", "in", "a")), set()),
    "In of no values": (_expressions(expression("zone", "In")), set()),
    "two requirements are ANDed": (
        _expressions(expression("zone", "Exists"), expression("disk", "DoesNotExist")),
        {"n2", "n5"},
    ),
    "two terms are ORed": (pod().required(labels(IN_A), fields(NAMED)), {"n1", "n2"}),
    "labels and fields in one term are ANDed": (
        pod().required(labels(IN_A) | fields(NAMED)),
        set(),
    ),
    "nodeSelector and affinity are ANDed": (
        _expressions(expression("zone", "Exists")).spec(nodeSelector={"disk": "ssd"}),
        {"n1"},
    ),
    "an empty term matches nothing": (pod().required({}), set()),
    "a term of empty lists matches nothing": (
        pod().required({"matchExpressions": [], "matchFields": None}),
        set(),
    ),
    "an empty term beside another": (pod().required({}, labels(IN_A)), {"n1"}),
    "no terms at all match nothing": (pod().required(), set()),
    "fields In": (_fields(NAMED), {"n2"}),
    "fields NotIn": (_fields(expression("metadata.name", "NotIn", "n2")), ALL - {"n2"}),
    "fields NotIn of an unknown node": (
        _fields(expression("metadata.name", "NotIn", "gone")),
        ALL,
    ),
    "fields of two values match nothing": (
        _fields(expression("metadata.name", "In", "n1", "n2")),
        set(),
    ),
    "fields with another operator match nothing": (
        _fields(expression("metadata.name", "Exists")),
        set(),
    ),
    "another field matches nothing": (_fields(expression("spec.x", "NotIn", "n1")), set()),
    "two fields exclude two nodes": (
        _fields(
            expression("metadata.name", "NotIn", "n1"), expression("metadata.name", "NotIn", "n2")
        ),
        ALL - {"n1", "n2"},
    ),
}


@pytest.mark.parametrize(("built", "want"), CASES.values(), ids=CASES)
def test_one_node_at_a_time(built: Pod, want: set[str]) -> None:
    spec = built.view.spec
    assert spec is not None
    assert {name for name, found in NODES.items() if matches(spec, name, found)} == want


@pytest.mark.parametrize(("built", "want"), CASES.values(), ids=CASES)
def test_all_nodes_at_once(built: Pod, want: set[str]) -> None:
    spec = built.view.spec
    assert spec is not None
    index = NodeIndex(list(NODES.items()))
    allowed = index.allowed(spec)
    assert {name for name in NODES if index.named(name) & allowed} == want


def test_requirements_can_be_taken_as_met() -> None:
    spec = pod().required(labels(IN_A, expression("disk", "In", "none"))).view.spec
    assert spec is not None
    index = NodeIndex(list(NODES.items()))
    assert index.allowed(spec, ignored=lambda r: r.key == "disk") == index.named("n1")


@pytest.mark.parametrize("operator", ["In", "NotIn"])
def test_a_pod_that_lists_thousands_of_hosts_costs_no_more_than_a_look_at_each(
    operator: str,
) -> None:
    names = [f"n{number}" for number in range(10_000)]
    index = NodeIndex([(name, {"kubernetes.io/hostname": name}) for name in names])
    hosts = expression("kubernetes.io/hostname", operator, *names[:5000])
    spec = _expressions(hosts).view.spec
    assert spec is not None
    index.allowed(spec)  # indexes the label
    begin = time.process_time()
    assert index.allowed(spec).bit_count() == 5000
    # A comparison of each host with each node takes half a second.
    assert time.process_time() - begin < 0.1


@pytest.mark.parametrize(
    ("operator", "values", "want"),
    [("Exists", (), 5000), ("DoesNotExist", (), 0), ("Gt", ("99",), 4900), ("Lt", ("99",), 99)],
)
def test_a_pod_of_thousands_of_requirements_costs_no_more_than_a_look_at_each(
    operator: str, values: tuple[str, ...], want: int
) -> None:
    index = NodeIndex([(f"n{number}", {"rack": str(number)}) for number in range(5000)])
    spec = _expressions(*[expression("rack", operator, *values)] * 5000).view.spec
    assert spec is not None
    begin = time.process_time()
    assert index.allowed(spec).bit_count() == want
    # A look at each node for each requirement takes several seconds.
    assert time.process_time() - begin < 1


def test_an_index_of_no_nodes_allows_none() -> None:
    spec = pod().view.spec
    assert spec is not None
    assert NodeIndex([]).allowed(spec) == 0


def test_a_node_that_is_not_there_has_no_bit() -> None:
    assert NodeIndex(list(NODES.items())).named("gone") == 0


def test_the_nodes_having_a_label_are_found() -> None:
    index = NodeIndex(list(NODES.items()))
    assert index.having("zone", "a") == index.named("n1")
    assert index.having("zone", "z") == 0
