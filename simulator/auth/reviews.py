"""Reviews: "may I", "may they", "what may I", "who am I", asked of the API server itself.

For: `kubectl auth can-i`, `kubectl auth whoami` and clients that look before they leap. Reviews are
answered, not kept.

Kubernetes rules: pkg/registry/authorization and its validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from simulator.admission.chain import User
from simulator.auth.asked import Asked
from simulator.auth.credentials import user_info
from simulator.errors import bad_request, invalid
from simulator.resources import Resource
from simulator.rules import faults

if TYPE_CHECKING:
    from simulator.auth.authorization import Authorizer
    from simulator.errors import Cause
    from simulator.objects import Object

_GROUP: Final = "authorization.k8s.io"


def _review(plural: str, kind: str, *, namespaced: bool = False) -> Resource:
    return Resource(_GROUP, "v1", plural, kind, namespaced=namespaced, create_only=True)


MAY_I: Final = _review("selfsubjectaccessreviews", "SelfSubjectAccessReview")
MY_RULES: Final = _review("selfsubjectrulesreviews", "SelfSubjectRulesReview")
MAY_THEY: Final = _review("subjectaccessreviews", "SubjectAccessReview")
MAY_THEY_HERE: Final = _review(
    "localsubjectaccessreviews", "LocalSubjectAccessReview", namespaced=True
)
WHO_AM_I: Final = Resource(
    "authentication.k8s.io",
    "v1",
    "selfsubjectreviews",
    "SelfSubjectReview",
    namespaced=False,
    create_only=True,
)
ALL: Final = (MAY_I, MY_RULES, MAY_THEY, MAY_THEY_HERE, WHO_AM_I)


class _Attributes(Struct):
    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class _Spec(Struct, rename="camel"):
    resource_attributes: _Attributes | None = None
    non_resource_attributes: _Attributes | None = None
    user: str = ""
    groups: list[str] | None = None
    namespace: str = ""


def answer(
    authorizer: Authorizer, resource: Resource, namespace: str, user: User, given: Object
) -> Object:
    """Answer a review. Raises 400 and 422."""
    if resource is WHO_AM_I:
        return _answered(resource, {"userInfo": user_info(user)})
    said = given.get("spec")
    try:
        spec = msgspec.convert({} if said is None else said, _Spec)
    except msgspec.ValidationError as error:
        raise bad_request(
            f'{resource.kind} in version "v1" cannot be handled as a {resource.kind}: {error}'
        ) from error
    if resource is MY_RULES:
        if not spec.namespace:
            raise bad_request("no namespace on request")
        status = _rules(authorizer, user, spec.namespace)
    else:
        found = list(_faults(resource, namespace, spec))
        if found:
            raise invalid(resource, "", found)
        if resource is not MAY_I:
            user = User(spec.user, tuple(spec.groups or ()))
        status = _access(authorizer, user, spec)
    return {**_answered(resource, status), "spec": said or {}}


def _answered(resource: Resource, status: Object) -> Object:
    return {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": {"creationTimestamp": None},
        "status": status,
    }


def _faults(resource: Resource, namespace: str, spec: _Spec) -> list[Cause]:
    found = []
    on_resource, on_path = spec.resource_attributes, spec.non_resource_attributes
    if (on_resource is None) == (on_path is None):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        found.append(faults.invalid("spec.resourceAttributes", None, why))
    if resource is not MAY_I and not spec.user and not spec.groups:
        why = "at least one of user or group must be specified"
        found.append(faults.invalid("spec.user", "", why))
    if resource is MAY_THEY_HERE and (on_resource is None or on_resource.namespace != namespace):
        why = f"must be the namespace of the review: {namespace}"
        found.append(faults.invalid("spec.resourceAttributes.namespace", None, why))
    return found


def _access(authorizer: Authorizer, user: User, spec: _Spec) -> Object:
    given = spec.resource_attributes or spec.non_resource_attributes or _Attributes()
    if spec.resource_attributes is None:
        asked = Asked(given.verb, path=given.path)
    else:
        # An empty group or name is asked for as such; `*` only matches rules with `*`.
        asked = Asked(
            given.verb, given.group, given.resource, given.subresource, given.namespace, given.name
        )
    allowed, reason = authorizer.decide(user, asked)
    status: dict[str, Any] = {"allowed": allowed}
    if reason:
        status["reason"] = reason
    return status


def _rules(authorizer: Authorizer, user: User, namespace: str) -> Object:
    """List the rules of a user, apart as they speak of resources or of paths."""
    rules, wrong = authorizer.rules(user, namespace)
    parts = ("verbs", "apiGroups", "resources", "resourceNames")
    status: dict[str, Any] = {
        "resourceRules": [
            {part: one[part] for part in parts if one.get(part)}
            for one in rules
            if one.get("resources")
        ],
        "nonResourceRules": [
            {part: one[part] for part in ("verbs", "nonResourceURLs")}
            for one in rules
            if one.get("nonResourceURLs")
        ],
        "incomplete": bool(wrong),
    }
    if wrong:
        status["evaluationError"] = ", ".join(wrong)
    return status
