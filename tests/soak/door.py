"""The API server's call to the webhook: one of its replicas, in time or not at all; Ignore.

For: who is asked about which pod, and what becomes of the answer. Reviews are made and answers read
by the pocket cluster's own code.
Not for: HTTP to webhooks; `tests/e2e` has that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evencore.domain import names
from simulator.admission.webhooks import answers, review
from simulator.objects import encode
from simulator.resources import NAMESPACES, PODS

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    from simulator.admission.chain import Attributes
    from simulator.store.store import Store
    from soak.processes import Webhook
    from soak.promises import Promises

Object = dict[str, Any]

OPEN = "the webhook never refuses a pod"
TIMEOUT_S = 5.0


class Door:
    """A mutating plug-in."""

    def __init__(self, promises: Promises, chance: random.Random) -> None:
        self._promises, self._chance = promises, chance
        self.store: Store
        self.sleep: Callable[[float], Awaitable[None]]
        self.replicas: list[Webhook] = []
        self.absent = False  # its configuration is gone, or a firewall is in between
        self.slow_s = 0.0
        self.asked = self.missed = self.patched = 0

    @property
    def sure(self) -> bool:
        """Tell whether a pod that is made now meets a replica that knows all."""
        ready = [one for one in self.replicas if one.ready]
        fine = bool(ready) and all(one.hears and not one.off for one in ready)
        return fine and not self.absent and not self.slow_s

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Return the pod as it is to be created."""
        obj = attributes.obj
        if obj is None or not self._selects(attributes, obj):
            return obj
        ready = [one for one in self.replicas if one.ready]
        if self.absent or not ready:
            self.missed += 1
            return obj
        replica = self._chance.choice(ready)
        frozen = replica.frozen_until > self.store.clock.now()
        uid = self.store.chance.uid()
        request = review.request_of(uid, PODS, attributes)
        asked = review.review_of(request, review.shown(PODS, attributes, obj), None)
        wait_s = TIMEOUT_S if frozen else min(TIMEOUT_S, self._chance.random() * self.slow_s)
        if wait_s and not frozen:
            await self.sleep(wait_s / 2)
        found = None if frozen or not replica.alive else replica.answer(encode(asked))
        if wait_s:
            await self.sleep(wait_s / 2 if found else wait_s)
        if found is None or wait_s >= TIMEOUT_S:
            self.missed += 1
            return obj
        self.asked += 1
        answer = answers.read(found[1], uid)
        wrong = None if answer.allowed else f"{obj['metadata']}: {answer.status}"
        self._promises.holds(OPEN, wrong)
        if not answer.patch:
            return obj
        self.patched += 1
        seen = review.shown(PODS, attributes, obj) or obj
        seen = {"kind": "Pod", "apiVersion": "v1", **seen}
        patched = answers.patched(names.PREFIX, seen, answer.patch)
        return None if patched is None else review.stored(PODS, attributes, patched)

    def _selects(self, attributes: Attributes, obj: Object) -> bool:
        target = attributes.target
        if attributes.operation != "CREATE" or target.resource is not PODS or target.subresource:
            return False
        space = self.store.table(NAMESPACES).get(("", target.namespace))
        labels = (space.object["metadata"].get("labels") if space else None) or {}
        own = obj["metadata"].get("labels") or {}
        return (
            labels.get(names.ADMISSION) == names.ENABLED
            and own.get(names.ADMISSION) != names.DISABLED
        )
