"""What the rejections of one owner mean for its next pod: rung 3, exclusion, and rung 4, holding.

A function of values, the same for webhook and controller (design, section 5).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec import Struct

from evencore.domain.evidence import MOST_TIMES
from evencore.domain.text import clock, count, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evencore.domain.evidence import Evidence, OnNode
    from evencore.domain.policy import Exclusions, Holds, Policy
    from evencore.domain.snapshot import Nodes

MOST_EXCLUSIONS: Final = 20
"""Nodes excluded one by one; longer lists make big pods and slow schedulers."""

HELD_KINDS: Final = {
    "ReplicaSet": "apps",
    "ReplicationController": "",
    "StatefulSet": "apps",
    "Job": "batch",
}
"""Kind → API group of the owners whose pods may be held: those of Kubernetes itself.
Operators may do anything to a pod that they find gated, or gone (docs/decisions/0009), and some
have kinds of these names: batch.volcano.sh has Jobs, apps.kruise.io StatefulSets."""


class Owning(Protocol):
    """What is asked of an ownerReference."""

    @property
    def api_version(self) -> str: ...  # noqa: D102  as in ownerReferences
    @property
    def kind(self) -> str: ...  # noqa: D102


def may_be_held(owner: Owning) -> bool:
    """Tell whether the pods of an owner may be held."""
    group, _, _ = owner.api_version.rpartition("/")
    return HELD_KINDS.get(owner.kind) == group


class Exclusion(Struct, frozen=True):
    """A node that is kept from an owner's next pods, and why and how long."""

    node: str
    until: datetime
    reason: str
    rejections: int

    @property
    def sentence(self) -> str:
        """The exclusion in words: "not on n1 until 10:42Z: TopologyAffinityError, 2 rejections"."""
        times = count(self.rejections, "rejection")
        return f"{_KEPT_OFF.format(self.node)}{clock(self.until)}: {self.reason}, {times}"


_KEPT_OFF: Final = "not on {} until "
_SENTENCE: Final = re.compile(_KEPT_OFF.format(r"([a-z0-9][-.a-z0-9]*)"))


def excluded_in(decision: str) -> frozenset[str]:
    """Return the nodes that a pod was kept off, as its annotation evencore.io/decision tells.

    Nothing else on the pod does: its affinity does not say which of its terms its author wrote.
    """
    return frozenset(_SENTENCE.findall(decision))


class Verdict(NamedTuple):
    """What is to be done to the next pod of an owner."""

    exclusions: tuple[Exclusion, ...] = ()  # the longest first
    hold: str | None = None  # why the pod is to be held


NOTHING: Final = Verdict()


def exclusions(
    seen: Iterable[OnNode], rooms: Mapping[str, datetime], now: datetime, times: Exclusions
) -> tuple[Exclusion, ...]:
    """Return the nodes that are excluded for the owner of this evidence, longest first.

    A node is excluded for `times.initial` * 2^(rejections there - 1) after the newest rejection,
    at most `times.maximum`; no longer if there has been more room on it since (`rooms`: since
    when; times are of whole seconds, and within the same one the room is taken to be newer).
    """
    found = []
    for node, newest, number, reason in seen:
        doublings = min(number - 1, 16)  # 2^16 times anything is above any maximum
        until = newest + min(times.initial * 2**doublings, times.maximum)
        room = rooms.get(node)
        if until > now and (room is None or room < newest):
            found.append(Exclusion(node, until, reason, number))
    return tuple(sorted(found, key=lambda e: (-e.until.timestamp(), e.node)))


class Candidates(NamedTuple):
    """The nodes on which a pod could run, as a bit set over all that are known."""

    nodes: Nodes
    usable: int
    rooms: Mapping[str, datetime]  # since when there has been more room on a node

    def without(self, excluded: Iterable[Exclusion]) -> int:
        """Return those that are left when some are excluded."""
        left = self.usable
        for exclusion in excluded:
            left &= ~self.nodes.index.named(exclusion.node)
        return left


def verdict(
    evidence: Evidence, owner: Owning, candidates: Candidates, now: datetime, policy: Policy
) -> Verdict:
    """Judge the next pod of an owner."""
    if not evidence.times:
        return NOTHING
    excluded = exclusions(evidence.nodes, candidates.rooms, now, policy.exclusions)
    if not may_be_held(owner):
        return Verdict(excluded[:MOST_EXCLUSIONS])
    return Verdict(
        excluded[:MOST_EXCLUSIONS],
        _often(evidence, owner.kind, now, policy.holds) or _nowhere(excluded, candidates),
    )


def _often(evidence: Evidence, kind: str, now: datetime, holds: Holds) -> str | None:
    """Hold after so many rejections; a Job sooner, for each one uses up its backoffLimit."""
    enough = holds.after_for_jobs if kind == "Job" else holds.after
    recent = sum(now - at < holds.within for at in evidence.times)
    if recent < enough:
        return None
    last = evidence.last
    if last is None:
        return None
    number = f"{recent} or more rejections" if recent == MOST_TIMES else count(recent, "rejection")
    return f"{number} within {duration(holds.within)}, the last on {last.node}: {last.reason}"


def _nowhere(excluded: tuple[Exclusion, ...], candidates: Candidates) -> str | None:
    """Hold where too many nodes would have to be named, or none would be left."""
    if len(excluded) > MOST_EXCLUSIONS:
        return f"more than {MOST_EXCLUSIONS} nodes have just rejected its like"
    if excluded and candidates.usable and not candidates.without(excluded):
        return f"every node that it may use has just rejected its like: {excluded[0].reason}"
    return None
