"""One pod after the other: webhook, scheduler, kubelet, and round again if it is rejected.

Everything happens at one moment: nothing ends meanwhile, and a hold or an exclusion that would end
later is the end of the story.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from evencore.simulation.scheduling import choose
from evencore.simulation.webhook import Answer
from evencore.standing.asked import read_pod
from evencore.standing.verdicts import Admitted, Refused, Unsure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.domain.objects import Object
    from evencore.simulation.scheduling import Room
    from evencore.simulation.webhook import Webhook
    from evencore.standing.asked import Asked
    from evencore.standing.node import Standing
    from evencore.standing.verdicts import Verdict


class Outcome(StrEnum):
    """What becomes of a pod."""

    ADMITTED = "admitted"
    LOOPS = "loops"  # rejected, and its controller makes the next one, which fares no better
    REJECTED = "rejected"  # and nobody makes another
    HELD = "held"  # by our scheduling gate
    PENDING = "pending"  # the scheduler finds no node
    DENIED = "denied"  # by the webhook, as its author asked
    UNKNOWN = "unknown"  # the kubelet's verdict hangs on what nobody tells


class Rejection(NamedTuple):
    """One rejection on the way."""

    node: str
    refused: Refused


class Fate(NamedTuple):
    """What became of one pod."""

    outcome: Outcome
    asked: Asked | None = None  # as it was in the end; None: it was never made
    node: str | None = None
    numa: Mapping[int, int] = {}  # NUMA node → exclusive CPUs
    why: str = ""
    rejections: tuple[Rejection, ...] = ()


class New(NamedTuple):
    """A pod that is to be made, or waits for a node."""

    pod: Object
    namespace: str
    uid: str
    made: bool = False  # it is there already: the webhook was asked
    only: str | None = None  # the node that a DaemonSet makes it for


class Placing:
    """Nodes, as scheduler and kubelets see them, and a webhook."""

    def __init__(
        self, rooms: Mapping[str, Room], standings: Mapping[str, Standing], webhook: Webhook
    ) -> None:
        self._rooms, self._standings, self._webhook = rooms, standings, webhook

    def arrive(self, asked: Asked, node: str) -> Fate:
        """Let a kubelet see a pod that was bound to its node before."""
        verdict = self._standings[node].admit(asked)
        if isinstance(verdict, Refused):
            self._rooms[node].add(asked, -1)
            back = asked.view.controller is not None
            return _turned_away(asked, (Rejection(node, verdict),), comes_back=back)
        return _let_in(asked, node, verdict, ())

    def place(self, new: New) -> Fate:
        """Follow a pod, and those that its controller makes in its place.

        It ends: a node that rejects once more than leads to a hold will go on so, and there are
        only so many nodes.
        """
        rejections: tuple[Rejection, ...] = ()
        for attempt in count():
            first = new.made and not attempt
            answer = Answer(new.pod) if first else self._webhook.create(new.pod, new.namespace)
            if answer.denied:
                return Fate(Outcome.DENIED, why=answer.denied)
            asked = read_pod(answer.pod, f"{new.uid}/{attempt}")
            if asked is None:
                return Fate(Outcome.DENIED, why="it has values that are no quantities")
            if answer.held:
                return Fate(Outcome.HELD, asked, why=answer.held, rejections=rejections)
            node, why = self._bind(asked, new.only)
            if node is None:
                return Fate(Outcome.PENDING, asked, why=why, rejections=rejections)
            verdict = self._standings[node].admit(asked)
            if not isinstance(verdict, Refused):
                self._rooms[node].add(asked)
                return _let_in(asked, node, verdict, rejections)
            rejections = (*rejections, Rejection(node, verdict))
            times = sum(one.node == node for one in rejections)
            if asked.view.controller is None:
                return _turned_away(asked, rejections, comes_back=False)
            uid = f"{new.uid}/{attempt}"
            learns = self._webhook.rejected(answer.pod, new.namespace, node, verdict, uid)
            if times > self._webhook.rejections_until_held or not learns:
                return _turned_away(asked, rejections, comes_back=True)
        raise AssertionError("count() never ends")

    def _bind(self, asked: Asked, only: str | None) -> tuple[str | None, str]:
        named = asked.spec.node_name
        if named:
            known = named in self._standings
            return (named, "") if known else (None, f"spec.nodeName is {named}: no such node")
        return choose(asked, self._rooms, only)


def _let_in(asked: Asked, node: str, verdict: Verdict, rejections: tuple[Rejection, ...]) -> Fate:
    if isinstance(verdict, Unsure):
        return Fate(Outcome.UNKNOWN, asked, node, why=verdict.why, rejections=rejections)
    numa = verdict.numa if isinstance(verdict, Admitted) else {}
    return Fate(Outcome.ADMITTED, asked, node, numa, rejections=rejections)


def _turned_away(asked: Asked, rejections: tuple[Rejection, ...], *, comes_back: bool) -> Fate:
    last = rejections[-1]
    outcome = Outcome.LOOPS if comes_back else Outcome.REJECTED
    why = f"{last.refused.reason}: {last.refused.message}"
    return Fate(outcome, asked, last.node, why=why, rejections=rejections)
