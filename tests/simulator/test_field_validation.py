"""fieldValidation and OpenAPI: unknown and repeated fields, on the wire and with kubectl."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
import urllib3
from simulator_kubectl import Kubectl
from simulator_support import PODS, Wire, config_map, pod

from simulator import resources, schemas
from simulator.api.bodies import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC
from simulator.api.field_validation import duplicates, go_text
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.rules.known_fields import Kinds, pruned, unknown
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TWO = 'unknown field "spec.containers[0].imagge", unknown field "spec.nodeselector"'


def misspelt() -> dict[str, Any]:
    made = pod("p", nodeselector={"a": "b"})
    made["spec"]["containers"][0]["imagge"] = "x"
    return made


def test_a_strict_create_tells_all_unknown_fields_and_makes_nothing(api: Wire) -> None:
    status, told = api.ask("POST", f"{PODS}?fieldValidation=Strict", misspelt())
    assert (status, told["reason"]) == (400, "BadRequest")
    assert told["message"] == (
        f'Pod in version "v1" cannot be handled as a Pod: strict decoding error: {TWO}'
    )
    assert api.get(PODS)["items"] == []


@pytest.mark.parametrize(
    ("query", "warnings"),
    [
        pytest.param("", TWO.split(", "), id="by itself, the API server warns"),
        pytest.param(
            "?fieldValidation=Warn", TWO.split(", "), id="who asks for warnings gets them"
        ),
        pytest.param("?fieldValidation=Ignore", [], id="who does not care is told nothing"),
    ],
)
def test_what_is_not_refused_is_left_out(api: Wire, query: str, warnings: list[str]) -> None:
    told = api.headers("POST", PODS + query, misspelt()).get("Warning", "")
    assert [part for part in told.replace("\\", "").split("299 - ") if part] == [
        f'"{text}"' + (", " if text != warnings[-1] else "") for text in warnings
    ]
    spec = api.get(f"{PODS}/p")["spec"]
    assert "nodeselector" not in spec
    assert "imagge" not in spec["containers"][0]


def test_a_wish_that_nobody_knows_is_refused(api: Wire) -> None:
    status, told = api.ask("POST", f"{PODS}?fieldValidation=Hard", pod())
    assert status == 422
    assert told["message"] == (
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Hard": '
        'supported values: "Ignore", "Strict", "Warn"'
    )


@pytest.mark.parametrize(
    ("type_", "patch", "shown"),
    [
        pytest.param(
            STRATEGIC,
            {"spec": {"foo": None, "bar": [1, True]}},
            "map[spec:map[bar:[1 true] foo:<nil>]]",
            id="a strategic patch is shown as Go prints it",
        ),
        pytest.param(MERGE_PATCH, {"spec": {"bar": 1}}, '{"', id="a merge patch as its result"),
        pytest.param(
            JSON_PATCH,
            [{"op": "add", "path": "/spec/bar", "value": 1}],
            '{"',
            id="a JSON patch as its result",
        ),
    ],
)
def test_a_strict_patch_that_adds_an_unknown_field_is_invalid(
    api: Wire, type_: str, patch: object, shown: str
) -> None:
    api.post(PODS, pod())
    status, told = api.patch(f"{PODS}/p?fieldValidation=Strict", patch, type_)
    assert (status, told["reason"]) == (422, "Invalid")
    (cause,) = told["details"]["causes"]
    assert cause["field"] == "patch"
    assert cause["message"].startswith(f"Invalid value: {json.dumps(shown)[:-1]}")
    assert cause["message"].endswith(': strict decoding error: unknown field "spec.bar"')
    assert told["message"] == f' "" is invalid: patch: {cause["message"]}'


def test_a_server_side_apply_has_no_patience_with_unknown_fields(api: Wire) -> None:
    wrong = config_map() | {"dato": {}}
    path = "/api/v1/namespaces/default/configmaps/c?fieldManager=me&fieldValidation=Ignore"
    status, told = api.patch(path, wrong, APPLY)
    assert status == 500
    assert told["message"] == (
        "failed to create typed patch object (default/c; /v1, Kind=ConfigMap): "
        ".dato: field not declared in schema"
    )


def test_fields_that_are_there_twice_are_told(api: Wire) -> None:
    body = json.dumps(pod()).replace('"image":', '"image": "x", "image":')
    # Bytes that json.dumps cannot write, hence by hand.
    answer = urllib3.request("POST", f"{api.server.url}{PODS}?fieldValidation=Strict", body=body)
    assert json.loads(answer.data)["message"].endswith(
        'strict decoding error: duplicate field "spec.containers[0].image"'
    )


@pytest.mark.parametrize(
    ("body", "places"),
    [
        pytest.param('{"a": 1, "b": {"c": [1, {"d": 2}]}}', [], id="nothing is twice"),
        pytest.param('{"a": 1, "a": 1, "a": 2}', ["a", "a"], id="each repetition counts"),
        pytest.param('{"a": [{"b": 1}, {"b": 1, "b": {}}]}', ["a[1].b"], id="within lists"),
        pytest.param('{"a": "\\u003c", "b": 1e3}', [], id="another spelling of the same"),
        pytest.param("a: 1\na: 2\n", [], id="YAML cannot tell"),
        pytest.param("", [], id="nothing at all"),
    ],
)
def test_repeated_fields_are_found(body: str, places: list[str]) -> None:
    assert list(duplicates(body.encode())) == places


def test_go_prints_maps_by_their_keys() -> None:
    assert (
        go_text({"b": "x y", "a": [None, False, 1.5, {}]}) == "map[a:[<nil> false 1.5 map[]] b:x y]"
    )


@pytest.mark.parametrize(
    ("obj", "places"),
    [
        pytest.param({"data": {"anything": "goes"}}, [], id="keys of a map are free"),
        pytest.param(
            {"metadata": {"annotation": {"a": {"b": "c"}}}},
            ["metadata.annotation"],
            id="below an unknown field nothing more is told",
        ),
        pytest.param({"data": None, "kind": "ConfigMap"}, [], id="nothing is no mistake"),
    ],
)
def test_unknown_fields_are_found_and_left_out(obj: dict[str, Any], places: list[str]) -> None:
    known = Kinds().of("", "v1", "ConfigMap")
    assert unknown(known, obj) == places
    assert (pruned(known, obj) == obj) is not bool(places)
    assert unknown(known, pruned(known, obj)) == []


def test_what_the_cluster_itself_writes_has_no_unknown_field() -> None:
    kinds = Kinds()
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": pod()["spec"]["containers"]},
    }
    shop = {
        "metadata": {"name": "shop"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    with Cluster(PRESETS["autokh"], Options(secure=False)) as cluster, Wire(cluster.server) as api:
        api.post("/apis/apps/v1/namespaces/default/deployments", shop)
        with api.watch(f"{PODS}?watch=true") as events:
            next(one for one in events if one["object"].get("status", {}).get("phase") == "Running")

        def faulty() -> Iterator[tuple[str, list[str]]]:
            for resource in resources.ALL:
                known = kinds.of(resource.group, resource.version, resource.kind)
                table = cluster.server.store.table(resource)
                for record in table.records() if not resource.stored_as else ():
                    if found := unknown(known, record.object):
                        yield resource.qualified, found

        assert cluster.server.call(lambda: list(faulty())) == []


def test_every_reference_of_the_openapi_documents_leads_somewhere(api: Wire) -> None:
    links = api.get("/openapi/v3")["paths"].values()
    documents = [api.get(link["serverRelativeURL"]) for link in links]
    assert len(documents) > 5
    for document in [*documents, api.get("/openapi/v2")]:
        have = document.get("definitions") or document["components"]["schemas"]
        text = json.dumps(document)
        assert "$defs" not in text
        wanted = {part.split('"')[0].rpartition("/")[2] for part in text.split('"$ref": "')[1:]}
        assert wanted <= have.keys()


def test_who_takes_protobuf_alone_is_told_that_there_are_no_schemas_in_it(api: Wire) -> None:
    wanted = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert api.ask("GET", "/openapi/v3/api/v1", Accept=wanted)[0] == 406
    assert api.ask("GET", "/openapi/v3/api/v1", Accept=f"{wanted}, */*;q=0.1")[0] == 200


@pytest.mark.parametrize("version", ["policy/v1", "apps/v2"])
def test_kubectl_says_of_a_kind_that_is_not_served_that_there_is_none(
    version: str, server: ApiServer, tmp_path: Path
) -> None:
    other = {"apiVersion": version, "kind": "Thing", "metadata": {"name": "a"}}
    kubectl = Kubectl(server, tmp_path)
    told = kubectl("apply", "-f", "-", stdin=json.dumps(other), fails=True)
    assert f'no matches for kind "Thing" in version "{version}"' in told


def test_kubectl_explains_fields_and_applies_nothing_misspelt(
    server: ApiServer, tmp_path: Path
) -> None:
    kubectl = Kubectl(server, tmp_path)
    told = kubectl("explain", "pod.spec.nodeSelector")
    assert "FIELD: nodeSelector <map[string]string>" in told
    assert "must be true for the pod to fit on a node" in told
    refused = kubectl("apply", "-f", "-", stdin=json.dumps(misspelt()), fails=True)
    assert refused == (
        'Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" cannot '
        f"be handled as a Pod: strict decoding error: {TWO}\n"
    )


def test_without_the_extra_every_field_is_as_good_as_another(
    api: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    def forget() -> None:
        schemas.definitions.cache_clear()
        schemas._names.cache_clear()  # noqa: SLF001  it is made of the other

    forget()
    with monkeypatch.context() as patched:
        patched.setattr(schemas, "distribution", missing)
        assert api.ask("POST", f"{PODS}?fieldValidation=Strict", misspelt())[0] == 201
        document = api.get("/openapi/v3/api/v1")
    forget()
    assert document["components"]["schemas"]["io.k8s.api.core.v1.Pod"]["type"] == "object"
