"""What holds for every pod, cluster and policy, tried on many."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apiserver
from admission import Answer, admit
from builders import NOW, node
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NODES, Json, clusters, pods, policies

from evencore.domain.collect import collect
from evencore.domain.decision import decide
from evencore.domain.fit import Need, fitting, misfit
from evencore.domain.lenient import read
from evencore.domain.selectors import matches
from evencore.domain.views import PodSpec, PodView

if TYPE_CHECKING:
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot

OURS = {"evencore.io/decision", "evencore.io/original-cpu"}
HOLD = {"name": "evencore.io/hold"}
# Nodes that joined after the snapshot: without labels, or with labels of their own.
LATER = [
    node("later").obj,
    node("later-a").label("zone", "a").width(2).largest(4).obj,
    node("later-b").label("zone", "b").label("disk", "a").width(4).largest(22).obj,
]


@dataclass(frozen=True)
class Seen:
    """One pod, the cluster in which it was created, and what came back."""

    answer: Answer
    again: Answer  # of a second call with the result of the first
    nodes: list[Json]
    known: Snapshot

    @property
    def before(self) -> Json:
        return self.answer.before

    @property
    def after(self) -> Json:
        return self.answer.after


def _nodes(cluster: list[Json]) -> list[Json]:
    return [o for o in cluster if o["kind"] == "Node"]


def _spec(pod: Json) -> PodSpec:
    return read(PodView, pod)[0].spec or PodSpec()


def nothing_fails_inside(seen: Seen) -> None:
    assert seen.answer.outcome.result in ("patched", "unchanged", "denied"), seen.answer.outcome


def a_pod_is_guaranteed_afterwards_exactly_if_it_was(seen: Seen) -> None:
    assert apiserver.qos(seen.after) == apiserver.qos(seen.before)


def the_patched_pod_passes_validation(seen: Seen) -> None:
    if seen.answer.patch:
        assert apiserver.faults(seen.after) == []


def a_changed_request_is_the_next_multiple_of_the_width(seen: Seen) -> None:
    decision = seen.answer.outcome.decision
    for change in decision.changes if decision else ():
        assert decision is not None
        assert decision.alignment is not None
        width = decision.alignment.width * 1000
        assert change.after % width == 0
        assert 0 < change.after - change.before < width


def a_second_call_changes_nothing(seen: Seen) -> None:
    assert seen.again.patch == []
    assert seen.again.allowed is seen.answer.allowed


def nothing_but_ours_is_touched(seen: Seen) -> None:
    assert _without_ours(seen.after) == _without_ours(seen.before)


def _without_ours(pod: Json) -> Json:
    """Return a pod less what evencore may write; empty and null are the same as missing."""
    pod = copy.deepcopy(pod)
    for part, keys in (("annotations", OURS), ("labels", {"evencore.io/steering"})):
        found = pod["metadata"].get(part) or {}
        pod["metadata"][part] = {k: v for k, v in found.items() if k not in keys}
    for container in apiserver.containers(pod):
        resources = container.get("resources") or {}
        for part in ("requests", "limits"):
            rest = {k: v for k, v in (resources.get(part) or {}).items() if k != "cpu"}
            container.setdefault("resources", {})[part] = rest
    gates = pod["spec"].pop("schedulingGates", None) or []
    assert gates.count(HOLD) <= 1
    pod["spec"]["schedulingGates"] = [gate for gate in gates if gate != HOLD]
    affinity = pod["spec"].get("affinity") or {}
    pod["spec"]["affinity"] = {k: v for k, v in affinity.items() if k != "nodeAffinity"}
    return pod


def what_a_pod_asked_of_nodes_stays(seen: Seen) -> None:
    after = _terms(seen.after)
    for kind, before in _terms(seen.before).items():
        for position, term in enumerate(before):
            for part in ("matchExpressions", "matchFields"):
                written = term.get(part) or []
                assert (after[kind][position].get(part) or [])[: len(written)] == written


def _terms(pod: Json) -> dict[str, list[Any]]:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(apiserver.REQUIRED) or {}
    return {
        "required": required.get("nodeSelectorTerms") or [],
        "preferred": [w["preference"] for w in affinity.get(apiserver.PREFERRED) or []],
    }


def an_empty_term_stays_empty(seen: Seen) -> None:
    after = _terms(seen.after)
    for kind, before in _terms(seen.before).items():
        for position, term in enumerate(before):
            assert any(term.values()) or not any(after[kind][position].values())


def the_allowed_nodes_are_never_widened(seen: Seen) -> None:
    nodes = seen.nodes + LATER
    assert set(apiserver.eligible(seen.after, nodes)) <= set(apiserver.eligible(seen.before, nodes))


def a_node_without_labels_is_not_lost(seen: Seen) -> None:
    fresh = node("fresh").obj
    assert apiserver.allows(seen.after, fresh) is apiserver.allows(seen.before, fresh)


def required_rules_leave_only_nodes_that_fit(seen: Seen) -> None:
    decision = seen.answer.outcome.decision
    if decision is None or not decision.required or decision.need is None or decision.steering:
        return
    for facts in seen.known.nodes.facts:
        if matches(_spec(seen.after), facts.name, facts.labels):
            assert misfit(facts, decision.need) is None


def only_nodes_that_misfit_or_refused_are_lost(seen: Seen) -> None:
    decision = seen.answer.outcome.decision
    if decision is None or decision.need is None:
        return
    evidence = seen.known.evidence
    refused = {r.node for owner in evidence.owners() for r in evidence.all_of(owner)}
    for facts in seen.known.nodes.facts:
        if facts.name not in refused and misfit(facts, decision.need) is None:
            before = matches(_spec(seen.before), facts.name, facts.labels)
            assert matches(_spec(seen.after), facts.name, facts.labels) is before


PROPERTIES = (
    nothing_fails_inside,
    a_pod_is_guaranteed_afterwards_exactly_if_it_was,
    the_patched_pod_passes_validation,
    a_changed_request_is_the_next_multiple_of_the_width,
    a_second_call_changes_nothing,
    nothing_but_ours_is_touched,
    what_a_pod_asked_of_nodes_stays,
    an_empty_term_stays_empty,
    the_allowed_nodes_are_never_widened,
    a_node_without_labels_is_not_lost,
    required_rules_leave_only_nodes_that_fit,
    only_nodes_that_misfit_or_refused_are_lost,
)


@settings(max_examples=600)
@given(pod=pods(), cluster=clusters(), policy=policies)
def test_every_property_holds(pod: Json, cluster: list[Json], policy: Policy) -> None:
    """Making an example costs more than all checks of it, so they share it.

    The last frame of a failure is the property that does not hold.
    """
    known = collect(cluster).snapshot
    answer = admit(pod, known, policy)
    again = admit(answer.after, known, policy)
    for holds in PROPERTIES:
        holds(Seen(answer, again, _nodes(cluster), known))


@settings(max_examples=100)
@given(pod=pods(), cluster=clusters(), policy=policies)
def test_a_decision_is_a_function_of_its_values(
    pod: Json, cluster: list[Json], policy: Policy
) -> None:
    view = read(PodView, pod)[0]
    first = decide(view, "apps", policy, collect(cluster).snapshot, NOW)
    assert decide(view, "apps", policy, collect(cluster).snapshot, NOW) == first


@settings(max_examples=200)
@given(pod=pods(), cluster=clusters())
def test_the_index_allows_what_matches_one_by_one(pod: Json, cluster: list[Json]) -> None:
    known, spec = collect(cluster).snapshot.nodes, _spec(pod)
    allowed = {facts.name for facts in known.within(known.index.allowed(spec))}
    assert allowed == {f.name for f in known.facts if matches(spec, f.name, f.labels)}


@settings(max_examples=200)
@given(pod=pods(), cluster=clusters())
def test_what_matches_is_what_an_evaluator_of_the_tests_own_allows(
    pod: Json, cluster: list[Json]
) -> None:
    for found in _nodes(cluster) + LATER:
        meta = found["metadata"]
        have = matches(_spec(pod), meta["name"], meta.get("labels") or {})
        assert have is apiserver.allows(pod, found)


@settings(max_examples=200)
@given(
    cluster=clusters(),
    largest=st.integers(0, 50),
    more=st.integers(0, 50),
    aligned=st.sets(st.integers(1, 50), max_size=3),
    some=st.sets(st.sampled_from(NODES)),
)
def test_fitting_nodes_are_those_without_a_misfit(
    cluster: list[Json], largest: int, more: int, aligned: set[int], some: set[str]
) -> None:
    known = collect(cluster).snapshot.nodes
    need = Need(largest, largest + more, tuple(sorted(aligned)))
    mask = sum(known.index.named(name) for name in some)
    found = {facts.name for facts in known.within(fitting(known, need, mask))}
    assert found == {f.name for f in known.facts if f.name in some and misfit(f, need) is None}


def _alike(pod: Json, other: Json) -> Json:
    """Return a pod that asks for the same CPUs, where another may run and as its author wishes."""
    spec = {key: other["spec"].get(key) for key in ("affinity", "nodeSelector", "nodeName")}
    return {**other, "spec": {**pod["spec"], **spec}}


@settings(max_examples=150)
@given(cluster=clusters(), pod=pods(), others=st.lists(pods(), max_size=4), policy=policies)
def test_who_asked_before_changes_no_decision(
    cluster: list[Json], pod: Json, others: list[Json], policy: Policy
) -> None:
    known = collect(cluster).snapshot
    elsewhere = [_alike(pod, other) for other in others]
    otherwise = [_alike(other, pod) for other in others]
    for each in (pod, *elsewhere, *otherwise, pod):
        for namespace in ("apps", "shop"):  # a LimitRange is in one of them
            asking, fresh = read(PodView, each)[0], collect(cluster).snapshot
            want = decide(asking, namespace, policy, fresh, NOW)
            assert decide(asking, namespace, policy, known, NOW) == want
