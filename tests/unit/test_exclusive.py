"""Which pods have exclusive CPUs, and how many there are on a node."""

from __future__ import annotations

import pytest
from builders import Pod, container, pod

from evencore.domain.exclusive import Exclusive, InUse, exclusive, in_use


def on(built: Pod, phase: str = "Running") -> Pod:
    built.obj["status"] = {"phase": phase}
    return built.spec(nodeName="n1")


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
