"""The roles that every cluster with RBAC has from the start, as far as they speak of what is here.

For: cluster-admin; admin, edit and view with the parts they are the sum of; what everybody may.
Not for: the roles of controllers and kubelets; who works within this process is not asked.

Kubernetes rule: plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.auth.authentication import AUTHENTICATED
from simulator.auth.authorization import MASTERS
from simulator.auth.rbac import ANY
from simulator.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.store.store import Store

_RBAC: Final = "rbac.authorization.k8s.io"
_LABELS: Final = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_TO: Final = f"{_RBAC}/aggregate-to-"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_REVIEWS: Final = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")
_WORKLOADS: Final = (
    "daemonsets",
    "deployments",
    "deployments/scale",
    "replicasets",
    "replicasets/scale",
    "statefulsets",
    "statefulsets/scale",
)
_CORE: Final = (
    "configmaps",
    "pods",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
)
_READ_ONLY: Final = (
    "events",
    "limitranges",
    "namespaces",
    "pods/status",
    "replicationcontrollers/status",
    "resourcequotas",
    "resourcequotas/status",
)
_HEALTH: Final = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY: Final = ("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")


def _on(group: str, resources: Iterable[str], verbs: Iterable[str]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _paths(*paths: str) -> Object:
    return {"nonResourceURLs": list(paths), "verbs": ["get"]}


_VIEW: Final = (
    _on("", (*_CORE, *_READ_ONLY), _READ),
    _on("apps", (*_WORKLOADS, *(f"{one}/status" for one in _WORKLOADS if "/" not in one)), _READ),
    _on("apps", ("controllerrevisions",), _READ),
    _on("batch", ("jobs", "jobs/status"), _READ),
)
_EDIT: Final = (
    _on("", ("secrets",), _READ),
    _on("", (*_CORE, "secrets", "events"), _WRITE),
    _on("", ("pods/eviction",), ("create",)),
    _on("", ("serviceaccounts",), ("impersonate",)),
    _on("apps", _WORKLOADS, _WRITE),
    _on("batch", ("jobs",), _WRITE),
    _on("coordination.k8s.io", ("leases",), (*_READ, *_WRITE)),
)
_ADMIN: Final = (
    _on("authorization.k8s.io", ("localsubjectaccessreviews",), ("create",)),
    _on(_RBAC, ("roles", "rolebindings"), (*_READ, *_WRITE)),
)
_ROLES: Final[dict[str, tuple[Object, ...]]] = {
    "cluster-admin": (
        _on(ANY, (ANY,), (ANY,)),
        {"nonResourceURLs": [ANY], "verbs": [ANY]},
    ),
    "system:basic-user": (
        _on("authorization.k8s.io", _REVIEWS, ("create",)),
        _on("authentication.k8s.io", ("selfsubjectreviews",), ("create",)),
    ),
    "system:discovery": (_paths(*_HEALTH, *_DISCOVERY),),
    "system:public-info-viewer": (_paths(*_HEALTH),),
}
# Each is the sum of its own part and of the sums after it.
_PARTS: Final = {"admin": _ADMIN, "edit": _EDIT, "view": _VIEW}
_SUM_OF: Final = {"edit": "admin", "view": "edit"}
_BOUND: Final = {
    "cluster-admin": (MASTERS,),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, "system:unauthenticated"),
}


def furnish(store: Store) -> None:
    """Make them."""
    for name, rules in _ROLES.items():
        _make(store, name, {}, {"rules": list(rules)})
    for name, rules in _PARTS.items():
        _make(store, f"system:aggregate-to-{name}", {_TO + name: "true"}, {"rules": list(rules)})
        part_of = {_TO + _SUM_OF[name]: "true"} if name in _SUM_OF else {}
        chosen = {"clusterRoleSelectors": [{"matchLabels": {_TO + name: "true"}}]}
        _make(store, name, part_of, {"aggregationRule": chosen, "rules": []})
    for name, groups in _BOUND.items():
        subjects = [{"kind": "Group", "apiGroup": _RBAC, "name": group} for group in groups]
        binding = {
            "apiVersion": CLUSTER_ROLE_BINDINGS.api_version,
            "kind": CLUSTER_ROLE_BINDINGS.kind,
            "metadata": {"name": name, "labels": _LABELS},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
            "subjects": subjects,
        }
        store.create(CLUSTER_ROLE_BINDINGS, "", binding)


def _make(store: Store, name: str, labels: Object, content: Object) -> None:
    role = {
        "apiVersion": CLUSTER_ROLES.api_version,
        "kind": CLUSTER_ROLES.kind,
        "metadata": {"name": name, "labels": {**_LABELS, **labels}},
        **content,
    }
    store.create(CLUSTER_ROLES, "", role)
