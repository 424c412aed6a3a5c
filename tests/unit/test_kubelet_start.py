"""A kubelet that does not start says why, in its own words (facts, sections 12 and 14)."""

from __future__ import annotations

import pytest
from kubelet_builders import machine, pod

from evencore.domain.kubelet import config as names
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.node import Node
from evencore.domain.kubelet.refusals import StartError

TWO = machine()  # CPUs 0-15


def _config(*cpu_options: str, policy: str = "none", cpus: int = 1, **more: object) -> Config:
    return Config(policy, cpu_options=frozenset(cpu_options), reserved_cpus=cpus, **more)  # type: ignore[arg-type]


BOTH = "new static policy error: static policy options {} and {} can not be used at the same time"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            _config(cpus=0),
            (
                "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu "
                "to be greater than zero"
            ),
        ),
        (
            _config(names.ALIGN_BY_SOCKET),
            (
                "new static policy error: CPU Manager Policy Alpha-level Options not enabled, "
                'but option "align-by-socket" provided'
            ),
        ),
        (
            _config(names.DISTRIBUTE_ACROSS_CORES),
            (
                "new static policy error: CPU Manager Policy Alpha-level Options not enabled, "
                'but option "distribute-cpus-across-cores" provided'
            ),
        ),
        (
            _config(names.PREFER_L3, names.DISTRIBUTE_ACROSS_NUMA),
            BOTH.format("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
        ),
        (
            _config(
                names.DISTRIBUTE_ACROSS_NUMA, names.DISTRIBUTE_ACROSS_CORES, alpha_options=True
            ),
            BOTH.format("distribute-cpus-across-numa", "distribute-cpus-across-cores"),
        ),
        (
            _config(cpus=1 << 16),
            (
                "new static policy error: [cpumanager] unable to build the reserved physical CPUs "
                "from the reserved set: unknown CPU ID: 16"
            ),
        ),
        (
            _config(cpus=0, reserved_millis=16_001),
            (
                "new static policy error: [cpumanager] unable to reserve the required amount of "
                "CPUs (size of  did not equal 17)"
            ),
        ),
        (
            _config(policy="restricted", most_numa_nodes=4),
            'the minimum value of "max-allowable-numa-nodes" should not be less than 8',
        ),
        (
            _config(policy="single-numa-node", closest_numa=True),
            "cannot discover NUMA topology: error getting NUMA distances from cadvisor",
        ),
        (
            _config(reserved_memory=(0, 0)),
            "[memorymanager] you should specify the system reserved memory",
        ),
    ],
)
def test_settings_that_no_kubelet_starts_with(config: Config, message: str) -> None:
    with pytest.raises(StartError) as failed:
        Node(machine(memory=16), config)
    assert str(failed.value) == message


def test_align_by_socket_needs_a_numa_node_for_each_socket() -> None:
    config = _config(names.ALIGN_BY_SOCKET, policy="restricted", alpha_options=True)
    Node(TWO, config)
    with pytest.raises(StartError, match="number of sockets are more than number of NUMA"):
        Node(machine(sockets=4, numas=2), config)


def test_topology_options_are_not_even_read_with_policy_none() -> None:
    Node(machine(sockets=16, numas=16, cores=1), _config(most_numa_nodes=4))


def test_a_limit_of_numa_nodes_that_is_raised_too_little_is_named() -> None:
    config = _config(policy="restricted", most_numa_nodes=15)
    with pytest.raises(StartError, match="machines with more than 15 NUMA Nodes"):
        Node(machine(sockets=16, numas=16, cores=1), config)


def test_strict_reservation_and_a_full_node_do_not_survive_a_restart() -> None:
    """With strict-cpu-reservation the shared pool may be empty, which looks like a lost file."""
    node = Node(TWO, _config(names.STRICT_RESERVATION))
    node.admit(pod("a", "15 1Gi"))
    with pytest.raises(StartError, match="default cpuset cannot be empty"):
        node.restart()

    node.remove("a")
    assert node.restart() == {}
    assert node.free() == {0: 7, 1: 8}


def test_strict_reservation_of_all_cpus_survives_a_restart_as_nobody_has_any() -> None:
    node = Node(TWO, _config(names.STRICT_RESERVATION, cpus=TWO.cpus))
    assert node.restart() == {}


def test_cpus_that_a_restart_lost_stop_the_next_one() -> None:
    """Gate PodLevelResourceManagers, scope pod: the pod is given other CPUs at each restart."""
    config = _config(policy="best-effort", pod_scope=True, pod_level_managers=True)
    node = Node(TWO, config)
    node.admit(pod("a", "2 1Gi", "free", level={"cpu": "4", "memory": "4Gi"}))
    assert sum(node.free().values()) == 11

    node.restart()
    assert sum(node.free().values()) == 7
    with pytest.raises(StartError) as failed:
        node.restart()
    assert str(failed.value) == (
        'current set of available CPUs "0-15" doesn\'t match with CPUs in state "0,3-8,11-15"'
    )
