"""Nodes as they stand: what their kubelets would say next to the pods that run there."""

from __future__ import annotations

from typing import Any

import pytest
from standing_builders import STATED, numa, pod, sized

from evencore.nodefiles.files import nodes_file
from evencore.standing.asked import read_pod
from evencore.standing.building import stand
from evencore.standing.objects import Objects
from evencore.standing.verdicts import Admitted, Refused, Unsure, Verdict

Object = dict[str, Any]
ROOMY = numa("n1", (24, 22, 22), (24, 24, 24))
TOLD = sized("n1", **STATED)
NO_LOCALITY = Refused(
    "TopologyAffinityError", "Resources cannot be allocated with Topology locality"
)


def ask(asked: Object, *objects: Object) -> Verdict:
    found = read_pod(asked, "asked")
    assert found
    return stand(Objects(objects), "n1").ask(found)


def resized(running: Object, has: str) -> Object:
    """Let a pod wait for a resize in vain."""
    running["status"] |= {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "c0", "allocatedResources": {"cpu": has}}],
    }
    return running


def notes(*objects: Object) -> tuple[str, ...]:
    return stand(Objects(objects), "n1").notes


VERDICTS: dict[str, tuple[Object, list[Object], Verdict]] = {
    "an empty node admits, on the first NUMA node with room": (
        pod("p", 4),
        [TOLD, ROOMY],
        Admitted({0: 4}, {0: 18, 1: 24}),
    ),
    "a container that fits no NUMA node is refused": (pod("p", 26), [TOLD, ROOMY], NO_LOCALITY),
    "a pod that runs there takes its part": (
        pod("p", 20),
        [TOLD, pod("old", 20, on="n1", started=1)],
        Unsure("nobody tells of its NUMA nodes"),
    ),
    "free CPUs that are published go before the order in which pods came": (
        pod("p", 20),
        [TOLD, numa("n1", (24, 22, 22), (24, 24, 4)), pod("old", 20, on="n1", started=1)],
        Admitted({0: 20}, {0: 2, 1: 4}),
    ),
    "pods that came in this order": (
        pod("p", 24),
        [
            TOLD,
            ROOMY,
            *(pod(f"old{n}", 20, on="n1", started=n) for n in (1, 2)),
        ],
        NO_LOCALITY,
    ),
    "a pod that was refused a resize has what it had": (
        pod("p", 4),
        [TOLD, ROOMY, resized(pod("old", 21, on="n1", started=1), "20")],
        Admitted({1: 4}, {0: 2, 1: 20}),
    ),
    "pods that have ended take nothing": (
        pod("p", 22),
        [TOLD, ROOMY, pod("old", 20, on="n1", started=1) | {"status": {"phase": "Succeeded"}}],
        Admitted({0: 22}, {0: 0, 1: 24}),
    ),
    "requests of pods without exclusive CPUs count": (
        pod("p", 2),
        [TOLD, ROOMY, pod("old", "45500m", on="n1", started=1)],
        Refused(
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 2000, used: 45500, capacity: 46000",
        ),
    ),
    "nobody tells of full-pcpus-only, and it matters": (
        pod("p", 3),
        [sized("n1", threadsPerCore=2, scope="container"), ROOMY],
        Unsure(
            "nobody tells full-pcpus-only: SMTAlignmentError (with full-pcpus-only); admitted "
            "(without full-pcpus-only)"
        ),
    ),
    "nobody tells of full-pcpus-only, and it does not matter": (
        pod("p", 26),
        [sized("n1", threadsPerCore=2, scope="container"), ROOMY],
        NO_LOCALITY,
    ),
    "a running pod of 3 CPUs proves that it is off": (
        pod("p", 3),
        [
            sized("n1", threadsPerCore=2, scope="container"),
            ROOMY,
            pod("old", 3, on="n1", started=1),
        ],
        Admitted({0: 3}, {0: 16, 1: 24}),
    ),
    "a running pod of 3 CPUs contradicts what an admin says": (
        pod("p", 2),
        [TOLD, ROOMY, pod("old", 3, on="n1", started=1)],
        Unsure("a pod runs there that full-pcpus-only would have refused, and it is said to be on"),
    ),
    "a pod runs that could not have come in this order": (
        pod("p", 2),
        [
            TOLD,
            numa("n1", (24, 22, 2), (24, 24, 2)),
            *(pod(f"old{n}", 16, on="n1", started=n) for n in (1, 2)),
            pod("old3", 12, on="n1", started=3),
        ],
        Unsure("shop/old3 runs there, and would be refused (TopologyAffinityError)"),
    ),
    "a node without a static CPU manager": (
        pod("p", 3),
        [sized("n1"), numa("n1", (24, 0, 0), (24, 0, 0))],
        Admitted({}, {0: 0, 1: 0}),
    ),
    "a device may be anywhere": (
        pod(
            "p",
            2,
            containers=[
                {
                    "name": "a",
                    "resources": {"limits": {"cpu": "2", "memory": "1Gi", "x.com/gpu": "1"}},
                }
            ],
        ),
        [TOLD, ROOMY],
        Unsure("it asks for x.com/gpu, and nobody tells on which NUMA nodes that is"),
    ),
    "CPUs that an admin tells of are spread evenly": (
        pod("p", 24),
        [sized("n1", **STATED, numa=[22, 24])],
        Admitted({1: 24}, {0: 22, 1: 0}),
    ),
    "sizes that contradict each other": (
        pod("p", 2),
        [sized("n1", 20, **STATED, numa=[22, 24])],
        Unsure("more CPUs can be given out than it has, by what is told of its NUMA nodes"),
    ),
    "CPUs that cannot be spread evenly": (
        pod("p", 2),
        [sized("n1", 47, **STATED, numa=[22, 24])],
        Unsure("nobody tells how its CPUs are spread over its NUMA nodes"),
    ),
    "a number that no machine has": (
        pod("p", 2),
        [TOLD, numa("n1", (10**9, 10**9 - 2, 10**9 - 2), (24, 24, 24))],
        Unsure("more than 4096 CPUs in one NUMA node are taken for a mistake"),
    ),
    "no CPU is reserved": (
        pod("p", 2),
        [sized("n1", **STATED, numa=[24, 24])],
        Unsure("all its CPUs are said to be for pods: no static CPU manager starts so"),
    ),
    "a node that tells nothing": (
        pod("p", 2),
        [sized("n1")],
        Unsure("nobody tells of its NUMA nodes"),
    ),
    "a node without a status": (
        pod("p", 2),
        [{"kind": "Node", "metadata": {"name": "n1"}}],
        Unsure("it does not tell what is allocatable"),
    ),
}


