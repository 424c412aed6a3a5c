"""The defaults of every kind but the pod, as far as controllers and people see them.

Kubernetes rules: the SetDefaults_ functions of pkg/apis/*/v1/defaults.go.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

from simulator.objects import copy
from simulator.patches.plain import merge_patch
from simulator.resources import PODS
from simulator.rules import pod_defaults, services
from simulator.rules.amounts import canonical_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object
    from simulator.resources import Resource

_SURGE: Final = {"maxUnavailable": "25%", "maxSurge": "25%"}
_SPECS: Final[dict[str, Any]] = {
    "deployments.apps": {
        "replicas": 1,
        "strategy": {"type": "RollingUpdate"},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "replicasets.apps": {"replicas": 1},
    "replicationcontrollers": {"replicas": 1},
    "statefulsets.apps": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate"},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "daemonsets.apps": {"updateStrategy": {"type": "RollingUpdate"}, "revisionHistoryLimit": 10},
    "jobs.batch": {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
    },
}
# The parameters of a rolling update, where that is the strategy.
_ROLLING: Final[dict[str, tuple[str, Any]]] = {
    "deployments.apps": ("strategy", _SURGE),
    "statefulsets.apps": ("updateStrategy", {"partition": 0}),
    "daemonsets.apps": ("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
}
_WEBHOOK: Final[dict[str, Any]] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "reinvocationPolicy": "Never",
    "timeoutSeconds": 10,
}


def defaulted(resource: Resource, obj: Object) -> Object:
    """Return the object with the defaults of its kind; `obj` stays as it is."""
    name = resource.storage
    if name in _SPECS:
        return _workload(name, obj)
    others = _OTHERS.get(name)
    return others(obj) if others else obj


def defaulted_again(resource: Resource, old: Object, new: Object) -> Object:
    """Give an update the defaults of its kind; a spec that is the stored one has them already."""
    only_spec = resource is PODS or resource.storage in _SPECS
    if only_spec and new.get("spec") is old.get("spec"):
        return new
    return defaulted(resource, new)


def _workload(name: str, obj: Object) -> Object:
    spec = merge_patch(copy(_SPECS[name]), obj.get("spec") or {})
    if name in _ROLLING:
        part, parameters = _ROLLING[name]
        if spec[part].get("type") == "RollingUpdate":
            given = spec[part].get("rollingUpdate") or {}
            spec[part] = {**spec[part], "rollingUpdate": {**parameters, **given}}
    if name == "jobs.batch":
        _job(spec)
    template = spec.get("template") or {}
    spec["template"] = {
        "metadata": {},
        **template,
        "spec": pod_defaults.template_spec(template.get("spec") or {}),
    }
    labels = (template.get("metadata") or {}).get("labels")
    if name == "replicationcontrollers" and labels and not spec.get("selector"):
        spec["selector"] = labels
    return {**obj, "spec": spec}


def _job(spec: Object) -> None:
    """Kubernetes rules: with neither completions nor parallelism, both are 1.

    With a podFailurePolicy a pod counts when it has ended, as only then its rules can tell.
    """
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    policy = spec.get("podFailurePolicy")
    spec.setdefault("podReplacementPolicy", "Failed" if policy else "TerminatingOrFailed")
    if policy:
        spec["podFailurePolicy"] = policy = copy(policy)
        for rule in policy.get("rules") or ():
            for pattern in rule.get("onPodConditions") or ():
                pattern.setdefault("status", "True")


def _namespace(obj: Object) -> Object:
    metadata = obj.get("metadata") or {}
    labels = {**(metadata.get("labels") or {})}
    labels["kubernetes.io/metadata.name"] = metadata.get("name", "")
    return {**obj, "metadata": {**metadata, "labels": labels}}


def _node(obj: Object) -> Object:
    status = dict(obj.get("status") or {})
    for part in ("capacity", "allocatable"):
        if part in status:
            status[part] = canonical_list(status[part])
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = status["capacity"]
    return {**obj, "spec": obj.get("spec") or {}, "status": status}


def _webhooks(obj: Object) -> Object:
    hooks = []
    for given in obj.get("webhooks") or ():
        hook = {**copy(_WEBHOOK), **given}
        hook["rules"] = [{"scope": "*", **rule} for rule in hook.get("rules") or ()]
        service = (hook.get("clientConfig") or {}).get("service")
        if service:
            hook["clientConfig"] = {**hook["clientConfig"], "service": {"port": 443, **service}}
        hooks.append(hook)
    return {**obj, "webhooks": hooks}


def _quota(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    return {**obj, "spec": {**spec, "hard": canonical_list(spec.get("hard") or {})}}


def _secret(obj: Object) -> Object:
    """Kubernetes rule: stringData is for writing only; it is kept encoded, in data."""
    secret = {"type": "Opaque", **obj}
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {key: b64encode(text.encode()).decode() for key, text in plain.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}
    return secret


def _limit_range(obj: Object) -> Object:
    """Kubernetes rule: default falls back on max, defaultRequest on default, then on min."""
    limits = []
    for given in (obj.get("spec") or {}).get("limits") or ():
        item = {k: v if k == "type" else canonical_list(v) for k, v in given.items()}
        if item.get("type") == "Container":
            default = {**(item.get("max") or {}), **(item.get("default") or {})}
            request = {**(item.get("min") or {}), **default, **(item.get("defaultRequest") or {})}
            item |= {k: v for k, v in (("default", default), ("defaultRequest", request)) if v}
        limits.append(item)
    return {**obj, "spec": {**(obj.get("spec") or {}), "limits": limits}}


_OTHERS: Final[dict[str, Callable[[Object], Object]]] = {
    "pods": pod_defaults.pod,
    "namespaces": _namespace,
    "nodes": _node,
    "limitranges": _limit_range,
    "resourcequotas": _quota,
    "secrets": _secret,
    "services": services.defaulted,
    "priorityclasses.scheduling.k8s.io": lambda obj: {
        "preemptionPolicy": "PreemptLowerPriority",
        **obj,
    },
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _webhooks,
}
