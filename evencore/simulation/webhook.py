"""A new pod goes through the webhook: the decision, and the pod as it is after it.

The decision sees the evidence that the simulation itself adds, so that rungs 3 and 4 come as they
would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jsonpatch

from evencore.domain.decision import decide
from evencore.domain.lenient import read
from evencore.domain.objects import map_at
from evencore.domain.patching import operations
from evencore.domain.rejection import rejection_of
from evencore.domain.scope import takes_part
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.decision import Decision
    from evencore.domain.objects import Object
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.standing.verdicts import Refused


class Answer(NamedTuple):
    """What the API server stores, or why the pod is not made or waits."""

    pod: Object
    denied: str = ""
    held: str = ""


class Webhook:
    """evencore in a cluster; `on` False: a cluster without it."""

    def __init__(self, policy: Policy, snapshot: Snapshot, now: datetime, *, on: bool) -> None:
        self._policy, self._snapshot, self._now, self._on = policy, snapshot, now, on
        self._last: tuple[Object, str, Decision, Object] | None = None

    def takes_part(self, namespace: str) -> bool:
        """Tell whether it is called; of a namespace that nobody tells of it is taken to be."""
        if not self._on or namespace in self._policy.ignored_namespaces:
            return False
        view = self._snapshot.namespaces.get(namespace)
        return view is None or takes_part(namespace, view, self._policy)

    @property
    def rejections_until_held(self) -> int:
        """How many rejections of an owner lead to a hold, where holding is allowed."""
        return self._policy.holds.after

    def create(self, pod: Object, namespace: str) -> Answer:
        """Let a pod be created."""
        if not self.takes_part(namespace):
            return Answer(pod)
        view = read(PodView, pod)[0]
        decision = decide(view, namespace, self._policy, self._snapshot, self._now)
        if decision.denial:
            return Answer(pod, denied=decision.denial)
        return Answer(self._patched(pod, namespace, view, decision), held=decision.hold or "")

    def rejected(self, pod: Object, namespace: str, node: str, refused: Refused, uid: str) -> bool:
        """Take in that a pod was rejected; returns whether that changes anything for the next."""
        if not self.takes_part(namespace):
            return False
        failed = pod | {
            "metadata": map_at(pod, "metadata") | {"uid": uid, "namespace": namespace},
            "spec": map_at(pod, "spec") | {"nodeName": node},
            "status": {
                "phase": "Failed",
                "reason": refused.reason,
                "message": f"Pod was rejected: {refused.message}",
            },
        }
        rejection = rejection_of(read(PodView, failed)[0])
        if rejection is None or not rejection.kind.excludes:
            return False
        self._snapshot.evidence.pod(rejection, self._now)
        return True

    def _patched(self, pod: Object, namespace: str, view: PodView, decision: Decision) -> Object:
        """Apply a decision; replicas mostly get the one that was applied last."""
        if self._last and self._last[:3] == (pod, namespace, decision):
            return self._last[3]
        changed: Object = jsonpatch.apply_patch(pod, operations(view, decision))
        self._last = (pod, namespace, decision, changed)
        return changed
