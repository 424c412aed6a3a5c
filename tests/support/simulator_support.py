"""What the tests of the pocket cluster share: small objects, a still store, a plain HTTP client."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import urllib3

from simulator import resources
from simulator.chance import Chance
from simulator.clock import Clock
from simulator.store.collector import Collector
from simulator.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.server import ApiServer

Object = dict[str, Any]
JSON = "application/json"
PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE_S = 30.0


def still_store(*, history: int = 1000) -> Store:
    return Store(Clock.virtual(), Chance(1), history=history)


def collected_store() -> Store:
    store = still_store()
    Collector(store, resources.ALL)
    return store


def pod(name: str = "p", /, **spec: object) -> Object:
    containers = [{"name": "app", "image": "registry.example/app:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
    }


def config_map(name: str = "c", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


def owned(obj: Object, *owners: Object, block: bool = False) -> Object:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": block,
        }
        for owner in owners
    ]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}


class Wire:
    """Talks to an API server in plain HTTP, and tells status and body as they came."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self._pool = urllib3.PoolManager(retries=False, timeout=PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.clear()

    def ask(
        self, method: str, path: str, body: object = None, type_: str = JSON, **headers: str
    ) -> tuple[int, Any]:
        """Send one request; `path` may have a query."""
        sent = {"Content-Type": type_, **{k.replace("_", "-"): v for k, v in headers.items()}}
        encoded = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(method, self.server.url + path, body=encoded, headers=sent)
        text = answer.data.decode()
        kind = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(text) if kind.startswith(JSON) else text

    def headers(self, method: str, path: str, body: object) -> Mapping[str, str]:
        """Send one request and give the headers of its answer."""
        encoded, type_ = json.dumps(body).encode(), {"Content-Type": JSON}
        answer = self._pool.request(method, self.server.url + path, body=encoded, headers=type_)
        return answer.headers

    def get(self, path: str, **headers: str) -> Any:  # noqa: ANN401  any JSON value
        """Read what must be there."""
        status, body = self.ask("GET", path, **headers)
        assert status == 200, body
        return body

    def post(self, path: str, body: object) -> Any:  # noqa: ANN401  any JSON value
        """Make what must be possible to make."""
        status, answer = self.ask("POST", path, body)
        assert status == 201, answer
        return answer

    def patch(self, path: str, body: object, type_: str) -> tuple[int, Any]:
        """Patch with one of the media types of `simulator.api.bodies`."""
        return self.ask("PATCH", path, body, type_)

    @contextmanager
    def watch(self, path: str) -> Iterator[Iterator[Object]]:
        """Open a watch; yields its events as they come."""
        answer = self._pool.request("GET", self.server.url + path, preload_content=False)
        try:
            yield (json.loads(line) for line in answer)
        finally:
            answer.close()
