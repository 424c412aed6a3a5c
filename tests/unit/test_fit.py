"""Rung 2: which nodes can never admit a pod, and the requirements that keep it off them."""

from __future__ import annotations

from typing import Any

import pytest
from builders import Node, expression, fields, labels, node, pod, snapshot

from evencore.domain.fit import (
    LONGEST_NAME_LIST,
    Fit,
    Need,
    Rule,
    fitting,
    misfit,
    missing_rules,
    not_in,
    rules,
    still_missing,
)
from evencore.domain.selectors import required_terms

MAX_CONTAINER = "evencore.io/max-container-cpus"
MAX_POD = "evencore.io/max-pod-cpus"
WIDTH = "evencore.io/threads-per-core"


def need(container: int, pod: int | None = None, *aligned: int) -> Need:
    return Need(container, pod or container, aligned or (container,))


MISFITS = {
    "nothing known": (node("n1"), need(100), None),
    "just large enough": (node("n1").width(2).largest(4), need(4), None),
    "too small for the container": (
        node("n1").largest(4),
        need(6),
        "at most 4 CPUs for one container, 6 needed",
    ),
    "too small for the pod": (
        node("n1").largest(4, 6),
        need(4, 8),
        "at most 6 CPUs for one pod, 8 needed",
    ),
    "one CPU": (node("n1").largest(1), need(2), "at most 1 CPU for one container, 2 needed"),
    "wider cores": (
        node("n1").width(4),
        need(4, 10, 4, 6),
        "4 threads per core, 6 CPUs are not whole cores",
    ),
    "wider cores, which are not checked": (
        node("n1").width(4).topology(fullPcpusOnly=False),
        need(6),
        None,
    ),
    "wider cores, but nothing that must be whole cores": (
        node("n1").width(4),
        Need(6, 6, ()),
        None,
    ),
    "narrower cores": (node("n1").width(1), need(4), None),
}


@pytest.mark.parametrize(("built", "asked", "want"), MISFITS.values(), ids=MISFITS)
def test_a_misfit_has_its_reason(built: Node, asked: Need, want: str | None) -> None:
    assert misfit(snapshot(built).nodes.facts[0], asked) == want


@pytest.mark.parametrize(("built", "asked", "want"), MISFITS.values(), ids=MISFITS)
def test_fitting_is_having_no_misfit(built: Node, asked: Need, want: str | None) -> None:
    nodes = snapshot(built).nodes
    assert bool(fitting(nodes, asked, nodes.index.all)) is (want is None)


def requirements(asked: Need, *built: Node) -> dict[str, list[str]]:
    """Key -> values of the rules for these nodes, all of them eligible."""
    nodes = snapshot(*built).nodes
    eligible = nodes.index.all
    found: dict[str, list[str]] = {}
    for rule in rules(nodes, Fit(asked, eligible, fitting(nodes, asked, eligible))):
        assert rule.requirement.operator == "NotIn"
        found.setdefault(rule.requirement.key, []).extend(rule.requirement.values or ())
    return found


def test_where_all_fit_there_are_no_rules() -> None:
    assert requirements(need(4), node("n1").width(2).largest(22), node("n2")) == {}


def test_the_distinct_too_small_values_are_named_in_order() -> None:
    nodes = [node(f"n{n}").largest(n, 100) for n in (10, 4, 4, 2, 22)]
    assert requirements(need(11), *nodes) == {MAX_CONTAINER: ["2", "4", "10"]}


def test_what_one_rule_keeps_out_needs_no_other() -> None:
    assert requirements(need(6), node("n1").largest(4), node("n2").largest(22)) == {
        MAX_CONTAINER: ["4"]
    }


def test_containers_that_fit_one_by_one_may_not_fit_together() -> None:
    assert requirements(need(4, 8), node("n1").largest(4, 6), node("n2").largest(4, 8)) == {
        MAX_POD: ["6"]
    }


def test_nodes_whose_cores_are_wider_are_kept_out_by_their_width() -> None:
    nodes = [node(f"n{width}").width(width) for width in (1, 2, 4, 8)]
    assert requirements(need(6), *nodes) == {WIDTH: ["4", "8"]}


def test_a_node_whose_labels_do_not_tell_is_named() -> None:
    hidden = node("n1").topology(numa=[4])
    assert requirements(need(6), hidden, node("n2").largest(22)) == {
        MAX_CONTAINER: ["4"],
        "metadata.name": ["n1"],
    }


