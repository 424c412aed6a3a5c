"""OpenAPI, as much as kubectl asks of it.

For: telling that the server validates fields itself (kubectl then needs no schema of its own)
and which kinds there are.
Not for: the schemas of kinds: `kubectl explain` has nothing to show here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.resources import Resource

_INFO = {"title": "evencore pocket cluster", "version": "v1"}
_QUERY = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


class OpenApi:
    """Answers /openapi/v3 and below."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_path: dict[str, list[Resource]] = {}
        for one in resources:
            self._by_path.setdefault(_root(one).lstrip("/"), []).append(one)

    def answer(self, path: str) -> Object | None:
        """Give the document at a path; None: there is none."""
        below = path.removeprefix("/openapi/v3").strip("/")
        if not below:
            return {
                "paths": {
                    name: {"serverRelativeURL": f"/openapi/v3/{name}"} for name in self._by_path
                }
            }
        if below not in self._by_path:
            return None
        paths, schemas = {}, {}
        for one in self._by_path[below]:
            paths.update(_paths(one))
            schemas[_schema_name(one)] = {
                "type": "object",
                "x-kubernetes-group-version-kind": [_kind(one)],
            }
        return {
            "openapi": "3.0.0",
            "info": _INFO,
            "paths": paths,
            "components": {"schemas": schemas},
        }


def _root(one: Resource) -> str:
    return f"/apis/{one.group}/{one.version}" if one.group else f"/api/{one.version}"


def _kind(one: Resource) -> Object:
    return {"group": one.group, "version": one.version, "kind": one.kind}


def _schema_name(one: Resource) -> str:
    group = one.group.split(".")[0] or "core"
    return f"io.k8s.api.{group}.{one.version}.{one.kind}"


def _paths(one: Resource) -> Object:
    root = _root(one)
    collection = (
        f"{root}/namespaces/{{namespace}}/{one.plural}"
        if one.namespaced
        else (f"{root}/{one.plural}")
    )
    body = {"application/json": {"schema": {"$ref": f"#/components/schemas/{_schema_name(one)}"}}}
    # Strategic merge is not listed among the patches: kubectl would look for merge keys in these
    # schemas, and has its own for every kind that is served.
    patch = {"application/merge-patch+json": {"schema": {"type": "object"}}}

    def operation(action: str, content: Object) -> Object:
        return {
            "parameters": _QUERY,
            "requestBody": {"content": content},
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": _kind(one),
        }

    return {
        collection: {"post": operation("post", body)},
        f"{collection}/{{name}}": {
            "put": operation("put", body),
            "patch": operation("patch", patch),
        },
    }
