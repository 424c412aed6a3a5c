"""The official Python client: typed calls, watches, informers' raw material, leader election."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from simulator_support import pod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.server import ApiServer


@pytest.fixture
def api(server: ApiServer) -> Iterator[client.ApiClient]:
    loaded = config.new_client_from_config_dict(yaml.safe_load(server.kubeconfig()))
    with loaded as running:
        yield running


def test_pods_are_created_read_patched_and_deleted(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    made = core.create_namespaced_pod("default", pod())
    assert (made.kind, made.status.qos_class) == ("Pod", "BestEffort")
    core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"a": "1"}}})
    listed = core.list_namespaced_pod("default", label_selector="a=1")
    assert [one.metadata.name for one in listed.items] == ["p"]
    stale = client.V1Pod(metadata=made.metadata, spec=made.spec)
    with pytest.raises(ApiException) as caught:
        core.replace_namespaced_pod("p", "default", stale)
    assert caught.value.status == 409
    core.delete_namespaced_pod("p", "default")
    assert core.list_pod_for_all_namespaces().items == []


def test_a_watch_sees_what_happens_and_ends(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    core.create_namespaced_pod("default", pod("a"))
    watching = watch.Watch()
    seen = []
    for event in watching.stream(core.list_namespaced_pod, "default", timeout_seconds=30):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 1:
            core.create_namespaced_pod("default", pod("b"))
        elif len(seen) == 2:
            core.delete_namespaced_pod("a", "default")
        else:
            watching.stop()
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_a_deployment_is_scaled_and_a_pod_bound_and_evicted(api: client.ApiClient) -> None:
    apps, core = client.AppsV1Api(api), client.CoreV1Api(api)
    labels = {"app": "x"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "a", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": labels}, "template": template}
    apps.create_namespaced_deployment("default", {"metadata": {"name": "d"}, "spec": spec})
    scale = apps.patch_namespaced_deployment_scale("d", "default", {"spec": {"replicas": 4}})
    assert (scale.spec.replicas, scale.status.selector) == (4, "app=x")
    core.create_namespaced_pod("default", pod())
    target = client.V1ObjectReference(kind="Node", name="n1")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="p"), target=target)
    core.create_namespaced_pod_binding("p", "default", binding, _preload_content=False)
    assert core.read_namespaced_pod("p", "default").spec.node_name == "n1"
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p"))
    core.create_namespaced_pod_eviction("p", "default", eviction, _preload_content=False)
    assert core.read_namespaced_pod("p", "default").metadata.deletion_timestamp is not None


def test_of_two_who_want_a_lease_from_the_same_version_one_gets_it(api: client.ApiClient) -> None:
    leases = client.CoordinationV1Api(api)
    leases.create_namespaced_lease("default", {"metadata": {"name": "l"}, "spec": {}})
    first = leases.read_namespaced_lease("l", "default")
    second = leases.read_namespaced_lease("l", "default")
    first.spec.holder_identity, second.spec.holder_identity = "one", "two"
    leases.replace_namespaced_lease("l", "default", first)
    with pytest.raises(ApiException, match="the object has been modified"):
        leases.replace_namespaced_lease("l", "default", second)
    assert leases.read_namespaced_lease("l", "default").spec.holder_identity == "one"
