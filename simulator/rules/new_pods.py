"""What a new pod must be, and the status that the API server gives it.

Kubernetes rules: ValidatePodCreate (the parts that matter to scheduling and resources) and
PrepareForCreate of the pod strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evencore.domain.qos import qos_class
from evencore.domain.quantity import QuantityError, parse_nanos
from evencore.domain.resources import read_amounts
from evencore.domain.views import PodSpec, read
from simulator.objects import dig
from simulator.rules import ephemeral, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_RESTARTS: Final = ("Always", "OnFailure", "Never")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"

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
    found = [*_containers(spec), *ephemeral.check_new(spec)]
    if spec.get("restartPolicy") not in _RESTARTS:
        found.append(faults.unsupported("spec.restartPolicy", spec.get("restartPolicy"), _RESTARTS))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        found.append(
            faults.forbidden("spec.nodeName", "cannot be set until all schedulingGates are gone")
        )
    found += _gates(spec.get("schedulingGates") or [])
    found += required_affinity(spec)
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
            yield from resources(container.get("resources") or {}, f"{at}.resources")


def resources(given: Object, at: str) -> Iterator[Cause]:
    """Check the requests and limits of one container."""
    amounts: dict[tuple[str, str], int] = {}
    for part in ("limits", "requests"):
        for name, value in (given.get(part) or {}).items():
            field = f"{at}.{part}[{name}]"
            try:
                amounts[part, name] = parse_nanos(value)
            except QuantityError as error:
                yield faults.invalid(field, value, str(error))
                continue
            if amounts[part, name] < 0:
                yield faults.invalid(field, value, "must be greater than or equal to 0")
    for name, value in (given.get("requests") or {}).items():
        limit = amounts.get(("limits", name))
        if limit is not None and amounts.get(("requests", name), 0) > limit:
            shown = given["limits"][name]
            why = f"must be less than or equal to {name} limit of {shown}"
            yield faults.invalid(f"{at}.requests", value, why)


def _gates(gates: list[Object]) -> Iterator[Cause]:
    seen: set[str] = set()
    for number, gate in enumerate(gates):
        name = gate.get("name") or ""
        if not name:
            yield faults.required(f"spec.schedulingGates[{number}].name")
        elif name in seen:
            yield faults.duplicate(f"spec.schedulingGates[{number}]", name)
        seen.add(name)


def required_affinity(spec: Object) -> Iterator[Cause]:
    """Check the terms of the required node affinity."""
    required = dig(spec, "affinity", "nodeAffinity", _REQUIRED)
    if required is None:
        return
    terms = required.get("nodeSelectorTerms") or []
    if not terms:
        yield faults.required(_TERMS, "must have at least one node selector term")
    for number, term in enumerate(terms):
        for part in ("matchExpressions", "matchFields"):
            for place, one in enumerate(term.get(part) or ()):
                yield from _requirement(one, f"{_TERMS}[{number}].{part}[{place}]", part)


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
