"""The API of the cluster under test in plain objects, and waiting for what is to become true."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Final

from evencore.kube.client import Client, connect
from evencore.kube.errors import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evencore.kube.reply import Reply

Object = dict[str, Any]

PATIENCE_S: Final = 60.0
"""The machine may be busy with something else."""

_MERGE: Final = "application/merge-patch+json"
_PATHS: Final = {
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "ReplicationController": "/api/v1/namespaces/{}/replicationcontrollers",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Event": "/api/v1/namespaces/{}/events",
}


def until(
    condition: Callable[[], object], what: Callable[[], object] | str, seconds: float = PATIENCE_S
) -> None:
    """Wait until a condition holds; `what` is not true otherwise."""
    deadline = time.monotonic() + seconds
    while not condition():
        told = what if isinstance(what, str) else what()
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {told}"
        time.sleep(0.05)


class Api:
    """Reads and writes objects."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client: Client = connect(str(kubeconfig), agent="evencore-e2e")

    def get(self, path: str) -> Object:
        """Read what must be there."""
        reply = self._client.get(path)
        try:
            found: Object = json.loads(reply.read())
        finally:
            reply.close()
        return found

    def watch(self, path: str, **query: str) -> Reply:
        """Open a watch; silence is fine."""
        asked = [("watch", "true"), *query.items()]
        return self._client.get(path, asked, read_timeout_s=3600)

    def make(self, obj: Object) -> Object:
        """Make an object that names its namespace."""
        path = _PATHS[obj["kind"]].format(obj["metadata"]["namespace"])
        return self.post(path, obj)

    def post(self, path: str, obj: Object) -> Object:
        """Make an object."""
        made: Object = json.loads(self._client.write("POST", path, obj))
        return made

    def merge(self, path: str, change: Object) -> Object:
        """Merge a change into what is there."""
        made: Object = json.loads(self._client.write("PATCH", path, change, content_type=_MERGE))
        return made

    def delete(self, path: str) -> None:
        """Delete what may be gone."""
        with contextlib.suppress(NotFound, Conflict):
            self._client.write("DELETE", path, {"propagationPolicy": "Background"})

    def end_at_once(self, pod: Object) -> None:
        """Delete a pod without asking its kubelet."""
        with contextlib.suppress(NotFound):
            self._client.write("DELETE", path_of(pod), {"gracePeriodSeconds": 0})

    def there(self, kind: str, namespace: str) -> list[Object]:
        """List the objects of a kind in a namespace."""
        found: list[Object] = self.get(_PATHS[kind].format(namespace))["items"]
        return found

    def one(self, kind: str, namespace: str, name: str) -> Object:
        """Read one object."""
        return self.get(f"{_PATHS[kind].format(namespace)}/{name}")

    def events(self, namespace: str, reason: str, kind: str | None = None) -> list[Object]:
        """List the Events with this reason, about objects of this kind."""
        return [
            event
            for event in self.there("Event", namespace)
            if event["reason"] == reason and kind in (None, event["involvedObject"]["kind"])
        ]


def path_of(obj: Object) -> str:
    """Return where an object is."""
    meta = obj["metadata"]
    return f"{_PATHS[obj['kind']].format(meta['namespace'])}/{meta['name']}"
