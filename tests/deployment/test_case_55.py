"""Case 55: control planes that reach only some ports, or no pod at all."""

from __future__ import annotations

from typing import Any

import pytest
from deployment.manifests import container, deployment, hook, one, pod_spec


def _flag(variant: str) -> str:
    [bind] = [arg for arg in container("webhook", variant)["args"] if arg.startswith("--bind=")]
    return str(bind.rpartition(":")[2])


@pytest.mark.parametrize(
    ("variant", "port"), [("base", 8443), ("port", 10250), ("host-network", 10260)]
)
def test_the_port_changes_everywhere_at_once_and_the_services_stays_443(
    variant: str, port: int
) -> None:
    [listens] = container("webhook", variant)["ports"]
    assert (listens["name"], listens["containerPort"]) == ("https", port)
    assert _flag(variant) == str(port)
    # By its name, so these can never disagree with it.
    [served] = one("Service", "evencore-webhook", variant)["spec"]["ports"]
    assert (served["port"], served["targetPort"]) == (443, "https")
    [rule] = one("NetworkPolicy", "evencore-webhook", variant)["spec"]["ingress"]
    assert [p["port"] for p in rule["ports"]] == ["https"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container("webhook", variant)[probe]["httpGet"]["port"] == "https"
    assert hook(variant)["clientConfig"]["service"]["port"] == 443


def test_on_the_host_network_replicas_keep_apart_and_names_are_found() -> None:
    spec = pod_spec("webhook", "host-network")
    assert spec["hostNetwork"] is True
    assert spec["dnsPolicy"] == "ClusterFirstWithHostNet"
    [apart] = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    labels = deployment("webhook", "host-network")["template"]["metadata"]["labels"]
    assert apart["labelSelector"]["matchLabels"] == labels


# What listens on nodes, by default: kubelet, kube-proxy, controller manager, cloud controller
# manager, scheduler, etcd, API server; and NodePorts.
TAKEN = {10250, 10255, 10248, 10256, 10249, 10257, 10258, 10259, 2379, 2380, 6443}


def test_on_the_host_network_the_port_clashes_with_nothing_and_needs_no_root() -> None:
    [listens] = container("webhook", "host-network")["ports"]
    port = listens["containerPort"]
    assert listens["hostPort"] == port
    assert port not in TAKEN
    assert 1024 < port < 30000
    assert pod_spec("webhook", "host-network")["securityContext"]["runAsNonRoot"] is True


def test_on_the_host_network_pod_security_lets_it_be_created() -> None:
    labels: dict[str, Any] = one("Namespace", "evencore-system", "host-network")["metadata"][
        "labels"
    ]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"


def test_on_the_host_network_a_rollout_needs_no_node_to_spare() -> None:
    strategy = deployment("webhook", "host-network")["strategy"]["rollingUpdate"]
    assert strategy["maxUnavailable"] == 1 < deployment("webhook", "host-network")["replicas"]


def test_the_controller_is_left_as_it_is() -> None:
    for variant in ("port", "host-network"):
        assert deployment("controller", variant) == deployment("controller")
