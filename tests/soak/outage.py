"""Parts of the control plane that stand still: their writes are refused for a while.

For: scheduler and workload controllers that are down, or that the API server does not answer. To
all others it looks the same: nothing is bound, nothing is made.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.admission.chain import Attributes

SCHEDULER: Final = "system:kube-scheduler"
WORKLOADS: Final = "system:serviceaccount:kube-system:"
_NODES: Final = "system:serviceaccount:kube-system:node-controller"
"""The pocket cluster's does not try again: a taint would stay for ever."""


class Outage:
    """A validating plug-in."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until: dict[str, float] = defaultdict(float)

    def of(self, who: str, seconds: float) -> None:
        """Refuse what all say whose names begin so."""
        self._until[who] = self._now() + seconds

    def over(self) -> None:
        """Let all work again."""
        self._until.clear()

    async def __call__(self, attributes: Attributes) -> dict[str, Any] | None:
        """Refuse, or let pass."""
        now, name = self._now(), attributes.user.name
        stands = any(name.startswith(who) and now < until for who, until in self._until.items())
        if stands and name != _NODES:
            raise ApiError(503, "ServiceUnavailable", "the server is currently unavailable")
        return attributes.obj
