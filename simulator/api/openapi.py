"""OpenAPI v3, as much as kubectl asks of it, and the schemas in the shape of v2.

For: telling that the server validates fields itself (kubectl then needs no schema of its own),
which kinds there are, and their fields (`kubectl explain`), as far as `schemas` knows them.
Not for: every path and parameter; schemas in protobuf, which kubectl before 1.27 wants instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator import schemas
from simulator.objects import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.resources import Resource

PROTOBUF_ASKED: Final = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
EMPTY_V2: Final = b"\x0a\x032.0" + b"\x12\x0c" + b"\x0a\x06pocket" + b"\x12\x02v1"
"""OpenAPI v2 without kinds, in protobuf: swagger, and title and version in info.

kubectl looks there for a kind that is not served, and would stop without it; so it goes on and
says that there is no such kind."""

_V3: Final = "#/components/schemas/"
_V2: Final = "#/definitions/"
_INFO = {"title": "evencore pocket cluster", "version": "v1"}
_QUERY = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


class OpenApi:
    """Answers /openapi/v3 and below, and /openapi/v2."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_path: dict[str, list[Resource]] = {}
        for one in resources:
            self._by_path.setdefault(_root(one).lstrip("/"), []).append(one)
        self._written: dict[str, bytes] = {}

    def answer(self, path: str) -> bytes | None:
        """Give the document at a path, which is written once; None: there is none."""
        if path not in self._written:
            document = self._document(path)
            if document is None:
                return None
            self._written[path] = encode(document)
        return self._written[path]

    def _document(self, path: str) -> Object | None:
        if path == "/openapi/v2":
            every = [one for some in self._by_path.values() for one in some]
            return {"swagger": "2.0", "info": _INFO, "paths": {}, "definitions": _types(every, _V2)}
        if path == "/openapi/v3":
            links = {name: {"serverRelativeURL": f"{path}/{name}"} for name in self._by_path}
            return {"paths": links}
        served = self._by_path.get(path.removeprefix("/openapi/v3/"))
        if served is None:
            return None
        paths: Object = {}
        for one in served:
            paths.update(_paths(one))
        types = {"schemas": _types(served, _V3)}
        return {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": types}


def _types(resources: Iterable[Resource], prefix: str) -> Object:
    """Give the schemas of kinds; of one without known fields, that it is an object."""
    names = {one: schemas.name_of(one.group, one.version, one.kind) for one in resources}
    found = schemas.openapi(filter(None, names.values()), prefix)
    bare = {_schema_name(one): _bare(one) for one, name in names.items() if not name}
    return {**bare, **found}


def _bare(one: Resource) -> Object:
    return {"type": "object", "x-kubernetes-group-version-kind": [_kind(one)]}


def _root(one: Resource) -> str:
    return f"/apis/{one.group}/{one.version}" if one.group else f"/api/{one.version}"


def _kind(one: Resource) -> Object:
    return {"group": one.group, "version": one.version, "kind": one.kind}


def _schema_name(one: Resource) -> str:
    known = schemas.name_of(one.group, one.version, one.kind)
    if known:
        return known
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