@pytest.mark.parametrize(("asked", "objects", "said"), VERDICTS.values(), ids=VERDICTS)
def test_what_a_kubelet_would_say(asked: Object, objects: list[Object], said: Verdict) -> None:
    assert ask(asked, *objects) == said


def test_asking_leaves_everything_as_it_is() -> None:
    standing = stand(Objects([TOLD, ROOMY]), "n1")
    before = standing.free()
    for amount in (2, 3, 22, 26):
        asked = read_pod(pod("p", amount))
        assert asked
        assert standing.ask(asked) == standing.ask(asked)
    assert standing.free() == before == {0: 22, 1: 24}


def test_a_node_file_states_what_the_dump_does_not() -> None:
    file = nodes_file(
        {
            "nodes": [
                {
                    "name": "n1",
                    "machine": {"sockets": 2, "coresPerSocket": 12},
                    "kubelet": {
                        "cpuManagerPolicy": "static",
                        "topologyManagerPolicy": "single-numa-node",
                        "reservedSystemCPUs": "0,24",
                    },
                }
            ]
        }
    )
    standing = stand(Objects([sized("n1")]), "n1", file.nodes[0])
    asked = read_pod(pod("p", 3))
    assert asked
    assert standing.ask(asked) == Admitted({0: 3}, {0: 18, 1: 24})


NOTES: dict[str, tuple[list[Object], tuple[str, ...]]] = {
    "what is published says the same as the pods": (
        [TOLD, numa("n1", (24, 22, 18), (24, 24, 24)), pod("old", 4, on="n1", started=1)],
        (),
    ),
    "nothing is published": (
        [sized("n1", **STATED, numa=[22, 24]), pod("old", 4, on="n1", started=1)],
        ("1 pod with exclusive CPUs came in the order of their start, and none has ended since",),
    ),
    "what is published is older than the pods": (
        [TOLD, ROOMY, pod("old", 4, on="n1", started=1)],
        (
            (
                "its NodeResourceTopology tells of 22, 24 free CPUs, and its pods leave 18, 24: "
                "it was not used"
            ),
            "1 pod with exclusive CPUs came in the order of their start, and none has ended since",
        ),
    ),
    "several ways": (
        [sized("n1", threadsPerCore=2), ROOMY],
        ("nobody tells its scope and full-pcpus-only: looked at in every way",),
    ),
}


@pytest.mark.parametrize(("objects", "said"), NOTES.values(), ids=NOTES)
def test_what_was_assumed_is_told(objects: list[Object], said: tuple[str, ...]) -> None:
    assert notes(*objects) == said


ODD: dict[str, Object] = {
    "a zone without a name, costs that are none": {"type": "Node", "costs": [1, {"value": 1}]},
    "a zone that is a number": {"type": 5, "resources": 7},
    "resources that are none": {"name": "node-x", "type": "Node", "resources": [None, "cpu"]},
}


@pytest.mark.parametrize("zone", ODD.values(), ids=ODD)
def test_an_odd_zone_makes_things_unknown_and_nothing_worse(zone: Object) -> None:
    topology = {**ROOMY, "zones": [*ROOMY["zones"], zone, None]}
    found = read_pod(pod("p", 2), "asked")
    assert found
    verdict = stand(Objects([sized("n1"), topology]), "n1").ask(found)
    assert isinstance(verdict, Admitted | Unsure)
