"""A decision becomes JSON Patch operations (RFC 6902).

Made directly against the shape of what the API server sent, so fields that we do not know survive:
parents that are missing or null are added first, `~` and `/` in keys are escaped, lists grow by
`/-`. Nothing to do = no operation at all, not even an annotation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from evencore.domain import names
from evencore.domain.fit import still_missing
from evencore.domain.quantity import format_millis
from evencore.domain.resources import CPU, Kind
from evencore.domain.views import Resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evencore.domain.alignment import CpuChange
    from evencore.domain.decision import Decision
    from evencore.domain.fit import Rule
    from evencore.domain.views import Container, NodeAffinity, PodSpec, PodView, Requirement, Term

Operation = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = 100  # the most a preference may weigh: a node that never fits is the worst there is
_LONGEST_DECISION = 4096  # characters
_ALL_ANNOTATIONS = 256 * 1024  # bytes, a limit of Kubernetes (TotalAnnotationSizeLimitB)


def operations(pod: PodView, decision: Decision) -> list[Operation]:
    """Return the JSON Patch that does to `pod` what was decided; [] if that is nothing."""
    spec = pod.spec
    if spec is None or not decision.sentences:
        return []
    patch: list[Operation] = []
    original: dict[str, str] = {}
    for change in decision.changes:
        resources = _container(spec, change).resources or _NO_RESOURCES
        original[change.container.name] = _written(resources)
        patch += _cpu(resources, change)
    if decision.required or decision.preferred:
        patch += _affinity(spec, decision)
    if decision.gate is not None:
        patch += _gate(spec, wanted=decision.gate)
    patch += _metadata(pod, decision, original)
    return patch


def _gate(spec: PodSpec, *, wanted: bool) -> list[Operation]:
    """Put our scheduling gate on or take it off; those of others stay."""
    path = "/spec/schedulingGates"
    if not wanted:
        position = spec.gates.index(names.HOLD)
        return [
            {"op": "test", "path": f"{path}/{position}/name", "value": names.HOLD},
            {"op": "remove", "path": f"{path}/{position}"},
        ]
    gate = {"name": names.HOLD}
    return [_add(path, [gate]) if spec.scheduling_gates is None else _add(f"{path}/-", gate)]


def _add(path: str, value: object) -> Operation:
    return {"op": "add", "path": path, "value": value}


@lru_cache(maxsize=16)  # of our own keys
def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _container(spec: PodSpec, change: CpuChange) -> Container:
    """Return what the pod says of a container."""
    listed = spec.containers if change.container.kind is Kind.APP else spec.init_containers
    return (listed or [])[change.container.position]


def _cpu(resources: Resources, change: CpuChange) -> list[Operation]:
    requests, limits = _amount_paths(change.container.kind, change.container.position)
    value = format_millis(change.after)
    return [
        _set_cpu(requests, resources.requests, value),
        _set_cpu(limits, resources.limits, value),
    ]


class _Path(NamedTuple):
    amounts: str  # the requests or limits of a container
    cpu: str


@lru_cache(maxsize=256)
def _amount_paths(kind: Kind, position: int) -> tuple[_Path, _Path]:
    listed = "containers" if kind is Kind.APP else "initContainers"
    requests, limits = (
        f"/spec/{listed}/{position}/resources/{part}" for part in ("requests", "limits")
    )
    return _Path(requests, f"{requests}/{CPU}"), _Path(limits, f"{limits}/{CPU}")


def _set_cpu(path: _Path, present: Mapping[str, object] | None, value: str) -> Operation:
    if present is None:
        return _add(path.amounts, {CPU: value})
    return {"op": "replace" if CPU in present else "add", "path": path.cpu, "value": value}


def _written(resources: Resources) -> str:
    """Return the CPU that the author asked for, as it was written."""
    for values in (resources.requests, resources.limits):
        if values and values.get(CPU) is not None:
            return str(values[CPU])
    return ""


_NO_RESOURCES = Resources()


def _affinity(spec: PodSpec, decision: Decision) -> Iterator[Operation]:
    node_affinity = spec.affinity.node_affinity if spec.affinity else None
    if node_affinity is None:
        value = _new_affinity(decision)
        if spec.affinity is None:
            yield _add("/spec/affinity", {"nodeAffinity": value})
        else:
            yield _add("/spec/affinity/nodeAffinity", value)
        return
    path = "/spec/affinity/nodeAffinity"
    if decision.required:
        yield from _required(f"{path}/{_REQUIRED}", node_affinity, decision.required)
    if decision.preferred:
        preference = {"weight": _WEIGHT, "preference": _term(decision.preferred)}
        if node_affinity.preferred is None:
            yield _add(f"{path}/{_PREFERRED}", [preference])
        else:
            yield _add(f"{path}/{_PREFERRED}/-", preference)


def _new_affinity(decision: Decision) -> dict[str, Any]:
    value: dict[str, Any] = {}
    if decision.required:
        value[_REQUIRED] = {"nodeSelectorTerms": [_term(decision.required)]}
    if decision.preferred:
        value[_PREFERRED] = [{"weight": _WEIGHT, "preference": _term(decision.preferred)}]
    return value


def _term(rules: tuple[Rule, ...]) -> dict[str, Any]:
    """Make a term of its own out of rules."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for rule in rules:
        part = "matchFields" if rule.is_field else "matchExpressions"
        parts.setdefault(part, []).append(_encode(rule.requirement))
    return parts


