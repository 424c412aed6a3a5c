"""What roles and bindings must be.

Kubernetes rules: pkg/apis/rbac/validation. A rule is about resources or about paths, never both;
a binding keeps its role for as long as it lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import dig
from simulator.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object
    from simulator.resources import Resource

_BINDINGS: Final = (ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)


def check(resource: Resource, obj: Object) -> Iterator[Cause]:
    """Tell what is wrong with a role or a binding; nothing for other kinds."""
    if resource in (ROLES, CLUSTER_ROLES):
        for number, rule in enumerate(obj.get("rules") or ()):
            yield from _rule(rule, f"rules[{number}]", namespaced=resource.namespaced)
    elif resource in _BINDINGS:
        kinds = ("Role", "ClusterRole") if resource.namespaced else ("ClusterRole",)
        kind = dig(obj, "roleRef", "kind")
        if kind not in kinds:
            yield faults.unsupported("roleRef.kind", kind, kinds)
        if not dig(obj, "roleRef", "name"):
            yield faults.required("roleRef.name")


def check_update(resource: Resource, old: Object, new: Object) -> Iterator[Cause]:
    """Tell whether a binding is now of another role."""
    if resource in _BINDINGS and old["roleRef"] != new["roleRef"]:
        yield faults.invalid("roleRef", new["roleRef"], "cannot change roleRef")


def _rule(rule: Object, field: str, *, namespaced: bool) -> Iterator[Cause]:
    if not rule.get("verbs"):
        yield faults.required(f"{field}.verbs", "verbs must contain at least one value")
    paths = rule.get("nonResourceURLs")
    if paths:
        if namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            yield faults.invalid(f"{field}.nonResourceURLs", paths, why)
        if any(rule.get(part) for part in ("apiGroups", "resources", "resourceNames")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield faults.invalid(f"{field}.nonResourceURLs", paths, why)
        return
    for part, said in (("apiGroups", "api group"), ("resources", "resource")):
        if not rule.get(part):
            why = f"resource rules must supply at least one {said}"
            yield faults.required(f"{field}.{part}", why)
