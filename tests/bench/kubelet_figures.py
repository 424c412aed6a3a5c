"""Prints how many pods a second our kubelet admits: part of `make bench`.

Guaranteed pods with one container arrive until the node is full, then all of them end; rejected
ones count too. One process, best of some rounds, by the CPU time that it had: what else the
machine does does not count.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click
from kubelet_builders import machine, pod

from evencore.domain.kubelet import config as names
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.managers import Admitted
from evencore.domain.kubelet.node import Node

if TYPE_CHECKING:
    from evencore.domain.kubelet.machine import Machine

ROUNDS, PODS = 7, 2_000
POLICIES: Final = ("none", "best-effort", "restricted", "single-numa-node")
MACHINES: Final = (
    machine(sockets=2, numas=2, cores=12),
    machine(sockets=2, numas=8, cores=8),
    machine(sockets=2, numas=8, cores=32),
)


def admissions_a_second(one: Machine, policy: str, *, cpus: int = 4) -> float:
    """Measure with full-pcpus-only and one core reserved."""
    reserved = next(iter(one.core_sets.values()))
    options = frozenset({names.FULL_PCPUS_ONLY})
    node = Node(one, Config(policy, cpu_options=options, reserved_cpus=reserved, max_pods=PODS))
    pods = [pod(str(number), f"{cpus} 1Gi") for number in range(PODS)]
    best = float("inf")
    for _ in range(ROUNDS):
        running: list[str] = []
        started = time.process_time()
        for arriving in pods:
            if isinstance(node.admit(arriving), Admitted):
                running.append(arriving.uid)
            else:
                for uid in running:
                    node.remove(uid)
                running = []
        best = min(best, time.process_time() - started)
        for uid in running:
            node.remove(uid)
    return PODS / best


def main() -> None:
    """Print a line for each machine."""
    click.echo(
        "Kubelet model: admissions a second (of CPU time), one container of 4 CPUs, full-pcpus-only"
    )
    click.echo(f"  {'CPUs':>5} {'NUMA nodes':>11}" + "".join(f"{name:>18}" for name in POLICIES))
    for one in MACHINES:
        figures = "".join(f"{admissions_a_second(one, policy):18,.0f}" for policy in POLICIES)
        click.echo(f"  {one.cpus.bit_count():>5} {len(one.numas):>11}{figures}")


if __name__ == "__main__":
    main()
