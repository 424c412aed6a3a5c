"""Why a kubelet does not start with some settings on some machine.

Kubernetes: NewManager of cm/topologymanager/topology_manager.go, cm/cpumanager/cpu_manager.go and
cm/memorymanager/memory_manager.go, in that order; policy_options.go of the first two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet import config as names
from evencore.domain.kubelet.merge import NONE, SINGLE_NUMA_NODE
from evencore.domain.kubelet.refusals import StartError

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.machine import Machine

_ALPHA: Final = (names.ALIGN_BY_SOCKET, names.DISTRIBUTE_ACROSS_CORES)
_EXCLUSIVE: Final = (
    (names.FULL_PCPUS_ONLY, names.DISTRIBUTE_ACROSS_CORES),
    (names.DISTRIBUTE_ACROSS_NUMA, names.DISTRIBUTE_ACROSS_CORES),
    (names.PREFER_L3, names.DISTRIBUTE_ACROSS_CORES),
    (names.PREFER_L3, names.DISTRIBUTE_ACROSS_NUMA),
)


def check(config: Config, machine: Machine) -> None:
    """Raise StartError for the first setting that the kubelet would refuse."""
    _check_topology_manager(config, machine)
    if not config.kept_millis:
        raise StartError(
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu "
            "to be greater than zero"
        )
    _check_static_policy(config, machine)


def _check_topology_manager(config: Config, machine: Machine) -> None:
    if config.topology_policy == NONE:
        return  # no limit, and its options are not even read
    if config.most_numa_nodes < names.MOST_NUMA_NODES:
        raise StartError(
            'the minimum value of "max-allowable-numa-nodes" should not be less than '
            f"{names.MOST_NUMA_NODES}"
        )
    if config.closest_numa and not machine.distances:
        raise StartError(
            "cannot discover NUMA topology: error getting NUMA distances from cadvisor"
        )
    if len(machine.numas) > config.most_numa_nodes:
        raise StartError(
            f"unsupported on machines with more than {config.most_numa_nodes} NUMA Nodes"
        )


def _check_static_policy(config: Config, machine: Machine) -> None:
    options = config.cpu_options
    for option in _ALPHA:
        if option in options and not config.alpha_options:
            raise of_static_policy(
                "CPU Manager Policy Alpha-level Options not enabled, "
                f'but option "{option}" provided'
            )
    for pair in _EXCLUSIVE:
        if options.issuperset(pair):
            raise of_static_policy(
                f"static policy options {' and '.join(pair)} can not be used at the same time"
            )
    if names.ALIGN_BY_SOCKET not in options:
        return
    if config.topology_policy == SINGLE_NUMA_NODE:
        raise of_static_policy(
            "Topolgy manager single-numa-node policy is incompatible with "
            "CPUManager align-by-socket policy option"
        )
    if len(machine.sockets) > len(machine.numas):
        raise of_static_policy(
            "Align by socket is not compatible with hardware where number of sockets "
            "are more than number of NUMA"
        )


def of_static_policy(why: str) -> StartError:
    """Make the error of a static policy that cannot be made."""
    return StartError(f"new static policy error: {why}")
