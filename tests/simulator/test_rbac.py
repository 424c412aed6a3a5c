"""RBAC as a function: what a request asks for, what rules allow, how a refusal reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.admission.chain import User
from simulator.auth.aggregation import aggregated
from simulator.auth.asked import Asked, of_request, refusal
from simulator.auth.authentication import service_account
from simulator.auth.impersonation import wanted
from simulator.auth.rbac import Policy, allows
from simulator.errors import ApiError

Object = dict[str, Any]
NS = "/api/v1/namespaces/ns"
APPS = "/apis/apps/v1/namespaces/ns/deployments"

REQUESTS = {
    "a list in a namespace": ("GET", f"{NS}/pods", "", Asked("list", "", "pods", "", "ns")),
    "a list of everything": ("GET", "/api/v1/pods", "", Asked("list", "", "pods")),
    "a watch": ("GET", f"{NS}/pods", "watch=1", Asked("watch", "", "pods", "", "ns")),
    "a watch of one object": (
        "GET",
        f"{NS}/pods",
        "watch=true&fieldSelector=metadata.name=p",
        Asked("watch", "", "pods", "", "ns", "p"),
    ),
    "one object": ("GET", f"{NS}/pods/p", "", Asked("get", "", "pods", "", "ns", "p")),
    "a patch of a status": (
        "PATCH",
        f"{APPS}/d/status",
        "",
        Asked("patch", "apps", "deployments", "status", "ns", "d"),
    ),
    "a create": ("POST", APPS, "", Asked("create", "apps", "deployments", "", "ns")),
    "a replace": ("PUT", f"{APPS}/d", "", Asked("update", "apps", "deployments", "", "ns", "d")),
    "a delete of all": (
        "DELETE",
        f"{NS}/pods",
        "",
        Asked("deletecollection", "", "pods", "", "ns"),
    ),
    "a namespace is in itself": ("GET", NS, "", Asked("get", "", "namespaces", "", "ns", "ns")),
    "and so is its status": (
        "PUT",
        f"{NS}/status",
        "",
        Asked("update", "", "namespaces", "status", "ns", "ns"),
    ),
    "all namespaces": ("GET", "/api/v1/namespaces", "", Asked("list", "", "namespaces")),
    "discovery is a path": ("GET", "/apis/apps/v1", "", Asked("get", path="/apis/apps/v1")),
    "health is a path": ("GET", "/healthz", "", Asked("get", path="/healthz")),
    "a resource that is not there is asked for all the same": (
        "GET",
        "/apis/example.com/v1/things/t",
        "",
        Asked("get", "example.com", "things", "", "", "t"),
    ),
}


@pytest.mark.parametrize(("method", "path", "query", "want"), REQUESTS.values(), ids=REQUESTS)
def test_what_a_request_asks_for(method: str, path: str, query: str, want: Asked) -> None:
    pairs = dict(one.split("=", 1) for one in query.split("&") if one)
    assert of_request(method, path, pairs) == want


def rule(**parts: list[str]) -> Object:
    return {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"], **parts}


GET = Asked("get", "", "pods", "", "ns", "p")
STATUS = GET._replace(subresource="status")
PATH = Asked("get", path="/healthz/etcd")
RULES = {
    "verb, group and resource": (rule(), GET, True),
    "another verb": (rule(), GET._replace(verb="delete"), False),
    "any verb": (rule(verbs=["*"]), GET._replace(verb="delete"), True),
    "another group": (rule(), GET._replace(group="metrics.k8s.io"), False),
    "any group": (rule(apiGroups=["*"]), GET._replace(group="metrics.k8s.io"), True),
    "another resource": (rule(), GET._replace(resource="secrets"), False),
    "any resource is any subresource, too": (rule(resources=["*"]), STATUS, True),
    "a resource is not its subresources": (rule(), STATUS, False),
    "a subresource by name": (rule(resources=["pods/status"]), STATUS, True),
    "a subresource of any resource": (rule(resources=["*/status"]), STATUS, True),
    "which is not the resource": (rule(resources=["*/status"]), GET, False),
    "no pattern but these": (rule(resources=["pods/*"]), STATUS, False),
    "an object by name": (rule(resourceNames=["o", "p"]), GET, True),
    "another object": (rule(resourceNames=["o"]), GET, False),
    "a list is of no name": (
        rule(resourceNames=["p"]),
        GET._replace(verb="list", name=""),
        False,
    ),
    "a path": ({"verbs": ["get"], "nonResourceURLs": ["/healthz/etcd"]}, PATH, True),
    "all below a path": ({"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}, PATH, True),
    "not what is beside it": ({"verbs": ["get"], "nonResourceURLs": ["/healthz"]}, PATH, False),
    "any path": ({"verbs": ["*"], "nonResourceURLs": ["*"]}, PATH, True),
    "paths are no resources": ({"verbs": ["*"], "nonResourceURLs": ["*"]}, GET, False),
    "resources are no paths": (rule(resources=["*"], apiGroups=["*"]), PATH, False),
}


@pytest.mark.parametrize(("given", "asked", "want"), RULES.values(), ids=RULES)
def test_what_a_rule_allows(given: Object, asked: Asked, want: bool) -> None:  # noqa: FBT001  a column
    assert allows(given, asked) is want


def role(name: str, namespace: str = "", *rules: Object) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "rules": list(rules) or [rule()]}


def binding(namespace: str, ref: str, *subjects: Object) -> Object:
    kind, _, name = ref.partition("/")
    return {
        "metadata": {"name": "b", "namespace": namespace},
        "roleRef": {"kind": kind, "name": name},
        "subjects": list(subjects),
    }


ANN = User("ann", ("devs",))
BOT = service_account("ns", "bot")
TO_ANN = {"kind": "User", "name": "ann"}
TO_DEVS = {"kind": "Group", "name": "devs"}
TO_BOT = {"kind": "ServiceAccount", "name": "bot", "namespace": "ns"}
BINDINGS = {
    "a role by name": (binding("ns", "Role/r", TO_ANN), ANN, GET, True),
    "by group": (binding("ns", "Role/r", TO_DEVS), ANN, GET, True),
    "by service account": (binding("ns", "Role/r", TO_BOT), BOT, GET, True),
    "a service account of the same namespace": (
        binding("ns", "Role/r", {"kind": "ServiceAccount", "name": "bot"}),
        BOT,
        GET,
        True,
    ),
    "by the group of all service accounts of a namespace": (
        binding("ns", "Role/r", {"kind": "Group", "name": "system:serviceaccounts:ns"}),
        BOT,
        GET,
        True,
    ),
    "a user who is named as a group is": (
        binding("ns", "Role/r", {"kind": "Group", "name": "ann"}),
        ANN,
        GET,
        False,
    ),
    "somebody else": (binding("ns", "Role/r", TO_ANN), User("bob"), GET, False),
    "another namespace": (
        binding("ns", "Role/r", TO_ANN),
        ANN,
        GET._replace(namespace="other"),
        False,
    ),
    "a cluster role in one namespace": (binding("ns", "ClusterRole/c", TO_ANN), ANN, GET, True),
    "which is only there": (
        binding("ns", "ClusterRole/c", TO_ANN),
        ANN,
        GET._replace(namespace=""),
        False,
    ),
    "a cluster role everywhere": (
        binding("", "ClusterRole/c", TO_ANN),
        ANN,
        GET._replace(namespace="other"),
        True,
    ),
}


def policy(bound: Object) -> Policy:
    home = bound["metadata"]["namespace"]
    return Policy(
        cluster_roles=[role("c")],
        cluster_bindings=[] if home else [bound],
        roles=[role("r", "ns")],
        bindings=[bound] if home else [],
    )


@pytest.mark.parametrize(("bound", "user", "asked", "want"), BINDINGS.values(), ids=BINDINGS)
def test_what_a_binding_gives(bound: Object, user: User, asked: Asked, want: bool) -> None:  # noqa: FBT001  a column
    assert policy(bound).decide(user, asked).allowed is want


def test_the_reason_names_binding_role_and_subject() -> None:
    assert policy(binding("ns", "Role/r", TO_BOT)).decide(BOT, GET).reason == (
        'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/ns"'
    )
    assert policy(binding("", "ClusterRole/c", TO_ANN)).decide(ANN, GET).reason == (
        'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "c" to User "ann"'
    )


def test_a_role_that_is_not_there_is_told() -> None:
    assert policy(binding("ns", "Role/gone", TO_ANN)).decide(ANN, GET).reason == (
        'RBAC: role.rbac.authorization.k8s.io "gone" not found'
    )


REFUSALS = {
    "in a namespace": (
        Asked("list", "", "pods", "", "y"),
        (
            'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the '
            'namespace "y"'
        ),
    ),
    "everywhere": (
        Asked("get", "", "nodes", "status", "", "n1"),
        (
            'nodes "n1" is forbidden: User "x" cannot get resource "nodes/status" in API group "" '
            "at the cluster scope"
        ),
    ),
    "in a group": (
        Asked("create", "apps", "deployments", "", "y"),
        (
            'deployments.apps is forbidden: User "x" cannot create resource "deployments" in API '
            'group "apps" in the namespace "y"'
        ),
    ),
    "a path": (Asked("get", path="/a<b>"), 'forbidden: User "x" cannot get path "/a&lt;b&gt;"'),
}


@pytest.mark.parametrize(("asked", "want"), REFUSALS.values(), ids=REFUSALS)
def test_how_a_refusal_reads(asked: Asked, want: str) -> None:
    assert refusal(asked, "x").message == want


def test_a_sum_of_roles_has_each_rule_once_and_never_picks_itself() -> None:
    reading, writing = rule(), rule(verbs=["create"])
    labelled = {"labels": {"part": "yes"}}
    roles = [
        {"metadata": {"name": "a", **labelled}, "rules": [reading, writing]},
        {"metadata": {"name": "b", **labelled}, "rules": [reading]},
        {"metadata": {"name": "c"}, "rules": [rule(verbs=["delete"])]},
        {"metadata": {"name": "sum", **labelled}, "rules": [rule(verbs=["old"])]},
    ]
    selectors = [{"matchLabels": {"part": "yes"}}]
    whole = {**roles[-1], "aggregationRule": {"clusterRoleSelectors": selectors}}
    assert aggregated(whole, roles) == [reading, writing]


AS = {
    "a user": (
        {"impersonate-user": "ann"},
        User("ann", ("system:authenticated",)),
        [Asked("impersonate", resource="users", name="ann")],
    ),
    "a user with groups": (
        {"impersonate-user": "ann", "impersonate-group": "a,b"},
        User("ann", ("a", "b", "system:authenticated")),
        [
            Asked("impersonate", resource="users", name="ann"),
            Asked("impersonate", resource="groups", name="a"),
            Asked("impersonate", resource="groups", name="b"),
        ],
    ),
    "a service account has its groups": (
        {"impersonate-user": "system:serviceaccount:ns:bot"},
        replace(BOT, credential=""),  # it has shown none
        [Asked("impersonate", "", "serviceaccounts", "", "ns", "bot")],
    ),
    "nobody": (
        {"impersonate-user": "system:anonymous"},
        User("system:anonymous"),
        [Asked("impersonate", resource="users", name="system:anonymous")],
    ),
}


@pytest.mark.parametrize(("headers", "user", "needs"), AS.values(), ids=AS)
def test_who_acts_as_somebody_else(headers: dict[str, str], user: User, needs: list[Asked]) -> None:
    assert wanted(headers) == (user, tuple(needs))


def test_acting_as_nobody_in_particular() -> None:
    assert wanted({"user-agent": "x"}) is None
    with pytest.raises(ApiError, match="without impersonating a user"):
        wanted({"impersonate-group": "a"})
