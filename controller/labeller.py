"""Keeps the static labels of nodes as `evencore.domain.labelling` decides.

For: one node at a time, from what is known of it to one patch. Not for: knowing; that is handed in.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from evencore.domain.labelling import labelling
from evencore.kube.outcome import Conflict, Gone, Later, Refused
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evencore.domain.exclusive import InUse
    from evencore.domain.labelling import Labelling
    from evencore.domain.learnt import Learnt
    from evencore.domain.views import NodeView, TopologyView
    from evencore.kube.outcome import Outcome

_log = logging.getLogger(__name__)

REFUSED_S: Final = 300.0
"""Until the next try after a refusal: somebody has to grant us something first."""
CONFLICT_S: Final = 1.0
"""Another node has this name now; the watch will have told us by then."""
WAITING_S: Final = 60.0
"""Between two looks whether the last pod with exclusive CPUs has left a node."""


class Known(NamedTuple):
    """What is known of one node."""

    node: NodeView
    topology: TopologyView | None
    learnt: Learnt
    in_use: InUse


class NodeWriter(Protocol):
    """The one write that is needed; `evencore.kube.writer.Writer` has it."""

    def patch_node(
        self,
        node: Ref,
        labels: Mapping[str, str | None] = ...,
        annotations: Mapping[str, str | None] = ...,
    ) -> Outcome:
        """Set labels and annotations."""


class Labeller:
    """Labels nodes. `look` returns what is known of a node, None if it is gone.

    Call it for one node at a time, as a queue does.
    """

    def __init__(self, writer: NodeWriter, look: Callable[[str], Known | None]) -> None:
        self._writer, self._look = writer, look
        self._told: dict[str, tuple[str, ...]] = {}  # problems in the log already, by node

    def reconcile(self, node: str) -> float | None:
        """Bring the labels of a node up to date; returns seconds until it wants to look again."""
        known = self._look(node)
        if known is None:
            self._told.pop(node, None)
            return None
        wanted = labelling(known.node, known.topology, known.learnt, known.in_use)
        self._tell(node, wanted.problems)
        again = WAITING_S if wanted.waiting else None
        return self._write(node, known, wanted, again) if wanted.labels else again

    def _write(
        self, node: str, known: Known, wanted: Labelling, again: float | None
    ) -> float | None:
        uid = (known.node.metadata.uid if known.node.metadata else None) or ""
        # Without a version: a node's changes every few seconds for reasons of others, and what is
        # written are labels that were missing or ours.
        outcome = self._writer.patch_node(Ref("", node, uid), wanted.labels, wanted.annotations)
        if isinstance(outcome, Gone):
            return None
        if isinstance(outcome, Conflict):
            return CONFLICT_S
        if isinstance(outcome, Later):
            return outcome.seconds
        if isinstance(outcome, Refused):
            _log.warning("node %s cannot be labelled: %s", node, outcome.why)
            return REFUSED_S
        _log.info("node %s labelled: %s", node, "; ".join(wanted.reasons))
        return again

    def _tell(self, node: str, problems: tuple[str, ...]) -> None:
        """Log what contradicts itself, once."""
        for problem in problems:
            if problem not in self._told.get(node, ()):
                _log.warning("%s", problem)
        if problems:
            self._told[node] = problems
        else:
            self._told.pop(node, None)
