"""The report: what evencore would do to each pod, with every reason."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain import names
from evencore.domain.annotations import policy_for
from evencore.domain.decision import decide
from evencore.domain.lenient import read
from evencore.domain.patching import Operation, operations
from evencore.domain.qos import qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.text import count, one_of
from evencore.domain.views import PodView
from evencore.explain.containers import ContainerReport, containers_of
from evencore.explain.nodes import Surveyor
from evencore.explain.now import Kubelets

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.manifests import FoundPod, Manifests, PassedOver
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import NamespaceView
    from evencore.explain.nodes import NodesReport
    from evencore.explain.now import Now


class Outcome(StrEnum):
    """What becomes of a pod."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"  # ours to look at, and nothing to do
    LEFT_ALONE = "left-alone"  # not ours
    DENIED = "denied"
    UNREADABLE = "unreadable"  # the API server would refuse it before evencore is asked


class Admission(NamedTuple):
    """Whether the API server calls evencore for pods of a namespace at all."""

    called: bool | None  # None: not known
    reason: str = ""
    command: str | None = None  # changes it


_NOT_KNOWN = Admission(None, "its namespace is not known")
_NOT_TOLD = Admission(None, "no namespace is told")
_NOBODY = Kubelets()


@dataclass(frozen=True, slots=True)
class PodReport:
    """One pod."""

    found: FoundPod
    outcome: Outcome
    qos: str
    reason: str = ""  # why it is left alone or denied
    problems: tuple[str, ...] = ()  # why it is unreadable
    threads_per_core: int | None = None  # that it is aligned to
    containers: tuple[ContainerReport, ...] = ()
    placement: tuple[str, ...] = ()
    hold: str | None = None  # in words, if it would be held by a scheduling gate
    warnings: tuple[str, ...] = ()
    patch: tuple[Operation, ...] = ()
    nodes: NodesReport | None = None  # None: no node is known, or none matters
    now: tuple[Now, ...] = ()  # of nodes that fit, if it is known what runs there
    admission: Admission = _NOT_KNOWN

    @property
    def would_change(self) -> bool:
        """Whether the cluster would get another pod than was written, or none.

        Not if the API server does not call evencore for its namespace.
        """
        touched = self.outcome in (Outcome.CHANGED, Outcome.DENIED)
        return touched and self.admission.called is not False


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that `evencore explain` tells."""

    pods: tuple[PodReport, ...]
    passed_over: tuple[PassedOver, ...]
    problems: tuple[str, ...]  # wrong input, each with its place
    notes: tuple[str, ...]
    now: datetime  # exclusions are judged as of this time
    nodes: int
    nodes_unknown: int  # of these, nothing is known of their cores


def explain(
    manifests: Manifests,
    policy: Policy,
    snapshot: Snapshot,
    now: datetime,
    kubelets: Kubelets = _NOBODY,
) -> Report:
    """Tell what evencore would do to these pods in this cluster. Never raises.

    `kubelets` are asked what they would say now. A pod that cannot be read is reported, and its
    problems are among those of the report.
    """
    surveyor = Surveyor(snapshot, policy, now)
    pods = tuple(_pod(found, policy, surveyor, kubelets) for found in manifests.pods)
    facts = snapshot.nodes.facts
    return Report(
        pods,
        manifests.passed_over,
        manifests.problems
        + tuple(
            f"{pod.found.source}: {pod.found.place}: {problem}"
            for pod in pods
            for problem in pod.problems
        ),
        (*_notes(pods, policy, snapshot), *(kubelets.notes() if any(p.now for p in pods) else ())),
        now,
        len(facts),
        surveyor.unknown.bit_count(),
    )


_NO_TEXT = " is not text"  # off, 3 and 1e3 in YAML, for people most of the time


def _pod(found: FoundPod, policy: Policy, surveyor: Surveyor, kubelets: Kubelets) -> PodReport:
    snapshot = surveyor.snapshot
    pod, problems = read(PodView, found.pod)
    amounts = read_amounts(pod.spec) if pod.spec else None
    if amounts is not None:
        problems += amounts.problems
    if problems or amounts is None:
        # As the webhook: what is read only in part is not decided about.
        admission = _admission(found.namespace, policy, snapshot)
        told = tuple(f"{one}: quote it" if one.endswith(_NO_TEXT) else one for one in problems)
        return PodReport(found, Outcome.UNREADABLE, "", problems=told, admission=admission)
    decision = decide(pod, found.namespace, policy, snapshot, surveyor.now)
    patch = tuple(operations(pod, decision))
    if decision.left_alone:
        outcome = Outcome.LEFT_ALONE
    elif decision.denial:
        outcome = Outcome.DENIED
    else:
        outcome = Outcome.CHANGED if patch else Outcome.UNCHANGED
    asked = policy_for(
        policy,
        pod.meta.annotations or {},
        _annotations(snapshot.namespaces.get(found.namespace)),
        amounts.containers,
    )
    reason = decision.left_alone or decision.denial or ""
    nodes = surveyor.survey(pod, found.namespace, decision)
    return PodReport(
        found,
        outcome,
        qos_class(amounts).value,
        reason,
        threads_per_core=decision.alignment.width if decision.alignment else None,
        containers=containers_of(amounts, decision, asked, policy),
        placement=tuple(
            sentence
            for rule in decision.required + decision.preferred
            for sentence in rule.sentences
        ),
        hold=decision.hold,
        warnings=tuple(warning for warning in decision.warnings if warning != reason),
        patch=patch,
        nodes=nodes,
        now=kubelets.ask(found.pod, patch, (*nodes.fit, *nodes.may_fit)) if nodes else (),
        admission=_admission(found.namespace, policy, snapshot),
    )


def _annotations(view: NamespaceView | None) -> dict[str, str]:
    return (view.metadata.annotations if view and view.metadata else None) or {}


def _admission(namespace: str, policy: Policy, snapshot: Snapshot) -> Admission:
    if namespace in policy.ignored_namespaces:
        return Admission(False, f"namespace {namespace} never takes part")
    view = snapshot.namespaces.get(namespace)
    if view is None:
        return _NOT_KNOWN if namespace else _NOT_TOLD
    label = ((view.metadata.labels if view.metadata else None) or {}).get(names.ADMISSION)
    wanted = f"{names.ADMISSION}={names.ENABLED}"
    if label == names.ENABLED:
        return Admission(True, f"namespace {namespace} has the label {wanted}")
    overwrite = "" if label is None else " --overwrite"
    return Admission(
        False,
        f"namespace {namespace} lacks the label {wanted}: evencore is not called for its pods",
        f"kubectl label namespace {shlex.quote(namespace)} {wanted}{overwrite}",
    )


def _notes(pods: tuple[PodReport, ...], policy: Policy, snapshot: Snapshot) -> list[str]:
    """Say what the report could not know, and what it did instead."""
    notes = [problem for node in snapshot.nodes.facts for problem in node.problems]
    if not snapshot.nodes.facts and any(pod.threads_per_core for pod in pods):
        width = policy.default_threads_per_core
        notes.append(
            f"no nodes are known: pods are aligned to {count(width, 'thread')} per core, the "
            "configured default, and where they fit is not known; see --nodes"
        )
    unknown = sorted({p.found.namespace for p in pods if p.admission == _NOT_KNOWN})
    if unknown:
        listed = one_of(unknown, last="and")
        what = f"namespaces {listed} take" if len(unknown) > 1 else f"namespace {listed} takes"
        notes.append(f"whether {what} part is not known: no such Namespace was given")
    if nameless := sum(p.admission == _NOT_TOLD for p in pods):
        which = "the manifest names" if len(pods) == 1 else "the manifests name"
        if nameless < len(pods):
            which = f"{nameless} of {len(pods)} manifests {'name' if nameless > 1 else 'names'}"
        notes.append(f"{which} no namespace; say with -n which it will be")
    return notes
