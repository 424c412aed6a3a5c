"""Which pods have exclusive CPUs, and how many there are on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import Pod, container, pod

from evencore.domain import names
from evencore.domain.exclusive import Exclusive, InUse, exclusive, in_use

if TYPE_CHECKING:
    from collections.abc import Sequence


def on(built: Pod, phase: str = "Running", **status: object) -> Pod:
    built.obj["status"] = {"phase": phase, **status}
    return built.spec(nodeName="n1")


def off(*nodes: str, terms: Sequence[object] = ()) -> Pod:
    """Build a pod that keeps off nodes, in the first of its terms."""
    rule = {"key": names.NODE, "operator": "NotIn", "values": list(nodes)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}, *terms]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return pod().cpu(4).spec(affinity=affinity)


CASES = {
    "a whole request": (on(pod().cpu(4)), Exclusive("n1", (4,), 4, running=True)),
    "bound, and not admitted yet": (
        on(pod().cpu(4), "Pending"),
        Exclusive("n1", (4,), 4, running=False),
    ),
    "waiting for a node": (pod().cpu(4), Exclusive("", (4,), 4, running=False)),
    "a fraction": (on(pod().cpu("2500m")), None),
    "a fraction beside a whole request": (
        on(pod().containers(container(cpu="2"), container("logs", "100m"))),
        Exclusive("n1", (2,), 2, running=True),
    ),
    "an init container hands its CPUs over": (
        on(pod().cpu(4).inits(container("init", "6"))),
        Exclusive("n1", (4, 6), 6, running=True),
    ),
    "Burstable": (on(pod().containers(container().limits({"cpu": "4", "memory": "1Gi"}))), None),
    "pod-level resources": (on(pod().spec(resources={"limits": {"cpu": "4"}})), None),
    "done": (on(pod(), "Succeeded"), None),
    "failed": (on(pod(), "Failed"), None),
    "on a node that it keeps off": (
        on(off("n1", "n2")),
        Exclusive("n1", (4,), 4, running=True, astray=True, settled=True),
    ),
    "bound to a node that it keeps off, and not admitted yet": (
        on(off("n1"), "Pending"),
        Exclusive("n1", (4,), 4, running=False, astray=True),
    ),
    "admitted there, and not running yet": (
        on(off("n1"), "Pending", startTime="2026-03-01T10:00:00Z"),
        Exclusive("n1", (4,), 4, running=False, astray=True, settled=True),
    ),
    "on a node that it keeps off, beside a term that matches none": (
        on(off("n1", terms=[{}])),
        Exclusive("n1", (4,), 4, running=True, astray=True, settled=True),
    ),
    "a fraction on a node that it keeps off": (
        on(off("n1").cpu("2500m")),
        Exclusive("n1", (), 0, running=True, astray=True, settled=True),
    ),
    "on a node that it keeps off in one of two terms": (
        on(off("n1", terms=[{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])),
        Exclusive("n1", (4,), 4, running=True),
    ),
    "on another node than it keeps off": (on(off("n2")), Exclusive("n1", (4,), 4, running=True)),
    "an amount that is none": (on(pod().cpu("many")), None),
}


@pytest.mark.parametrize(("built", "expected"), CASES.values(), ids=CASES)
def test_one_pod(built: Pod, expected: Exclusive | None) -> None:
    assert exclusive(built.view) == expected


def test_all_pods_of_a_node() -> None:
    pods = [
        Exclusive("n1", (2, 4), 6, running=True),
        Exclusive("n1", (8,), 8, running=False),
        Exclusive("", (8,), 8, running=False),
    ]
    assert in_use(pods) == {"n1": InUse(2, 14, frozenset({2, 4}), 6)}


def test_those_that_keep_off_their_node_are_counted() -> None:
    stray = Exclusive("n1", (2,), 2, running=False, astray=True)
    fraction = Exclusive("n1", (), 0, running=True, astray=True, settled=True)
    in_all = InUse(2, 4, astray=3, settled=1)
    assert in_use([stray, stray, fraction]) == {"n1": in_all}
