"""RBAC switched on, as clients meet it: kubectl, the official Python client, plain HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from simulator_kubectl import Kubectl
from simulator_support import MAPS, PODS, Wire, config_map, pod

from simulator.admission.chain import User
from simulator.api.bodies import APPLY
from simulator.auth.authentication import service_account
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
TOKENS = {
    "root": User("root", ("system:masters",)),
    "ann": User("ann", ("devs",)),
    "bot": service_account("default", "bot"),
}
Object = dict[str, Any]


class As:
    """A client in plain HTTP with a token."""

    def __init__(self, wire: Wire, token: str) -> None:
        self._wire, self._token = wire, token

    def __call__(
        self, method: str, path: str, body: object = None, type_: str = "application/json"
    ) -> tuple[int, Any]:
        header = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return self._wire.ask(method, path, body, type_, **header)


@pytest.fixture
def guarded() -> Iterator[ApiServer]:
    with ApiServer(Options(tokens=TOKENS, rbac=True)) as running:
        yield running


@pytest.fixture
def wire() -> Iterator[Wire]:
    with (
        ApiServer(Options(secure=False, tokens=TOKENS, rbac=True)) as running,
        Wire(running) as plain,
    ):
        yield plain


def bind(root: As, role: str, subject: Object, namespace: str = "default") -> None:
    kind, _, name = role.partition("/")
    path = (
        f"{RBAC}/namespaces/{namespace}/rolebindings"
        if namespace
        else f"{RBAC}/clusterrolebindings"
    )
    body = {
        "metadata": {"generateName": "b-"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [subject],
    }
    assert root("POST", path, body)[0] == 201


ANN = {"kind": "User", "name": "ann"}


def test_who_has_no_role_is_refused_with_the_real_text_until_it_is_bound(wire: Wire) -> None:
    root, ann = As(wire, "root"), As(wire, "ann")
    status, body = ann("GET", PODS)
    assert (status, body["reason"], body["details"]) == (403, "Forbidden", {"kind": "pods"})
    assert body["message"] == (
        'pods is forbidden: User "ann" cannot list resource "pods" in API group "" '
        'in the namespace "default"'
    )
    bind(root, "ClusterRole/view", ANN)
    assert ann("GET", PODS)[0] == 200
    assert ann("POST", PODS, pod())[0] == 403
    assert ann("GET", "/api/v1/pods")[0] == 403, "the binding is of one namespace"
    assert ann("GET", "/api/v1/namespaces/default/secrets")[0] == 403, "view is not for secrets"


def test_edit_is_the_sum_of_its_parts_and_grows_with_them(wire: Wire) -> None:
    root, bot = As(wire, "root"), As(wire, "bot")
    bind(root, "ClusterRole/edit", {"kind": "ServiceAccount", "name": "bot"})
    assert bot("POST", PODS, pod())[0] == 201
    topologies = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
    bind(
        root,
        "ClusterRole/edit",
        {"kind": "ServiceAccount", "name": "bot", "namespace": "default"},
        "",
    )
    assert bot("GET", topologies)[0] == 403
    more = {
        "metadata": {
            "name": "topologies",
            "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
        },
        "rules": [
            {
                "apiGroups": ["topology.node.k8s.io"],
                "resources": ["noderesourcetopologies"],
                "verbs": ["list"],
            }
        ],
    }
    assert root("POST", f"{RBAC}/clusterroles", more)[0] == 201
    wire.server.call(wire.server.store.clock.run_due)  # sums are written right after, not within
    for name in ("view", "edit", "admin"):
        assert more["rules"][0] in root("GET", f"{RBAC}/clusterroles/{name}")[1]["rules"]
    assert bot("GET", topologies)[0] == 200


def test_tokens_none_wrong_and_absent(wire: Wire) -> None:
    assert As(wire, "nobody's")("GET", PODS)[0] == 401
    nobody = As(wire, "")
    status, body = nobody("GET", PODS)
    assert status == 403
    assert 'User "system:anonymous" cannot list' in body["message"]
    assert nobody("GET", "/version")[0] == 200
    assert nobody("GET", "/api")[1]["message"] == (
        'forbidden: User "system:anonymous" cannot get path "/api"'
    )
    assert As(wire, "ann")("GET", "/api")[0] == 200


def test_an_apply_that_makes_an_object_needs_create_too(wire: Wire) -> None:
    root, ann = As(wire, "root"), As(wire, "ann")
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}]
    roles = f"{RBAC}/namespaces/default/roles"
    assert root("POST", roles, {"metadata": {"name": "patcher"}, "rules": rules})[0] == 201
    bind(root, "Role/patcher", ANN)
    path = f"{MAPS}/c?fieldManager=ann"
    status, body = ann("PATCH", path, config_map(), APPLY)
    assert status == 403
    assert body["message"].startswith('configmaps "c" is forbidden: User "ann" cannot create')
    assert root("POST", MAPS, config_map())[0] == 201
    assert ann("PATCH", path, config_map(a="1"), APPLY)[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"name": "x"}, "rules": "all"},
        {"metadata": {"name": "x"}, "rules": [{"verbs": "get"}]},
    ],
)
def test_rules_of_another_shape_are_refused_at_the_door(wire: Wire, body: Object) -> None:
    assert As(wire, "root")("POST", f"{RBAC}/clusterroles", body)[0] == 400
    assert As(wire, "ann")("GET", PODS)[0] == 403


GOOD = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
RULES = {
    "no verbs": ({**GOOD, "verbs": []}, "rules[0].verbs: Required value: verbs must contain"),
    "no group": ({**GOOD, "apiGroups": None}, "rules[0].apiGroups: Required value"),
    "no resource": ({**GOOD, "resources": []}, "rules[0].resources: Required value"),
    "a path in a namespace": (
        {"verbs": ["get"], "nonResourceURLs": ["/x"]},
        "namespaced rules cannot apply to non-resource URLs",
    ),
    "both": ({**GOOD, "nonResourceURLs": ["/x"]}, "rules cannot apply to both"),
}


@pytest.mark.parametrize(("rule", "want"), RULES.values(), ids=RULES)
def test_rules_that_mean_nothing_are_refused(wire: Wire, rule: Object, want: str) -> None:
    body = {"metadata": {"name": "r"}, "rules": [rule]}
    status, answer = As(wire, "root")("POST", f"{RBAC}/namespaces/default/roles", body)
    assert (status, answer["reason"]) == (422, "Invalid")
    assert want in answer["message"]


def test_a_binding_keeps_its_role(wire: Wire) -> None:
    root = As(wire, "root")
    body = {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}, "subjects": [ANN]}
    assert root("POST", f"{RBAC}/clusterrolebindings", body)[0] == 422, "it is of a cluster role"
    bindings = f"{RBAC}/namespaces/default/rolebindings"
    assert root("POST", bindings, body)[0] == 201
    status, answer = root(
        "PUT", f"{bindings}/b", {**body, "roleRef": {"kind": "Role", "name": "s"}}
    )
    assert status == 422
    assert answer["message"].endswith("cannot change roleRef")
    assert root("PUT", f"{bindings}/b", {**body, "subjects": []})[0] == 200


def test_reviews_without_a_question_are_refused(wire: Wire) -> None:
    root = As(wire, "root")
    status, body = root("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": {}})
    assert (status, body["reason"]) == (422, "Invalid")
    assert {one["field"] for one in body["details"]["causes"]} == {
        "spec.resourceAttributes",
        "spec.user",
    }
    assert root("POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": []})[0] == 400
    assert root("GET", f"{REVIEWS}/selfsubjectaccessreviews")[0] == 405


def test_kubectl_auth_can_i(guarded: ApiServer, tmp_path: Path) -> None:
    homes = {name: tmp_path / name for name in ("root", "ann")}
    for home in homes.values():
        home.mkdir()
    root, ann = (Kubectl(guarded, homes[name], name) for name in ("root", "ann"))
    assert root("auth", "can-i", "*", "*").strip() == "yes"
    refused = ann("get", "pods", fails=True)
    assert 'Error from server (Forbidden): pods is forbidden: User "ann" cannot list' in refused
    root("create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps")
    root("create", "rolebinding", "ann", "--role=reader", "--user=ann")
    assert ann("auth", "can-i", "list", "deployments").strip() == "yes"
    assert ann("get", "pods", "-o", "name") == ""
    ann("auth", "can-i", "delete", "pods", fails=True)  # "no" is on stdout
    listed = ann("auth", "can-i", "--list")
    assert any(
        line.split()[:1] == ["pods"] and "[get list]" in line for line in listed.splitlines()
    )
    assert "/healthz" in listed


def test_kubectl_asks_who_it_is(guarded: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    ann = Kubectl(guarded, tmp_path / "ann", "ann")
    told = json.loads(ann("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    assert told == {"username": "ann", "groups": ["devs", "system:authenticated"]}


def test_kubectl_acts_as_others_if_it_may(guarded: ApiServer, tmp_path: Path) -> None:
    for name in ("root", "ann"):
        (tmp_path / name).mkdir()
    root, ann = (Kubectl(guarded, tmp_path / name, name) for name in ("root", "ann"))
    root("create", "clusterrolebinding", "viewers", "--clusterrole=view", "--group=viewers")
    root("auth", "can-i", "list", "pods", "--as=bob", fails=True)
    as_viewer = ("--as=bob", "--as-group=others", "--as-group=viewers")
    assert root("auth", "can-i", "list", "pods", *as_viewer).strip() == "yes"
    assert 'User "ann" cannot impersonate resource "users"' in ann(
        "auth", "can-i", "list", "pods", "--as=root", fails=True
    )


def test_the_python_client_is_refused_asks_and_asks_for_others(guarded: ApiServer) -> None:
    def api(token: str) -> client.ApiClient:
        return config.new_client_from_config_dict(yaml.safe_load(guarded.kubeconfig(token)))

    with api("root") as root, api("bot") as bot:
        with pytest.raises(ApiException) as caught:
            client.CoreV1Api(bot).list_node()
        assert caught.value.status == 403
        assert "at the cluster scope" in caught.value.body
        roles = client.RbacAuthorizationV1Api(root)
        rule = client.V1PolicyRule(api_groups=[""], resources=["nodes"], verbs=["list"])
        metadata = client.V1ObjectMeta(name="nodes")
        roles.create_cluster_role(client.V1ClusterRole(metadata=metadata, rules=[rule]))
        subject = client.RbacV1Subject(kind="ServiceAccount", name="bot", namespace="default")
        reference = client.V1RoleRef(
            api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="nodes"
        )
        roles.create_cluster_role_binding(
            client.V1ClusterRoleBinding(metadata=metadata, role_ref=reference, subjects=[subject])
        )
        assert client.CoreV1Api(bot).list_node().items == []
        nodes = client.V1ResourceAttributes(verb="list", resource="nodes")
        asking = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=nodes)
        )
        mine = client.AuthorizationV1Api(bot).create_self_subject_access_review(asking)
        assert mine.status.allowed
        assert mine.status.reason == (
            'RBAC: allowed by ClusterRoleBinding "nodes" of ClusterRole "nodes" '
            'to ServiceAccount "bot/default"'
        )
        spec = client.V1SubjectAccessReviewSpec(resource_attributes=nodes, user="ann")
        theirs = client.AuthorizationV1Api(root).create_subject_access_review(
            client.V1SubjectAccessReview(spec=spec)
        )
        assert not theirs.status.allowed
