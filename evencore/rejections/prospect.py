"""What happens next to the pods of an owner: asked of the functions that make it happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from controller.flock import flock, waits
from evencore.domain import names
from evencore.domain.decision import decide
from evencore.domain.placement import NO_NODE, may_be_ours
from evencore.domain.rejection import Kind, classify
from evencore.domain.release import hopeful, release
from evencore.domain.scope import takes_part
from evencore.domain.text import count
from evencore.domain.verdict import Candidates, Exclusion, exclusions, verdict
from evencore.domain.views import NodeSelector, PodSpec

if TYPE_CHECKING:
    from datetime import datetime

    from controller.state import Owner
    from evencore.domain.release import Flock
    from evencore.domain.views import Affinity, PodView, Term
    from evencore.rejections.picture import Picture


class Prospect(NamedTuple):
    """What is done for an owner, and what comes next."""

    excluded: tuple[Exclusion, ...]
    flock: Flock
    sentence: str
    when: datetime | None  # something changes by itself
    takes_part: bool | None  # None: its namespace is not known
    stuck: bool = False  # nothing that evencore does will help
    waiting: int = 0  # pods kept off nodes that have found no other yet


def prospect(picture: Picture, key: str) -> Prospect:
    """Tell what comes next for one owner."""
    kept_off = [pod for pod in picture.steered[key] if pod.steering == names.EXCLUDED]
    return _prospect(picture, key)._replace(waiting=sum(map(waits, kept_off)))


def _prospect(picture: Picture, key: str) -> Prospect:
    owner, now = picture.owners[key], picture.now
    snapshot, policy = picture.snapshot, picture.policy
    evidence = snapshot.evidence.of(key, now)
    excluded = exclusions(evidence.nodes, snapshot.rooms, now, policy.exclusions)
    pods = flock(picture.steered[key], lambda _: False, now)
    part = _takes_part(picture, owner.namespace)
    if part is False:  # nobody carries it out
        excluded = ()
    until = min((e.until for e in excluded), default=None)
    if pods.held or pods.shared:
        # As the controller's OwnerReconciler asks.
        rooms = hopeful(evidence, snapshot.rooms, picture.newcomer)
        plan = release(pods, evidence, rooms, now, policy.holds.of(owner.kind))
        word = f"{count(len(plan.pods), 'held pod')} to be let go now: {plan.why}"
        return Prospect(excluded, pods, word if plan.pods else plan.why, plan.again or now, part)
    if part is False:
        label = f"{names.ADMISSION}={names.ENABLED}"
        sentence = f"it goes on: namespace {owner.namespace} takes no part"
        if owner.namespace not in policy.ignored_namespaces:
            sentence += f": kubectl label namespace {owner.namespace} {label}"
        return Prospect(excluded, pods, sentence, None, part, stuck=True)
    sentence, stuck = _next_pod(picture, key, owner)
    return Prospect(excluded, pods, sentence, None if stuck else until, part, stuck)


def _takes_part(picture: Picture, namespace: str) -> bool | None:
    """Tell whether the API server asks us about pods of a namespace."""
    view = picture.snapshot.namespaces.get(namespace)
    if view is None and namespace not in picture.policy.ignored_namespaces:
        return None
    return takes_part(namespace, view, picture.policy)


def _next_pod(picture: Picture, key: str, owner: Owner) -> tuple[str, bool]:
    """Say what the webhook will do to the next pod, and whether that cannot help."""
    snapshot, policy, now = picture.snapshot, picture.policy, picture.now
    pattern = picture.patterns.get(key)
    if pattern is None:  # its pods are gone: all that is left is to judge its evidence
        nodes = snapshot.nodes
        everywhere = (1 << len(nodes.facts)) - 1
        candidates = Candidates(nodes, everywhere, snapshot.rooms)
        judged = verdict(snapshot.evidence.of(key, now), owner, candidates, now, policy)
        if judged.hold:
            return f"its next pod will be held: {judged.hold}", False
        return _placed([exclusion.sentence for exclusion in judged.exclusions]), False
    decision = decide(as_new(pattern), owner.namespace, policy, snapshot, now)
    if why := next((said for said in decision.warnings if said.startswith(NO_NODE)), None):
        return why, True
    if decision.left_alone or decision.denial:
        return f"its next pod will be left alone: {decision.left_alone or decision.denial}", True
    if not decision.sentences and decision.alignment and _was_odd(pattern):
        return "; ".join(("its next pod stays as it is", *decision.alignment.warnings)), True
    return _placed(list(decision.sentences)), False


def _was_odd(pod: PodView) -> bool:
    """Tell whether its kubelet refused a pod for its odd CPUs: another node would, too."""
    return pod.status is not None and (
        classify(pod.status.reason, pod.status.message) is Kind.MISALIGNED
    )


def _placed(sentences: list[str]) -> str:
    if not sentences:
        return "its next pod may go everywhere"
    return f"its next pod: {'; '.join(sentences)}"


def as_new(pod: PodView) -> PodView:
    """Return a rejected pod as its owner would make the next one: without node and our marks."""
    spec = pod.spec or PodSpec()
    affinity = _without_ours(spec.affinity) if spec.affinity else None
    spec = replace(spec, node_name=None, affinity=affinity, scheduling_gates=None)
    return replace(pod, spec=spec, status=None)


def _without_ours(affinity: Affinity) -> Affinity | None:
    """Take out of required node affinity what we may have put there."""
    of_nodes = affinity.node_affinity
    if of_nodes is None or of_nodes.required is None:
        return affinity
    terms = [_term(term) for term in of_nodes.required.node_selector_terms or ()]
    # A term of which nothing is left was made by us, for a pod that had none.
    left = [term for term in terms if not term.empty]
    required = NodeSelector(left) if left else None
    return replace(affinity, node_affinity=replace(of_nodes, required=required))


def _term(term: Term) -> Term:
    return replace(
        term,
        match_expressions=[r for r in term.match_expressions or () if not may_be_ours(r)] or None,
        match_fields=[r for r in term.match_fields or () if not may_be_ours(r)] or None,
    )
