"""What is kept of a pod, and of a node."""

from __future__ import annotations

import msgspec
import pytest
from builders import container, node, pod

from controller.views import FullNode, LivePod, WatchedPod, alike, live
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


def test_the_texts_of_labels_that_nodes_have_in_common_are_kept_once() -> None:
    zone = "zone-whose-name-is-long"
    wire = [msgspec.json.encode(node(name).label("zone", zone).obj) for name in ("n1", "n2")]
    made = [msgspec.json.decode(each, type=FullNode) for each in wire]
    assert len({id(_labels(each)["zone"]) for each in made}) == 2
    kept = [alike(each) for each in made]
    assert kept == made
    assert len({id(_labels(each)["zone"]) for each in kept}) == 1


def _labels(found: FullNode) -> dict[str, str]:
    assert found.metadata is not None
    return found.metadata.labels or {}


def test_a_node_without_labels_stays_as_it_is() -> None:
    bare = FullNode()
    assert alike(bare) is bare
