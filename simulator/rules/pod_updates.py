"""What an update of a pod may change.

Kubernetes rules (ValidatePodUpdate): of a pod's spec only images, activeDeadlineSeconds, more
tolerations, and gates that go. While gates are there, also node selection, and only tighter
(KEP-3838): a required term may gain requirements, nodeSelector keys, preferences anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import copy, dig
from simulator.rules import faults, metadata, new_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_AFFINITY: Final = f"spec.affinity.nodeAffinity.{_REQUIRED}"
_ONLY: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def check(old: Object, new: Object) -> list[Cause]:
    """Tell what is wrong with an update through the pod itself."""
    before, after = old["spec"], new["spec"]
    gated = bool(before.get("schedulingGates"))
    found = [*_containers(before, after), *_gates(before, after), *_tolerations(before, after)]
    if gated:
        found += _node_selector(before, after)
        found += metadata.labels("spec.nodeSelector", after.get("nodeSelector") or {})
        found += _node_affinity(before, after)
        found += new_pods.node_affinity(after)
    allowed = _with_allowed(before, after, gated=gated)
    if not found and allowed != after:
        changed = sorted(
            key for key in allowed.keys() | after.keys() if allowed.get(key) != after.get(key)
        )
        found.append(faults.forbidden("spec", f"{_ONLY}; changed: {', '.join(changed)}"))
    return found


def _with_allowed(before: Object, after: Object, *, gated: bool) -> Object:
    """Return the old spec with those parts of the new one that may change."""
    spec = copy(before)
    for part in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _take(spec, after, part)
    for part in ("containers", "initContainers"):
        for mine, theirs in zip(spec.get(part) or (), after.get(part) or (), strict=False):
            _take(mine, theirs, "image")
    if gated:
        _take(spec, after, "nodeSelector")
        others = {k: v for k, v in (spec.get("affinity") or {}).items() if k != "nodeAffinity"}
        theirs = dig(after, "affinity", "nodeAffinity")
        if theirs is not None:
            others["nodeAffinity"] = theirs
        if others or "affinity" in after:
            spec["affinity"] = others
        else:
            spec.pop("affinity", None)
    return spec


def _take(target: Object, source: Object, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def _containers(before: Object, after: Object) -> Iterator[Cause]:
    for part in ("containers", "initContainers"):
        if len(before.get(part) or ()) != len(after.get(part) or ()):
            yield faults.forbidden(f"spec.{part}", "pod updates may not add or remove containers")
        for number, container in enumerate(after.get(part) or ()):
            if not container.get("image"):
                yield faults.required(f"spec.{part}[{number}].image")


def _gates(before: Object, after: Object) -> Iterator[Cause]:
    had = {gate["name"] for gate in before.get("schedulingGates") or ()}
    for number, gate in enumerate(after.get("schedulingGates") or ()):
        if gate.get("name") not in had:
            yield faults.forbidden(
                f"spec.schedulingGates[{number}].name",
                f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
            )


def _tolerations(before: Object, after: Object) -> Iterator[Cause]:
    kept = after.get("tolerations") or []
    if any(_plain(one) not in map(_plain, kept) for one in before.get("tolerations") or ()):
        yield faults.forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )


def _plain(toleration: Object) -> Object:
    return {k: v for k, v in toleration.items() if k != "tolerationSeconds"}


def _node_selector(before: Object, after: Object) -> Iterator[Cause]:
    now = after.get("nodeSelector") or {}
    if any(now.get(key) != value for key, value in (before.get("nodeSelector") or {}).items()):
        yield faults.invalid(
            "spec.nodeSelector",
            now,
            "only additions are allowed (no mutations or deletions)",
        )


def _node_affinity(before: Object, after: Object) -> Iterator[Cause]:
    old = _terms(before)
    if not old:
        return
    new = _terms(after)
    if len(old) != len(new):
        at = f"{_AFFINITY}.nodeSelectorTerms"
        yield faults.invalid(
            at, new, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        )
        return
    for number, (was, is_) in enumerate(zip(old, new, strict=True)):
        if not _gains_only(was, is_):
            yield faults.invalid(
                f"{_AFFINITY}.nodeSelectorTerms[{number}]",
                is_,
                "only additions are allowed (no mutations or deletions)",
            )


def _terms(spec: Object) -> list[Object]:
    return dig(spec, "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms") or []


def _gains_only(was: Object, is_: Object) -> bool:
    """Kubernetes rule: an empty term matches nothing; any requirement would widen it."""
    parts = ("matchExpressions", "matchFields")
    if not any(was.get(part) for part in parts):
        return not any(is_.get(part) for part in parts)
    return all(_starts_with(is_.get(part) or [], was.get(part) or []) for part in parts)


def _starts_with(now: list[Any], before: list[Any]) -> bool:
    return now[: len(before)] == before
