"""What rejections teach of a node that nobody can see from outside.

For: the newest word of each node's kubelet on its threads per core and on its topology policy.
Not for: capacity; that is `evidence`.

Learn from failed pods only, not from Events: many may write Events, hardly anybody a pod's status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.rejection import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from evencore.domain.rejection import Rejection


class Witness(NamedTuple):
    """A rejected pod that teaches something; compares by time."""

    at: datetime
    pod: str  # namespace/name
    width: int | None

    @property
    def sentence(self) -> str:
        """Which pod it was: "refused pod shop/web-1 at 2026-03-01T10:42Z"."""
        return f"refused pod {self.pod} at {self.at:%Y-%m-%dT%H:%MZ}"


class Learnt(NamedTuple):
    """What the kubelet of one node has told, the newest of each."""

    width: Witness | None = None  # it checks alignment, to so many threads per core
    strict: Witness | None = None  # TopologyAffinityError: its topology policy refuses pods

    def also(self, rejection: Rejection) -> Learnt:
        """Take in a rejection on this node, in any order. One that has no time teaches nothing."""
        if rejection.at is None:
            return self
        pod = f"{rejection.namespace}/{rejection.pod}"
        witness = Witness(rejection.at, pod, rejection.width)
        # Only enforceSMTAlignment of a kubelet with full-pcpus-only names a width.
        if rejection.width is not None:
            return self._replace(width=max(filter(None, (self.width, witness))))
        if rejection.kind is Kind.NO_ALIGNED_NUMA:
            return self._replace(strict=max(filter(None, (self.strict, witness))))
        return self


NOTHING = Learnt()


def learn(rejections: Iterable[Rejection]) -> dict[str, Learnt]:
    """Return what is learnt of each node."""
    found: dict[str, Learnt] = {}
    for rejection in rejections:
        found[rejection.node] = found.get(rejection.node, NOTHING).also(rejection)
    return found
