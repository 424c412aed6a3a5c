"""The real evencore webhook behind a configuration, as a cluster has it."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import servers
from scripted_webhook import HOOKS, SERVICE, configuration, hook
from simulator_support import PATIENCE_S, PODS, Object, Wire, pod

from simulator.api.bodies import MERGE_PATCH
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from servers import Running


JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Wire, Running]]:
    """Run both as in a cluster: the API server asks the webhook, which watches the API server."""
    services: dict[tuple[str, str], tuple[str, int]] = {}
    with (
        ApiServer(Options(secure=False, services=services)) as server,
        Wire(server) as api,
    ):
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        with servers.webhook(tmp_path, "--kubeconfig", str(kubeconfig)) as webhook:
            services[SERVICE] = ("127.0.0.1", webhook.port)
            yield api, webhook


def client_config(webhook: Running) -> Object:
    namespace, name = SERVICE
    ca = base64.b64encode(webhook.authority.pem.encode()).decode()
    return {"service": {"namespace": namespace, "name": name, "path": "/mutate"}, "caBundle": ca}


def pinned(cpu: str, **metadata: object) -> Object:
    made = pod()
    made["spec"]["containers"][0]["resources"] = {"limits": {"cpu": cpu, "memory": "1Gi"}}
    made["metadata"].update(metadata)
    return made


def test_a_pod_of_3_cpus_becomes_one_of_4_and_its_warnings_arrive(
    cluster: tuple[Wire, Running],
) -> None:
    api, webhook = cluster
    api.post(HOOKS, configuration(hook("pods.evencore.io", client_config(webhook))))
    made = api.post(PODS, pinned("3"))
    resources = made["spec"]["containers"][0]["resources"]
    assert (resources["requests"]["cpu"], resources["limits"]["cpu"]) == ("4", "4")
    assert made["status"]["qosClass"] == "Guaranteed"

    odd = pinned("3", name="odd", annotations={"evencore.io/cpu": "perhaps"})
    warned = api.headers("POST", PODS, odd)["Warning"]
    assert warned.startswith('299 - "')
    assert "evencore.io/cpu" in warned

    denied = pinned("3", name="denied", annotations={"evencore.io/cpu": "deny"})
    status, refusal = api.ask("POST", PODS, denied)
    assert (status, refusal["code"]) == (403, 403)
    assert refusal["message"].startswith(
        'admission webhook "pods.evencore.io" denied the request: '
    )


@pytest.mark.parametrize(("policy", "status"), [("Ignore", 201), ("Fail", 500)])
def test_a_webhook_that_is_down_is_ignored_or_not(
    cluster: tuple[Wire, Running], policy: str, status: int
) -> None:
    api, webhook = cluster
    entry = hook("pods.evencore.io", client_config(webhook), failurePolicy=policy)
    api.post(HOOKS, configuration(entry))
    api.post(PODS, pinned("3", name="first"))  # leaves a connection that then is none
    webhook.process.terminate()
    webhook.wait()
    got, answer = api.ask("POST", PODS, pinned("3"))
    assert got == status
    if policy == "Ignore":
        assert answer["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"
    else:
        assert answer["message"] == (
            'Internal error occurred: failed calling webhook "pods.evencore.io": failed to call '
            'webhook: Post "https://evencore-webhook.evencore.svc:443/mutate?timeout=10s": '
            f"dial tcp 127.0.0.1:{webhook.port}: connect: connection refused"
        )


def job(api: Wire, name: str) -> Object:
    """Make a Job, without anybody to make its pods; returns how these would refer to it."""
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    made = api.post(JOBS, {"metadata": {"name": name}, "spec": {"template": template}})
    named = {"name": name, "uid": made["metadata"]["uid"]}
    return {"apiVersion": "batch/v1", "kind": "Job", "controller": True, **named}


def refuse(api: Wire, name: str, owner: Object) -> None:
    """Have the kubelet of n1 refuse a pod."""
    made = pinned("2", name=name, ownerReferences=[owner])
    made["spec"]["nodeName"] = "n1"
    api.post(PODS, made)
    status = {
        "phase": "Failed",
        "reason": "TopologyAffinityError",
        "startTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert api.patch(f"{PODS}/{name}/status", {"status": status}, MERGE_PATCH)[0] == 200


def created_until(api: Wire, made: Object, true: Callable[[Object], bool]) -> None:
    """Ask what a pod would become until the webhook has heard of what it is to know."""
    deadline = time.monotonic() + PATIENCE_S
    while not true(api.post(f"{PODS}?dryRun=All", made)):
        assert time.monotonic() < deadline, "the webhook did not hear of it"


def test_a_pod_is_held_by_a_gate_and_is_patched_once_however_often_it_is_looked_at(
    cluster: tuple[Wire, Running],
) -> None:
    api, webhook = cluster
    config = client_config(webhook)
    api.post(
        HOOKS,
        configuration(
            hook("first.evencore.io", config, reinvocationPolicy="IfNeeded"),
            hook("second.evencore.io", config, reinvocationPolicy="IfNeeded"),
        ),
    )
    owner, other = job(api, "sim"), job(api, "other")
    refuse(api, "sim-a", owner)
    fresh = pinned("3", name="sim-b", ownerReferences=[owner])
    created_until(api, fresh, lambda pod: "schedulingGates" in pod["spec"])

    made = api.post(PODS, fresh)
    assert made["spec"]["schedulingGates"] == [{"name": "evencore.io/hold"}]
    assert made["metadata"]["labels"]["evencore.io/steering"] == "held"
    decision = made["metadata"]["annotations"]["evencore.io/decision"]
    assert decision.count("3 → 4") == decision.count("held, until ") == 1
    shown = api.get(f"{PODS}/sim-b", Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    status = [column["name"] for column in shown["columnDefinitions"]].index("Status")
    assert shown["rows"][0]["cells"][status] == "SchedulingGated"

    assert "schedulingGates" not in api.post(PODS, pinned("3", ownerReferences=[other]))["spec"]
