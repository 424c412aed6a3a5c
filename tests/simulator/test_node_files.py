"""Node files: strict, and everything that is wrong is told at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import FULL_PCPUS_ONLY, Config
from evencore.nodefiles.files import NodeFile, nodes_file
from evencore.strict import FileError
from simulator.kubelet import nodes
from simulator.kubelet.presets import PRESETS, load

STATIC = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0-1"}
CPUS = "write CPUs as the kubelet does, such as 0-1,24"
MACHINE = (
    "coresPerL3, coresPerSocket, memory, numaNodesPerSocket, numbering, siblings, sockets, "
    "threadsPerCore"
)
OPTIONS = (
    "align-by-socket, distribute-cpus-across-cores, distribute-cpus-across-numa, full-pcpus-only, "
    "prefer-align-cpus-by-uncorecache, strict-cpu-reservation"
)
NODE = "count, delays, kubelet, labels, machine, name, taints"
NAME = "must be a name in small letters, digits, - and ., such as node-1"
TOPOLOGY = "'none', 'best-effort', 'restricted' or 'single-numa-node'"
QUANTITY = "such as 2, 2500m, 0.5 or 1e3 (units n u m k M G T P E, Ki to Ei)"

WRONG: dict[str, tuple[Any, list[str]]] = {
    "nothing": (None, ["nodes: is missing"]),
    "no map": ([], ["must be a map with any of nodes"]),
    "no nodes": (
        {"nodes": []},
        ["nodes: at least one node is needed"],
    ),
    "several things at several places": (
        {
            "nodes": [
                {"name": "a", "machine": {"cores": 4}, "delays": {"start": -1}},
                {"name": "B", "kubelet": {"topologyManagerPolicy": "single"}},
            ]
        },
        [
            f"nodes[0].machine.cores: unknown; allowed here: {MACHINE}",
            "nodes[0].delays.start: must be greater than or equal to 0, not -1",
            f"nodes[1].name: {NAME}, not 'B'",
            f"nodes[1].kubelet.topologyManagerPolicy: must be {TOPOLOGY}, not 'single'",
        ],
    ),
    "values of other kinds": (
        {"nodes": [{"name": "a", "machine": {"sockets": "two"}, "labels": {"rack": 7}}]},
        [
            "nodes[0].machine.sockets: must be a valid integer, not 'two'",
            (
                "nodes[0].labels.rack: must be text, and YAML reads what is not quoted as "
                "something else, not 7"
            ),
        ],
    ),
    "an option that is none": (
        {"nodes": [{"name": "a", "kubelet": {"cpuManagerPolicyOptions": {"align": True}}}]},
        [f"nodes[0].kubelet.cpuManagerPolicyOptions.align: unknown; allowed here: {OPTIONS}"],
    ),
    "static without a reservation": (
        {"nodes": [{"name": "a", "kubelet": {"cpuManagerPolicy": "static"}}]},
        [
            (
                "nodes[0].kubelet.cpuManagerPolicy: must be none without reservedSystemCPUs, "
                "such as 0-1, and cpu in systemReserved or kubeReserved, not 'static'"
            )
        ],
    ),
    "whole cores without static": (
        {
            "nodes": [
                {"name": "a", "kubelet": {"cpuManagerPolicyOptions": {"full-pcpus-only": True}}}
            ]
        },
        ["nodes[0].kubelet.cpuManagerPolicy: must be static for full-pcpus-only, not 'none'"],
    ),
    "more than there is": (
        {"nodes": [{"name": "a", "kubelet": {"kubeReserved": {"cpu": "17"}}}]},
        ["nodes[0].kubelet: more CPU is reserved than there is"],
    ),
    "CPUs that are not there": (
        {"nodes": [{"name": "a", "kubelet": {**STATIC, "reservedSystemCPUs": "0,99"}}]},
        ["nodes[0].kubelet: reservedSystemCPUs has CPUs that are not there: 99"],
    ),
    "CPUs that are none": (
        {"nodes": [{"name": "a", "kubelet": {"reservedSystemCPUs": "0-x"}}]},
        [f"nodes[0].kubelet.reservedSystemCPUs: {CPUS}, not '0-x'"],
    ),
    "a list of CPUs": (
        {"nodes": [{"name": "a", "kubelet": {"reservedSystemCPUs": [0]}}]},
        [f"nodes[0].kubelet.reservedSystemCPUs: {CPUS}"],
    ),
    "cores that cannot be shared out": (
        {"nodes": [{"name": "a", "machine": {"coresPerSocket": 3, "numaNodesPerSocket": 2}}]},
        ["nodes[0].machine.numaNodesPerSocket: must divide coresPerSocket (3), not 2"],
    ),
    "too many NUMA nodes": (
        {"nodes": [{"name": "a", "machine": {"sockets": 8, "numaNodesPerSocket": 4}}]},
        ["nodes[0].machine.numaNodesPerSocket: must be at most 2 with 8 sockets, not 4"],
    ),
    "caches that cores cannot be shared out to": (
        {"nodes": [{"name": "a", "machine": {"coresPerSocket": 6, "coresPerL3": 4}}]},
        ["nodes[0].machine.coresPerL3: must divide the 6 cores of a NUMA node, not 4"],
    ),
    "memory of a NUMA node that is not there": (
        {
            "nodes": [
                {
                    "name": "a",
                    "kubelet": {
                        **STATIC,
                        "memoryManagerPolicy": "Static",
                        "reservedMemory": [{"numaNode": 1, "limits": {"memory": "1Gi"}}],
                    },
                }
            ]
        },
        ["nodes[0].kubelet: reservedMemory has a NUMA node that is not there: 1"],
    ),
    "a memory manager without static": (
        {"nodes": [{"name": "a", "kubelet": {"memoryManagerPolicy": "Static"}}]},
        [
            (
                "nodes[0].kubelet.cpuManagerPolicy: must be static for memoryManagerPolicy Static, "
                "not 'none'"
            )
        ],
    ),
    "settings that no kubelet starts with": (
        {
            "nodes": [
                {
                    "name": "a",
                    "machine": {"sockets": 16},
                    "kubelet": {**STATIC, "topologyManagerPolicy": "restricted"},
                }
            ]
        },
        [
            (
                "nodes[0].kubelet: the kubelet would not start: "
                "unsupported on machines with more than 8 NUMA Nodes"
            )
        ],
    ),
    "an amount that is none": (
        {"nodes": [{"name": "a", "machine": {"memory": "much"}}]},
        [f"nodes[0].machine.memory: 'much' is no Kubernetes quantity, {QUANTITY}"],
    ),
    "one name for two": (
        {"nodes": [{"name": "a", "count": 2}, {"name": "a-2"}]},
        ["nodes: these names are given more than once: a-2"],
    ),
    "mistakes of every kind, all at once": (
        {
            "nodes": [
                {"name": "a", "count": 2, "taint": [], "kubelet": {"kubeReserved": {"cpu": "17"}}},
                {
                    "name": "a-2",
                    "machine": {"coresPerSocket": 3, "numaNodesPerSocket": 2, "memory": "much"},
                    "kubelet": {"maxPods": 0, "memoryManagerPolicy": "Static"},
                },
                {"name": "a-1", "count": 0},
            ]
        },
        [
            "nodes[0].kubelet: more CPU is reserved than there is",
            f"nodes[0].taint: unknown; allowed here: {NODE}",
            "nodes[1].machine.numaNodesPerSocket: must divide coresPerSocket (3), not 2",
            f"nodes[1].machine.memory: 'much' is no Kubernetes quantity, {QUANTITY}",
            "nodes[1].kubelet.maxPods: must be greater than or equal to 1, not 0",
            (
                "nodes[1].kubelet.cpuManagerPolicy: must be static for memoryManagerPolicy Static, "
                "not 'none'"
            ),
            "nodes[2].count: must be greater than or equal to 1, not 0",
            "nodes: these names are given more than once: a-2",
        ],
    ),
}


@pytest.mark.parametrize(("value", "problems"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(value: object, problems: list[str]) -> None:
    with pytest.raises(FileError) as caught:
        nodes_file(value, "nodes.yaml")
    assert list(caught.value.problems) == problems
    assert str(caught.value).startswith("nodes.yaml: ")


def test_a_file_as_people_write_it() -> None:
    """A single CPU without quotes, and an option as text, as KubeletConfiguration has it."""
    kubelet = {
        **STATIC,
        "reservedSystemCPUs": 0,
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    }
    config = nodes_file({"nodes": [{"name": "a", "kubelet": kubelet}]}).nodes[0].config()
    assert config == Config(cpu_options=frozenset({FULL_PCPUS_ONLY}), reserved_cpus=1)


def test_every_setting_reaches_the_kubelet() -> None:
    kubelet = {
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {
            "align-by-socket": "true",
            "distribute-cpus-across-numa": "false",
            "strict-cpu-reservation": True,
        },
        "topologyManagerPolicy": "restricted",
        "topologyManagerScope": "pod",
        "topologyManagerPolicyOptions": {
            "prefer-closest-numa-nodes": "true",
            "max-allowable-numa-nodes": "12",
        },
        "memoryManagerPolicy": "Static",
        "reservedMemory": [{"numaNode": 1, "limits": {"memory": "1Gi"}}],
        "systemReserved": {"cpu": "500m"},
        "kubeReserved": {"cpu": 1},
        "featureGates": {"CPUManagerPolicyAlphaOptions": True, "PodLevelResourceManagers": True},
    }
    [node] = nodes_file(
        {"nodes": [{"name": "a", "machine": {"sockets": 2}, "kubelet": kubelet}]}
    ).nodes
    assert node.config() == Config(
        topology_policy="restricted",
        pod_scope=True,
        cpu_options=frozenset({"align-by-socket", "strict-cpu-reservation"}),
        closest_numa=True,
        most_numa_nodes=12,
        reserved_millis=1500,
        reserved_memory=(0, 2**30),
        alpha_options=True,
        pod_level_managers=True,
    )
    made = nodes.node("a", node, node.machine.build(), "10.0.0.1", 0)
    assert made["status"]["allocatable"]["cpu"] == "30500m"
    assert made["status"]["allocatable"]["memory"] == str(63 * 2**30)
    assert made["status"]["capacity"]["memory"] == "64Gi"
    assert NodeFile.model_validate(node.model_dump(by_alias=True)) == node


def test_the_preset_is_the_machine_of_the_story() -> None:
    [node] = PRESETS["autokh"].nodes
    built = node.machine.build()
    assert node.names() == ["autokh-1", "autokh-2"]
    assert built.numas[0] == cpuset.of(range(0, 48, 2))
    assert built.cores_of(1) == node.kubelet.reserved_system_cpus == cpuset.parse("0,24")


PAGE = Path(__file__).parents[2] / "docs" / "pocket-cluster.md"


def test_the_example_of_the_page_can_be_used_as_it_is(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(nodes:.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "nodes.yaml"
    file.write_text(example)
    story, plain = load(str(file)).nodes
    assert story == PRESETS["autokh"].nodes[0]
    assert plain.names() == [f"plain-{number}" for number in range(1, 4)]


FILES = {
    "no file": (None, "there is no such file"),
    "a manifest": (
        "apiVersion: apps/v1\nkind: Deployment\n",
        "this is a manifest (kind Deployment), not a node file",
    ),
    "two documents": (
        "nodes: []\n---\nnodes: []\n",
        "a node file is one document, and these are 2",
    ),
    "no YAML": ("nodes: [", "line 2, column 1: "),
    "wrong content": ("nodes: []", "at least one node is needed"),
}


@pytest.mark.parametrize(("text", "problem"), FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_used(text: str | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(FileError) as caught:
        load(str(file))
    assert str(caught.value).startswith(f"{file}: ")
    assert problem in str(caught.value)
