"""What rejections teach of a node that nobody can see from outside.

For: the newest word of each node's kubelet on its threads per core and on its topology policy.
Not for: capacity; that is `evidence`.

Learn from failed pods only, not from Events: many may write Events, hardly anybody a pod's status.
Who may write it in one namespace could still claim any width of any node, and labels of nodes are
for everybody's pods: `believed` says what is enough to write one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.policy import WIDTHS
from evencore.domain.rejection import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from evencore.domain.rejection import Rejection


MOST_NAMESPACES: Final = 8
"""Whose word on one node's width is remembered: the newest."""
ENOUGH: Final = 2
"""Namespaces that must tell the same before everybody's pods are rounded by it."""

_LARGEST: Final = {"amd64": 2, "arm64": 4, "s390x": 2}
"""Threads per core at most, by architecture (kubernetes.io/arch); of others any width."""


class Witness(NamedTuple):
    """A rejected pod that teaches something; compares by time."""

    at: datetime
    pod: str  # namespace/name
    width: int | None

    @property
    def namespace(self) -> str:
        """Where the pod was."""
        return self.pod.partition("/")[0]

    @property
    def sentence(self) -> str:
        """Which pod it was: "refused pod shop/web-1 at 2026-03-01T10:42Z"."""
        return f"refused pod {self.pod} at {self.at:%Y-%m-%dT%H:%MZ}"


class Learnt(NamedTuple):
    """What the kubelet of one node has told, the newest of each."""

    width: Witness | None = None  # it checks alignment, to so many threads per core
    strict: Witness | None = None  # TopologyAffinityError: its topology policy refuses pods
    words: tuple[Witness, ...] = ()  # on the width: the newest of each namespace, newest first
    doubted: str | None = None  # why a width that was told is not believed

    def also(self, rejection: Rejection) -> Learnt:
        """Take in a rejection on this node, in any order. One that has no time teaches nothing."""
        if rejection.at is None:
            return self
        pod = f"{rejection.namespace}/{rejection.pod}"
        witness = Witness(rejection.at, pod, rejection.width)
        # Only enforceSMTAlignment of a kubelet with full-pcpus-only names a width.
        if rejection.width is not None:
            others = [one for one in self.words if one.namespace != witness.namespace]
            before = [one for one in self.words if one.namespace == witness.namespace]
            words = sorted([*others, max([*before, witness])], reverse=True)[:MOST_NAMESPACES]
            return self._replace(width=words[0], words=tuple(words))
        if rejection.kind is Kind.NO_ALIGNED_NUMA:
            return self._replace(strict=max(filter(None, (self.strict, witness))))
        return self

    def believed(self, usual: int, taking_part: Collection[str], arch: str | None) -> Learnt:
        """Leave out a width that one tenant alone could have made up.

        Believed is what pods of two namespaces were told, or of the only one that takes part; and
        from anybody the `usual` width, to which pods are rounded where nothing is known. Never
        more threads than a core of this architecture has. Of several the one that most tell.
        """
        if self.width is None:
            return self
        largest = _LARGEST.get(arch or "", max(WIDTHS))
        found: dict[int, list[Witness]] = {}
        for word in self.words:
            if word.width is not None and word.width <= largest:
                found.setdefault(word.width, []).append(word)
        enough = [
            (len(words), words[0])
            for width, words in found.items()
            if len(words) >= ENOUGH or width == usual or set(taking_part) == {words[0].namespace}
        ]
        if enough:
            return self._replace(width=max(enough)[1])
        doubted = (
            f"{self.width.width} threads per core are told by pods of too few namespaces to go by "
            f"it: its kubelet {self.width.sentence}"
            if found
            else f"no core of {arch} has {self.width.width} threads, as pod {self.width.pod} claims"
        )
        return self._replace(width=None, doubted=doubted)


NOTHING = Learnt()


def learn(rejections: Iterable[Rejection]) -> dict[str, Learnt]:
    """Return what is learnt of each node."""
    found: dict[str, Learnt] = {}
    for rejection in rejections:
        found[rejection.node] = found.get(rejection.node, NOTHING).also(rejection)
    return found
