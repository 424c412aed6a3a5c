"""The QoS class is what Kubernetes computes after its defaulting. The vectors hold many more."""

from __future__ import annotations

import pytest
from builders import Pod, container, pod

from evencore.domain.qos import qos_class
from evencore.domain.resources import read_amounts

EQUAL = {"cpu": "1", "memory": "1Gi"}


def _sum_of(*pairs: tuple[str, str]) -> Pod:
    return pod().containers(
        *(
            container(f"c{n}")
            .requests({"cpu": request, "memory": "1Gi"})
            .limits({"cpu": limit, "memory": "1Gi"})
            for n, (request, limit) in enumerate(pairs)
        )
    )


CASES = {
    "equal requests and limits": (pod(), "Guaranteed"),
    "limits alone, for requests follow them": (
        pod().containers(container().without_requests()),
        "Guaranteed",
    ),
    "requests that are null": (pod().containers(container().requests(None)), "Guaranteed"),
    "requests of memory alone": (
        pod().containers(container().requests({"memory": "1Gi"})),
        "Guaranteed",
    ),
    "the same amount in other words": (
        pod().containers(
            container()
            .requests({"cpu": "3000m", "memory": "1Gi"})
            .limits({"cpu": 3, "memory": "1024Mi"})
        ),
        "Guaranteed",
    ),
    "amounts below a thousandth are rounded up before": (
        pod().containers(
            container()
            .requests({"cpu": "1m", "memory": "1"})
            .limits({"cpu": "100n", "memory": "1"})
        ),
        "Guaranteed",
    ),
    "other resources do not count": (
        pod().containers(container().also("nvidia.com/gpu", "1").also("hugepages-2Mi", "4Mi")),
        "Guaranteed",
    ),
    "sums are compared, not containers": (_sum_of(("1", "2"), ("3", "2")), "Guaranteed"),
    "sums that differ": (_sum_of(("1", "2"), ("2", "2")), "Burstable"),
    "ephemeral containers do not count": (
        pod().spec(ephemeralContainers=[{"name": "debug", "image": "x"}]),
        "Guaranteed",
    ),
    "overhead does not count": (pod().spec(overhead={"cpu": "250m"}), "Guaranteed"),
    "an init container without anything": (
        pod().inits(container("init", cpu=None, memory=None)),
        "Burstable",
    ),
    "a sidecar without a memory limit": (
        pod().inits(container("proxy", memory=None).sidecar()),
        "Burstable",
    ),
    "a container without a memory limit": (
        pod().containers(container(), container("b", memory=None)),
        "Burstable",
    ),
    "a cpu of zero": (pod().containers(container(), container("b", cpu="0")), "Burstable"),
    "a memory of zero": (pod().containers(container(memory="0")), "Burstable"),
    "requests alone": (pod().containers(container().limits(None)), "Burstable"),
    "a request below its limit": (
        pod().containers(container().requests({"cpu": "1", "memory": "1Gi"})),
        "Burstable",
    ),
    "a request of zero below a limit": (
        pod().containers(container().requests({"cpu": "0", "memory": "1Gi"})),
        "Burstable",
    ),
    "nothing at all": (pod().containers(container(cpu=None, memory=None)), "BestEffort"),
    "zeros alone": (pod().containers(container(cpu="0", memory="0")), "BestEffort"),
    "no containers": (pod().containers(), "BestEffort"),
    "containers that are null": (pod().spec(containers=None), "BestEffort"),
    "a GPU alone": (
        pod().containers(container(cpu=None, memory=None).limits({"nvidia.com/gpu": "1"})),
        "BestEffort",
    ),
    "pod-level resources make the containers irrelevant": (
        pod()
        .containers(container(cpu=None, memory=None))
        .spec(resources={"requests": EQUAL, "limits": EQUAL}),
        "Guaranteed",
    ),
    "pod-level limits alone, and containers that ask for nothing": (
        pod().containers(container(cpu=None, memory=None)).spec(resources={"limits": EQUAL}),
        "Guaranteed",
    ),
    "pod-level limits alone, and containers that ask for less": (
        pod().cpu("500m").spec(resources={"limits": EQUAL}),
        "Burstable",
    ),
    "pod-level memory alone": (
        pod().spec(resources={"limits": {"memory": "1Gi"}}),
        "Burstable",
    ),
    "empty pod-level resources count as none (docs/decisions/0003)": (
        pod().spec(resources={}),
        "Guaranteed",
    ),
    "pod-level resources whose maps are empty": (
        pod().spec(resources={"requests": {}, "limits": None}),
        "Guaranteed",
    ),
}


@pytest.mark.parametrize(("built", "want"), CASES.values(), ids=CASES)
def test_the_class_is_that_of_kubernetes(built: Pod, want: str) -> None:
    spec = built.view.spec
    assert spec is not None
    assert qos_class(read_amounts(spec)).value == want
