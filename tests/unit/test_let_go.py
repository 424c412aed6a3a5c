"""A held pod is let go: one patch opens the gate and keeps it off what is excluded."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import apiserver
import pytest
from admission import admit
from builders import NOW, container, expression, failed, labels, node, pod, snapshot
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Json, affinities, clusters

from evencore.domain.collect import collect
from evencore.domain.decision import Decision, let_go
from evencore.domain.lenient import read
from evencore.domain.patching import operations
from evencore.domain.placement import Case
from evencore.domain.policy import Policy
from evencore.domain.selectors import excluded_nodes
from evencore.domain.verdict import excluded_in
from evencore.domain.views import PodSpec, PodView

if TYPE_CHECKING:
    from builders import Pod

    from evencore.domain.snapshot import Snapshot

HOLD = {"name": "evencore.io/hold"}
HERE = [node("n1").named(), node("n2"), node("n3").named()]
WHY = "10s after the last rejection"


def held(*others: str) -> Pod:
    """Return a pod that is held, by others as well."""
    gates = [*({"name": name} for name in others), HOLD]
    return pod().owner().spec(schedulingGates=gates).label("evencore.io/steering", "held")


def decided(obj: Json, known: Snapshot, *, forced: bool = False) -> Decision:
    view = read(PodView, obj)[0]
    case = Case(view, view.spec or PodSpec(), "apps", Policy(), known, NOW)
    return let_go(case, WHY, forced=forced)


def freed(obj: Json, known: Snapshot, *, forced: bool = False) -> Json:
    """Let a pod go and apply the patch, strictly; the API server's rules hold."""
    patch = operations(read(PodView, obj)[0], decided(obj, known, forced=forced))
    after = apiserver.apply(obj, patch)
    check_update_of_a_gated_pod(obj, after)
    return after


def check_update_of_a_gated_pod(before: Json, after: Json) -> None:
    """Hold it against ValidatePodUpdate: terms only gain requirements, gates only go."""
    same_before, same_after = _fixed(before), _fixed(after)
    assert same_after == same_before
    gates = after["spec"].get("schedulingGates") or []
    assert gates == [gate for gate in before["spec"]["schedulingGates"] if gate != HOLD]
    terms = _terms(before)
    if terms is None:
        return
    written = _terms(after) or []
    assert len(written) == len(terms)
    for old, new in zip(terms, written, strict=True):
        for part in ("matchExpressions", "matchFields"):
            kept = old.get(part) or []
            assert (new.get(part) or [])[: len(kept)] == kept


