"""decide(pod, policy, snapshot): what is done to a pod that is being created, and why.

A function of values. The same decision serves the webhook, the controller and `evencore explain`,
and its sentences are what people read in all of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evencore.domain import names
from evencore.domain.alignment import Alignment, CpuChange, align
from evencore.domain.fit import (
    LONGEST_NAME_LIST,
    Need,
    Rule,
    fitting,
    missing_rules,
    need_of,
    not_in,
    rules,
)
from evencore.domain.policy import CpuMode, OnRejection, Policy, TopologyMode, policy_for
from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.selectors import required_terms
from evencore.domain.snapshot import Maxima, Snapshot
from evencore.domain.text import cpus, one_of
from evencore.domain.verdict import exclusions
from evencore.domain.views import PodSpec, PodView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evencore.domain.policy import PodPolicy
    from evencore.domain.resources import PodAmounts
    from evencore.domain.snapshot import Nodes
    from evencore.domain.verdict import Exclusion
    from evencore.domain.views import Metadata, Requirement


class Decision(Struct, frozen=True, gc=False):
    """What is done to one pod, with the reason for each thing."""

    qos: QoS | None = None
    left_alone: str | None = None  # why nothing at all is done
    denial: str | None = None  # why the pod is refused; only if its author asked for that
    changes: tuple[CpuChange, ...] = ()
    required: tuple[Rule, ...] = ()  # go into required node affinity
    preferred: tuple[Rule, ...] = ()  # go into preferred node affinity
    steering: str | None = None  # value of the label evencore.io/steering
    warnings: tuple[str, ...] = ()
    alignment: Alignment | None = None
    need: Need | None = None
    sentences: tuple[str, ...] = ()  # one for each thing done


def decide(
    pod: PodView, namespace: str, policy: Policy, snapshot: Snapshot, now: datetime
) -> Decision:
    """Decide about one pod of a CREATE request in `namespace`.

    Never raises on what the API server can send. Whether the namespace takes part at all is for
    the namespaceSelector of the webhook configuration; here only what it cannot know is checked.
    """
    spec = pod.spec or _NO_SPEC
    meta = pod.meta
    reason = _not_ours(meta, spec, namespace, policy)
    if reason is not None:
        return Decision(left_alone=reason)
    amounts = read_amounts(spec)
    if amounts.problems:
        return Decision(left_alone="; ".join(amounts.problems), warnings=amounts.problems)
    qos = qos_class(amounts)
    if qos is not QoS.GUARANTEED:
        return Decision(qos, left_alone=_NOT_PINNED[qos])
    reason = _not_alignable(amounts)
    if reason is not None:
        return Decision(qos, left_alone=reason, warnings=(reason,))
    containers = [container.name for container in amounts.containers]
    asked = policy_for(
        policy, meta.annotations or {}, _annotations_of(namespace, snapshot), containers
    )
    if asked.keeps_all(containers):
        return Decision(qos, left_alone=f"{names.CPU} is {CpuMode.KEEP}", warnings=asked.warnings)
    return _align_and_place(_Case(pod, spec, namespace, policy, snapshot, now), qos, amounts, asked)


_NOT_PINNED = {qos: f"its QoS class is {qos.value}: no kubelet pins its CPUs" for qos in QoS}


class _Case(Struct, frozen=True, gc=False):
    """What `decide` was asked, handed on whole."""

    pod: PodView
    spec: PodSpec
    namespace: str
    policy: Policy
    snapshot: Snapshot
    now: datetime


def _align_and_place(case: _Case, qos: QoS, amounts: PodAmounts, asked: PodPolicy) -> Decision:
    index = case.snapshot.nodes.index
    eligible = index.allowed(case.spec, ignored=may_be_ours)
    if case.spec.node_name:  # no scheduler looks at it: this node it is, if we know it
        eligible &= index.named(case.spec.node_name)
    alignment, need, fits = _best_alignment(case, amounts, asked, eligible)
    if alignment.denials:
        return Decision(
            qos,
            denial="; ".join(alignment.denials),
            warnings=asked.warnings,
            alignment=alignment,
            need=need,
        )
    placement = _place(case, asked, need, eligible, fits)
    sentences = [change.sentence for change in alignment.changes]
    for rule in placement.required + placement.preferred:
        sentences += rule.sentences
    return Decision(
        qos,
        changes=alignment.changes,
        required=placement.required,
        preferred=placement.preferred,
        steering=placement.steering,
        warnings=asked.warnings + alignment.warnings + placement.warnings,
        alignment=alignment,
        need=need,
        sentences=tuple(sentences),
    )


class _Placement(NamedTuple):
    """What rungs 2 and 3 do to a pod."""

    required: tuple[Rule, ...] = ()
    preferred: tuple[Rule, ...] = ()
    steering: str | None = None
    warnings: tuple[str, ...] = ()


_ANYWHERE = _Placement()


def _place(case: _Case, asked: PodPolicy, need: Need, eligible: int, fits: int) -> _Placement:
    """Keep the pod off eligible nodes that do not fit, and off those that rejected its like."""
    excluded = _exclusions(case, asked)
    if fits == eligible and not excluded:
        return _ANYWHERE  # nearly every pod
    warnings: list[str] = []
    if eligible and not fits:
        warnings.append(
            f"no known node can ever admit this pod: {_asks(need)}; see evencore explain"
        )
    if case.spec.node_name and excluded:
        warnings.append("spec.nodeName is set: the exclusion of nodes has no effect")
    if case.spec.node_name or _of_daemon_set(case.pod):
        return _Placement(warnings=tuple(warnings))
    nodes, terms = case.snapshot.nodes, required_terms(case.spec)
    misfits = [] if asked.topology is TopologyMode.OFF else rules(nodes, need, eligible, fits)
    soft = asked.topology is TopologyMode.PREFERRED
    steer: tuple[Rule, ...] = ()
    # Where no node is known that the pod may use, there are others than we know of.
    if excluded and (_leaves_a_node(case, fits, excluded) or not eligible):
        steer = missing_rules(terms, _exclusion_rules(nodes, excluded))
    return _Placement(
        (() if soft else missing_rules(terms, misfits)) + steer,
        tuple(misfits) if soft and not _has_preferred(case.spec, misfits) else (),
        names.EXCLUDED if steer else None,
        tuple(warnings),
    )


_NO_SPEC = PodSpec()
_NO_MAXIMA = Maxima()


def _not_ours(meta: Metadata, spec: PodSpec, namespace: str, policy: Policy) -> str | None:
    if namespace in policy.ignored_namespaces:
        return f"namespace {namespace} never takes part"
    if names.MIRROR_POD in (meta.annotations or {}):
        return "it is a mirror pod of a static pod"
    if (meta.labels or {}).get(names.ADMISSION) == names.DISABLED:
        return f"its label {names.ADMISSION} is {names.DISABLED}"
    return "it is a Windows pod" if _windows(spec) else None


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


def _not_alignable(amounts: PodAmounts) -> str | None:
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


def _annotations_of(namespace: str, snapshot: Snapshot) -> Mapping[str, str]:
    view = snapshot.namespaces.get(namespace)
    return (view.metadata.annotations if view and view.metadata else None) or {}


def may_be_ours(requirement: Requirement) -> bool:
    """Tell whether evencore itself may have put a requirement on a pod.

    Such do not count when the width is chosen: the choice for a pod that went through us before
    must be the one that was made then.
    """
    return requirement.operator == "NotIn" and (
        requirement.key.startswith(names.PREFIX) or requirement.key == names.NODE_NAME_FIELD
    )


def _best_alignment(
    case: _Case, amounts: PodAmounts, asked: PodPolicy, eligible: int
) -> tuple[Alignment, Need, int]:
    """Align for the commonest width on which the pod can run; for the commonest if on none.

    Ties go to the larger width, which also suits the smaller ones. Returns the eligible nodes that
    could then admit the pod, too.
    """
    nodes = case.snapshot.nodes
    common = [
        ((having & eligible).bit_count(), width)
        for width, having in nodes.widths.items()
        if having & eligible
    ]
    common.sort(reverse=True)
    round_from = case.policy.round_from
    maximum = case.snapshot.maxima.get(case.namespace, _NO_MAXIMA)
    tried = []
    for _, width in common or [(0, case.policy.default_threads_per_core)]:
        alignment = align(amounts.containers, asked, width, round_from, maximum)
        need = need_of(alignment)
        tried.append((alignment, need, fitting(nodes, need, eligible)))
        if tried[-1][-1]:
            return tried[-1]
    return tried[0]


def _asks(need: Need) -> str:
    return one_of([f"{need.container} CPUs in one container", f"{need.pod} in all"], last="and")


def _of_daemon_set(pod: PodView) -> bool:
    """Tell whether the pod is bound to one node: kept off it, it would run nowhere."""
    owner = pod.controller
    return owner is not None and owner.kind == "DaemonSet"


def _exclusions(case: _Case, asked: PodPolicy) -> list[Exclusion]:
    if not case.snapshot.rejections or asked.on_rejection is OnRejection.REPORT:
        return []
    owner = case.pod.controller
    if owner is None:
        return []
    seen = case.snapshot.rejections.get(owner.uid)
    if not seen:
        return []
    return exclusions(seen, case.now, case.policy.exclusions)[:LONGEST_NAME_LIST]


def _leaves_a_node(case: _Case, fits: int, excluded: Sequence[Exclusion]) -> bool:
    """Tell whether a known node is left on which the pod can run.

    A pod that is kept off every node would wait for ever. Holding it is the controller's work.
    """
    index = case.snapshot.nodes.index
    left = index.allowed(case.spec) & fits
    for exclusion in excluded:
        left &= ~index.named(exclusion.node)
    return bool(left)


def _exclusion_rules(nodes: Nodes, excluded: Sequence[Exclusion]) -> list[Rule]:
    """Encode exclusions: by our label where the node has it, else by metadata.name."""
    labelled: list[tuple[str, str]] = []
    found = []
    for exclusion in excluded:
        node = nodes.by_name.get(exclusion.node)
        value = names.node_label_value(exclusion.node)
        if node is not None and node.labels.get(names.NODE) == value:
            labelled.append((value, exclusion.sentence))
        else:
            # Validation allows exactly one value in a requirement on a field.
            found.append(
                Rule(not_in(names.NODE_NAME_FIELD, [exclusion.node]), (exclusion.sentence,))
            )
    if labelled:
        values, sentences = zip(*sorted(labelled), strict=True)
        found.append(Rule(not_in(names.NODE, values), sentences))
    return found


def _has_preferred(spec: PodSpec, wanted: Sequence[Rule]) -> bool:
    """Tell whether the pod already prefers what these rules ask for, or they ask for nothing."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    have = [
        term.preference
        for term in (affinity.preferred if affinity else None) or ()
        if term.preference is not None and not term.preference.empty
    ]
    return any(not missing_rules([term], wanted) for term in have) or not wanted
