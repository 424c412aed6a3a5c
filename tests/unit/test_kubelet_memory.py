"""The static memory manager. Two NUMA nodes of 16 GiB, of which 1 GiB is reserved on each."""

from __future__ import annotations

import pytest
from kubelet_builders import GI, machine, pod

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.hints import Hint
from evencore.domain.kubelet.managers import Admitted, Answer, Rejected
from evencore.domain.kubelet.memory_hints import choose_nodes, memory_hints
from evencore.domain.kubelet.memory_state import Block, MemoryState
from evencore.domain.kubelet.node import Node
from evencore.domain.kubelet.refusals import AllocateFailed, StartError

NO_ROOM = "no NUMA nodes with enough memory is available"
NOT_ALIGNED = "Resources cannot be allocated with Topology locality"


def _node(policy: str = "single-numa-node", *, pod_scope: bool = False, gate: bool = False) -> Node:
    config = Config(
        policy,
        pod_scope,
        reserved_cpus=0b1_0000_0001,
        reserved_memory=(GI, GI),
        pod_level_managers=gate,
    )
    return Node(machine(memory=16), config)


def _numa(answer: Answer) -> dict[str, list[int]] | str:
    if isinstance(answer, Rejected):
        return answer.message
    return {name: list(cpuset.ids(nodes)) for name, nodes in answer.memory_numa.items()}


def test_memory_is_given_back() -> None:
    node = _node()
    for _ in range(3):
        assert _numa(node.admit(pod("a", "1 15Gi"))) == {"c0": [0]}
        assert _numa(node.admit(pod("b", "1 15Gi"))) == {"c0": [1]}
        assert NO_ROOM in str(_numa(node.admit(pod("c", "500m 1Gi"))))
        node.remove("a")
        node.remove("b")


def test_a_refused_pod_gives_its_memory_back() -> None:
    node = _node()
    assert _numa(node.admit(pod("a", "1 15Gi", "9 1Gi"))) == NOT_ALIGNED
    assert _numa(node.admit(pod("b", "1 15Gi"))) == {"c0": [0]}


def test_memory_over_both_nodes_binds_them_together() -> None:
    node = _node("restricted")
    assert _numa(node.admit(pod("a", "500m 20Gi"))) == {"c0": [0, 1]}
    # 10 GiB are free on node 1, but no node stands alone any more, and two are more than needed.
    assert _numa(node.admit(pod("b", "500m 2Gi"))) == NOT_ALIGNED
    # No room anywhere is no preference, so that all nodes are the hint, and have too little.
    full = "failed to find NUMA nodes to extend the current topology hint"
    assert full in str(_numa(node.admit(pod("c", "500m 20Gi"))))
    node.remove("a")
    assert _numa(node.admit(pod("b", "500m 2Gi"))) == {"c0": [0]}
    # A node of single-node memory takes no part in memory over several.
    single = "preferred hint violates NUMA node allocation"
    assert single in str(_numa(node.admit(pod("d", "500m 20Gi"))))


def test_bound_nodes_serve_more_that_is_for_both() -> None:
    node = _node("best-effort")
    assert _numa(node.admit(pod("a", "1 16Gi"))) == {"c0": [0, 1]}
    assert _numa(node.admit(pod("b", "1 2Gi"))) == {"c0": [0, 1]}


def test_memory_of_an_init_container_serves_the_next_ones_and_is_free_when_they_run() -> None:
    node = _node()
    assert _numa(node.admit(pod("a", "init 1 14Gi", "1 10Gi", "1 4Gi"))) == {
        "c0": [0],
        "c1": [0],
        "c2": [0],
    }
    assert _numa(node.admit(pod("b", "1 2Gi"))) == {"c0": [1]}  # CPUs: 3 of node 0 are left
    node = _node()
    assert _numa(node.admit(pod("a", "init 1 14Gi", "1 2Gi"))) == {"c0": [0], "c1": [0]}
    assert _numa(node.admit(pod("b", "500m 13Gi"))) == {"c0": [0]}  # 12 of 14 GiB are back


def test_memory_of_a_sidecar_is_not_handed_on() -> None:
    node = _node()
    assert _numa(node.admit(pod("a", "sidecar 1 10Gi", "1 6Gi"))) == {"c0": [0], "c1": [1]}


