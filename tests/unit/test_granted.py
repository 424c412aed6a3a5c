"""What a pod has whose resize its kubelet has not granted."""

from __future__ import annotations

from typing import Any

import pytest
from builders import Container, Pod, container, pod

from controller.views import WatchedPod, live
from evencore.domain.exclusive import exclusive
from evencore.domain.granted import granted
from evencore.domain.lenient import read
from evencore.domain.views import PodView

PENDING = {"conditions": [{"type": "Ready"}, {"type": "PodResizePending", "reason": "Infeasible"}]}


def asks(cpu: str, has: object, said: object = PENDING, part: str = "containerStatuses") -> Pod:
    """Return a running pod whose spec asks for `cpu`, and whose kubelet has given `has`."""
    built = pod().cpu(cpu).spec(nodeName="n1")
    statuses = [{"name": "other"}, {"name": "app", "allocatedResources": has}]
    built.obj["status"] = {"phase": "Running", part: statuses} | (
        said if isinstance(said, dict) else {}
    )
    return built


def cpu_of(obj: Any) -> tuple[Any, Any]:  # noqa: ANN401  any JSON
    resources = obj["spec"]["containers"][0]["resources"]
    return resources["requests"]["cpu"], resources["limits"]["cpu"]


CASES: dict[str, tuple[Pod, tuple[str, str]]] = {
    "refused for good": (asks("3", {"cpu": "4", "memory": "1Gi"}), ("4", "4")),
    "put off": (
        asks("6", {"cpu": "4"}, {"conditions": [{"type": "PodResizePending"}]}),
        ("4", "4"),
    ),
    "refused, as kubelets before 1.33 put it": (
        asks("3", {"cpu": "4"}, {"resize": "Infeasible"}),
        ("4", "4"),
    ),
    "granted": (asks("6", {"cpu": "4"}, {"conditions": [{"type": "Ready"}]}), ("6", "6")),
    "nothing is said of what it has": (asks("3", None), ("3", "3")),
    "only memory is": (asks("3", {"memory": "1Gi"}), ("3", "3")),
    "a status of another shape": (asks("3", {"cpu": "4"}, {"conditions": "none"}), ("3", "3")),
    "a list of another shape": (asks("3", {"cpu": "4"}, PENDING, "ephemeral"), ("3", "3")),
}


@pytest.mark.parametrize(("built", "want"), CASES.values(), ids=CASES)
def test_what_a_pod_has(built: Pod, want: tuple[str, str]) -> None:
    assert cpu_of(granted(built.obj)) == want


def test_a_request_below_its_limit_leaves_the_limit() -> None:
    built = asks("3", {"cpu": "2"}).containers(
        Container("app", "3", "1Gi").limits({"cpu": "8", "memory": "1Gi"})
    )
    assert cpu_of(granted(built.obj)) == ("2", "8")


def test_sidecars_are_resized_too() -> None:
    built = asks("4", {"cpu": "2"}, PENDING, "initContainerStatuses")
    built.inits(container("app", "3").sidecar())
    (sidecar,) = granted(built.obj)["spec"]["initContainers"]
    assert sidecar["resources"]["requests"]["cpu"] == "2"


def test_a_resize_that_is_refused_is_no_proof_of_what_a_kubelet_admits() -> None:
    """Else a node that checks alignment seemed to have admitted three CPUs."""
    built = asks("3", {"cpu": "4"})
    found = exclusive(read(PodView, granted(built.obj))[0])
    assert found
    assert (found.containers, found.running) == ((4,), True)
    watched = live(read(WatchedPod, built.obj)[0]).exclusive
    assert watched
    assert not watched.running
