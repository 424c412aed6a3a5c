"""Who is asked about: pods that cannot become Guaranteed cost no call."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

import pytest
import servers
from deployment.manifests import ROOT, Object, one
from scripted_webhook import HOOKS
from simulator_support import Wire

from simulator.admission.webhooks.conditions import compiled
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from servers import Running

NAMESPACES: Final = "/api/v1/namespaces"


def limits(**amounts: str) -> Object:
    return {"name": "c", "image": "registry.example/c:1", "resources": {"limits": amounts}}


BARE: Final = {"name": "c", "image": "registry.example/c:1"}
FULL: Final = limits(cpu="3", memory="1Gi")


@pytest.mark.parametrize(
    ("containers", "metadata", "asked"),
    [
        pytest.param([FULL], {}, True, id="Guaranteed"),
        pytest.param([BARE], {}, False, id="nothing at all: BestEffort"),
        pytest.param([{**BARE, "resources": {}}], {}, False, id="empty resources"),
        pytest.param([limits(memory="1Gi")], {}, False, id="a memory limit alone"),
        pytest.param(
            [{**BARE, "resources": {"requests": {"cpu": "3"}}}], {}, False, id="requests alone"
        ),
        pytest.param([BARE, FULL], {}, True, id="one of two: an injector may add the other"),
        pytest.param([FULL], {"annotations": {"a": "b"}}, True, id="annotations of others"),
        pytest.param(
            [FULL], {"annotations": {"kubernetes.io/config.mirror": "x"}}, False, id="a mirror pod"
        ),
    ],
)
def test_the_conditions_pick_pods_that_may_be_pinned(
    containers: list[Object], metadata: Object, *, asked: bool
) -> None:
    obj = {"metadata": {"name": "p", **metadata}, "spec": {"containers": containers}}
    [hook] = one("MutatingWebhookConfiguration", "evencore")["webhooks"]
    conditions = [compiled(each["name"], each["expression"]) for each in hook["matchConditions"]]
    assert all(one.holds({"object": obj}) for one in conditions) is asked


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Running]]:
    """Run the real webhook behind the configuration of the manifests."""
    directory: Path = tmp_path_factory.mktemp("conditions")
    nodes = str(ROOT / "tests" / "demo-nodes.yaml")
    services: dict[tuple[str, str], tuple[str, int]] = {}
    with (
        servers.webhook(directory, "--snapshot", nodes) as webhook,
        ApiServer(Options(secure=False, services=services)) as server,
        Wire(server) as api,
    ):
        services["evencore-system", "evencore-webhook"] = ("127.0.0.1", webhook.port)
        configuration = one("MutatingWebhookConfiguration", "evencore")
        ca = base64.b64encode(webhook.authority.pem.encode()).decode()
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = ca
        api.post(HOOKS, configuration)
        for name, labels in {"in": {"evencore.io/admission": "enabled"}, "out": {}}.items():
            api.post(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
        yield api, webhook


def _calls(webhook: Running) -> float:
    page = webhook.get("/metrics")[1]
    counted = re.findall(r"^evencore_admission_requests_total\S* (\S+)$", page, re.MULTILINE)
    return sum(map(float, counted))


OPTED_OUT: Final = {"evencore.io/admission": "disabled"}


@pytest.mark.parametrize(
    ("namespace", "metadata", "only", "calls"),
    [
        pytest.param("in", {}, FULL, 1, id="it may be pinned"),
        pytest.param("in", {}, BARE, 0, id="it has no limits"),
        pytest.param("in", {"labels": OPTED_OUT}, FULL, 0, id="it opted out"),
        pytest.param("out", {}, FULL, 0, id="its namespace takes no part"),
    ],
)
def test_the_api_server_calls_for_no_other_pod(
    cluster: tuple[Wire, Running], namespace: str, metadata: Object, only: Object, calls: int
) -> None:
    api, webhook = cluster
    before = _calls(webhook)
    made = {"metadata": {"generateName": "p-", **metadata}, "spec": {"containers": [only]}}
    pods = f"{NAMESPACES}/{namespace}/pods"
    kept = api.post(pods, {"apiVersion": "v1", "kind": "Pod", **made})
    assert _calls(webhook) - before == calls
    changed = "evencore.io/original-cpu" in kept["metadata"].get("annotations", {})
    assert changed is bool(calls)
