"""The plug-ins that complete a new pod: service account, priority, tolerations.

Kubernetes: plugin/pkg/admission/{serviceaccount,priority,defaulttolerationseconds}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import forbidden
from simulator.resources import PODS, PRIORITY_CLASSES, SERVICE_ACCOUNTS

if TYPE_CHECKING:
    from simulator.admission.chain import Attributes
    from simulator.objects import Object
    from simulator.store.store import Store

_MOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_S: Final = 3607
_MODE: Final = 0o644
_EVICTED_AFTER_S: Final = 300
_NODE_FAILS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_MIRROR: Final = "kubernetes.io/config.mirror"


def _new_pod(attributes: Attributes, *operations: str) -> Object | None:
    """Give the pod that is about to be created with a spec to change; None for any other write.

    `operations`: those that count, CREATE if none is named.
    """
    target = attributes.target
    if target.resource is not PODS or target.subresource:
        return None
    if attributes.operation not in (operations or ("CREATE",)):
        return None
    if attributes.obj is None:
        return None
    return {**attributes.obj, "spec": {**attributes.obj["spec"]}}


class ServiceAccount:
    """Gives a pod an account and mounts its token."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Complete a new pod; a mirror pod has no account."""
        pod = _new_pod(attributes)
        if pod is None or _MIRROR in (pod["metadata"].get("annotations") or {}):
            return attributes.obj
        spec, namespace = pod["spec"], attributes.target.namespace
        name = spec.get("serviceAccountName") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = self._store.table(SERVICE_ACCOUNTS).get((namespace, name))
        if account is None:
            raise forbidden(
                PODS,
                pod["metadata"].get("name") or pod["metadata"].get("generateName", ""),
                f"error looking up service account {namespace}/{name}: "
                f'serviceaccount "{name}" not found',
            )
        wanted = spec.get("automountServiceAccountToken")
        if wanted is None:
            wanted = account.object.get("automountServiceAccountToken", True)
        if wanted:
            self._mount(spec)
        return pod

    def _mount(self, spec: Object) -> None:
        parts = [part for part in ("initContainers", "containers") if spec.get(part)]
        if all(_has_mount(one) for part in parts for one in spec[part]):
            return
        name = f"kube-api-access-{self._store.chance.suffix()}"
        for part in parts:
            spec[part] = [one if _has_mount(one) else _mounted(one, name) for one in spec[part]]
        spec["volumes"] = [*(spec.get("volumes") or ()), _token_volume(name)]


def _has_mount(container: Object) -> bool:
    return any(one.get("mountPath") == _MOUNT for one in container.get("volumeMounts") or ())


def _mounted(container: Object, name: str) -> Object:
    mount = {"name": name, "readOnly": True, "mountPath": _MOUNT}
    return {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), mount]}


def _token_volume(name: str) -> Object:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    root = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_S, "path": "token"}},
        {"configMap": root},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": _MODE}}


class Priority:
    """Gives a pod the number of its priority class."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Complete a new pod; without a class the global default counts, else 0.

        An update that does not say it keeps it.
        """
        pod = _new_pod(attributes, "CREATE", "UPDATE")
        if pod is None:
            return attributes.obj
        spec = pod["spec"]
        if attributes.old is not None:
            for part in ("priority", "preemptionPolicy"):
                spec.setdefault(part, attributes.old["spec"].get(part))
            return pod
        found = self._class(spec.get("priorityClassName") or "")
        if found is None and spec.get("priorityClassName"):
            raise forbidden(
                PODS,
                pod["metadata"].get("name") or pod["metadata"].get("generateName", ""),
                f"no PriorityClass with name {spec['priorityClassName']} was found",
            )
        found = found or {}
        if found:
            spec["priorityClassName"] = found["metadata"]["name"]
        spec["priority"] = found.get("value", 0)
        spec.setdefault("preemptionPolicy", found.get("preemptionPolicy", "PreemptLowerPriority"))
        return pod

    def _class(self, name: str) -> Object | None:
        for record in self._store.table(PRIORITY_CLASSES).records():
            named = record.key[1] == name
            if named or (not name and record.object.get("globalDefault")):
                return record.object
        return None


async def tolerate_for_a_while(attributes: Attributes) -> Object | None:
    """Let a pod stay five minutes on a node that fails, unless it says otherwise itself.

    Updates count, too: a client that replaces a pod need not repeat what it never wrote.
    """
    pod = _new_pod(attributes, "CREATE", "UPDATE")
    if pod is None:
        return attributes.obj
    given = pod["spec"].get("tolerations") or []
    missing = [key for key in _NODE_FAILS if not any(_tolerates(one, key) for one in given)]
    pod["spec"]["tolerations"] = [*given, *map(_for_a_while, missing)]
    return pod


def _tolerates(toleration: Object, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (
        None,
        "",
        "NoExecute",
    )


def _for_a_while(key: str) -> Object:
    return {
        "key": key,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _EVICTED_AFTER_S,
    }
