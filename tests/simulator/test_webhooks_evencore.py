"""The real evencore webhook behind a configuration, as a cluster has it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
import servers
from scripted_webhook import HOOKS, SERVICE, configuration, hook
from simulator_support import PODS, Object, Wire, pod

from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from servers import Running


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
