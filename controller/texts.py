"""What the controller tells, and what it has told already: the words of decisions, once each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from evencore.domain import names
from evencore.domain.text import count
from evencore.kube.events import About

if TYPE_CHECKING:
    from datetime import datetime

    from controller.state import Owner
    from controller.views import LivePod
    from evencore.domain.evidence import Evidence
    from evencore.domain.verdict import Exclusion

REPLACED: Final = (
    "it waited for a node though none is excluded any more: deleted, so that its owner makes "
    "a fresh one that may go everywhere"
)


def about(owner: Owner) -> About:
    """Point at an owner."""
    return About(owner.api_version, owner.kind, owner.namespace, owner.name, owner.uid)


def about_pod(pod: LivePod) -> About:
    """Point at a pod."""
    return About("v1", "Pod", pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)


def aligned(pod: LivePod) -> str:
    """Return what the webhook wrote on a pod of its CPUs."""
    return _written(pod, "container ") or "its CPU requests were rounded to whole cores"


def held(pod: LivePod) -> str:
    """Return what the webhook wrote on a pod of its being held."""
    return _written(pod, "held") or f"held by the scheduling gate {names.HOLD}"


def _written(pod: LivePod, begin: str) -> str:
    written = pod.metadata.annotations
    sentences = ((written.decision if written else None) or "").split("; ")
    return "; ".join(sentence for sentence in sentences if sentence.startswith(begin))


def deleted(number: int, left: int) -> str:
    """Tell that rejected pods were cleaned up."""
    return f"{count(number, 'rejected pod')} deleted, {left} left"


def bare(node: str, reason: str) -> str:
    """Tell of a rejected pod that nobody controls."""
    return (
        f"rejected by {node}: {reason}; no controller makes another one: delete it and create it "
        "again, best under a Deployment or a Job"
    )


@dataclass(slots=True)
class Told:
    """What was told of each owner. One owner is looked at by one worker at a time."""

    _newest: dict[str, datetime] = field(default_factory=dict)
    _excluded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _pods: dict[str, set[str]] = field(default_factory=dict)

    def rejections(self, key: str, evidence: Evidence) -> str | None:
        """Return what to say of rejections, if there are new ones."""
        newest = evidence.newest
        if newest is None or newest <= self._newest.get(
            key, newest.min.replace(tzinfo=newest.tzinfo)
        ):
            return None
        self._newest[key] = newest
        number = sum(node.rejections for node in evidence.nodes)
        last = evidence.nodes[0]
        where = ", ".join(f"{n.node} ({n.rejections})" for n in evidence.nodes[:5])
        return (
            f"{count(number, 'pod')} rejected within the last hour, "
            f"the last on {last.node}: {last.reason}; nodes: {where}"
        )

    def exclusions(self, key: str, excluded: tuple[Exclusion, ...]) -> str | None:
        """Return what to say of excluded nodes, if they are others, or for longer."""
        sentences = tuple(exclusion.sentence for exclusion in excluded)
        if self._excluded.get(key) == sentences:
            return None
        self._excluded[key] = sentences
        return "; ".join(sentences)

    def is_new(self, key: str, uid: str) -> bool:
        """Tell whether nothing was told of a pod yet."""
        pods = self._pods.setdefault(key, set())
        if uid in pods:
            return False
        pods.add(uid)
        return True

    def forget(self, key: str) -> None:
        """Forget an owner."""
        for known in (self._newest, self._excluded, self._pods):
            known.pop(key, None)
