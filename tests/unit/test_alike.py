"""Pods that come in crowds are known again: what is answered is what a fresh webhook answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from builders import (
    NOW,
    Pod,
    container,
    failed,
    limit_range,
    namespace,
    node,
    pod,
    review,
    snapshot,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import Json, clusters, pods, policies

from evencore.domain.collect import collect
from evencore.domain.decision import Decision, decide
from evencore.domain.policy import Policy
from evencore.domain.rejection import rejection_of
from evencore.domain.views import Metadata, PodView
from webhook.alike import LONGEST, MOST_KEPT, Crowds, Told
from webhook.mutate import Mutator

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.domain.snapshot import Snapshot


class Webhook:
    """A webhook whose cluster a test changes, and which counts what it decides."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster = snapshot(node("n1"), namespace(), limit_range())
        self.decided = 0
        self._answer = Mutator(Policy(), lambda: self.cluster, lambda: NOW)

        def counted(*args: Any) -> Any:  # noqa: ANN401  as decide
            self.decided += 1
            return decide(*args)

        monkeypatch.setattr("webhook.mutate.decide", counted)

    def ask(self, asking: Pod, where: str = "apps") -> bytes:
        return self._answer(review(asking).with_(namespace=where).body)[1]


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Webhook:
    return Webhook(monkeypatch)


TOLD = Told(Decision(), "unchanged", b"")


def replica(name: str = "web-1", owner: str = "rs-1") -> Pod:
    return pod(name).cpu("3").owner(owner).label("app", "web")


ALIKE = {
    "the next of a ReplicaSet": replica("web-2"),
    "one whose name the API server makes later": replica().metadata(name=None, generateName="w-"),
    "with another uid and age": replica().metadata(uid="2", creationTimestamp="2026-03-01T10:00Z"),
    "with another volume for its token": replica().spec(volumes=[{"name": "kube-api-access-2"}]),
    "refused as the first was": replica("web-2").annotate("evencore.io/cpu", "deny"),
}


@pytest.mark.parametrize("second", ALIKE.values(), ids=ALIKE)
def test_a_pod_of_the_same_kind_is_not_decided_about_again(webhook: Webhook, second: Pod) -> None:
    first = replica()
    first.obj["metadata"]["annotations"] = second.obj["metadata"].get("annotations")
    webhook.ask(first)
    webhook.ask(second)
    assert webhook.decided == 1


OTHERS = {
    "another request": replica().cpu("5"),
    "another container": replica().containers(container("other", cpu="3")),
    "another label": replica().label("app", "db"),
    "another annotation": replica().annotate("evencore.io/topology", "off"),
    "another owner": replica(owner="rs-2"),
    "another node selector": replica().spec(nodeSelector={"pool": "a"}),
    "no annotations instead of null": replica().metadata(annotations={}),
}


@pytest.mark.parametrize("second", OTHERS.values(), ids=OTHERS)
def test_a_pod_of_another_kind_is_decided_about(webhook: Webhook, second: Pod) -> None:
    webhook.ask(replica())
    webhook.ask(second)
    assert webhook.decided == 2


def nodes_change(cluster: Snapshot) -> Snapshot:
    return replace(cluster, nodes=snapshot(node("n1").width(4)).nodes)


def the_namespace_changes(cluster: Snapshot) -> Snapshot:
    wishes = namespace().annotate("evencore.io/cpu", "warn")
    return replace(cluster, namespaces=snapshot(wishes).namespaces)


def a_limit_range_changes(cluster: Snapshot) -> Snapshot:
    return replace(cluster, maxima=snapshot(limit_range().maximum("3")).maxima)


def a_pod_of_the_owner_is_rejected(cluster: Snapshot) -> Snapshot:
    return replace(cluster, evidence=snapshot(failed("n1", "rs-1")).evidence)


