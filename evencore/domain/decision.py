"""decide(pod, policy, snapshot): what is done to a pod that is being created, and why.

A function of values. The same decision serves the webhook, the controller and `evencore explain`,
and its sentences are what people read in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from evencore.domain import names
from evencore.domain.alignment import Alignment, CpuChange, align
from evencore.domain.annotations import policy_for
from evencore.domain.fit import Need, Rule, fitting, need_of
from evencore.domain.placement import Case, may_be_ours, place
from evencore.domain.policy import CpuMode, Policy
from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.scope import not_alignable, not_ours
from evencore.domain.snapshot import Maxima
from evencore.domain.views import PodSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evencore.domain.annotations import PodPolicy
    from evencore.domain.resources import PodAmounts
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import PodView


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
    reason = not_ours(meta, spec, namespace, policy)
    if reason is not None:
        return Decision(left_alone=reason)
    amounts = read_amounts(spec)
    if amounts.problems:
        return Decision(left_alone="; ".join(amounts.problems), warnings=amounts.problems)
    qos = qos_class(amounts)
    containers = [container.name for container in amounts.containers]
    annotations = meta.annotations or {}
    if qos is not QoS.GUARANTEED:
        # Its author hears of a wrong annotation all the same: the pod may be Guaranteed one day.
        wrong = policy_for(policy, annotations, {}, containers).warnings
        return Decision(qos, left_alone=_NOT_PINNED[qos], warnings=wrong)
    reason = not_alignable(amounts)
    if reason is not None:
        return Decision(qos, left_alone=reason, warnings=(reason,))
    asked = policy_for(policy, annotations, _annotations_of(namespace, snapshot), containers)
    if asked.keeps_all(containers):
        return Decision(qos, left_alone=f"{names.CPU} is {CpuMode.KEEP}", warnings=asked.warnings)
    return _align_and_place(Case(pod, spec, namespace, policy, snapshot, now), qos, amounts, asked)


_NOT_PINNED = {qos: f"its QoS class is {qos.value}: no kubelet pins its CPUs" for qos in QoS}


def _align_and_place(case: Case, qos: QoS, amounts: PodAmounts, asked: PodPolicy) -> Decision:
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
    placement = place(case, asked, need, eligible, fits)
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


_NO_SPEC = PodSpec()
_NO_MAXIMA = Maxima()


def _annotations_of(namespace: str, snapshot: Snapshot) -> Mapping[str, str]:
    view = snapshot.namespaces.get(namespace)
    return (view.metadata.annotations if view and view.metadata else None) or {}


def _best_alignment(
    case: Case, amounts: PodAmounts, asked: PodPolicy, eligible: int
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
