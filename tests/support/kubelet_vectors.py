"""Ask our kubelet what a real one was asked: `python tests/support/kubelet_vectors.py FILE...`.

Files as in tests/vectors, plain or .gz. Prints how many scenarios agree in every field, by policy
and by option, and each disagreement. Ends with 0 only if all agree, and there is one; with 2 if a
file is no such file.
"""

from __future__ import annotations

import gzip
import json
import sys
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evencore.domain.kubelet import config as options
from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.machine import Core, Machine
from evencore.domain.kubelet.managers import Admitted
from evencore.domain.kubelet.node import Node
from evencore.domain.kubelet.pod import pod_of
from evencore.domain.kubelet.refusals import StartError
from evencore.domain.qos import qos_class
from evencore.domain.quantity import parse_millis, parse_nanos
from evencore.domain.resources import PodAmounts, read_amounts
from evencore.domain.views import Container, PodSpec, Resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evencore.domain.kubelet.managers import Answer

Object = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """One thing that our kubelet says otherwise."""

    step: str  # "3 add p1", or "start"
    field: str
    want: object
    got: object


def scenarios(file: Path) -> Iterator[Object]:
    """Read a file of scenarios. Raises ClickException if it is none."""
    try:
        data = file.read_bytes()
        text = gzip.decompress(data) if file.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(f"{file}: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            scenario = json.loads(line)
        except ValueError as error:
            raise _unreadable(f"{file}, line {number}: no JSON: {error}") from error
        if not isinstance(scenario, dict) or not {"id", "machine", "config"} <= scenario.keys():
            raise _unreadable(f"{file}, line {number}: no scenario with id, machine and config")
        yield scenario


def _unreadable(why: str) -> click.ClickException:
    error = click.ClickException(why)
    error.exit_code = 2
    return error


def machine_of(given: Object) -> Machine:
    """Make the machine of a scenario."""
    memory = given.get("memoryPerNuma")
    return Machine(
        cores=tuple(Core(numa, socket, l3, tuple(c)) for numa, socket, l3, c in given["cores"]),
        distances=tuple(map(tuple, given.get("distances", ()))),
        memory=(_bytes(memory),) * given["numaNodes"] if memory else (),
    )


def config_of(given: Object) -> Config:
    """Make the settings of a scenario."""
    topology = given.get("topologyManagerPolicyOptions", {})
    gates = given.get("featureGates", {})
    switches = given.get("cpuManagerPolicyOptions", {})
    reserved = None
    if given.get("memoryManagerPolicy", "None") == "Static":
        reserved = tuple(map(_bytes, given["reservedMemory"]))
    return Config(
        topology_policy=given["topologyManagerPolicy"],
        pod_scope=given["topologyManagerScope"] == "pod",
        cpu_options=frozenset(name for name, value in switches.items() if value == "true"),
        closest_numa=topology.get("prefer-closest-numa-nodes") == "true",
        most_numa_nodes=int(topology.get("max-allowable-numa-nodes", options.MOST_NUMA_NODES)),
        reserved_cpus=cpuset.parse(given.get("reservedSystemCPUs", "")),
        reserved_millis=parse_millis(given.get("reservedCPU", "0")),
        reserved_memory=reserved,
        alpha_options=gates.get("CPUManagerPolicyAlphaOptions", False),
        pod_level_managers=gates.get("PodLevelResourceManagers", False),
        max_pods=1000,
    )


def amounts_of(spec: Object) -> PodAmounts:
    """Read the amounts of a pod, after the API server's defaults."""
    containers: dict[bool, list[Container]] = {True: [], False: []}
    for name, kind, *amounts in spec["containers"]:
        cpu_request, cpu_limit, memory_request, memory_limit = amounts
        resources = Resources(
            _given(cpu=cpu_request, memory=memory_request),
            _given(cpu=cpu_limit, memory=memory_limit),
        )
        always = "Always" if kind == "sidecar" else None
        containers[kind == "app"].append(Container(name, resources, always))
    level = spec.get("resources")
    return read_amounts(
        PodSpec(
            containers=containers[True],
            init_containers=containers[False],
            resources=level and Resources(level.get("requests"), level.get("limits")),
        )
    )


def check(scenario: Object) -> list[Difference]:
    """Play a scenario; returns what is not as the real kubelet had it."""
    error = scenario.get("startError")
    try:
        node = Node(machine_of(scenario["machine"]), config_of(scenario["config"]))
    except StartError as ours:
        return _differences("start", {"startError": error}, {"startError": str(ours)})
    want = {"startError": error, "reserved": scenario.get("reserved"), **scenario["initial"]}
    found = _differences("start", want, {"reserved": cpuset.show(node.reserved), **_free(node)})
    play = _Play(node, affinities="comment" in scenario)
    for number, step in enumerate(scenario["steps"], 1):
        found += play.step(number, step)
    return found


class _Play:
    """One scenario. Affinities are told in rules only."""

    def __init__(self, node: Node, *, affinities: bool) -> None:
        self._node, self._affinities = node, affinities
        self._amounts: dict[str, PodAmounts] = {}

    def step(self, number: int, step: Object) -> list[Difference]:
        found: list[Difference] = []
        label = f"{number} {step['op']}"
        if step["op"] == "add":
            name = step["spec"]["name"]
            label += f" {name}"
            self._amounts[name] = amounts_of(step["spec"])
            answer = self._node.admit(pod_of(name, self._amounts[name]))
            found += self._compare(label, name, step["result"], answer)
        elif step["op"] == "remove":
            self._node.remove(step["name"])
        else:
            found += self._restart(label, step)
        want = {"free": step["free"], "freeCores": step["freeCores"]}
        return found + _differences(label, want, _free(self._node))

    def _restart(self, label: str, step: Object) -> list[Difference]:
        want = {one["pod"]: one for one in step.get("results", ())}
        error, answers = None, dict[str, "Answer"]()
        try:
            answers = self._node.restart()
        except StartError as ours:
            error = str(ours)
        found = _differences(
            label,
            {"startError": step.get("startError"), "pods": list(want)},
            {"startError": error, "pods": list(answers)},
        )
        for name in want.keys() & answers.keys():
            result = {field: value for field, value in want[name].items() if field != "pod"}
            found += self._compare(f"{label} {name}", name, result, answers[name])
        return found

    def _compare(self, label: str, name: str, want: Object, answer: Answer) -> list[Difference]:
        amounts = self._amounts[name]
        got = {
            "qos": qos_class(amounts).value,
            "admitted": isinstance(answer, Admitted),
            "podResources": _level(amounts),
        }
        if isinstance(answer, Admitted):
            got["cpusets"] = _shown(answer.cpusets)
            got["memoryNuma"] = {
                container: list(cpuset.ids(nodes))
                for container, nodes in answer.memory_numa.items()
            }
            if answer.pod_cpuset:
                got["podCpuset"] = cpuset.show(answer.pod_cpuset)
                got["isolation"] = {
                    container: "pod" if container in answer.sharing else "container"
                    for container in answer.cpusets
                }
        else:
            got["reason"], got["message"] = answer.reason, answer.message
            got["partial"] = _shown(answer.partial)
        if self._affinities:
            got["affinity"] = _affinities(answer)
        level = _level_wanted(want["podResources"]) if "podResources" in want else None
        return _differences(label, {**want, "podResources": level}, got)


def _differences(label: str, want: Object, got: Object) -> list[Difference]:
    """Compare fields; one that would be empty is left out in the files."""
    return [
        Difference(label, field, want.get(field), got.get(field))
        for field in sorted(want.keys() | got.keys())
        if (want.get(field) or None) != (got.get(field) or None)
    ]


def _affinities(answer: Answer) -> Object:
    return {
        container: {
            "numa": None if hint.nodes is None else list(cpuset.ids(hint.nodes)),
            "preferred": hint.preferred,
        }
        for container, hint in answer.affinity.items()
    }


def _free(node: Node) -> Object:
    return {"free": list(node.free().values()), "freeCores": list(node.free_cores().values())}


def _shown(sets: Mapping[str, int]) -> dict[str, str]:
    return {name: cpuset.show(cpus) for name, cpus in sets.items()}


def _level(amounts: PodAmounts) -> Object | None:
    """Give pod-level amounts in thousandths, so that 2 is 2000m."""
    if amounts.pod_level is None:
        return None
    cpu, memory = amounts.pod_level
    requests = _given(cpu=cpu.request, memory=memory.request)
    limits = _given(cpu=cpu.limit, memory=memory.limit)
    return _given(requests=requests or None, limits=limits or None)


def _level_wanted(given: Object) -> Object:
    return {
        part: {name: parse_millis(value) for name, value in values.items()}
        for part, values in given.items()
    }


def _given(**values: Any) -> Object:  # noqa: ANN401  parts of JSON
    return {name: value for name, value in values.items() if value is not None}


def _bytes(quantity: str) -> int:
    return parse_nanos(quantity) // 10**9


def labels(scenario: Object) -> Iterator[str]:
    """Name what a scenario is about: its policy and scope, each option, each gate."""
    config = scenario["config"]
    policy, scope = config["topologyManagerPolicy"], config["topologyManagerScope"]
    yield f"policy {policy}" + ("" if policy == "none" else f", scope {scope}")
    switches = config.get("cpuManagerPolicyOptions", {}) | config.get(
        "topologyManagerPolicyOptions", {}
    )
    yield from (f"option {name}" for name in switches)
    yield from (f"gate {name}" for name in config.get("featureGates", {}))
    if config.get("memoryManagerPolicy"):
        yield f"memory manager {config['memoryManagerPolicy']}"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(files: tuple[Path, ...]) -> None:
    """Compare our kubelet with what real ones said."""
    total: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for file in files:
        for scenario in scenarios(file):
            found = _checked(scenario)
            for label in ("all", *labels(scenario)):
                total[label] += 1
                agreed[label] += not found
            for one in found:
                click.echo(f"{scenario['id']}, step {one.step}, {one.field}:")
                click.echo(f"  kubelet {json.dumps(one.want)}\n  ours    {json.dumps(one.got)}")
    for label in sorted(total):
        click.echo(f"{label:50} {agreed[label]:6} of {total[label]:6}")
    if not total["all"]:
        raise _unreadable("no scenario to compare")
    sys.exit(agreed["all"] != total["all"])


def _checked(scenario: Object) -> list[Difference]:
    """Play a scenario; one that our kubelet fails at is a difference, and the others go on."""
    try:
        return check(scenario)
    except Exception as error:  # noqa: BLE001  whatever it is
        traceback.print_exception(error)
        return [Difference("?", "an error of ours", None, repr(error))]


if __name__ == "__main__":
    main()