@pytest.mark.parametrize(
    "change",
    [nodes_change, the_namespace_changes, a_limit_range_changes, a_pod_of_the_owner_is_rejected],
)
def test_what_the_answer_follows_from_changes(
    webhook: Webhook, change: Callable[[Snapshot], Snapshot]
) -> None:
    webhook.ask(replica())
    webhook.cluster = change(webhook.cluster)
    webhook.ask(replica("web-2"))
    assert webhook.decided == 2


def test_nothing_that_we_read_of_a_pod_is_left_out_unseen() -> None:
    known = {"labels", "annotations", "owner_references"}
    no_decision_looks_at = {"name", "generate_name", "namespace", "uid", "creation_timestamp"}
    assert set(Metadata.__struct_fields__) == known | no_decision_looks_at
    assert set(PodView.__struct_fields__) == {"metadata", "spec", "status"}


def test_a_pod_of_another_namespace_is_decided_about(webhook: Webhook) -> None:
    webhook.ask(replica())
    webhook.ask(replica("web-2"), "shop")
    assert webhook.decided == 2


def test_while_pods_of_an_owner_are_rejected_each_is_decided_about(webhook: Webhook) -> None:
    webhook.cluster = a_pod_of_the_owner_is_rejected(webhook.cluster)
    for number in range(3):
        webhook.ask(replica(f"web-{number}"))
    assert webhook.decided == 3


def test_a_rejection_that_is_heard_of_while_one_is_decided_about_is_for_the_next(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, rejected = webhook.cluster.evidence, rejection_of(failed("n1", "rs-1").view)
    assert rejected is not None

    def meanwhile(*args: Any) -> Any:  # noqa: ANN401  as decide
        evidence.pod(rejected, NOW)
        return decide(*args)

    monkeypatch.setattr("webhook.mutate.decide", meanwhile)
    before = webhook.ask(replica())
    assert webhook.ask(replica()) != before
    evidence.pod_gone(rejected.namespace, rejected.uid)
    assert webhook.ask(replica()) == Webhook(monkeypatch).ask(replica())


def test_large_pods_are_not_kept(webhook: Webhook) -> None:
    for _ in range(2):
        webhook.ask(replica().annotate("note", "x" * LONGEST))
    assert webhook.decided == 2


def test_nor_is_any_pod_of_a_namespace_with_a_novel_on_it(webhook: Webhook) -> None:
    # What was kept for 256 versions of its annotations held each of them: 64 MiB.
    novel = namespace().annotate("evencore.io/cpu", "x" * LONGEST)
    webhook.cluster = replace(webhook.cluster, namespaces=snapshot(novel).namespaces)
    for number in range(2):
        webhook.ask(replica(f"web-{number}"))
    assert webhook.decided == 2


def test_there_are_never_more_kinds_than_are_of_use(webhook: Webhook) -> None:
    for number in range(MOST_KEPT + 1):
        webhook.ask(replica().label("number", str(number)))
    webhook.ask(replica().label("number", str(MOST_KEPT)))
    webhook.ask(replica().label("number", "0"))
    assert webhook.decided == MOST_KEPT + 2


def test_what_was_kept_for_nodes_that_are_gone_is_forgotten(webhook: Webhook) -> None:
    crowds, before = Crowds(), webhook.cluster
    crowds.keep(b"kind", "apps", before, TOLD)
    assert crowds.find(b"kind", "apps", before) is TOLD
    crowds.keep(b"another", "apps", nodes_change(before), TOLD)
    assert crowds.find(b"kind", "apps", before) is None


@settings(max_examples=150)
@given(cluster=clusters(), asked=st.lists(pods(), min_size=1, max_size=4), policy=policies)
def test_who_asked_before_changes_no_answer(
    cluster: list[Json], asked: list[Json], policy: Policy
) -> None:
    known = collect(cluster).snapshot
    used = Mutator(policy, lambda: known, lambda: NOW)
    for number, each in enumerate([*asked, *asked]):
        for where in ("apps", "shop"):  # a LimitRange is in one of them
            body = review(each).with_(namespace=where, uid=f'{number} "\\ →').body
            fresh = Mutator(policy, lambda: known, lambda: NOW)
            assert used(body) == fresh(body)
