"""Objects of any shape: refused or kept, but never a fault of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator_support import MAPS, PODS, Wire, config_map, pod

from simulator.api.bodies import APPLY, MERGE_PATCH, STRATEGIC
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  any JSON value
    """Iterate over the paths of a JSON value."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*at, number))


def full_pod() -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    made = pod(
        "p",
        schedulingGates=[{"name": "a/b"}],
        affinity={"nodeAffinity": required},
        tolerations=[{"key": "a"}],
        nodeSelector={"a": "1"},
        volumes=[{"name": "v", "secret": {"secretName": "s"}}],
    )
    made["metadata"] |= {"labels": {"a": "1"}, "finalizers": ["a/b"]}
    made["spec"]["containers"][0] |= {
        "resources": {"limits": {"cpu": "1"}},
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
        "ports": [{"containerPort": 80}],
        "readinessProbe": {"httpGet": {"port": 80}},
    }
    return made


PLACES = [path for path in places(full_pod()) if path[0] in ("metadata", "spec")]


@pytest.fixture(scope="module")
def shared() -> Iterator[Wire]:
    with ApiServer(Options(secure=False)) as running, Wire(running) as wire:
        yield wire


@settings(max_examples=300)
@given(place=st.sampled_from(PLACES), value=JSON_VALUES)
def test_a_pod_with_anything_anywhere_is_no_fault_of_the_server(
    shared: Wire, place: tuple[Any, ...], value: object
) -> None:
    broken = full_pod()
    inner: Any = broken
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    status, body = shared.ask("POST", f"{PODS}?dryRun=All", broken)
    assert status in (201, 400, 403, 404, 409, 422), body


def nested(place: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401  any JSON value
    """Build a patch that reaches a place, by the name of the container within lists."""
    for key in reversed(place):
        if isinstance(key, int):
            value = [{"name": "app", **(value if isinstance(value, dict) else {"x": value})}]
        else:
            value = {key: value}
    return value


DIRECTIVES = st.sampled_from(
    ["$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers"]
)


@settings(max_examples=300)
@given(
    place=st.sampled_from(PLACES),
    value=JSON_VALUES | st.dictionaries(DIRECTIVES, JSON_VALUES, max_size=2),
    type_=st.sampled_from([MERGE_PATCH, STRATEGIC, APPLY]),
)
def test_a_patch_with_anything_anywhere_is_no_fault_of_the_server(
    shared: Wire, place: tuple[Any, ...], value: object, type_: str
) -> None:
    shared.ask("POST", PODS, full_pod() | {"metadata": {"name": "patched"}})
    typed = {"apiVersion": "v1", "kind": "Pod", **nested(place, value)}
    path = f"{PODS}/patched?dryRun=All&fieldManager=me"
    status, body = shared.patch(path, typed, type_)
    # Unknown fields in an apply are a 500 in Kubernetes, too, but one without a reason.
    undeclared = "field not declared in schema" in body.get("message", "")
    assert status in (200, 400, 403, 409, 422) or (undeclared and "reason" not in body), body


BODIES = [
    ("DELETE", f"{PODS}/p", {"gracePeriodSeconds": "x"}),
    ("DELETE", f"{PODS}/p", {"preconditions": []}),
    ("DELETE", f"{PODS}/p", {"propagationPolicy": "Somehow"}),
    ("POST", f"{PODS}/p/eviction", {"deleteOptions": "x"}),
    ("POST", f"{PODS}/p/binding", {"target": "n1"}),
    ("POST", f"{PODS}/p/binding", {"target": {"name": 5}}),
]


@pytest.mark.parametrize(("method", "path", "sent"), BODIES)
def test_bodies_of_actions_that_cannot_be_read(
    api: Wire, method: str, path: str, sent: object
) -> None:
    api.post(PODS, pod())
    status, body = api.ask(method, path, sent)
    assert (status, body["reason"]) == (400, "BadRequest")


REFUSALS = {
    "a number for a label": ({"metadata": {"labels": {"a": 1}}}, "Expected `str`, got `int`"),
    "a text for a list": ({"metadata": {"finalizers": "a/b"}}, "$.metadata.finalizers"),
    "an owner without uid": ({"metadata": {"ownerReferences": [{"name": "x"}]}}, "uid"),
}


@pytest.mark.parametrize(("patch", "want"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_decoded_is_refused_with_its_place(
    api: Wire, patch: dict[str, Any], want: str
) -> None:
    api.post(MAPS, config_map())
    status, body = api.patch(f"{MAPS}/c", patch, MERGE_PATCH)
    assert (status, body["reason"]) == (400, "BadRequest")
    assert want in body["message"]
