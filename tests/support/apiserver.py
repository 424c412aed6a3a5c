"""What API server and scheduler do around the webhook, for tests to hold it against.

Written from the documentation of Kubernetes with the official client's quantities, and on purpose
without a line of evencore: a mistake of the product must not be repeated here.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import jsonpatch
from kubernetes.utils.quantity import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

Object = dict[str, Any]


def apply(obj: Object, patch: list[Object]) -> Object:
    """Apply a JSON Patch as strictly as RFC 6902 has it; the object itself stays as it is."""
    patched: Object = jsonpatch.JsonPatch(patch).apply(copy.deepcopy(obj))
    return patched


def containers(pod: Object) -> Iterator[Object]:
    """Iterate over the init and app containers of a pod."""
    spec = pod.get("spec") or {}
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()


def defaulted(pod: Object) -> Object:
    """Fill in what SetDefaults_Pod does: a missing request takes the value of the limit."""
    pod = copy.deepcopy(pod)
    for container in containers(pod):
        resources = container.get("resources") or {}
        limits = resources.get("limits") or {}
        requests = dict(limits) | (resources.get("requests") or {})
        if requests:
            container["resources"] = {**resources, "requests": requests, "limits": limits}
    return pod


def qos(pod: Object) -> str:
    """Return the QoS class by the words of the documentation, after defaulting.

    Only for pods that pass validation: no request is above its limit, so sums equal means that
    every container is equal.
    """
    pod = defaulted(pod)
    pod_level = (pod.get("spec") or {}).get("resources") or {}
    if pod_level.get("requests") or pod_level.get("limits"):
        limits = pod_level.get("limits") or {}
        levels = [{**pod_level, "requests": dict(limits) | (pod_level.get("requests") or {})}]
    else:
        levels = [c.get("resources") or {} for c in containers(pod)]
    amounts = [_positive(level) for level in levels]
    if not any(part for level in amounts for part in level):
        return "BestEffort"
    guaranteed = all(
        limits.keys() == {"cpu", "memory"} and requests == limits for requests, limits in amounts
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _positive(resources: Object) -> tuple[dict[str, Decimal], dict[str, Decimal]]:
    def part(name: str) -> dict[str, Decimal]:
        found = resources.get(name) or {}
        read = {k: parse_quantity(v) for k, v in found.items() if k in ("cpu", "memory")}
        return {k: v for k, v in read.items() if v > 0}

    return part("requests"), part("limits")


def eligible(pod: Object, nodes: Iterable[Object]) -> list[str]:
    """Return the names of the nodes that nodeSelector and required node affinity allow."""
    return [n["metadata"]["name"] for n in nodes if allows(pod, n)]


def allows(pod: Object, node: Object) -> bool:
    """Tell whether nodeSelector and required node affinity allow a node."""
    spec, meta = pod["spec"], node["metadata"]
    labels = meta.get("labels") or {}
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return False
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node_affinity.get(REQUIRED)
    if required is None:
        return True
    terms = required.get("nodeSelectorTerms") or []
    return any(_term_allows(term, labels, meta["name"]) for term in terms)


def _term_allows(term: Object, labels: Mapping[str, str], name: str) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return all(_requirement_allows(r, labels) for r in expressions) and all(
        _requirement_allows(r, {"metadata.name": name}) for r in fields
    )


def _requirement_allows(requirement: Object, labels: Mapping[str, str]) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    values = requirement.get("values") or []
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    if key not in labels or not labels[key].lstrip("-").isdecimal():
        return False
    have, bound = int(labels[key]), int(values[0])
    return have > bound if operator == "Gt" else have < bound


def faults(pod: Object) -> list[str]:
    """Return what API validation would say about the parts that evencore may change."""
    return [
        *(fault for container in containers(defaulted(pod)) for fault in _above_limit(container)),
        *_faults_of_affinity((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}),
        *_faults_of_metadata(pod.get("metadata") or {}),
    ]


def _above_limit(container: Object) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name, limit in (resources.get("limits") or {}).items():
        if parse_quantity(resources["requests"][name]) > parse_quantity(limit):
            yield f"{container['name']}: request of {name} above its limit"


def _faults_of_affinity(affinity: Object) -> Iterator[str]:
    weighted = affinity.get(PREFERRED) or []
    yield from (f"weight of {w}" for w in weighted if not 1 <= w["weight"] <= 100)
    terms = [
        *((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or []),
        *(w["preference"] for w in weighted),
    ]
    for term in terms:
        for requirement in term.get("matchFields") or []:
            one = len(requirement["values"]) == 1
            if requirement["key"] != "metadata.name" or not one:
                yield f"matchFields {requirement}"
        for requirement in term.get("matchExpressions") or []:
            if requirement["operator"] in ("In", "NotIn") and not requirement.get("values"):
                yield f"no values in {requirement}"


def _faults_of_metadata(metadata: Object) -> Iterator[str]:
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    values = [*labels.items(), *annotations.items()]
    yield from (f"{key}: {value!r} is no text" for key, value in values if type(value) is not str)
    yield from (f"label {key} is too long" for key, value in labels.items() if len(value) > 63)
