"""Machines and pods for tests of our kubelet, in few words."""

from __future__ import annotations

from typing import Any

from kubelet_vectors import amounts_of

from evencore.domain.kubelet.machine import Core, Machine
from evencore.domain.kubelet.pod import Pod, pod_of

GI = 2**30


def machine(
    sockets: int = 2,
    numas: int = 2,
    cores: int = 4,
    threads: int = 2,
    *,
    memory: int | None = None,
) -> Machine:
    """Make a machine of `numas` NUMA nodes with `cores` each; threads are numbered apart."""
    total = numas * cores
    return Machine(
        tuple(
            Core(
                numa=core // cores,
                socket=core * sockets // total,
                l3=None,
                cpus=tuple(core + thread * total for thread in range(threads)),
            )
            for core in range(total)
        ),
        memory=() if memory is None else (memory * GI,) * numas,
    )


def pod(uid: str, *containers: str, level: dict[str, str] | None = None) -> Pod:
    """Make a Guaranteed pod from "init 4 8Gi", "sidecar 2 1Gi", "6 4Gi" or "free" (no resources).

    `level`: the pod's own cpu and memory, request and limit.
    """
    spec: dict[str, Any] = {"containers": []}
    for number, text in enumerate(containers):
        words = text.split()
        kind = words.pop(0) if words[0] in ("init", "sidecar") else "app"
        cpu, memory = (None, None) if words == ["free"] else words
        spec["containers"].append([f"c{number}", kind, cpu, cpu, memory, memory])
    if level is not None:
        spec["resources"] = {"requests": level, "limits": level}
    return pod_of(uid, amounts_of(spec))
