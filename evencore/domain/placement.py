"""Where a pod may go: off misfits (rung 2), off nodes that rejected its like (3), or held (4)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evencore.domain import names
from evencore.domain.fit import Fit, Rule, missing_rules, not_in, rules, still_missing
from evencore.domain.policy import OnRejection, Policy, TopologyMode
from evencore.domain.rejection import owner_key
from evencore.domain.selectors import required_terms
from evencore.domain.snapshot import Snapshot
from evencore.domain.text import clock
from evencore.domain.verdict import NOTHING, Candidates, Verdict, verdict
from evencore.domain.views import PodSpec, PodView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evencore.domain.annotations import PodPolicy
    from evencore.domain.snapshot import Nodes
    from evencore.domain.verdict import Exclusion
    from evencore.domain.views import Requirement


class Case(Struct, frozen=True, gc=False):
    """What `decide` was asked, handed on whole."""

    pod: PodView
    spec: PodSpec
    namespace: str
    policy: Policy
    snapshot: Snapshot
    now: datetime


def may_be_ours(requirement: Requirement) -> bool:
    """Tell whether evencore itself may have put a requirement on a pod.

    Such do not count when the width is chosen: the choice for a pod that went through us before
    must be the one that was made then.
    """
    return requirement.operator == "NotIn" and (
        requirement.key.startswith(names.PREFIX) or requirement.key == names.NODE_NAME_FIELD
    )


class Placement(NamedTuple):
    """What rungs 2 to 4 do to a pod."""

    required: tuple[Rule, ...] = ()
    preferred: tuple[Rule, ...] = ()
    steering: str | None = None
    hold: str | None = None  # in words, if the pod is to be held
    warnings: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Everything that is done, in words."""
        found = [s for rule in self.required + self.preferred for s in rule.sentences]
        return [*found, self.hold] if self.hold else found


_ANYWHERE = Placement()

# Every term must carry every rule; what etcd cannot hold keeps the pod from being created.
_MOST_TERMS = 200


def place(case: Case, asked: PodPolicy, fit: Fit) -> Placement:
    """Keep a new pod off eligible nodes that do not fit and off those that rejected its like.

    After too many rejections, or where that leaves nowhere to go, hold it.
    """
    judged = judge(case, asked, fit.fits)
    if fit.fits == fit.eligible and judged == NOTHING:
        return _ANYWHERE  # nearly every pod
    warnings: list[str] = []
    if fit.eligible and not fit.fits:
        warnings.append(no_node(fit, case.snapshot.nodes))
    if case.spec.node_name and judged.exclusions:
        warnings.append("spec.nodeName is set: the exclusion of nodes has no effect")
    if case.spec.node_name or _of_daemon_set(case.pod):
        return Placement(warnings=tuple(warnings))
    rules = misfit_rules(case, asked, fit)
    if names.HOLD in case.spec.gates:  # an earlier pass of ours: the controller goes on from there
        return rules._replace(warnings=(*warnings, *rules.warnings))
    if judged.hold:
        until = clock(case.now + case.policy.holds.longest)
        return rules._replace(
            steering=names.HELD,
            hold=f"held, until {until} at most: {judged.hold}",
            warnings=(*warnings, *rules.warnings),
        )
    # Where no node is known that the pod may use, there are others than we know of.
    if judged.exclusions and fit.eligible and not _left(case, fit.fits, judged.exclusions):
        judged = NOTHING
    rules = with_exclusions(case, rules, judged.exclusions, names.EXCLUDED)
    return rules._replace(warnings=(*warnings, *rules.warnings))


def place_released(case: Case, asked: PodPolicy, fit: Fit, *, forced: bool) -> Placement:
    """Place a held pod that is let go: off all that is excluded, but with one door open.

    Of excluded nodes that would leave nowhere to go, those whose exclusion ends first are tried.
    `forced`: it was held too long; it is kept off all, and a new node or time will open a door.
    """
    excluded = list(judge(case, asked, fit.fits).exclusions)
    while not forced and excluded and fit.eligible and not _left(case, fit.fits, excluded):
        excluded.pop()  # the longest come first
    rules = misfit_rules(case, asked, fit)
    return with_exclusions(case, rules, excluded, names.RELEASED)._replace(steering=names.RELEASED)


def judge(case: Case, asked: PodPolicy, fits: int) -> Verdict:
    """Return the verdict about the pod's owner, as far as its author wants it carried out."""
    owner = case.pod.controller
    if owner is None or asked.on_rejection is OnRejection.REPORT:
        return NOTHING
    snapshot = case.snapshot
    evidence = snapshot.evidence.of(owner_key(owner, case.namespace), case.now)
    if not evidence.times:
        return NOTHING
    found = verdict(evidence, owner, _candidates(case, fits), case.now, case.policy)
    return found if asked.on_rejection is OnRejection.HOLD else found._replace(hold=None)


def misfit_rules(case: Case, asked: PodPolicy, fit: Fit) -> Placement:
    """Rung 2 alone."""
    if asked.topology is TopologyMode.OFF or fit.fits == fit.eligible:
        return _ANYWHERE
    wanted = rules(case.snapshot.nodes, fit)
    if asked.topology is TopologyMode.PREFERRED:
        return Placement(preferred=() if _has_preferred(case.spec, wanted) else tuple(wanted))
    return _checked(case, missing_rules(required_terms(case.spec), wanted))


def with_exclusions(
    case: Case, placement: Placement, excluded: Sequence[Exclusion], steering: str
) -> Placement:
    """Add rung 3."""
    wanted = _exclusion_rules(case.snapshot.nodes, excluded)
    steer = missing_rules(required_terms(case.spec), wanted)
    if not steer:
        return placement
    found = _checked(case, placement.required + steer)
    return found._replace(
        preferred=placement.preferred, steering=steering if found.required else None
    )


def _checked(case: Case, required: tuple[Rule, ...]) -> Placement:
    """Leave a pod alone that has too many terms to write into."""
    terms = required_terms(case.spec)
    if required and terms is not None and len(terms) > _MOST_TERMS:
        return Placement(
            warnings=(
                (
                    f"its required node affinity has {len(terms)} terms, too many to write into: "
                    "nodes are not kept off"
                ),
            )
        )
    return Placement(required)


def _left(case: Case, fits: int, excluded: Sequence[Exclusion]) -> int:
    """Return the known nodes that are left on which the pod can run."""
    return _candidates(case, fits).without(excluded)


def _candidates(case: Case, fits: int) -> Candidates:
    nodes = case.snapshot.nodes
    return Candidates(nodes, nodes.index.allowed(case.spec) & fits, case.snapshot.rooms)


NO_NODE = "no known node can ever admit this pod"


def no_node(fit: Fit, nodes: Nodes) -> str:
    """Say that a pod is too large for every known node, and what the largest ones take."""
    need = fit.need
    text = f"{NO_NODE}: {need.container} CPUs in one container and {need.pod} in all"
    most = [
        max((limit for limit, having in limits.items() if having & fit.eligible), default=None)
        for limits in (nodes.max_container, nodes.max_pod)
    ]
    return text if None in most else f"{text}; at most {most[0]} and {most[1]}"


def _of_daemon_set(pod: PodView) -> bool:
    """Tell whether the pod is bound to one node: kept off it, it would run nowhere."""
    owner = pod.controller
    return owner is not None and owner.kind == "DaemonSet"


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
    return not wanted or any(
        all(still_missing(term, rule.requirement) is None for rule in wanted) for term in have
    )
