"""Which pods are ours: the rest is left alone, each with the reason for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain import names
from evencore.domain.selectors import required_terms
from evencore.domain.text import cpus

if TYPE_CHECKING:
    from evencore.domain.policy import Policy
    from evencore.domain.resources import PodAmounts
    from evencore.domain.views import Metadata, NamespaceView, PodSpec


def not_ours(meta: Metadata, spec: PodSpec, namespace: str, policy: Policy) -> str | None:
    """Say why a pod never takes part; None = it may."""
    if namespace in policy.ignored_namespaces:
        return f"namespace {namespace} never takes part"
    if names.MIRROR_POD in (meta.annotations or {}):
        return "it is a mirror pod of a static pod"
    if (meta.labels or {}).get(names.ADMISSION) == names.DISABLED:
        return f"its label {names.ADMISSION} is {names.DISABLED}"
    return "it is a Windows pod" if _windows(spec) else None


def takes_part(namespace: str, view: NamespaceView | None, policy: Policy) -> bool:
    """Tell whether the pods of a namespace are ours to touch, `view` being what is known of it."""
    labels = (view.metadata.labels if view and view.metadata else None) or {}
    enabled = labels.get(names.ADMISSION) == names.ENABLED
    return enabled and namespace not in policy.ignored_namespaces


def _windows(spec: PodSpec) -> bool:
    if spec.os is not None and spec.os.name:
        return spec.os.name == "windows"
    if spec.node_selector and any(
        spec.node_selector.get(key) == "windows" for key in names.OS_LABELS
    ):
        return True
    terms = required_terms(spec)
    return bool(terms) and all(
        any(
            r.key in names.OS_LABELS and r.operator == "In" and r.values == ["windows"]
            for r in term.match_expressions or ()
        )
        for term in terms or ()
    )


def not_alignable(amounts: PodAmounts) -> str | None:
    """Say why a Guaranteed pod cannot be aligned; None = it can."""
    if amounts.pod_level is not None:
        return "spec.resources is set: kubelets pin no CPUs of pods with pod-level resources"
    for container in amounts.containers:
        request, limit = container.cpu.request, container.cpu.limit
        if request != limit:
            return (
                f"container {container.name}: cpu request {cpus(request or 0)} is not its limit "
                f"{cpus(limit or 0)}, so the pod is invalid"
            )
    return None