def _terms(obj: Json) -> list[Json] | None:
    affinity = (obj["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(apiserver.REQUIRED)
    return required["nodeSelectorTerms"] if required else None


def _fixed(obj: Json) -> Json:
    """Return what may not change at all."""
    found = copy.deepcopy(obj)
    found["spec"].pop("schedulingGates", None)
    affinity = found["spec"].pop("affinity", None) or {}
    found["others"] = {k: v for k, v in affinity.items() if k != "nodeAffinity" and v}
    for part in ("labels", "annotations"):
        written = found["metadata"].pop(part, None) or {}
        found[part] = {k: v for k, v in written.items() if not k.startswith("evencore.io/")}
    return found


def left(after: Json) -> list[str]:
    return apiserver.eligible(after, [n.obj for n in HERE])


def test_a_pod_is_let_go_off_the_nodes_that_are_excluded_in_one_patch() -> None:
    after = freed(held().obj, snapshot(*HERE, failed("n1"), failed("n2")))
    assert left(after) == ["n3"]
    assert after["spec"]["schedulingGates"] == []
    assert after["metadata"]["labels"] == {"evencore.io/steering": "released"}
    assert after["metadata"]["annotations"]["evencore.io/decision"] == (
        "let go 10:40Z: 10s after the last rejection; "
        "not on n2 until 10:41Z: TopologyAffinityError, 1 rejection; "
        "not on n1 until 10:41Z: TopologyAffinityError, 1 rejection"
    )


def test_the_nodes_that_a_pod_was_let_go_off_are_read_back_from_what_was_written_on_it() -> None:
    after = freed(held().obj, snapshot(*HERE, failed("n1"), failed("n2")))
    written = after["metadata"]["annotations"]["evencore.io/decision"]
    affinity = read(PodView, after)[0].spec.affinity  # type: ignore[union-attr]  it has one
    assert excluded_in(written) == excluded_nodes(affinity) == {"n1", "n2"}


def test_what_was_decided_before_stays_to_be_read() -> None:
    before = held().annotate("evencore.io/decision", "held, until 10:50Z at most: why")
    text = freed(before.obj, snapshot(*HERE))["metadata"]["annotations"]["evencore.io/decision"]
    assert text == f"held, until 10:50Z at most: why; let go 10:40Z: {WHY}"


def test_the_gates_of_others_stay() -> None:
    after = freed(held("kueue.x-k8s.io/admission").obj, snapshot(*HERE))
    assert after["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]


def test_of_many_gates_ours_is_taken_off_or_none() -> None:
    """Another controller may take its own off between our reading and our writing."""
    obj = held("a").obj
    patch = operations(read(PodView, obj)[0], decided(obj, snapshot(*HERE)))
    at = [op["path"] for op in patch if op["op"] == "remove"]
    assert at == ["/spec/schedulingGates/1"]
    obj["spec"]["schedulingGates"] = [HOLD, {"name": "b"}]
    with pytest.raises(apiserver.jsonpatch.JsonPatchTestFailed):
        apiserver.apply(obj, patch)


def test_a_pod_that_is_not_held_is_left_alone() -> None:
    obj = pod().owner().obj
    decision = decided(obj, snapshot(*HERE, failed("n1")))
    assert decision.left_alone == "it is not held"
    assert operations(read(PodView, obj)[0], decision) == []


def rejecting(**seconds: int) -> list[Pod]:
    """Return a rejection on each of these nodes, so many seconds ago."""
    return [
        failed(name).rejected(name, ago=timedelta(seconds=number))
        for name, number in seconds.items()
    ]


DOORS = {
    "where one is left anyway": ({"n1": 10, "n2": 20}, False, ["n3"]),
    "the one whose exclusion ends first": ({"n1": 10, "n2": 20, "n3": 30}, False, ["n3"]),
    "none if it was held too long": ({"n1": 10, "n2": 20, "n3": 30}, True, []),
    "all if nothing is excluded any more": ({"n1": 130, "n2": 130}, True, ["n1", "n2", "n3"]),
}


@pytest.mark.parametrize(("seconds", "forced", "want"), DOORS.values(), ids=DOORS)
def test_one_door_is_open(seconds: dict[str, int], want: list[str], *, forced: bool) -> None:
    known = snapshot(*HERE, *rejecting(**seconds))
    assert left(freed(held().obj, known, forced=forced)) == want


def test_a_door_must_lead_somewhere() -> None:
    """What its author allows counts, and what could ever admit it."""
    small = [node("n1").named().largest(2), node("n2").named().largest(8), node("n3").named()]
    known = snapshot(*small, *rejecting(n2=30, n3=10))
    both = held().spec(nodeSelector={}).cpu("4")
    after = freed(both.obj, known)
    assert apiserver.eligible(after, [n.obj for n in small]) == ["n2"]


def test_cpus_of_a_pod_that_exists_are_taken_as_they_are() -> None:
    """A width that became the commonest meanwhile must not make it look larger."""
    wide, narrow = node("n1").named().width(4), node("n3").named().width(2)
    known = snapshot(wide, node("n2").named().width(4), narrow)
    after = freed(held().cpu("6").obj, known)
    assert apiserver.eligible(after, [wide.obj, narrow.obj]) == ["n3"]
    assert after["spec"]["containers"] == held().cpu("6").obj["spec"]["containers"]


def test_whose_author_wants_reports_only_goes_anywhere() -> None:
    obj = held().annotate("evencore.io/on-rejection", "report").obj
    assert left(freed(obj, snapshot(*HERE, failed("n1")))) == ["n1", "n2", "n3"]


def test_exclusions_go_into_every_term_and_an_empty_one_stays_empty() -> None:
    terms = [labels(expression("a", "Exists")), {}, labels(expression("b", "Exists"))]
    after = freed(held().required(*terms).obj, snapshot(*HERE, failed("n1")))
    excluded = expression("evencore.io/node", "NotIn", "n1")
    assert _terms(after) == [
        labels(expression("a", "Exists"), excluded),
        {},
        labels(expression("b", "Exists"), excluded),
    ]


@st.composite
def _held(draw: st.DrawFn) -> Json:
    built = pod().owner("rs-1").containers(container(cpu=draw(st.sampled_from(["2", "6", "27"]))))
    gates = draw(st.permutations([HOLD, {"name": "a"}, {"name": "b"}]))
    built.spec(affinity=draw(affinities), schedulingGates=gates[draw(st.integers(0, 2)) :])
    built.metadata(labels=draw(st.sampled_from([None, {}, {"app": "x"}])))
    return built.obj


@settings(max_examples=300)
@given(_held(), clusters(), st.booleans())
def test_whatever_a_held_pod_looks_like_the_api_server_takes_the_patch(
    obj: Json,
    cluster: list[Json],
    forced: bool,  # noqa: FBT001  hypothesis
) -> None:
    known = collect(cluster).snapshot
    if HOLD not in obj["spec"]["schedulingGates"]:
        assert decided(obj, known, forced=forced).left_alone
        return
    after = freed(obj, known, forced=forced)
    assert apiserver.faults(after) == []
    nodes = [one for one in cluster if one["kind"] == "Node"]
    allowed = apiserver.eligible(after, nodes)
    assert set(allowed) <= set(apiserver.eligible(obj, nodes))
    # Once is enough: what it carries then is all that is to be said.
    again = copy.deepcopy(after)
    again["spec"]["schedulingGates"] = [HOLD]
    assert apiserver.eligible(freed(again, known, forced=forced), nodes) == allowed


def test_a_pod_is_held_by_the_webhook_and_let_go_by_the_controller() -> None:
    known = snapshot(*HERE, *(failed("n1", number=n) for n in range(3)))
    answer = admit(pod().owner(), known)
    assert answer.after["spec"]["schedulingGates"] == [HOLD]
    assert answer.labels == {"evencore.io/steering": "held"}
    assert answer.required is None  # what is excluded then is not known yet
    why = "3 rejections within 10m, the last on n1: TopologyAffinityError"
    assert answer.annotations["evencore.io/decision"] == f"held, until 10:55Z at most: {why}"
    assert left(freed(answer.after, known)) == ["n2", "n3"]


HELD_ALREADY: dict[str, Any] = {
    "the gates of others": [{"name": "kueue.x-k8s.io/admission"}],
    "an empty list": [],
    "null": None,
}


@pytest.mark.parametrize("gates", HELD_ALREADY.values(), ids=HELD_ALREADY)
def test_our_gate_is_put_beside_what_is_there_once(gates: list[Json] | None) -> None:
    known = snapshot(*HERE, *(failed("n1", number=n) for n in range(3)))
    answer = admit(pod().owner().spec(schedulingGates=gates), known)
    assert answer.after["spec"]["schedulingGates"] == [*(gates or []), HOLD]
    assert admit(answer.after, known).patch == []  # other webhooks made a second round


def test_no_pod_is_held_that_is_bound_to_a_node() -> None:
    """Case 31: the API server refuses a gate beside spec.nodeName."""
    known = snapshot(*HERE, *(failed("n1", number=n) for n in range(20)))
    answer = admit(pod().cpu("3").owner().spec(nodeName="n1"), known)
    assert "schedulingGates" not in answer.after["spec"]
    assert answer.cpu == {"app": ("4", "4")}
    assert "spec.nodeName is set: the exclusion of nodes has no effect" in answer.warnings
