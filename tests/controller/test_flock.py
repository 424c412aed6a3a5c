"""How far the steered pods of an owner have come, and which of them wait in vain."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from controller_parts import NOW, admitted, ago, held, kept_off, live_pod, pod

from controller.flock import flock, waits_in_vain
from evencore.domain import names
from evencore.domain.verdict import Exclusion

if TYPE_CHECKING:
    from collections.abc import Sequence

Object = dict[str, Any]


def released(name: str = "web-6d-a") -> Object:
    return pod(name, steering=names.RELEASED, decision="let go 10:40Z: why")


@pytest.mark.parametrize(
    ("pods", "want"),
    [
        pytest.param([held("b", made=ago(1)), held("a", made=ago(2))], ("ab", 0, 0), id="held"),
        pytest.param([held("a", deletionTimestamp="2026-03-01T10:40:00Z")], ("", 0, 0), id="ends"),
        pytest.param(
            [pod("a", steering=names.HELD, gates=[names.HOLD, "kueue.x-k8s.io/admission"])],
            ("", 0, 0),
            id="held by others as well",
        ),
        pytest.param([released()], ("", 1, 0), id="let go, no kubelet has answered"),
        pytest.param([admitted(released(), "n1", ago(5))], ("", 0, 1), id="let go and admitted"),
        pytest.param([held("gone")], ("", 1, 0), id="let go, but that was not seen yet"),
        pytest.param([pod(steering=names.EXCLUDED)], ("", 0, 0), id="never held"),
    ],
)
def test_pods_are_sorted_by_how_far_they_have_come(
    pods: Sequence[Object], want: tuple[str, int, int]
) -> None:
    found = flock([live_pod(obj) for obj in pods], lambda uid: uid == "uid-gone", NOW)
    order = "".join(one.uid.removeprefix("uid-") for one in found.held)
    assert (order, found.in_flight, len(found.admitted)) == want


def test_what_is_out_of_sight_is_still_on_its_way() -> None:
    assert flock([], lambda _: False, NOW, lost=2).in_flight == 2


LONG = "a" * 70
DECISION = "let go 10:00Z: why; not on n1 until 10:30Z: TopologyAffinityError, 2 rejections"


@pytest.mark.parametrize(
    ("obj", "excluded", "want"),
    [
        pytest.param(kept_off(pod(decision=DECISION), "n1"), [], True, id="none is excluded now"),
        pytest.param(kept_off(pod(decision=DECISION), "n1"), ["n1"], False, id="n1 still is"),
        pytest.param(kept_off(pod(decision=DECISION), "n1"), ["n2"], True, id="another is"),
        pytest.param(
            kept_off(pod(decision=f"{DECISION}; not on n2 until 10:40Z: x"), "n1", "n2"),
            ["n2"],
            False,
            id="one of the two still is",
        ),
        pytest.param(
            kept_off(pod(decision="let go 10:00Z: why"), "n1"),
            [],
            False,
            id="its author named the node, not we: the next pod would be the same",
        ),
        pytest.param(
            kept_off(pod(node="n3", decision=DECISION), "n1"), [], False, id="it has a node"
        ),
        pytest.param(kept_off(held(), "n1"), [], False, id="it is held"),
        pytest.param(
            kept_off(pod(gates=["example.io/quota"], decision=DECISION), "n1"),
            [],
            False,
            id="others hold it, and it is theirs to let go",
        ),
        pytest.param(
            kept_off(pod(decision=DECISION, deletionTimestamp="2026-03-01T10:40:00Z"), "n1"),
            [],
            False,
            id="it is on its way out",
        ),
        pytest.param(pod(decision=DECISION), [], False, id="it is kept off nothing"),
        pytest.param(
            kept_off(pod(decision=f"not on {LONG} until 10:30Z: x"), names.node_label_value(LONG)),
            [LONG],
            False,
            id="a name too long for a label stands there as its hash",
        ),
    ],
)
def test_a_pod_waits_in_vain(obj: Object, excluded: list[str], *, want: bool) -> None:
    obj["metadata"]["labels"][names.STEERING] = names.RELEASED
    live = [Exclusion(node, NOW + timedelta(minutes=1), "why", 1) for node in excluded]
    assert waits_in_vain(live_pod(obj), live) is want
