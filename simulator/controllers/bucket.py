"""A token bucket on the cluster's clock: how fast a controller may write.

Kubernetes: kube-controller-manager makes one client per controller, each with --kube-api-qps (20)
and --kube-api-burst (30) of its own; golang.org/x/time/rate hands out places in order. Hence one
hot ReplicaSet starves all ReplicaSets, while Deployments keep their own share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from simulator.controllers.background import Background

RATE: Final = 20.0


class TokenBucket:
    """RATE tokens a second, at most `burst` saved up."""

    burst: ClassVar[float] = 30.0

    def __init__(self, background: Background) -> None:
        self._background = background
        self._tokens, self._as_of = self.burst, background.clock.now()

    async def take(self) -> None:
        """Wait for one token; who comes first is served first."""
        now = self._background.clock.now()
        saved = self._tokens + (now - self._as_of) * RATE
        self._tokens, self._as_of = min(self.burst, saved) - 1, now
        if self._tokens < 0:
            await self._background.sleep(-self._tokens / RATE)
