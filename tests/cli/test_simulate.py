"""`evencore simulate`: what would be admitted where, what would loop, what is stranded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.simulating import deployment, machine, outcomes, run, write
from standing_builders import owned, pod, sized

Object = dict[str, Any]


EMPTY = (22, 24)
OUTCOMES: dict[str, tuple[list[Object], list[Object], tuple[str, ...], Object]] = {
    "pods that fit are admitted": (
        machine("n1", *EMPTY),
        [deployment(4, 3)],
        (),
        {"admitted": 3},
    ),
    "3 CPUs are rounded up to whole cores": (
        machine("n1", *EMPTY),
        [deployment(3)],
        (),
        {"admitted": 1},
    ),
    "without evencore 3 CPUs loop": (
        machine("n1", *EMPTY),
        [deployment(3)],
        ("--plain",),
        {"loops": 1},
    ),
    "a pod that nobody controls is rejected, and that is all": (
        machine("n1", *EMPTY),
        [pod("web", 3)],
        ("--plain",),
        {"rejected": 1},
    ),
    "without evencore the scheduler chooses a node without room again and again": (
        [*machine("n1", 12, 14), *machine("n2", 6, 14)],
        [deployment(16)],
        ("--plain",),
        {"loops": 1},
    ),
    "with evencore it goes to another node": (
        [*machine("n1", 12, 14), *machine("n2", 0, 24)],
        [deployment(16)],
        (),
        {"admitted": 1},
    ),
    "with evencore it is held where every node rejects it": (
        [*machine("n1", 12, 14), *machine("n2", 12, 14)],
        [deployment(16)],
        (),
        {"held": 1},
    ),
    "the pods after it are held at once": (
        machine("n1", 12, 14),
        [deployment(16, 3)],
        (),
        {"held": 3},
    ),
    "an author who wants no hold gets the loop": (
        machine("n1", 12, 14),
        [deployment(16)],
        ("--policy", "report.yaml"),
        {"loops": 1},
    ),
    "a DaemonSet is neither kept off nor held": (
        [*machine("n1", 12, 14), *machine("n2", *EMPTY)],
        [deployment(16, kind="DaemonSet")],
        (),
        {"admitted": 1, "loops": 1},
    ),
    "a DaemonSet makes no pods for nodes that it does not select": (
        [*machine("n1", *EMPTY), *machine("n2", *EMPTY)],
        [deployment(2, kind="DaemonSet", nodeSelector={"pool": "other"})],
        (),
        {},
    ),
    "no node has the requests free": (
        machine("n1", 2, 4),
        [deployment(8)],
        (),
        {"pending": 1},
    ),
    "an author asked for a refusal": (
        machine("n1", *EMPTY),
        [deployment(3)],
        ("--policy", "deny.yaml"),
        {"denied": 1},
    ),
    "nobody tells of the node": (
        [sized("n1")],
        [deployment(4)],
        (),
        {"unknown": 1},
    ),
    "a namespace that takes no part gets no help": (
        [*machine("n1", *EMPTY), {"kind": "Namespace", "metadata": {"name": "shop"}}],
        [deployment(3)],
        (),
        {"loops": 1},
    ),
    "pods of the dump without a node come first": (
        [*machine("n1", 2, 4), pod("early", 4)],
        [pod("late", 4)],
        (),
        {"admitted": 1, "pending": 1},
    ),
    "a pod of the dump that its kubelet has not seen yet": (
        [*machine("n1", 12, 14), owned(pod("bound", 16, on="n1"))],
        [],
        (),
        {"loops": 1},
    ),
    "a pod of the dump that waits behind a gate is left out": (
        [*machine("n1", *EMPTY), pod("gated", 4, schedulingGates=[{"name": "x.com/wait"}])],
        [],
        (),
        {},
    ),
    "a cordoned node is not used": (
        [
            one | {"spec": {"unschedulable": True}} if one["kind"] == "Node" else one
            for one in machine("n1", *EMPTY)
        ],
        [deployment(4)],
        (),
        {"pending": 1},
    ),
    "a tainted node is for pods that tolerate it": (
        [
            one | {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}}
            if one["kind"] == "Node"
            else one
            for one in machine("n1", *EMPTY)
        ],
        [deployment(4), pod("may", 4, tolerations=[{"key": "a", "operator": "Exists"}])],
        (),
        {"admitted": 1, "pending": 1},
    ),
    "a pod that names its node": (
        [*machine("n1", *EMPTY), *machine("n2", 12, 14)],
        [pod("web", 16, nodeName="n2") | {"metadata": {"name": "web"}}],
        (),
        {"rejected": 1},
    ),
}


@pytest.mark.parametrize(("cluster", "added", "args", "become"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_becomes_of_pods(
    cluster: list[Object], added: list[Object], args: tuple[str, ...], become: Object
) -> None:
    Path("report.yaml").write_text("onRejection: report\n")
    Path("deny.yaml").write_text("cpu: deny\n")
    more = ("--with", write(*added)) if added else ()
    assert outcomes(*more, *args, objects=cluster) == become


def test_a_count_goes_before_what_the_manifest_says() -> None:
    file = write(deployment(4, 3))
    assert outcomes("--with", f"{file}=5", objects=machine("n1", *EMPTY)) == {"admitted": 5}


def test_the_exit_status_tells_whether_every_pod_is_admitted() -> None:
    cluster = machine("n1", *EMPTY)
    fine, wide = write(deployment(4)), write(deployment(26), name="wide.json")
    assert run("--with", fine, objects=cluster).exit_code == 0
    assert run("--with", wide, objects=cluster).exit_code == 1
    assert run(objects=cluster).exit_code == 0
