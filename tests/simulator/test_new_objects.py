"""What the API server refuses in new and changed objects, and in which words."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3
from simulator_support import MAPS, PODS, Wire, config_map, pod

from simulator.api.bodies import APPLY, JSON_PATCH, MERGE_PATCH
from simulator.resources import DEPLOYMENTS, SERVICES
from simulator.rules import metadata, new_pods, services, workloads
from simulator.rules.defaults import defaulted

Object = dict[str, Any]


def owner(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}


METADATA = {
    "a name with a domain": ({"labels": {"example.com/a": "1"}}, []),
    "no value": ({"labels": {"a": ""}}, []),
    "a key with a blank": ({"labels": {"a b": "1"}}, ["metadata.labels"]),
    "a domain that is none": ({"labels": {"A/b": "1"}}, ["metadata.labels"]),
    "nothing after the slash": ({"labels": {"a/": "1"}}, ["metadata.labels"]),
    "a key of 64": ({"labels": {"a" * 64: "1"}}, ["metadata.labels"]),
    "a value with a blank": ({"labels": {"a": "b c"}}, ["metadata.labels"]),
    "annotations hold any text": ({"annotations": {"a": "b c {}"}}, []),
    "capitals in an annotation's domain": ({"annotations": {"Example.com/a": "1"}}, []),
    "an annotation's key with a blank": ({"annotations": {"a b": "1"}}, ["metadata.annotations"]),
    "annotations of 256 KiB": ({"annotations": {"a": "x" * (256 * 1024 - 1)}}, []),
    "a byte more": ({"annotations": {"a": "x" * 256 * 1024}}, ["metadata.annotations"]),
    "two bytes for a letter": ({"annotations": {"a": "é" * 131072}}, ["metadata.annotations"]),
    "a controller": ({"ownerReferences": [owner("a")]}, []),
    "two controllers": (
        {"ownerReferences": [owner("a"), owner("b")]},
        ["metadata.ownerReferences"],
    ),
    "an owner without a uid": (
        {"ownerReferences": [{**owner("a"), "uid": ""}]},
        ["metadata.ownerReferences.uid"],
    ),
    "a finalizer of its own": ({"finalizers": ["a/b", "orphan"]}, []),
    "a finalizer without a domain": ({"finalizers": ["mine"]}, ["metadata.finalizers[0]"]),
}


@pytest.mark.parametrize(("given", "places"), METADATA.values(), ids=METADATA)
def test_what_metadata_may_not_be(given: Object, places: list[str]) -> None:
    obj = {"metadata": {"name": "x", **given}}
    found = [*metadata.check(obj, path_names=False), *metadata.check_new(obj)]
    assert [cause.field for cause in found] == places


def resources(**amounts: Object) -> Object:
    return {"containers": [{"name": "a", "image": "a", "resources": amounts}]}


def tolerating(**toleration: object) -> Object:
    return {"tolerations": [toleration]}


def preferring(weight: int, operator: str = "Exists") -> Object:
    term = {"matchExpressions": [{"key": "a", "operator": operator}]}
    wishes = [{"weight": weight, "preference": term}]
    node = {"preferredDuringSchedulingIgnoredDuringExecution": wishes}
    return {"affinity": {"nodeAffinity": node}}


AT = "spec.containers[0].resources"
WISH = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]"
SPECS = {
    "a resource nobody knows": (
        resources(requests={"foo": "1"}),
        {f"{AT}.requests[foo]": "must be a standard resource", f"{AT}.limits": "must be set"},
    ),
    "a device with both": (resources(requests={"x.y/z": "2"}, limits={"x.y/z": "2"}), {}),
    "a device without a limit": (
        resources(requests={"x.y/z": "2"}),
        {f"{AT}.limits": "Limit must be set for non overcommitable resources"},
    ),
    "fewer devices than the limit": (
        resources(requests={"x.y/z": "1"}, limits={"x.y/z": "2"}),
        {f"{AT}.requests": "must be equal to x.y/z limit of 2"},
    ),
    "half a device": (
        resources(limits={"x.y/z": "500m"}),
        {f"{AT}.limits[x.y/z]": "must be an integer"},
    ),
    "huge pages alone": (
        resources(limits={"hugepages-2Mi": "2Mi"}),
        {AT: "HugePages require cpu or memory"},
    ),
    "huge pages and memory": (resources(limits={"hugepages-2Mi": "2Mi", "memory": "1Gi"}), {}),
    "a request above its limit": (
        resources(requests={"cpu": "2"}, limits={"cpu": "1"}),
        {f"{AT}.requests": "must be less than or equal to cpu limit of 1"},
    ),
    "a node label that cannot be": (
        {"nodeSelector": {"a b": "1"}},
        {"spec.nodeSelector": "name part must consist of"},
    ),
    "a gate's name": (
        {"schedulingGates": [{"name": "a b"}]},
        {"spec.schedulingGates[0]": "name part must consist of"},
    ),
    "a wish": (preferring(100), {}),
    "a wish of no weight": (preferring(0), {f"{WISH}.weight": "must be in the range 1-100"}),
    "a wish of too much": (preferring(101), {f"{WISH}.weight": "must be in the range 1-100"}),
    "a wish in no words": (
        preferring(1, "Is"),
        {f"{WISH}.preference.matchExpressions[0].operator": "Unsupported value"},
    ),
    "everything tolerated": (tolerating(operator="Exists"), {}),
    "nothing named": (
        tolerating(value="1"),
        {"spec.tolerations[0].operator": "operator must be Exists when `key` is empty"},
    ),
    "an operator that is none": (
        tolerating(key="a", operator="Is"),
        {"spec.tolerations[0].operator": 'supported values: "Equal", "Exists"'},
    ),
    "a value for Exists": (
        tolerating(key="a", operator="Exists", value="1"),
        {"spec.tolerations[0].operator": "value must be empty when `operator` is 'Exists'"},
    ),
    "a time for another effect": (
        tolerating(key="a", effect="NoSchedule", tolerationSeconds=1),
        {"spec.tolerations[0].effect": "effect must be 'NoExecute'"},
    ),
    "an effect that is none": (
        tolerating(key="a", effect="No"),
        {"spec.tolerations[0].effect": "Unsupported value"},
    ),
}


@pytest.mark.parametrize(("spec", "want"), SPECS.values(), ids=SPECS)
def test_what_a_pod_may_not_be(spec: Object, want: dict[str, str]) -> None:
    found = {cause.field: cause.message for cause in new_pods.check(pod("p", **spec))}
    assert found.keys() == want.keys()
    assert all(text in found[field] for field, text in want.items())


def rolling(surge: object, away: object) -> Object:
    return {"strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": away}}}


ROLLING = "spec.strategy.rollingUpdate"
DEPLOYED = {
    "nothing said": ({}, []),
    "neither more nor less": (rolling(0, 0), [f"{ROLLING}.maxUnavailable"]),
    "all at once": (rolling(0, "100%"), []),
    "more than all away": (rolling(0, "101%"), [f"{ROLLING}.maxUnavailable"]),
    "twice as many": (rolling("200%", 0), []),
    "no percentage": (rolling("x%", 1), [f"{ROLLING}.maxSurge"]),
    "less than none": (rolling(-1, 1), [f"{ROLLING}.maxSurge"]),
    "no such way": ({"strategy": {"type": "Slowly"}}, ["spec.strategy.type"]),
    "a way of rolling to recreate": (
        {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
        [ROLLING],
    ),
    "late before it can be ready": ({"minReadySeconds": 600}, ["spec.progressDeadlineSeconds"]),
    "pods that end": (
        {"template": {"spec": {"restartPolicy": "Never"}}},
        ["spec.template.spec.restartPolicy"],
    ),
    "pods that could not be": (
        {"template": {"spec": {"nodeSelector": {"a b": "1"}}}},
        ["spec.template.spec.nodeSelector"],
    ),
}


@pytest.mark.parametrize(("given", "places"), DEPLOYED.values(), ids=DEPLOYED)
def test_what_a_deployment_may_not_be(given: Object, places: list[str]) -> None:
    labels = {"app": "w"}
    own = given.get("template", {}).get("spec", {})
    containers = [{"name": "a", "image": "a"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers, **own}}
    spec = {**given, "selector": {"matchLabels": labels}, "template": template}
    deployment = defaulted(DEPLOYMENTS, {"metadata": {"name": "w"}, "spec": spec})
    assert [cause.field for cause in workloads.check(DEPLOYMENTS, deployment)] == places


def ports(*given: Object) -> Object:
    return {"ports": list(given)}


SERVED = {
    "a port": (ports({"port": 80}), []),
    "no port": ({}, ["spec.ports"]),
    "no port and no address": ({"clusterIP": "None"}, []),
    "another name": ({"type": "ExternalName", "externalName": "example.com"}, []),
    "two ports without names": (
        ports({"port": 80}, {"port": 81}),
        ["spec.ports[0].name", "spec.ports[1].name"],
    ),
    "two ports of a name": (
        ports({"port": 80, "name": "a"}, {"port": 81, "name": "a"}),
        ["spec.ports[1].name"],
    ),
    "a port too high": (ports({"port": 65536}), ["spec.ports[0].port"]),
    "a protocol that is none": (ports({"port": 80, "protocol": "IP"}), ["spec.ports[0].protocol"]),
    "a type that is none": ({"type": "Any", **ports({"port": 80})}, ["spec.type"]),
}


@pytest.mark.parametrize(("given", "places"), SERVED.values(), ids=SERVED)
def test_what_a_service_may_not_be(given: Object, places: list[str]) -> None:
    service = defaulted(SERVICES, {"metadata": {"name": "s"}, "spec": given})
    assert [cause.field for cause in services.check(SERVICES, service)] == places


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
BOUND = (
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch'
)
REQUESTS: dict[str, tuple[tuple[Any, ...], int, str]] = {
    "a version of what is new": (
        ("POST", MAPS, {"metadata": {"name": "n", "resourceVersion": "5"}}),
        500,
        "resourceVersion should not be set on objects to be created",
    ),
    "a lease that was not seen": (
        ("PUT", f"{LEASES}/there", {"metadata": {"name": "there"}, "spec": {}}),
        422,
        'leases.coordination.k8s.io "there" is invalid: metadata.resourceVersion: Invalid',
    ),
    "a patch to something else": (
        ("PATCH", f"{MAPS}/there", [{"op": "replace", "path": "", "value": 1}], JSON_PATCH),
        422,
        "the patch leaves no object",
    ),
    "another pod's eviction": (
        ("POST", f"{PODS}/there/eviction", {"metadata": {"name": "other"}}),
        400,
        "name in URL does not match name in Eviction object",
    ),
    "one more finalizer at the end": (
        ("PATCH", f"{MAPS}/going", {"metadata": {"finalizers": ["a/b", "c/d"]}}, MERGE_PATCH),
        422,
        'if the object is being deleted, found new finalizers []string{"c/d"}',
    ),
    "a number that is none": (("GET", f"{MAPS}?limit=x"), 400, "limit=x is no number"),
    "a match without a version": (
        ("GET", f"{MAPS}?resourceVersionMatch=Exact"),
        422,
        f"{BOUND} is forbidden unless resourceVersion is provided",
    ),
    "exactly any version": (
        ("GET", f"{MAPS}?resourceVersion=0&resourceVersionMatch=Exact"),
        422,
        f'{BOUND} "exact" is forbidden for resourceVersion "0"',
    ),
    "a match that is none": (
        ("GET", f"{MAPS}?resourceVersion=1&resourceVersionMatch=About"),
        422,
        'Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""',
    ),
    "a list with its initial events": (
        ("GET", f"{MAPS}?resourceVersion=1&{INITIAL}"),
        422,
        "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
    ),
    "a watch's match alone": (
        ("GET", f"{MAPS}?watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan"),
        422,
        f"{BOUND} is forbidden for watch unless sendInitialEvents is provided",
    ),
    "initial events that may be old": (
        ("GET", f"{MAPS}?watch&sendInitialEvents=true"),
        422,
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    ),
    "a page of another version": (
        ("GET", f"{MAPS}?continue=x&resourceVersion=1"),
        400,
        "specifying resource version is not allowed when using continue",
    ),
}


@pytest.mark.parametrize(("request_", "code", "text"), REQUESTS.values(), ids=REQUESTS)
def test_requests_that_are_refused(
    api: Wire, request_: tuple[Any, ...], code: int, text: str
) -> None:
    api.post(MAPS, config_map("there"))
    api.post(LEASES, {"metadata": {"name": "there"}, "spec": {}})
    api.post(PODS, pod("there"))
    api.post(MAPS, {"metadata": {"name": "going", "finalizers": ["a/b"]}})
    api.ask("DELETE", f"{MAPS}/going")
    status, body = api.ask(*request_)
    assert (status, body["code"]) == (code, code)
    assert text in body["message"]


@pytest.mark.parametrize("depth", [200, 900, 990, 20_000])
@pytest.mark.parametrize(("method", "type_"), [("POST", "application/json"), ("PATCH", APPLY)])
def test_a_body_nested_too_deeply_is_the_clients_fault(
    api: Wire, method: str, type_: str, depth: int
) -> None:
    path = MAPS if method == "POST" else f"{MAPS}/c?fieldManager=me"
    nested = '{"a":' * depth + "1" + "}" * depth
    body = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{nested}}}'
    headers = {"Content-Type": type_}
    answer = urllib3.request(method, api.server.url + path, body=body, headers=headers)
    assert 400 <= answer.status < 500, "a map of texts it is not, however deep"
    assert answer.json()["reason"] == "BadRequest"


SERVICE = "/api/v1/namespaces/default/services"


def test_a_service_has_an_address_that_it_keeps(api: Wire) -> None:
    given = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "1"}}}
    made = api.post(SERVICE, given)["spec"]
    assert made["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert made["type"] == "ClusterIP"
    assert made["clusterIP"].startswith("10.96.")
    status, replaced = api.ask("PUT", f"{SERVICE}/s", given)
    assert (status, replaced["spec"]) == (200, made)