def test_a_label_of_a_node_that_does_not_check_is_no_rule_against_those_that_do() -> None:
    free = node("free").width(2).topology(fullPcpusOnly=False)
    assert requirements(need(3), free, node("strict").width(2)) == {"metadata.name": ["strict"]}


def test_a_label_that_is_older_than_what_the_admin_wrote_is_no_rule_against_others() -> None:
    grown = node("grown").largest(4).topology(numa=[100])
    assert requirements(need(6), grown, node("small").largest(4)) == {"metadata.name": ["small"]}


def test_no_more_than_twenty_nodes_are_named() -> None:
    hidden = [node(f"n{n:02}").topology(threadsPerCore=4) for n in range(25)]
    found = requirements(need(6), *hidden)
    assert found["metadata.name"] == [f"n{n:02}" for n in range(LONGEST_NAME_LIST)]


def test_only_eligible_nodes_count() -> None:
    nodes = snapshot(node("n1").largest(4), node("n2").largest(22)).nodes
    asked, eligible = need(6), nodes.index.named("n2")
    assert rules(nodes, Fit(asked, eligible, fitting(nodes, asked, eligible))) == []


def test_a_rule_says_what_it_is_for() -> None:
    nodes = snapshot(node("n1").largest(2, 9), node("n2").width(4), node("n3").width(8)).nodes
    asked = Need(6, 6, (2, 6))
    found = rules(nodes, Fit(asked, nodes.index.all, fitting(nodes, asked, nodes.index.all)))
    assert [rule.sentences for rule in found] == [
        ("not on nodes of 2 CPUs per container: 6 needed",),
        ("not on nodes of 4 or 8 threads per core: 2 and 6 CPUs are not whole cores there",),
    ]


A_NOT_IN = expression("zone", "NotIn", "a", "b")


@pytest.mark.parametrize(
    ("term", "key", "values", "want"),
    [
        pytest.param(labels(), "zone", ["a"], ["a"], id="an empty term lacks all"),
        pytest.param(labels(A_NOT_IN), "zone", ["a", "c"], ["c"], id="what is there is not added"),
        pytest.param(labels(A_NOT_IN), "zone", ["b", "a"], None, id="all is there"),
        pytest.param(labels(A_NOT_IN), "disk", ["a"], ["a"], id="another key does not count"),
        pytest.param(
            labels(expression("zone", "In", "a")), "zone", ["a"], ["a"], id="nor another operator"
        ),
        pytest.param(
            labels(expression("zone", "NotIn", "a"), expression("zone", "NotIn", "b")),
            "zone",
            ["a", "b"],
            None,
            id="several requirements count together",
        ),
        pytest.param(
            labels(expression("metadata.name", "NotIn", "n1")),
            "metadata.name",
            ["n1"],
            ["n1"],
            id="a label called metadata.name is no field",
        ),
        pytest.param(
            fields(expression("metadata.name", "NotIn", "n1")),
            "metadata.name",
            ["n1"],
            None,
            id="a field is",
        ),
    ],
)
def test_only_what_a_term_lacks_is_missing(
    term: dict[str, Any], key: str, values: list[str], want: list[str] | None
) -> None:
    spec = pod().required(term).view.spec
    assert spec is not None
    (read,) = required_terms(spec) or []
    missing = still_missing(read, not_in(key, values))
    assert (missing.values if missing else None) == want


RULE = Rule(not_in("zone", ["a"]), ("why",))


@pytest.mark.parametrize(
    ("terms", "want"),
    [
        pytest.param(None, (RULE,), id="no terms: one is made"),
        pytest.param([], (), id="an empty list of terms matches nothing already"),
        pytest.param([{}], (), id="so does an empty term"),
        pytest.param([labels(A_NOT_IN)], (), id="one that has it"),
        pytest.param(
            [labels(A_NOT_IN), labels(expression("disk", "Exists"))], (RULE,), id="one lacks it"
        ),
    ],
)
def test_a_rule_is_missing_if_a_term_that_matches_anything_lacks_it(
    terms: list[dict[str, Any]] | None, want: tuple[Rule, ...]
) -> None:
    built = pod() if terms is None else pod().required(*terms)
    spec = built.view.spec
    assert spec is not None
    assert missing_rules(required_terms(spec), [RULE]) == want
