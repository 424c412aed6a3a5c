"""What the doctor reads and tries: what is there, what is not, what may not be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builders import node
from wire.scripted import Answer, a_list, refusal
from wire.support import client_of

from evencore.kube.errors import NotFound, Unavailable
from evencore.kube.examining import (
    CONFIGURATIONS,
    Refused,
    read_all,
    read_endpoints,
    read_lease,
    read_owner,
    try_pod,
)

if TYPE_CHECKING:
    from wire.scripted import ScriptedServer

LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/name"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices"
PODS = "/api/v1/namespaces/shop/pods"
LISTS = ("/api/v1/namespaces", "/api/v1/nodes", "/api/v1/pods", "/api/v1/events")
NRT = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"


def answer(value: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def everything(server: ScriptedServer, **instead: Answer) -> None:
    """Have all lists answered, empty but for one node."""
    for path in (*LISTS, CONFIGURATIONS.path, NRT):
        server.otherwise(path, a_list([]))
    server.otherwise("/api/v1/nodes", a_list([node("n1").obj]))
    for part, one in instead.items():
        path = next(path for path in (*LISTS, CONFIGURATIONS.path, NRT) if path.endswith(part))
        server.otherwise(path, one)


def test_everything_is_handed_over_as_it_comes(server: ScriptedServer) -> None:
    everything(server, noderesourcetopologies=refusal(404))
    found: list[dict[str, Any]] = []
    assert read_all(client_of(server), found.append) == {}
    assert [one["kind"] for one in found] == ["Node"]


def test_what_may_not_be_read_is_named_and_the_rest_is_read(server: ScriptedServer) -> None:
    everything(server, mutatingwebhookconfigurations=refusal(403, "not you"), events=refusal(403))
    found: list[dict[str, Any]] = []
    missing = read_all(client_of(server), found.append)
    assert set(missing) == {"mutatingwebhookconfigurations", "events"}
    assert "not you" in missing["mutatingwebhookconfigurations"]
    assert len(found) == 1


@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (500, Unavailable)])
def test_a_cluster_that_does_not_answer_is_no_diagnosis(
    server: ScriptedServer, status: int, error: type[Exception]
) -> None:
    everything(server, nodes=refusal(status))
    with pytest.raises(error):
        read_all(client_of(server), lambda _: None)


def test_a_lease(server: ScriptedServer) -> None:
    server.script(LEASE, answer({"spec": {}}), refusal(404), refusal(403))
    client = client_of(server)
    assert read_lease(client, "ns", "name") == {"spec": {}}
    assert read_lease(client, "ns", "name") is None
    assert isinstance(read_lease(client, "ns", "name"), Refused)


def test_owners_of_unknown_kinds_are_not_asked_for(server: ScriptedServer) -> None:
    server.script("/apis/batch/v1/namespaces/ns/jobs/name", answer({"spec": {}}))
    client = client_of(server)
    assert read_owner(client, "Job", "ns", "name") == {"spec": {}}
    assert read_owner(client, "Cluster", "ns", "name") is None
    assert len(server.seen) == 1


def test_endpoints_are_those_of_the_service(server: ScriptedServer) -> None:
    server.script(SLICES, a_list([{"endpoints": []}]), refusal(404), refusal(403))
    client = client_of(server)
    found = read_endpoints(client, "ns", "webhook")
    assert isinstance(found, list)
    assert len(found) == 1
    assert server.seen[0].query["labelSelector"] == "kubernetes.io/service-name=webhook"
    assert read_endpoints(client, "ns", "webhook") is None
    assert isinstance(read_endpoints(client, "ns", "webhook"), Refused)


def test_a_trial_is_a_dry_run_of_a_guaranteed_odd_pod(server: ScriptedServer) -> None:
    server.script(PODS, answer({"metadata": {}}, 201))
    assert try_pod(client_of(server), "shop").pod == {"metadata": {}}
    (seen,) = server.seen
    assert (seen.verb, seen.query["dryRun"]) == ("POST", "All")
    (container,) = json.loads(seen.body)["spec"]["containers"]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["limits"]["cpu"] == "2500m"


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (refusal(500, 'failed calling webhook "pods.evencore.io": connection refused'), True),
        (refusal(500, "etcd is not there"), False),
        (refusal(403, "exceeded quota"), False),
        (refusal(400, "admission webhook x does not support dry run"), False),
        (Answer(200, b"<html>"), False),
    ],
)
def test_a_trial_that_is_refused_says_why(
    server: ScriptedServer,
    reply: Answer,
    failed: bool,  # noqa: FBT001
) -> None:
    server.script(PODS, reply)
    found = try_pod(client_of(server), "shop")
    assert (found.pod, found.failed) == (None, failed)
    assert found.text
