"""decide(pod, policy, snapshot): what is done to a pod that is being created, and why.

A function of values. The same decision serves the webhook, the controller and `evencore explain`,
and its sentences are what people read in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from evencore.domain import names
from evencore.domain.alignment import Alignment, CpuChange, as_it_is
from evencore.domain.annotations import policy_for
from evencore.domain.fit import Fit, Need, Rule, fitting, need_of
from evencore.domain.placement import Case, may_be_ours, no_node, place, place_released
from evencore.domain.policy import CpuMode, Policy
from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.scope import not_alignable, not_ours
from evencore.domain.snapshot import Maxima
from evencore.domain.text import clock
from evencore.domain.views import PodSpec
from evencore.domain.widths import Asking, best_alignment

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
    gate: bool | None = None  # our scheduling gate: True = put it on, False = take it off
    hold: str | None = None  # in words, if it is put on
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
    annotations = meta.annotations or {}
    if qos is not QoS.GUARANTEED:
        # Its author hears of a wrong annotation all the same: the pod may be Guaranteed one day.
        wrong = policy_for(policy, annotations, {}, amounts.containers).warnings
        return Decision(qos, left_alone=_NOT_PINNED[qos], warnings=wrong)
    reason = not_alignable(amounts)
    if reason is not None:
        return Decision(qos, left_alone=reason, warnings=(reason,))
    of_namespace = _annotations_of(namespace, snapshot)
    asked = policy_for(policy, annotations, of_namespace, amounts.containers)
    if asked.keeps_all(amounts.containers):
        return Decision(qos, left_alone=f"{names.CPU} is {CpuMode.KEEP}", warnings=asked.warnings)
    return _align_and_place(Case(pod, spec, namespace, policy, snapshot, now), qos, amounts, asked)


_NOT_PINNED = {qos: f"its QoS class is {qos.value}: no kubelet pins its CPUs" for qos in QoS}


def _align_and_place(case: Case, qos: QoS, amounts: PodAmounts, asked: PodPolicy) -> Decision:
    alignment, fit = best_alignment(
        case.snapshot.nodes,
        Asking(
            amounts.containers,
            asked.cpu_modes(amounts.containers),
            _eligible(case),
            case.snapshot.maxima.get(case.namespace, _NO_MAXIMA),
            case.policy.round_from,
            case.policy.default_threads_per_core,
        ),
    )
    if alignment.denials:
        return Decision(
            qos,
            denial="; ".join(alignment.denials),
            warnings=asked.warnings,
            alignment=alignment,
            need=fit.need,
        )
    placement = place(case, asked, fit)
    return Decision(
        qos,
        changes=alignment.changes,
        required=placement.required,
        preferred=placement.preferred,
        steering=placement.steering,
        gate=True if placement.hold else None,
        hold=placement.hold,
        warnings=asked.warnings + alignment.warnings + placement.warnings,
        alignment=alignment,
        need=fit.need,
        sentences=(*alignment.sentences, *placement.sentences),
    )


def let_go(case: Case, why: str, *, forced: bool) -> Decision:
    """Decide where a held pod may go that is let go now; `why` and `forced`: see `release`.

    Nothing is done to a pod that is not held: the API server would refuse any change of its
    affinity.
    """
    if names.HOLD not in case.spec.gates:
        return Decision(left_alone="it is not held")
    amounts = read_amounts(case.spec)
    asked = policy_for(
        case.policy,
        case.pod.meta.annotations or {},
        _annotations_of(case.namespace, case.snapshot),
        amounts.containers,
    )
    fit = _fit_as_it_is(case, amounts, asked)
    placement = place_released(case, asked, fit, forced=forced)
    return Decision(
        required=placement.required,
        preferred=placement.preferred,
        steering=placement.steering,
        gate=False,
        need=fit.need,
        sentences=(f"let go {clock(case.now)}: {why}", *placement.sentences),
    )


def never_fits(case: Case) -> str | None:
    """Say it if no known node that its author allows can ever admit a pod that exists."""
    asked = policy_for(case.policy, {}, {}, ())
    fit = _fit_as_it_is(case, read_amounts(case.spec), asked)
    return no_node(fit, case.snapshot.nodes) if fit.eligible and not fit.fits else None


def _fit_as_it_is(case: Case, amounts: PodAmounts, asked: PodPolicy) -> Fit:
    """Tell where a pod that exists can run: its CPUs cannot be changed any more."""
    modes = asked.cpu_modes(amounts.containers)
    need = need_of(as_it_is(amounts.containers, modes, case.policy.round_from))
    eligible = _eligible(case)
    return Fit(need, eligible, fitting(case.snapshot.nodes, need, eligible))


def _eligible(case: Case) -> int:
    """Return the nodes that the pod's author allows."""
    index = case.snapshot.nodes.index
    eligible = index.allowed(case.spec, ignored=may_be_ours)
    if case.spec.node_name:  # no scheduler looks at it: this node it is, if we know it
        eligible &= index.named(case.spec.node_name)
    return eligible


_NO_SPEC = PodSpec()
_NO_MAXIMA = Maxima()


def _annotations_of(namespace: str, snapshot: Snapshot) -> Mapping[str, str]:
    view = snapshot.namespaces.get(namespace)
    return (view.metadata.annotations if view and view.metadata else None) or {}
