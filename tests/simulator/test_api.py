"""The API on the wire: what any client can count on."""

from __future__ import annotations

import pytest
from simulator_support import MAPS, PODS, Wire, config_map, pod

from simulator.admission.chain import User
from simulator.api.bodies import JSON_PATCH, MERGE_PATCH, STRATEGIC
from simulator.server import ApiServer, Options


def test_an_object_is_made_read_replaced_and_deleted(api: Wire) -> None:
    made = api.post(MAPS, config_map(x="1"))
    assert api.get(f"{MAPS}/c") == made
    status, new = api.ask("PUT", f"{MAPS}/c", {**made, "data": {"x": "2"}})
    assert (status, new["data"]) == (200, {"x": "2"})
    assert int(new["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    status, gone = api.ask("DELETE", f"{MAPS}/c")
    assert (status, gone["status"], gone["details"]["uid"]) == (
        200,
        "Success",
        made["metadata"]["uid"],
    )
    assert api.ask("GET", f"{MAPS}/c")[0] == 404


REFUSALS = {
    "no such object": (
        ("GET", f"{MAPS}/nope", None),
        (404, "NotFound", 'configmaps "nope" not found'),
    ),
    "no such object of a group": (
        ("GET", "/apis/apps/v1/namespaces/default/deployments/nope", None),
        (404, "NotFound", 'deployments.apps "nope" not found'),
    ),
    "no such resource": (
        ("GET", "/api/v1/nothings", None),
        (404, "NotFound", "the server could not find the requested resource"),
    ),
    "a taken name": (
        ("POST", MAPS, config_map("taken")),
        (409, "AlreadyExists", 'configmaps "taken" already exists'),
    ),
    "no such namespace": (
        ("POST", "/api/v1/namespaces/nope/pods", {"metadata": {"name": "p"}, "spec": {}}),
        (404, "NotFound", 'namespaces "nope" not found'),
    ),
    "another kind": (
        ("POST", MAPS, pod()),
        (400, "BadRequest", "does not match the expected one"),
    ),
    "a wrong method": (
        ("PUT", MAPS, config_map()),
        (405, "MethodNotAllowed", "does not allow this method"),
    ),
    "a version that is none": (
        ("GET", f"{MAPS}?resourceVersion=x", None),
        (400, "BadRequest", "invalid resource version"),
    ),
    "a version of the future": (
        ("GET", f"{MAPS}?resourceVersion=999999", None),
        (504, "Timeout", "Too large resource version"),
    ),
    "a continue token that is none": (
        ("GET", f"{MAPS}?continue=!", None),
        (400, "BadRequest", "continue key is not valid"),
    ),
    "a pod without containers": (
        ("POST", PODS, {"metadata": {"name": "p"}, "spec": {}}),
        (422, "Invalid", 'Pod "p" is invalid: spec.containers: Required value'),
    ),
    "a name that is none": (
        ("POST", MAPS, config_map("No_Name")),
        (422, "Invalid", 'ConfigMap "No_Name" is invalid: metadata.name: Invalid value'),
    ),
    "a first namespace": (
        ("DELETE", "/api/v1/namespaces/default", None),
        (403, "Forbidden", "this namespace may not be deleted"),
    ),
}


@pytest.mark.parametrize(("request_", "want"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(api: Wire, request_: tuple[str, str, object], want: tuple[int, str, str]) -> None:
    api.post(MAPS, config_map("taken"))
    status, body = api.ask(*request_)
    assert (status, body["reason"]) == want[:2]
    assert want[2] in body["message"]
    assert (body["kind"], body["apiVersion"], body["status"]) == ("Status", "v1", "Failure")
    assert body["code"] == status


def test_all_faults_are_told_at_once_each_with_its_field(api: Wire) -> None:
    faulty = pod("p", nodeName="n", schedulingGates=[{"name": "a/b"}, {"name": "a/b"}])
    faulty["spec"]["containers"].append({"name": "app"})
    status, body = api.ask("POST", PODS, faulty)
    assert status == 422
    assert sorted(cause["field"] for cause in body["details"]["causes"]) == [
        "spec.containers[1].image",
        "spec.containers[1].name",
        "spec.nodeName",
        "spec.schedulingGates[1]",
    ]


def test_the_three_patches_and_a_form_that_is_none(api: Wire) -> None:
    api.post(PODS, pod())
    path = f"{PODS}/p"
    add = [{"op": "add", "path": "/metadata/labels", "value": {"a": "1"}}]
    assert api.patch(path, add, JSON_PATCH)[1]["metadata"]["labels"] == {"a": "1"}
    merge = {"metadata": {"labels": {"a": None, "b": "2"}}}
    assert api.patch(path, merge, MERGE_PATCH)[1]["metadata"]["labels"] == {"b": "2"}
    image = {"spec": {"containers": [{"name": "app", "image": "registry.example/app:2"}]}}
    status, patched = api.patch(path, image, STRATEGIC)
    assert status == 200
    assert patched["spec"]["containers"][0]["image"] == "registry.example/app:2"
    assert patched["spec"]["containers"][0]["terminationMessagePolicy"] == "File"
    assert patched["metadata"]["generation"] == 2
    assert api.patch(path, {}, "text/plain")[0] == 415
    test = [{"op": "test", "path": "/metadata/labels/b", "value": "other"}]
    assert api.patch(path, test, JSON_PATCH)[0] == 422


def test_a_patch_that_names_an_old_version_is_a_conflict(api: Wire) -> None:
    made = api.post(MAPS, config_map())
    assert api.patch(f"{MAPS}/c", {"data": {"x": "1"}}, MERGE_PATCH)[0] == 200
    old = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "data": {}}
    status, body = api.patch(f"{MAPS}/c", old, MERGE_PATCH)
    assert (status, body["reason"]) == (409, "Conflict")


def test_a_list_comes_in_pages_that_show_one_moment(api: Wire) -> None:
    for name in "abcde":
        api.post(MAPS, config_map(name))
    first = api.get(f"{MAPS}?limit=2&labelSelector=")
    assert first["metadata"]["remainingItemCount"] == 4  # with kube-root-ca.crt
    api.ask("DELETE", f"{MAPS}/d")
    api.post(MAPS, config_map("cc"))
    names = [item["metadata"]["name"] for item in first["items"]]
    page = first
    while token := page["metadata"].get("continue"):
        page = api.get(f"{MAPS}?limit=2&continue={token}")
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        names += [item["metadata"]["name"] for item in page["items"]]
    assert names == ["a", "b", "c", "d", "e", "kube-root-ca.crt"]
    assert "kind" not in page["items"][0]


def test_a_page_whose_moment_is_forgotten_is_410() -> None:
    with ApiServer(Options(secure=False, history=2)) as server, Wire(server) as api:
        for name in "abc":
            api.post(MAPS, config_map(name))
        token = api.get(f"{MAPS}?limit=1")["metadata"]["continue"]
        for name in "def":
            api.post(MAPS, config_map(name))
        status, body = api.ask("GET", f"{MAPS}?limit=1&continue={token}")
        assert (status, body["reason"]) == (410, "Expired")


def test_a_dry_run_answers_as_the_real_one_and_leaves_nothing(api: Wire) -> None:
    made = api.post(f"{PODS}?dryRun=All", pod())
    assert made["spec"]["priority"] == 0
    assert api.get(PODS)["items"] == []
    assert api.ask("POST", f"{PODS}?dryRun=Server", pod())[0] == 400


def test_selectors_narrow_lists_and_collections_that_are_deleted(api: Wire) -> None:
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        labelled = pod(name)
        labelled["metadata"]["labels"] = {"app": app}
        api.post(PODS, labelled)
    assert len(api.get(f"{PODS}?labelSelector=app%3Dweb")["items"]) == 2
    assert len(api.get("/api/v1/pods?fieldSelector=metadata.name!%3Da")["items"]) == 2
    status, deleted = api.ask("DELETE", f"{PODS}?labelSelector=app%3Dweb")
    assert (status, deleted["kind"], len(deleted["items"])) == (200, "PodList", 2)
    assert [item["metadata"]["name"] for item in api.get(PODS)["items"]] == ["c"]


def test_status_and_spec_are_written_apart(api: Wire) -> None:
    made = api.post(PODS, {**pod(), "status": {"phase": "Running"}})
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    both = {"metadata": {"labels": {"a": "1"}}, "status": {"phase": "Failed", "reason": "x"}}
    assert api.patch(f"{PODS}/p", both, MERGE_PATCH)[1]["status"] == made["status"]
    spec = {"status": {"phase": "Failed"}, "spec": {"priority": 9}}
    _, failed = api.patch(f"{PODS}/p/status", spec, MERGE_PATCH)
    assert failed["status"] == {"phase": "Failed", "qosClass": "BestEffort"}
    assert failed["spec"]["priority"] == 0
    assert failed["metadata"]["generation"] == 1


def test_a_pod_is_bound_once_and_never_with_gates(api: Wire) -> None:
    api.post(PODS, pod("p"))
    api.post(PODS, pod("gated", schedulingGates=[{"name": "a/b"}]))
    binding = {"target": {"kind": "Node", "name": "n1"}}
    assert api.post(f"{PODS}/p/binding", binding)["status"] == "Success"
    bound = api.get(f"{PODS}/p")
    assert (bound["spec"]["nodeName"], bound["metadata"]["generation"]) == ("n1", 1)
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    status, body = api.ask("POST", f"{PODS}/p/binding", binding)
    assert (status, 'already assigned to node "n1"' in body["message"]) == (409, True)
    status, body = api.ask("POST", f"{PODS}/gated/binding", binding)
    assert (status, "schedulingGates" in body["message"]) == (409, True)


def test_an_eviction_deletes_with_its_options(api: Wire) -> None:
    api.post(PODS, pod(nodeName="n1"))
    eviction = {"deleteOptions": {"preconditions": {"uid": "other"}}}
    assert api.ask("POST", f"{PODS}/p/eviction", eviction)[0] == 409
    assert api.post(f"{PODS}/p/eviction", {})["status"] == "Success"
    assert api.get(f"{PODS}/p")["metadata"]["deletionGracePeriodSeconds"] == 30


def test_an_event_is_one_object_in_two_shapes(api: Wire) -> None:
    new = "/apis/events.k8s.io/v1/namespaces/default/events"
    core = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p"},
        "reason": "Failed",
        "message": "text",
        "source": {"component": "kubelet"},
        "count": 1,
    }
    api.post("/api/v1/namespaces/default/events", core)
    seen = api.get(f"{new}/e")
    assert (seen["apiVersion"], seen["regarding"]["name"], seen["note"]) == (
        "events.k8s.io/v1",
        "p",
        "text",
    )
    assert seen["deprecatedSource"] == {"component": "kubelet"}
    assert len(api.get(f"{new}?fieldSelector=regarding.name%3Dp")["items"]) == 1
    api.post(new, {"metadata": {"name": "f"}, "regarding": {"name": "q"}, "note": "n"})
    selected = "/api/v1/events?fieldSelector=involvedObject.name%3Dq"
    assert api.get(selected)["items"][0]["message"] == "n"


def test_only_the_metadata_where_that_is_asked_for(api: Wire) -> None:
    api.post(PODS, pod())
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    listed = api.get(PODS, Accept=accept)
    assert listed["kind"] == "PartialObjectMetadataList"
    assert [set(item) for item in listed["items"]] == [{"metadata"}]
    assert api.ask("GET", PODS, Accept="application/vnd.kubernetes.protobuf")[0] == 406


def test_who_has_no_token_is_nobody_where_tokens_are_asked_for() -> None:
    tokens = {"secret": User("me")}
    with ApiServer(Options(secure=False, tokens=tokens)) as server, Wire(server) as api:
        assert api.ask("GET", PODS)[0] == 401
        assert api.ask("GET", PODS, Authorization="Bearer wrong")[0] == 401
        assert api.ask("GET", PODS, Authorization="Bearer secret")[0] == 200
        assert api.ask("GET", "/healthz") == (200, "ok")
