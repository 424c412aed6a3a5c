"""What a node's kubelet says, where no vector looks: pods, memory, restarts, books."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet_builders import machine, pod

from evencore.domain.kubelet import config as names
from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.machine import Core, Machine
from evencore.domain.kubelet.managers import Admitted, Rejected
from evencore.domain.kubelet.node import Node
from evencore.domain.kubelet.pod import pod_of
from evencore.domain.kubelet.refusals import StartError
from evencore.domain.lenient import read
from evencore.domain.qos import QoS
from evencore.domain.resources import read_amounts
from evencore.domain.views import PodSpec

TWO = machine()


def test_a_node_takes_no_more_pods_than_it_may() -> None:
    node = Node(TWO, Config(reserved_cpus=1, max_pods=1))
    node.admit(pod("a", "500m 1Gi"))
    answer = node.admit(pod("b", "2 1Gi"))
    assert isinstance(answer, Rejected)
    assert answer.reason == "OutOfpods"
    assert answer.message == (
        "Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"
    )
    assert cpuset.show(answer.partial["c0"]) == "1,9"  # it had been given them already
    node.remove("a")
    assert isinstance(node.admit(pod("b", "2 1Gi")), Admitted)


def test_memory_is_counted_in_bytes_after_cpu() -> None:
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "20Gi"}}}]
    }
    burstable = pod_of("b", read_amounts(read(PodSpec, spec)[0]))
    node = Node(machine(memory=16), Config(reserved_cpus=1))
    node.admit(pod("a", "500m 16Gi"))
    answer = node.admit(burstable)
    assert isinstance(answer, Rejected)
    assert answer.message == (
        "Node didn't have enough resource: memory, requested: 21474836480, used: 17179869184, "
        "capacity: 34359738368"
    )


def test_the_class_that_the_api_server_set_wins() -> None:
    amounts = read_amounts(
        read(PodSpec, {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]})[0]
    )
    assert not pod_of("a", amounts).guaranteed
    assert pod_of("a", amounts, QoS.GUARANTEED).guaranteed


def test_a_pod_that_is_not_there_can_be_removed() -> None:
    node = Node(TWO, Config(reserved_cpus=1))
    node.remove("nobody")
    assert node.free() == {0: 7, 1: 8}


def test_numa_nodes_may_be_numbered_with_gaps() -> None:
    apart = machine(sockets=1, numas=1)
    cores = tuple(core._replace(numa=3) for core in apart.cores)
    node = Node(type(apart)(cores), Config("single-numa-node", reserved_cpus=1))
    assert node.free() == {3: 7}
    assert isinstance(node.admit(pod("a", "6 1Gi")), Admitted)
    assert node.free_cores() == {3: 0}


LEVEL = {"cpu": "6", "memory": "6Gi"}


@pytest.mark.parametrize(
    ("containers", "message"),
    [
        (
            ("sidecar 6 1Gi", "init free", "free"),
            "pod rejected, pod has shared init containers but no cpus available for them",
        ),
        (
            ("sidecar 4 1Gi", "init 4 1Gi", "free"),
            "pod rejected, largest exclusive init container requests 4 cpus, but only 2 available",
        ),
        (
            ("sidecar free", "6 1Gi"),
            (
                "pod rejected, sum of exclusive container cpu requests equals pod budget, "
                "leaving no cpus for shared containers"
            ),
        ),
    ],
)
def test_a_pods_own_cpus_must_leave_some_to_share(
    containers: tuple[str, ...], message: str
) -> None:
    config = Config("best-effort", pod_scope=True, reserved_cpus=1, pod_level_managers=True)
    answer = Node(TWO, config).admit(pod("a", *containers, level=LEVEL))
    assert isinstance(answer, Rejected)
    assert (answer.reason, answer.message) == ("EmptyPodSharedPoolError", message)


def test_init_containers_that_share_have_what_sidecars_before_them_left() -> None:
    config = Config("restricted", pod_scope=True, reserved_cpus=1, pod_level_managers=True)
    containers = ("init free", "sidecar 2 1Gi", "init free", "sidecar free", "2 1Gi", "free")
    answer = Node(TWO, config).admit(pod("a", *containers, level=LEVEL))
    assert isinstance(answer, Admitted)
    assert cpuset.show(answer.pod_cpuset) == "1-3,9-11"
    assert {name: cpuset.show(cpus) for name, cpus in answer.cpusets.items()} == {
        "c0": "1-3,9-11",
        "c1": "1,9",
        "c2": "2-3,10-11",
        "c3": "3,11",
        "c4": "2,10",
        "c5": "3,11",
    }
    assert answer.sharing == {"c0", "c2", "c3", "c5"}


OPTIONS = [
    frozenset[str](),
    frozenset({names.FULL_PCPUS_ONLY}),
    frozenset({names.DISTRIBUTE_ACROSS_NUMA, names.FULL_PCPUS_ONLY}),
    frozenset({names.DISTRIBUTE_ACROSS_CORES}),
    frozenset({names.PREFER_L3, names.STRICT_RESERVATION}),
]
CONTAINERS = st.lists(
    st.tuples(st.sampled_from(["", "init ", "sidecar "]), st.integers(1, 9)), min_size=1, max_size=3
)


@given(
    options=st.sampled_from(OPTIONS),
    policy=st.sampled_from(["none", "best-effort", "restricted", "single-numa-node"]),
    pod_scope=st.booleans(),
    wishes=st.lists(st.none() | CONTAINERS, max_size=8),
)
def test_no_cpu_has_two_pods_and_all_come_back(
    options: frozenset[str],
    policy: str,
    pod_scope: bool,  # noqa: FBT001  drawn by Hypothesis
    wishes: list[list[tuple[str, int]] | None],
) -> None:
    """A wish of None removes the oldest pod."""
    config = Config(policy, pod_scope, options, reserved_cpus=0b11, alpha_options=True)
    node = Node(TWO, config)
    running: dict[str, int] = {}
    for number, wish in enumerate(wishes):
        if wish is None:
            oldest = next(iter(running), "nobody")
            node.remove(oldest)
            running.pop(oldest, None)
        else:
            ordered = sorted(wish, key=lambda one: one[0] == "")
            answer = node.admit(pod(str(number), *(f"{kind}{n} 1Gi" for kind, n in ordered)))
            if isinstance(answer, Admitted):
                sets = list(answer.cpusets.values())
                assert [cpus.bit_count() for cpus in sets] == [n for _, n in ordered]
                for cpus in sets:
                    running[str(number)] = running.get(str(number), 0) | cpus
        held = sum(running.values())  # no bit twice, or the sum is not the union
        assert held.bit_count() == sum(cpus.bit_count() for cpus in running.values())
        assert not held & node.reserved
        assert sum(node.free().values()) + held.bit_count() == 14
    for uid in running:
        node.remove(uid)
    assert node.free() == {0: 6, 1: 8}


def test_a_kubelet_does_not_come_back_with_a_cpu_that_two_pods_have() -> None:
    """With one sibling offline a core is taken with a thread that somebody has."""
    lame = Machine((Core(0, 0, None, (0,)), Core(0, 0, None, (1, 4)), Core(0, 0, None, (2, 5))))
    node = Node(lame, Config(reserved_cpus=1))
    node.admit(pod("a", "1 1Gi"))
    second = node.admit(pod("b", "2 1Gi"))
    assert isinstance(second, Admitted)
    assert cpuset.show(second.cpusets["c0"]) == "1,4"
    node.remove("a")
    overlap = 'pod: b, container: c0 cpuset: "1,4" overlaps with default cpuset "0-2,5"'
    with pytest.raises(StartError, match=overlap):
        node.restart()
