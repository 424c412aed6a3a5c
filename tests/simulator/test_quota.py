"""ResourceQuota: what counts, what is refused, and what the status says."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_support import PODS, Wire, pod

from simulator.admission.quota import usage
from simulator.api.bodies import MERGE_PATCH

QUOTAS = "/api/v1/namespaces/default/resourcequotas"


def sized(name: str, cpu: str, memory: str = "1Gi") -> dict[str, Any]:
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"limits": {"cpu": cpu, "memory": memory}}
    return made


def test_init_containers_and_sidecars_count_as_the_scheduler_counts_them() -> None:
    made = sized("p", "2")
    large = {"name": "i", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}
    made["spec"]["initContainers"] = [large]
    counted = usage(made)
    assert (counted["requests.cpu"], counted["pods"]) == (3000, 1000)
    assert counted["limits.cpu"] is None, "one container does not say"
    assert usage({**made, "status": {"phase": "Failed"}}) == {}


REFUSALS = {
    "too many CPUs": (
        {"cpu": "4"},
        sized("q", "2500m"),
        "exceeded quota: q, requested: cpu=2500m, used: cpu=2, limited: cpu=4",
    ),
    "too much memory": (
        {"limits.memory": "1536Mi"},
        sized("q", "1"),
        "requested: limits.memory=1Gi, used: limits.memory=1Gi, limited: limits.memory=1536Mi",
    ),
    "too many pods": ({"pods": "1"}, pod("q"), "requested: pods=1, used: pods=1, limited: pods=1"),
    "an amount that is not named": ({"cpu": "9"}, pod("q"), "failed quota: q: must specify cpu"),
}


@pytest.mark.parametrize(("hard", "more", "want"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_too_much_is_refused(
    api: Wire, hard: dict[str, str], more: dict[str, Any], want: str
) -> None:
    api.post(PODS, sized("p", "2"))
    api.post(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    status, body = api.ask("POST", PODS, more)
    assert (status, body["reason"]) == (403, "Forbidden")
    assert want in body["message"]


def test_a_pod_that_failed_makes_room_and_the_status_follows(api: Wire) -> None:
    api.post(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"cpu": "2000m", "pods": "5"}}})
    api.post(PODS, sized("p", "2"))
    assert api.ask("POST", PODS, sized("q", "1"))[0] == 403
    with api.watch(f"{QUOTAS}?watch=1") as events:
        while next(events)["object"]["status"].get("used") != {"cpu": "2", "pods": "1"}:
            pass
        api.patch(f"{PODS}/p/status", {"status": {"phase": "Failed"}}, MERGE_PATCH)
        while next(events)["object"]["status"]["used"] != {"cpu": "0", "pods": "0"}:
            pass
    assert api.ask("POST", PODS, sized("q", "1"))[0] == 201