def test_pod_scope_asks_for_all_at_once() -> None:
    node = _node(pod_scope=True)
    assert _numa(node.admit(pod("a", "1 10Gi", "1 6Gi"))) == NOT_ALIGNED
    assert _numa(node.admit(pod("b", "init 1 12Gi", "1 10Gi"))) == {"c0": [0], "c1": [0]}


@pytest.mark.parametrize("pod_scope", [False, True])
def test_a_restart_keeps_memory_and_its_nodes(pod_scope: bool) -> None:  # noqa: FBT001  a table
    node = _node(pod_scope=pod_scope)
    for one in (pod("a", "1 10Gi"), pod("b", "1 1Gi", "1 2Gi"), pod("c", "500m 12Gi")):
        assert isinstance(node.admit(one), Admitted)
    again = node.restart()
    assert {uid: _numa(answer) for uid, answer in again.items()} == {
        "a": {"c0": [0]},
        "b": {"c0": [0], "c1": [0]},
        "c": {"c0": [1]},
    }
    node.remove("b")
    assert _numa(node.admit(pod("d", "500m 5Gi"))) == {"c0": [0]}


def test_a_restart_wants_memory_for_init_containers_once_more() -> None:
    """CPUs of finished init containers are kept, their memory is not (AddContainer)."""
    node = _node()
    node.admit(pod("a", "init 1 10Gi", "1 2Gi"))
    node.admit(pod("b", "500m 13Gi"))
    node.admit(pod("c", "500m 6Gi"))
    answers = node.restart()
    assert "failed to find NUMA nodes to extend" in str(_numa(answers["a"]))
    assert isinstance(answers["b"], Admitted)


def test_memory_that_init_containers_get_at_a_restart_may_stop_the_next_one() -> None:
    """c2 takes nothing over from c0, as c1 has it all, but is counted as if it did."""
    node = _node()
    node.admit(pod("a", "init 1 2Gi", "sidecar 1 3Gi", "init 1 1Gi", "1 1Gi"))
    assert isinstance(node.restart()["a"], Admitted)
    with pytest.raises(StartError, match="expected machine state is different"):
        node.restart()


NO_INTEGER = (
    "Allocate failed due to [memorymanager] failed to represent quantity as int64, "
    "which is unexpected"
)


@pytest.mark.parametrize("pod_scope", [False, True])
def test_a_byte_is_not_divided(pod_scope: bool) -> None:  # noqa: FBT001  a table
    assert _numa(_node(pod_scope=pod_scope).admit(pod("a", "1 1500m"))) == NO_INTEGER


@pytest.mark.parametrize("pod_scope", [False, True])
def test_pods_of_other_classes_and_with_pod_level_resources_have_no_memory_of_their_own(
    pod_scope: bool,  # noqa: FBT001  a table
) -> None:
    node = _node(pod_scope=pod_scope)
    assert _numa(node.admit(pod("a", "free"))) == {}
    assert _numa(node.admit(pod("b", "free", level={"cpu": "2", "memory": "14Gi"}))) == {}
    assert _numa(node.admit(pod("c", "1 15Gi"))) == {"c0": [0]}


LEVEL = {"cpu": "4", "memory": "8Gi"}


def test_with_the_gate_a_pods_memory_is_bound_as_a_whole() -> None:
    node = _node(pod_scope=True, gate=True)
    containers = ("init free", "sidecar 1 2Gi", "1 2Gi", "free")
    answer = node.admit(pod("a", *containers, level=LEVEL))
    assert _numa(answer) == {"c0": [0], "c1": [0], "c2": [0], "c3": [0]}
    assert _numa(node.admit(pod("b", "1 8Gi"))) == {"c0": [1]}
    node.remove("a")
    assert _numa(node.admit(pod("c", "1 15Gi"))) == {"c0": [0]}


def test_with_the_gate_memory_must_be_left_to_share() -> None:
    message = (
        "pod rejected, sum of exclusive container memory requests equals pod budget, "
        "leaving no memory for shared containers"
    )
    greedy = pod("a", "1 8Gi", "free", level=LEVEL)
    best_effort = _node("best-effort", pod_scope=True, gate=True)
    assert _numa(best_effort.admit(greedy)) == message
    assert str(_numa(_node(pod_scope=True, gate=True).admit(greedy))).startswith("Pod Scope pod")


def test_with_the_gate_memory_that_a_restart_lost_stops_the_next_one() -> None:
    node = _node(pod_scope=True, gate=True)
    node.admit(pod("a", "500m 2Gi", "free", level={"cpu": "1500m", "memory": "4Gi"}))
    node.restart()
    with pytest.raises(StartError, match="expected machine state is different"):
        node.restart()


