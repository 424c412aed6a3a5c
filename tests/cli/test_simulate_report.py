"""`evencore simulate`: the report, whoever reads it; what is wrong; what always holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import NOW
from cli.simulating import deployment, machine, outcomes, report, run, write
from standing_builders import numa, pod, sized

from evencore.domain.policy import Policy
from evencore.domain.snapshot import Snapshot
from evencore.files import STDIN
from evencore.simulation.report import Question, simulate
from evencore.standing.objects import Objects
from evencore.tables import WIDTH

Object = dict[str, Any]
EMPTY = (22, 24)


STRANDED: dict[str, tuple[tuple[int, int], int, Object]] = {
    "4 CPUs of 22 and of 24": ((22, 24), 4, {"0": 2, "1": 0}),
    "16 CPUs fit neither": ((12, 14), 16, {"0": 12, "1": 14}),
    "2 CPUs leave nothing": ((22, 24), 2, {"0": 0, "1": 0}),
}


@pytest.mark.parametrize(("free", "size", "lost"), STRANDED.values(), ids=STRANDED)
def test_cores_are_stranded_that_no_container_of_the_size_can_use(
    free: tuple[int, int], size: int, lost: Object
) -> None:
    found = report("--with", write(pod("p", size)), objects=machine("n1", *free))
    (one,) = found["nodes"]
    placed = found["outcomes"].get("admitted", 0) * size
    assert sum(one["freeCpus"]["before"].values()) == sum(free)
    assert sum(one["freeCpus"]["after"].values()) == sum(free) - placed
    assert one["stranded"] == lost
    assert found["containerCpus"] == [size]


def test_sizes_are_those_that_run_there_if_nothing_is_to_be_placed() -> None:
    found = report(objects=machine("n1", 18, 24))
    assert found["containerCpus"] == [4]
    assert found["nodes"][0]["stranded"] == {"0": 2, "1": 0}


def test_the_same_question_gets_the_same_answer() -> None:
    cluster = [*machine("n1", 12, 14), *machine("n2", *EMPTY), *machine("n3", 6, 20)]
    ask = ("--with", write(deployment(7, 9), pod("p", 3)), "-o", "json")
    assert run(*ask, objects=cluster).stdout == run(*ask, objects=cluster).stdout
    assert run(*ask, objects=cluster[::-1]).stdout == run(*ask, objects=cluster).stdout


@pytest.mark.parametrize("amounts", [(2, 6), (3, 5), (8, 4), (1, 22), (24, 2)])
@pytest.mark.parametrize("args", [(), ("--plain",)], ids=["evencore", "plain"])
def test_never_more_cpus_are_given_out_than_there_are(
    amounts: tuple[int, int], args: tuple[str, ...]
) -> None:
    cluster = [*machine("n1", 12, 14), *machine("n2", *EMPTY)]
    files = (write(deployment(size, 12), name=f"{size}.json") for size in amounts)
    found = report(*(arg for file in files for arg in ("--with", file)), *args, objects=cluster)
    for node in found["nodes"]:
        taken = {"0": 0, "1": 0}
        for workload in found["workloads"]:
            for one in workload["pods"]:
                if one["node"] == node["name"] and one["outcome"] == "admitted":
                    for zone, cpus in one["numa"].items():
                        taken[zone] += cpus
        before, after = node["freeCpus"]["before"], node["freeCpus"]["after"]
        assert {zone: before[zone] - taken[zone] for zone in before} == after
        assert min(after.values()) >= 0
        assert all(node["stranded"][zone] <= after[zone] for zone in after)


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no node in the dump": (("-f", "pods.json"), "there is no node in the dump"),
    "no dump": (("-f", "web.json", "--with", "none.yaml"), "none.yaml: there is no such file"),
    "a count that is none": (("-f", "dump.json", "--with", "web.json=many"), "FILE=COUNT"),
    "one file twice": (
        ("-f", "dump.json", "--with", "web.json", "--with", "web.json=3"),
        "given more than once",
    ),
    "stdin twice": (("-f", STDIN, "--with", STDIN), "stdin can be read only once"),
    "a manifest with a wrong amount": (("-f", "dump.json", "--with", "odd.json"), "'many'"),
    "a node file with a mistake": (
        ("-f", "dump.json", "--machines", "nodes.yaml"),
        "nodes.yaml: nodes[0].colour: unknown",
    ),
    "a policy with a mistake": (("-f", "dump.json", "--policy", "policy.yaml"), "policy.yaml"),
}


@pytest.mark.parametrize(("args", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_and_nothing_is_said_of_the_cluster(
    args: tuple[str, ...], message: str
) -> None:
    write({"kind": "List", "items": machine("n1", *EMPTY)}, name="dump.json")
    write(pod("web", 4), name="pods.json")
    write(pod("web", "many"), name="odd.json")
    write(deployment(4))
    Path("nodes.yaml").write_text("nodes: [{name: n1, colour: red}]\n")
    Path("policy.yaml").write_text("cpu: maybe\n")
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_node_file_makes_certain_what_is_unknown_without() -> None:
    kubelet = {
        "cpuManagerPolicy": "static",
        "topologyManagerPolicy": "single-numa-node",
        "reservedSystemCPUs": "0,24",
    }
    stated = {"name": "n1", "machine": {"sockets": 2, "coresPerSocket": 12}, "kubelet": kubelet}
    Path("nodes.yaml").write_text(json.dumps({"nodes": [stated, {"name": "far"}]}))
    ask = ("--with", write(deployment(3)), "--plain")
    cluster = [sized("n1")]
    assert outcomes(*ask, objects=cluster) == {"unknown": 1}
    found = report(*ask, "--machines", "nodes.yaml", objects=cluster)
    assert found["outcomes"] == {"admitted": 1}
    assert "the node file names nodes that are not in the dump: far" in found["notes"]


def test_lines_are_no_longer_than_a_screen_is_wide() -> None:
    names = [f"ip-10-0-{n}-{n}.eu-central-1.compute.internal" for n in range(5)]
    cluster = [one for name in names for one in machine(name, 12, 14)]
    cluster += [
        sized("dark"),
        sized("odd", threadsPerCore=2),
        numa("odd", (24, 22, 2), (24, 24, 1)),
    ]
    text = run("--with", write(deployment(3, 4), deployment(22, 9)), objects=cluster).stdout
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "\x1b" not in text


def test_who_waits_long_is_told_of_the_steps() -> None:
    told: list[str] = []
    waiting = [pod(f"p{number}", 2) for number in range(30)]
    objects = Objects([*machine("n1", *EMPTY), *waiting])
    simulate(Question(objects, [], Snapshot(), Policy(), NOW, evencore=True), told.append)
    assert told[0] == "putting pods on 1 nodes"
    assert told[1] == "placing pod 1 of 30"
    assert told[-1] == "looking for stranded cores"