def _encode(requirement: Requirement) -> dict[str, Any]:
    return {
        "key": requirement.key,
        "operator": requirement.operator,
        "values": list(requirement.values or ()),
    }


def _required(path: str, affinity: NodeAffinity, rules: tuple[Rule, ...]) -> Iterator[Operation]:
    """Terms are ORed: every one that matches anything must carry the rules."""
    if affinity.required is None:
        yield _add(path, {"nodeSelectorTerms": [_term(rules)]})
        return
    for position, term in enumerate(affinity.required.node_selector_terms or ()):
        if not term.empty:
            yield from _into_term(f"{path}/nodeSelectorTerms/{position}", term, rules)


def _into_term(path: str, term: Term, rules: tuple[Rule, ...]) -> Iterator[Operation]:
    for part, present, is_field in (
        ("matchExpressions", term.match_expressions, False),
        ("matchFields", term.match_fields, True),
    ):
        missing = [
            _encode(requirement)
            for rule in rules
            if rule.is_field is is_field
            and (requirement := still_missing(term, rule.requirement)) is not None
        ]
        if missing and present is None:
            yield _add(f"{path}/{part}", missing)
        else:
            yield from (_add(f"{path}/{part}/-", requirement) for requirement in missing)


def _metadata(pod: PodView, decision: Decision, original: dict[str, str]) -> list[Operation]:
    meta = pod.meta
    have = meta.annotations or {}
    annotations = {names.DECISION: _decision_text(have, decision)}
    if original:
        annotations[names.ORIGINAL_CPU] = _original_cpu(have, original)
    patch = [_add("/metadata", {})] if pod.metadata is None else []
    if _room_for(have, annotations):
        patch += _into_map("/metadata/annotations", meta.annotations, annotations)
    if decision.steering:
        patch += _into_map("/metadata/labels", meta.labels, {names.STEERING: decision.steering})
    return patch


def _room_for(have: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Tell whether the API server would take the annotations: a pod matters more than words."""
    after = {**have, **new}
    characters = sum(map(len, after)) + sum(map(len, after.values()))
    if characters * 4 <= _ALL_ANNOTATIONS:  # no character is longer in UTF-8
        return True
    return sum(len(k.encode()) + len(v.encode()) for k, v in after.items()) <= _ALL_ANNOTATIONS


def _into_map(path: str, present: Mapping[str, str] | None, new: dict[str, str]) -> list[Operation]:
    if present is None:
        return [_add(path, new)]
    return [_add(f"{path}/{_escape(key)}", value) for key, value in new.items()]


def _decision_text(have: Mapping[str, str], decision: Decision) -> str:
    """Write what was done now behind what was done before: other webhooks may run in between."""
    before = have.get(names.DECISION, "")
    text = "; ".join([before, *decision.sentences] if before else decision.sentences)
    return text if len(text) <= _LONGEST_DECISION else f"{text[: _LONGEST_DECISION - 3]}..."


def _original_cpu(have: Mapping[str, str], original: dict[str, str]) -> str:
    """Write what the author asked for; what an earlier pass recorded goes before."""
    earlier = have.get(names.ORIGINAL_CPU)
    if earlier is not None:
        original = original | _recorded(earlier)
    return _encode_json(original).decode()


def _recorded(text: str) -> dict[str, str]:
    try:
        return _read_recorded(text)
    except (ValueError, RecursionError):  # somebody else wrote there: it tells us nothing
        return {}


_encode_json = msgspec.json.Encoder(order="sorted").encode
_read_recorded = msgspec.json.Decoder(dict[str, str]).decode
