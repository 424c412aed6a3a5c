"""The labeller: one patch for a node, what comes of it, and what is logged."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from builders import Node, node

from controller.labeller import CONFLICT_S, REFUSED_S, WAITING_S, Known, Labeller
from evencore.domain import names
from evencore.domain.exclusive import InUse
from evencore.domain.learnt import NOTHING
from evencore.domain.lenient import read
from evencore.domain.views import NodeView
from evencore.kube.outcome import Conflict, Done, Gone, Later, Outcome, Refused
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Mapping


class Writes:
    """A writer that answers as it is told."""

    def __init__(self, outcome: Outcome | None = None) -> None:
        self.outcome = outcome or Done()
        self.seen: list[tuple[Ref, dict[str, str | None]]] = []

    def patch_node(
        self,
        node: Ref,
        labels: Mapping[str, str | None] | None = None,
        annotations: Mapping[str, str | None] | None = None,
    ) -> Outcome:
        self.seen.append((node, {**(labels or {}), **(annotations or {})}))
        return self.outcome


def known(built: Node, in_use: InUse | None = None) -> Known:
    return Known(read(NodeView, built.obj)[0], None, NOTHING, in_use or InUse())


def test_one_patch_has_all_labels_and_their_reasons(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    writes = Writes()
    built = node("n1").metadata(uid="u1").topology(fullPcpusOnly=True, threadsPerCore=2)
    assert Labeller(writes, lambda _: known(built)).reconcile("n1") is None
    ((ref, changes),) = writes.seen
    assert ref == Ref("", "n1", "u1")
    assert changes.keys() == {names.NODE, names.THREADS_PER_CORE, names.LABEL_REASONS}
    (record,) = caplog.records
    assert record.getMessage().startswith(
        f"node n1 labelled: {names.NODE}=n1: the node's name; {names.THREADS_PER_CORE}=2: "
    )


def test_nothing_to_change_is_nothing_written() -> None:
    writes = Writes()
    assert Labeller(writes, lambda _: known(node("n1").named())).reconcile("n1") is None
    assert writes.seen == []


OUTCOMES = {
    "gone": (Gone("404"), None),
    "another node of this name": (Conflict("409"), CONFLICT_S),
    "later": (Later(7.0, "429"), 7.0),
    "refused": (Refused("403"), REFUSED_S),
}


@pytest.mark.parametrize(("outcome", "again"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_comes_of_a_write(outcome: Outcome, again: float | None) -> None:
    assert Labeller(Writes(outcome), lambda _: known(node("n1"))).reconcile("n1") == again


def test_a_change_that_waits_for_pods_is_looked_at_again() -> None:
    built = node("n1").named().width(4).topology(fullPcpusOnly=True, threadsPerCore=2)
    busy = InUse(pods=1)
    writes = Writes()
    assert Labeller(writes, lambda _: known(built, busy)).reconcile("n1") == WAITING_S
    assert writes.seen == []


def test_a_contradiction_is_logged_once_and_anew_when_it_comes_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    views: list[Known | None] = []
    labeller = Labeller(Writes(), lambda _: views[-1])
    wrong = known(node("n1").named().annotate(names.NODE_TOPOLOGY, "{"))
    for view in (wrong, wrong, known(node("n1").named()), wrong, None, wrong):
        views.append(view)
        labeller.reconcile("n1")
    assert [r.getMessage().count("is not JSON") for r in caplog.records] == [1, 1, 1]
