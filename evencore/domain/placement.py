"""Where a pod may go: rung 2 keeps it off misfits, rung 3 off nodes that rejected its like."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evencore.domain import names
from evencore.domain.fit import (
    LONGEST_NAME_LIST,
    Need,
    Rule,
    missing_rules,
    not_in,
    rules,
    still_missing,
)
from evencore.domain.policy import OnRejection, Policy, TopologyMode
from evencore.domain.selectors import required_terms
from evencore.domain.snapshot import Snapshot
from evencore.domain.text import one_of
from evencore.domain.verdict import exclusions
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
    """What rungs 2 and 3 do to a pod."""

    required: tuple[Rule, ...] = ()
    preferred: tuple[Rule, ...] = ()
    steering: str | None = None
    warnings: tuple[str, ...] = ()


_ANYWHERE = Placement()

# Every term must carry every rule; what etcd cannot hold keeps the pod from being created.
_MOST_TERMS = 200


def place(case: Case, asked: PodPolicy, need: Need, eligible: int, fits: int) -> Placement:
    """Keep the pod off eligible nodes that do not fit, and off those that rejected its like."""
    excluded = _exclusions(case, asked)
    if fits == eligible and not excluded:
        return _ANYWHERE  # nearly every pod
    warnings: list[str] = []
    if eligible and not fits:
        warnings.append(f"no known node can ever admit this pod: {_asks(need)}")
    if case.spec.node_name and excluded:
        warnings.append("spec.nodeName is set: the exclusion of nodes has no effect")
    if case.spec.node_name or _of_daemon_set(case.pod):
        return Placement(warnings=tuple(warnings))
    nodes, terms = case.snapshot.nodes, required_terms(case.spec)
    misfits = [] if asked.topology is TopologyMode.OFF else rules(nodes, need, eligible, fits)
    soft = asked.topology is TopologyMode.PREFERRED
    steer: tuple[Rule, ...] = ()
    # Where no node is known that the pod may use, there are others than we know of.
    if excluded and (_leaves_a_node(case, fits, excluded) or not eligible):
        steer = missing_rules(terms, _exclusion_rules(nodes, excluded))
    required = (() if soft else missing_rules(terms, misfits)) + steer
    if required and terms is not None and len(terms) > _MOST_TERMS:
        warnings.append(
            f"its required node affinity has {len(terms)} terms, too many to write into: "
            "nodes are not kept off"
        )
        required = steer = ()
    return Placement(
        required,
        tuple(misfits) if soft and not _has_preferred(case.spec, misfits) else (),
        names.EXCLUDED if steer else None,
        tuple(warnings),
    )


def _asks(need: Need) -> str:
    return one_of([f"{need.container} CPUs in one container", f"{need.pod} in all"], last="and")


def _of_daemon_set(pod: PodView) -> bool:
    """Tell whether the pod is bound to one node: kept off it, it would run nowhere."""
    owner = pod.controller
    return owner is not None and owner.kind == "DaemonSet"


def _exclusions(case: Case, asked: PodPolicy) -> list[Exclusion]:
    if not case.snapshot.rejections or asked.on_rejection is OnRejection.REPORT:
        return []
    owner = case.pod.controller
    if owner is None:
        return []
    seen = case.snapshot.rejections.get(owner.uid)
    if not seen:
        return []
    return exclusions(seen, case.now, case.policy.exclusions)[:LONGEST_NAME_LIST]


def _leaves_a_node(case: Case, fits: int, excluded: Sequence[Exclusion]) -> bool:
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
    return not wanted or any(
        all(still_missing(term, rule.requirement) is None for rule in wanted) for term in have
    )