def test_with_the_gate_in_container_scope_containers_that_share_have_no_nodes() -> None:
    """Oddity: asked for nothing, the memory manager finds no nodes that have it."""
    node = _node(gate=True)
    answer = node.admit(pod("a", "1 1Gi", "free", level=LEVEL))
    assert NO_ROOM in str(_numa(answer))
    assert isinstance(answer, Rejected)
    assert cpuset.show(answer.partial["c0"]) == "1"


def test_with_the_gate_a_pods_memory_is_whole_bytes_or_not_managed() -> None:
    node = _node(pod_scope=True, gate=True)
    level = {"cpu": "2", "memory": "1500m"}
    assert _numa(node.admit(pod("a", "free", level=level))) == {}
    assert _numa(node.admit(pod("b", "free"))) == {}  # BestEffort


def test_with_the_gate_containers_that_share_are_admitted_where_nodes_are_given() -> None:
    """As long as no node has memory of one node only; then all nodes together are refused."""
    node = _node("best-effort", gate=True)
    assert _numa(node.admit(pod("a", "free", "1 1Gi", level=LEVEL))) == {"c1": [0]}
    single = "preferred hint violates NUMA node allocation"
    assert single in str(_numa(node.admit(pod("b", "free", level=LEVEL))))
    # The state file knows of its container, though with no memory: that is not asked again.
    assert _numa(node.restart()["a"]) == {"c1": [0]}


FOUR = machine(sockets=2, numas=4, memory=4)


def _chosen(state: MemoryState, size: int, hint: Hint) -> int | str:
    try:
        return choose_nodes(state, memory_hints(FOUR, state, size * GI, {}), size * GI, hint)
    except AllocateFailed as failed:
        return failed.message.removeprefix("Allocate failed due to [memorymanager] ").removesuffix(
            ", which is unexpected"
        )


def test_a_hint_without_enough_room_is_extended() -> None:
    state = MemoryState(FOUR.memory, (0, 0, 0, 0))
    assert _chosen(state, 3, Hint(None, preferred=True)) == 0b1
    assert _chosen(state, 6, Hint(0b10, preferred=False)) == 0b11
    assert _chosen(state, 6, Hint(0b1000, preferred=True)) == 0b1001

    state.take(Block(0b1000, GI), GI)  # node 3 stands for itself now
    assert _chosen(state, 6, Hint(0b1000, preferred=False)) == (
        "failed to find NUMA nodes to extend the current topology hint"
    )
    state.take(Block(0b1, GI), GI)
    assert _chosen(state, 6, Hint(0b100, preferred=True)) == 0b110
    assert _chosen(state, 9, Hint(0b100, preferred=False)) == (
        "failed to find NUMA nodes to extend the current topology hint"
    )


def test_what_is_not_preferred_does_not_stand_in_for_a_preferred_hint() -> None:
    state = MemoryState(FOUR.memory, (0, 0, 0, 0))
    for node in (0, 1, 2, 3):
        state.nodes[node].free = GI * (1 if node else 2)
    # 4 GiB would fit one empty node; now it takes three.
    assert _chosen(state, 4, Hint(None, preferred=True)) == (
        "failed to find the default preferred hint"
    )
    assert _chosen(state, 4, Hint(None, preferred=False)) == 0b111
    assert _chosen(state, 4, Hint(0b10, preferred=True)) == (
        "failed to find the extended preferred hint"
    )


def test_nodes_that_are_bound_otherwise_are_refused() -> None:
    state = MemoryState(FOUR.memory, (0, 0, 0, 0))
    state.take(Block(0b11, 5 * GI), 5 * GI)
    assert [state.free(1 << node) // GI for node in range(4)] == [0, 3, 4, 4]
    assert _chosen(state, 1, Hint(0b110, preferred=False)) == (
        "preferred hint violates NUMA node allocation"
    )
    # Oddity: a single node is not asked about; hints would not have it.
    assert _chosen(state, 1, Hint(0b10, preferred=False)) == 0b10
    state.release(Block(0b11, 5 * GI))
    assert [state.free(1 << node) // GI for node in range(4)] == [4, 4, 4, 4]
    assert _chosen(state, 1, Hint(0b110, preferred=False)) == 0b110
