"""What a request asks for, in the words of RBAC: a verb on a resource, or on a path.

For: `of_request`, and the sentence of a refusal. Pure.
Not for: whether it is allowed; that is `rbac`. Not for what is served either: a resource that is
not there is asked for all the same, and refused before anybody learns that.

Kubernetes rules: RequestInfoFactory of k8s.io/apiserver (a namespace is in itself; a get without
a name is a list or a watch), and the texts of its responsewriters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.objects import Object

_VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_OF_NAMESPACES: Final = ("status", "finalize")
_BY_NAME: Final = "metadata.name="
_CORE, _GROUPED = 3, 4
"""Parts of a path that names a resource, at least: api, v1, pods; apis, apps, v1, deployments."""


class Asked(NamedTuple):
    """A verb on a resource, or, where there is a path, on that."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def combined(self) -> str:
        """The resource with its subresource, as rules name it: pods/status."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def is_set(query: Mapping[str, str], flag: str) -> bool:
    """Tell whether a flag is set: by being there, unless it says false or 0."""
    return flag in query and query[flag].lower() not in ("false", "0")


def of_request(method: str, path: str, query: Mapping[str, str]) -> Asked:
    """Tell what a request asks for."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) >= _CORE:
        group, parts = "", parts[2:]
    elif parts[:1] == ["apis"] and len(parts) >= _GROUPED:
        group, parts = parts[1], parts[3:]
    else:
        return Asked(method.lower(), path=path)
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _OF_NAMESPACES:  # noqa: PLR2004  what is in it
            parts = parts[2:]
    resource, name, subresource = (*parts, "", "")[:3]
    verb = _VERBS.get(method, method.lower())
    if not name and verb == "get":
        # RBAC can so allow the watch of one object.
        fields = query.get("fieldSelector", "")
        if fields.startswith(_BY_NAME) and "," not in fields:
            name = fields.removeprefix(_BY_NAME)
        verb = "watch" if is_set(query, "watch") else "list"
    elif not name and verb == "delete":
        verb = "deletecollection"
    return Asked(verb, group, resource, subresource, namespace, name)


def refusal(asked: Asked, user: str, why: str = "") -> ApiError:
    """Say that the user may not; `why`: what was wrong with the rules, if anything."""
    said = _sentence(asked, user) + (f": {why}" if why else "")
    if not asked.resource:
        return ApiError(403, "Forbidden", f"forbidden: {said}", {})
    qualified = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    title = f'{qualified} "{asked.name}"' if asked.name else qualified
    details: Object = {"kind": asked.resource}
    if asked.name:
        details["name"] = asked.name
    if asked.group:
        details["group"] = asked.group
    return ApiError(403, "Forbidden", f"{title} is forbidden: {said}", details)


def _sentence(asked: Asked, user: str) -> str:
    if asked.path:
        said = f'User "{user}" cannot {asked.verb} path "{asked.path}"'
    else:
        where = (
            f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
        )
        said = (
            f'User "{user}" cannot {asked.verb} resource "{asked.combined}" '
            f'in API group "{asked.group}" {where}'
        )
    # Path and name are the client's own words, and may end in a browser.
    return said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
