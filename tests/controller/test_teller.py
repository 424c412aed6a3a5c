"""What is told of an owner, once each: cases 31 and 36 word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from controller_parts import (
    JOB,
    NOW,
    ODD,
    REPLICA_SET,
    ago,
    failed,
    held,
    live_pod,
    pod,
    rejected,
    snapshot,
)

from controller.state import Owner
from controller.teller import Teller
from controller.workload import Workload, Workloads
from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.domain.verdict import Exclusion, exclusions

if TYPE_CHECKING:
    from controller.reporter import Reporter
    from evencore.kube.events import About

Object = dict[str, Any]
SET = Owner(*REPLICA_SET[:2], "shop", *REPLICA_SET[2:])
SIM = Owner(*JOB[:2], "shop", *JOB[2:])


class Desk:
    """A Teller, and what it told."""

    def __init__(self, workload: Workload | None = None) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.asked = 0
        self._workload = workload
        self.teller = Teller(cast("Reporter", self), cast("Workloads", self))

    def tell(self, about: About, reason: str, message: str, *, warning: bool = False) -> None:
        assert warning is (reason == names.TOPOLOGY_REJECTED)
        self.told.append((about.name, reason, message))

    def recent(self, _: Owner) -> Workload | None:
        self.asked += 1
        return self._workload

    def rejections(self, owner: Owner, *pods: Object) -> bool:
        evidence = snapshot(*pods).evidence.of(f"shop/{owner.uid}", NOW)
        return self.teller.rejections(owner, owner.uid, evidence, rejected(*pods))


def test_rejections_are_told_when_there_are_new_ones() -> None:
    desk = Desk()
    first = failed(pod("a"), "n1", at=ago(9))
    second = failed(pod("b"), "n2", at=ago(5))
    for pods in ([first], [first], [first, second], [first]):
        desk.rejections(SET, *pods)
    assert [text for *_, text in desk.told] == [
        "1 pod rejected within the last hour, the last on n1: TopologyAffinityError; nodes: n1 (1)",
        (
            "2 pods rejected within the last hour, the last on n2: TopologyAffinityError; "
            "nodes: n2 (1), n1 (1)"
        ),
    ]


def test_who_asks_for_odd_cpus_hears_what_would_do() -> None:
    desk = Desk()
    desk.rejections(SET, failed(pod(), why=ODD))
    ((_, reason, text),) = desk.told
    assert reason == names.TOPOLOGY_REJECTED
    assert text == (
        "1 rejected pod, the last on n1: SMTAlignmentError; n1 has 2 CPUs per core and takes whole "
        "cores only: ask for a multiple of 2, or label the namespace evencore.io/admission=enabled "
        "and have the webhook round up"
    )


def test_case_36_a_job_hears_of_its_first_rejection_what_it_cost() -> None:
    desk = Desk(Workload(backoff_limit=2, failed=1))
    desk.rejections(SIM, failed(pod("sim-a1", owner=JOB)))
    ((name, _, text),) = desk.told
    assert name == "sim"
    assert text.endswith("; 1 of 2 retries used by a placement refusal")


@pytest.mark.parametrize(
    ("workload", "want"),
    [
        (Workload(backoff_limit=6), "2 of 6 retries used by placement refusals"),
        (Workload(backoff_limit=1), "1 of 1 retry used by a placement refusal"),
        (Workload(per_index=True), "nodes: n1 (2)"),
        (None, "nodes: n1 (2)"),
    ],
)
def test_retries(workload: Workload | None, want: str) -> None:
    desk = Desk(workload)
    desk.rejections(SIM, failed(pod("a", owner=JOB)), failed(pod("b", owner=JOB)))
    assert desk.told[0][2].endswith(want)


def test_case_31_the_owner_hears_that_its_template_names_the_node_and_what_to_do() -> None:
    desk = Desk(Workload(node_name="n1"))
    pods = [failed(pod(f"p{n}"), "n1", at=ago(20 - n)) for n in range(20)]
    assert desk.rejections(SET, *pods)
    assert desk.rejections(SET, *pods)
    ((_, _, text),) = desk.told
    assert "its pod template sets spec.nodeName: n1" in text
    assert "take spec.nodeName out of the template" in text


def test_whether_a_template_names_a_node_is_asked_where_it_is_likely() -> None:
    desk = Desk(Workload(node_name="n1"))
    for nodes in (["n1"], ["n1", "n1"], ["n1", "n2", "n3"]):
        assert not desk.rejections(SET, *(failed(pod(f"p{i}"), n) for i, n in enumerate(nodes)))
    assert desk.asked == 0


def _excluded(*pods: Object) -> tuple[Exclusion, ...]:
    nodes = snapshot(*pods).evidence.of("shop/rs-1", NOW).nodes
    return exclusions(nodes, {}, NOW, Policy().exclusions)


def test_exclusions_are_told_when_there_are_others_and_not_when_one_ends() -> None:
    desk = Desk()
    one, two = failed(pod("a"), "n1"), failed(pod("b"), "n2")
    for pods in ([one], [one], [one, two], [two], []):
        desk.teller.exclusions(SET, "rs-1", _excluded(*pods))
    first = "not on n1 until 10:42Z: TopologyAffinityError, 1 rejection"
    assert [text for *_, text in desk.told] == [first, f"{first}; {first.replace('n1', 'n2')}"]


def test_each_held_pod_is_told_of_once_on_itself_and_on_its_owner() -> None:
    desk = Desk()
    for names_now in ("a", "ab", "b", "b"):
        desk.teller.holds(SET, "rs-1", [live_pod(held(name)) for name in names_now])
    assert [name for name, *_ in desk.told] == ["a", "web-6d", "b", "web-6d"]


def test_a_pod_that_is_its_own_owner_is_told_once() -> None:
    desk = Desk()
    orphan = live_pod(held("a", owner=None))
    desk.teller.released(Owner("v1", "Pod", "shop", "a", "uid-a"), orphan, "let go")
    assert desk.told == [("a", names.POD_RELEASED, "let go")]
