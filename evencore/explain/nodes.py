"""Where a pod can run after a decision, and why not elsewhere."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evencore.domain.fit import fitting, misfit
from evencore.domain.placement import may_be_ours
from evencore.domain.rejection import owner_key
from evencore.domain.verdict import exclusions
from evencore.domain.views import Affinity, NodeAffinity, NodeSelector, PodSpec, Term

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.decision import Decision
    from evencore.domain.fit import Need, Rule
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Nodes, Snapshot
    from evencore.domain.verdict import Exclusion
    from evencore.domain.views import PodView

NOT_ALLOWED = "nodeSelector or required node affinity does not allow it"


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes on which a pod cannot run, for one reason."""

    reason: str
    nodes: tuple[str, ...]
    # False: the scheduler may still choose them, and their kubelets will reject the pod.
    kept_off: bool


@dataclass(frozen=True, slots=True)
class NodesReport:
    """All nodes, sorted by what they are to a pod."""

    fit: tuple[str, ...]
    may_fit: tuple[str, ...]  # nothing is known of their cores
    others: tuple[NodeGroup, ...]
    rejected: tuple[str, ...] = ()  # rejected pods of its owner lately, and are not excluded


@dataclass(slots=True)
class Surveyor:
    """Sorts the nodes of one snapshot for many pods; what pods have in common is done once."""

    snapshot: Snapshot
    policy: Policy
    now: datetime
    unknown: int = 0  # the nodes of whose cores nothing is known
    _names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _misfits: dict[tuple[int, Need], dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for position, node in enumerate(self._nodes.facts):
            if node.width is None and node.max_container is None and node.max_pod is None:
                self.unknown |= 1 << position

    @property
    def _nodes(self) -> Nodes:
        return self.snapshot.nodes

    def survey(self, pod: PodView, namespace: str, decision: Decision) -> NodesReport | None:
        """Sort the nodes; None if none is known or if nothing was decided about the pod.

        `namespace`: where the pod will be; a manifest need not say.
        """
        need, spec = decision.need, pod.spec
        if need is None or spec is None or decision.denial or not self._nodes.facts:
            return None
        index = self._nodes.index
        eligible = index.allowed(spec, ignored=may_be_ours)
        chosen = NOT_ALLOWED
        if spec.node_name:
            eligible &= index.named(spec.node_name)
            chosen = f"spec.nodeName is {spec.node_name}"
        open_to_it = index.allowed(spec) & index.allowed(_selecting(decision.required))
        fits = fitting(self._nodes, need, eligible)
        usable = fits & open_to_it
        groups: dict[tuple[str, bool], int] = defaultdict(int)
        groups[chosen, True] = index.all & ~eligible
        for reason, mask in self._reasons(eligible & ~fits, need).items():
            groups[reason, True] |= mask & ~open_to_it
            groups[reason, False] |= mask & open_to_it
        excluded = {e.node: e for e in self._exclusions(pod, namespace)}
        for node in self._nodes.within(fits & ~open_to_it):
            reason = _excluded(node.name, excluded.get(node.name))
            groups[reason, True] |= index.named(node.name)
        return NodesReport(
            self._named(usable & ~self.unknown),
            self._named(usable & self.unknown),
            tuple(
                NodeGroup(reason, self._named(mask), kept_off)
                for (reason, kept_off), mask in sorted(
                    groups.items(), key=lambda item: (-item[1].bit_count(), item[0])
                )
                if mask
            ),
            tuple(sorted(name for name in excluded if index.named(name) & usable)),
        )

    def _reasons(self, misfits: int, need: Need) -> dict[str, int]:
        """Group nodes that can never admit such a pod by why they cannot."""
        found = self._misfits.get((misfits, need))
        if found is None:
            found = defaultdict(int)
            for node in self._nodes.within(misfits):
                found[misfit(node, need) or NOT_ALLOWED] |= self._nodes.index.named(node.name)
            self._misfits[misfits, need] = found
        return found

    def _exclusions(self, pod: PodView, namespace: str) -> tuple[Exclusion, ...]:
        owner = pod.controller
        if owner is None:
            return ()
        evidence = self.snapshot.evidence.of(owner_key(owner, namespace), self.now)
        times = self.policy.exclusions
        return exclusions(evidence.nodes, self.snapshot.rooms, self.now, times)

    def _named(self, mask: int) -> tuple[str, ...]:
        names = self._names.get(mask)
        if names is None:
            names = self._names[mask] = tuple(node.name for node in self._nodes.within(mask))
        return names


def _selecting(rules: tuple[Rule, ...]) -> PodSpec:
    """Make a spec that selects as these rules do."""
    if not rules:
        return PodSpec()
    term = Term(
        [rule.requirement for rule in rules if not rule.is_field],
        [rule.requirement for rule in rules if rule.is_field],
    )
    # Validation allows one value and one requirement per field and term; the index allows more.
    return PodSpec(affinity=Affinity(NodeAffinity(NodeSelector([term]))))


def _excluded(node: str, exclusion: Exclusion | None) -> str:
    if exclusion is None:
        return "its affinity keeps it off already"
    return f"excluded {exclusion.sentence.removeprefix(f'not on {node} ')}"
