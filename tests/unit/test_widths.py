"""What alike pods ask for is worked out once, and nobody fills our memory with it."""

from __future__ import annotations

import pytest
from builders import NOW, Pod, container, node, pod, snapshot

from evencore.domain.decision import decide
from evencore.domain.policy import Policy
from evencore.domain.widths import LONGEST_NAME, MOST_CONTAINERS, MOST_KEPT

KEPT = {
    "an ordinary pod": (pod().containers(container("app", cpu="3")), 1),
    "as many containers as there may be": (
        pod().containers(*(container(f"c{n}", cpu="3") for n in range(MOST_CONTAINERS))),
        1,
    ),
    "one more": (
        pod().containers(*(container(f"c{n}", cpu="3") for n in range(MOST_CONTAINERS + 1))),
        0,
    ),
    "a name that no container may have": (
        pod().containers(container("x" * (LONGEST_NAME + 1), cpu="3")),
        0,
    ),
}


@pytest.mark.parametrize(("asking", "want"), KEPT.values(), ids=KEPT)
def test_what_is_kept_is_about_ordinary_pods(asking: Pod, want: int) -> None:
    cluster = snapshot(node("n1"))
    for _ in range(2):
        decide(asking.view, "shop", Policy(), cluster, NOW)
    assert len(cluster.nodes.aligned) == want


def test_there_are_never_more_answers_than_are_of_use() -> None:
    cluster = snapshot(node("n1"))
    for number in range(MOST_KEPT + 1):
        asking = pod().containers(container("app", cpu=f"{number + 1}"))
        decide(asking.view, "shop", Policy(), cluster, NOW)
    assert 0 < len(cluster.nodes.aligned) <= MOST_KEPT
