"""What a new pod must be, and the status that the API server gives it.

Kubernetes rules: ValidatePodCreate (the parts that matter to scheduling and resources) and
PrepareForCreate of the pod strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evencore.domain.lenient import read
from evencore.domain.qos import qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.views import PodSpec
from simulator.objects import dig
from simulator.rules import ephemeral, faults, metadata, requirements, tolerations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_RESTARTS: Final = ("Always", "OnFailure", "Never")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_AFFINITY: Final = "spec.affinity.nodeAffinity"
_HEAVIEST: Final = 100

GATED: Final = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "lastTransitionTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


def qos(pod: Object) -> str:
    """Compute the QoS class."""
    return qos_class(read_amounts(spec_of(pod))).value


def spec_of(pod: Object) -> PodSpec:
    """Read the spec of a pod; strictly first, which is a tenth of the cost."""
    given = pod.get("spec") or {}
    try:
        return msgspec.convert(given, PodSpec)
    except msgspec.ValidationError:
        return read(PodSpec, given)[0]


def with_status(pod: Object) -> Object:
    """Give a new pod its first status, whatever the client sent as one."""
    status: Object = {"phase": "Pending", "qosClass": qos(pod)}
    if dig(pod, "spec", "schedulingGates"):
        status["conditions"] = [GATED]
    return {**pod, "status": status}


def check(pod: Object) -> list[Cause]:
    """Tell what is wrong with a new pod."""
    spec = pod["spec"]
    found = [*check_spec(spec), *ephemeral.check_new(spec)]
    if spec.get("nodeName") and spec.get("schedulingGates"):
        found.append(
            faults.forbidden("spec.nodeName", "cannot be set until all schedulingGates are gone")
        )
    return found


def check_spec(spec: Object) -> list[Cause]:
    """Tell what is wrong with the spec of a pod or of a template."""
    found = list(_containers(spec))
    restart = spec.get("restartPolicy", "Always")
    if restart not in _RESTARTS:
        found.append(faults.unsupported("spec.restartPolicy", restart, _RESTARTS))
    found += _gates(spec.get("schedulingGates") or [])
    found += metadata.labels("spec.nodeSelector", spec.get("nodeSelector") or {})
    found += node_affinity(spec)
    found += tolerations.check(spec.get("tolerations") or [])
    return found


def _containers(spec: Object) -> Iterator[Cause]:
    if not spec.get("containers"):
        yield faults.required("spec.containers")
    seen: set[str] = set()
    for part in ("initContainers", "containers"):
        for number, container in enumerate(spec.get(part) or ()):
            at = f"spec.{part}[{number}]"
            name = container.get("name") or ""
            if not name:
                yield faults.required(f"{at}.name")
            else:
                yield from faults.of_label_name(f"{at}.name", name)
                if name in seen:
                    yield faults.duplicate(f"{at}.name", name)
            seen.add(name)
            if not container.get("image"):
                yield faults.required(f"{at}.image")
            yield from requirements.check(container.get("resources") or {}, f"{at}.resources")


def _gates(gates: list[Object]) -> Iterator[Cause]:
    seen: set[str] = set()
    for number, gate in enumerate(gates):
        name = gate.get("name") or ""
        if not name:
            yield faults.required(f"spec.schedulingGates[{number}].name")
        elif name in seen:
            yield faults.duplicate(f"spec.schedulingGates[{number}]", name)
        else:
            yield from metadata.qualified(f"spec.schedulingGates[{number}]", name)
        seen.add(name)


def node_affinity(spec: Object) -> Iterator[Cause]:
    """Check the terms of the node affinity, required and preferred."""
    required = dig(spec, "affinity", "nodeAffinity", _REQUIRED)
    if required is not None:
        at = f"{_AFFINITY}.{_REQUIRED}.nodeSelectorTerms"
        terms = required.get("nodeSelectorTerms") or []
        if not terms:
            yield faults.required(at, "must have at least one node selector term")
        for number, term in enumerate(terms):
            yield from _term(term, f"{at}[{number}]")
    for number, wish in enumerate(dig(spec, "affinity", "nodeAffinity", _PREFERRED) or ()):
        at = f"{_AFFINITY}.{_PREFERRED}[{number}]"
        weight = wish.get("weight") or 0
        if not 1 <= weight <= _HEAVIEST:
            yield faults.invalid(f"{at}.weight", weight, "must be in the range 1-100")
        yield from _term(wish.get("preference") or {}, f"{at}.preference")


def _term(term: Object, at: str) -> Iterator[Cause]:
    for part in ("matchExpressions", "matchFields"):
        for place, one in enumerate(term.get(part) or ()):
            yield from _requirement(one, f"{at}.{part}[{place}]", part)


def _requirement(one: Object, at: str, part: str) -> Iterator[Cause]:
    operator, values = one.get("operator"), one.get("values") or []
    fields = part == "matchFields"
    known = _OPERATORS[:2] if fields else _OPERATORS
    if operator not in known:
        yield faults.unsupported(f"{at}.operator", operator, known)
    elif fields and one.get("key") != "metadata.name":
        yield faults.invalid(f"{at}.key", one.get("key"), "not a valid field selector key")
    elif operator in ("Gt", "Lt") or fields:
        if len(values) != 1:
            yield faults.required(f"{at}.values", "must have exactly one element")
    elif operator in ("In", "NotIn"):
        if not values:
            yield faults.required(
                f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'"
            )
    elif values:
        yield faults.forbidden(
            f"{at}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        )
