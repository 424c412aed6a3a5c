"""What is kept of a pod."""

from __future__ import annotations

import pytest
from builders import container, pod

from controller.views import LivePod, WatchedPod, live
from evencore.domain.lenient import read


def kept(qos: str | None) -> LivePod:
    status = {"phase": "Running", **({"qosClass": qos} if qos else {})}
    obj = {**pod().containers(container(cpu="4", memory="1Gi")).obj, "status": status}
    return live(read(WatchedPod, obj)[0])


@pytest.mark.parametrize(
    ("qos", "has_cpus"),
    [
        pytest.param("Guaranteed", True, id="as the API server says"),
        pytest.param("Burstable", False, id="the API server says that it is not Guaranteed"),
        pytest.param(None, True, id="it does not say, so we work it out"),
    ],
)
def test_a_pod_has_cpus_of_its_own_if_its_class_is_guaranteed(
    qos: str | None,
    has_cpus: bool,  # noqa: FBT001  a table
) -> None:
    assert bool(kept(qos).exclusive) is has_cpus
