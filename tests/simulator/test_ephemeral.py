"""Ephemeral containers: who may add what, and where they may not come from."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_support import PODS, Wire, pod

from simulator.api.bodies import STRATEGIC
from simulator.rules import ephemeral

HERE = {"name": "debug", "image": "registry.example/debug:1"}


def with_them(*containers: dict[str, Any]) -> dict[str, Any]:
    return pod("p", ephemeralContainers=list(containers))


@pytest.mark.parametrize(
    ("old", "new", "field", "says"),
    [
        pytest.param([], [HERE], "", "", id="one comes"),
        pytest.param([HERE], [HERE, HERE | {"name": "more"}], "", "", id="another one comes"),
        pytest.param([], [HERE | {"targetContainerName": "app"}], "", "", id="with a target"),
        pytest.param([HERE], [], "", "may not be removed", id="one goes"),
        pytest.param(
            [HERE], [HERE | {"image": "x"}], "", '"debug" may not be changed', id="one is changed"
        ),
        pytest.param([], [{"image": "x"}], "[0].name", "Required", id="without a name"),
        pytest.param([], [{"name": "x"}], "[0].image", "Required", id="without an image"),
        pytest.param(
            [], [HERE | {"name": "app"}], "[0].name", "Duplicate", id="a name that is taken"
        ),
        pytest.param([], [HERE, HERE], "[1].name", "Duplicate", id="the same name twice"),
        pytest.param(
            [],
            [HERE | {"targetContainerName": "nobody"}],
            "[0].targetContainerName",
            'Not found: "nobody"',
            id="a target that is not there",
        ),
        pytest.param(
            [],
            [HERE | {"resources": {"requests": {"cpu": "1"}}}],
            "[0].resources",
            "cannot be set for an Ephemeral Container",
            id="resources",
        ),
    ],
)
def test_ephemeral_containers_only_come(
    old: list[dict[str, Any]], new: list[dict[str, Any]], field: str, says: str
) -> None:
    found = list(ephemeral.check_update(with_them(*old), with_them(*new)))
    if not says:
        assert found == []
        return
    (cause,) = found
    assert cause.field == f"spec.ephemeralContainers{field}"
    assert says in cause.message


def test_they_come_through_their_subresource_alone(api: Wire) -> None:
    status, told = api.ask("POST", PODS, with_them(HERE))
    assert (status, told["details"]["causes"][0]["field"]) == (422, "spec.ephemeralContainers")
    api.post(PODS, pod())
    patch = {"spec": {"ephemeralContainers": [HERE], "priority": 7}}
    assert api.patch(f"{PODS}/p", patch, STRATEGIC)[0] == 422
    status, patched = api.patch(f"{PODS}/p/ephemeralcontainers", patch, STRATEGIC)
    assert (status, patched["metadata"]["generation"]) == (200, 2)
    (made,) = patched["spec"]["ephemeralContainers"]
    assert (made["name"], made["imagePullPolicy"]) == ("debug", "IfNotPresent")
    assert patched["spec"]["priority"] == 0
