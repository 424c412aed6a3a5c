"""What containers and pods ask for, after the API server's defaulting."""

from __future__ import annotations

import pytest
from builders import Container, Pod, container, pod

from evencore.domain.resources import Amount, Kind, PodAmounts, pod_total, read_amounts


def amounts(built: Pod) -> PodAmounts:
    spec = built.view.spec
    assert spec is not None
    return read_amounts(spec)


@pytest.mark.parametrize(
    ("built", "want"),
    [
        pytest.param(container(cpu="3"), Amount(3000, 3000), id="both"),
        pytest.param(container().without_requests(), Amount(2000, 2000), id="limits alone"),
        pytest.param(container().limits(None), Amount(2000, None), id="requests alone"),
        pytest.param(container().limits({}).requests({}), Amount(None, None), id="empty maps"),
        pytest.param(container(cpu=None), Amount(None, None), id="memory alone"),
        pytest.param(container(cpu=None, memory=None), Amount(None, None), id="no resources"),
        pytest.param(container(cpu="0"), Amount(0, 0), id="zero is set"),
    ],
)
def test_a_missing_request_takes_the_value_of_the_limit(built: Container, want: Amount) -> None:
    assert amounts(pod().containers(built)).containers[0].cpu == want


def test_containers_are_told_apart_by_what_they_are_to_the_pod() -> None:
    built = pod().inits(container("first"), container("proxy").sidecar(), container("last"))
    found = [(c.name, c.kind, c.position) for c in amounts(built).containers]
    assert found == [
        ("app", Kind.APP, 0),
        ("first", Kind.INIT, 0),
        ("proxy", Kind.SIDECAR, 1),
        ("last", Kind.INIT, 2),
    ]


@pytest.mark.parametrize("policy", [None, "", "Never", "OnFailure", "always"])
def test_only_restart_policy_always_makes_a_sidecar(policy: str | None) -> None:
    init = container("init")
    init.obj["restartPolicy"] = policy
    assert amounts(pod().inits(init)).containers[1].kind is Kind.INIT


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([(Kind.APP, 2), (Kind.APP, 3)], 5, id="app containers run together"),
        pytest.param([(Kind.APP, 2), (Kind.INIT, 3)], 3, id="a larger init container runs before"),
        pytest.param([(Kind.APP, 4), (Kind.INIT, 3), (Kind.INIT, 2)], 4, id="one after the other"),
        pytest.param([(Kind.APP, 2), (Kind.SIDECAR, 1)], 3, id="a sidecar runs beside the app"),
        pytest.param(
            [(Kind.APP, 2), (Kind.SIDECAR, 3), (Kind.INIT, 4)], 7, id="and beside inits behind it"
        ),
        pytest.param(
            [(Kind.APP, 2), (Kind.INIT, 4), (Kind.SIDECAR, 3)], 5, id="not beside inits before it"
        ),
        pytest.param(
            [(Kind.APP, 2), (Kind.INIT, 9), (Kind.SIDECAR, 3)], 9, id="an init may need the most"
        ),
        pytest.param([(Kind.SIDECAR, 3), (Kind.SIDECAR, 4)], 7, id="sidecars alone"),
    ],
)
def test_the_total_is_the_most_at_one_time(parts: list[tuple[Kind, int]], want: int) -> None:
    assert pod_total(parts) == want


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param(None, None, id="absent"),
        pytest.param({}, None, id="empty"),
        pytest.param({"limits": {}}, None, id="empty maps"),
        pytest.param({"limits": {"cpu": "5"}}, Amount(2000, 5000), id="requests of containers"),
        pytest.param(
            {"requests": {"cpu": "4"}, "limits": {"cpu": "5"}}, Amount(4000, 5000), id="both"
        ),
    ],
)
def test_the_pod_level_is_read_if_it_is_set(resources: object, want: Amount | None) -> None:
    found = amounts(pod().spec(resources=resources)).pod_level
    assert (found[0] if found else None) == want


def test_without_requests_of_containers_the_pod_level_request_is_its_limit() -> None:
    built = (
        pod().containers(container(cpu=None, memory=None)).spec(resources={"limits": {"cpu": 5}})
    )
    assert amounts(built).pod_level == (Amount(5000, 5000), Amount(None, None))


def test_every_wrong_value_is_named_with_its_place() -> None:
    built = pod().containers(
        container("a").limits({"cpu": "abc"}).requests({"cpu": "x"}),
        container("b", memory="-1"),
    )
    limits_of_a, requests_of_a, of_b = amounts(built).problems
    assert limits_of_a.startswith("container a: limits.cpu 'abc' is no Kubernetes quantity")
    assert requests_of_a.startswith("container a: requests.cpu 'x' is no")
    # Request and limit share it: one sentence is enough.
    assert of_b == "container b: limits.memory '-1' is negative"


def test_a_wrong_value_at_the_pod_level_is_named() -> None:
    (problem,) = amounts(pod().spec(resources={"limits": {"cpu": "x"}})).problems
    assert problem.startswith("spec.resources: limits.cpu 'x' is no")


def test_values_of_other_resources_are_not_read() -> None:
    assert amounts(pod().containers(container().also("example.com/gpu", "junk"))).problems == ()
