"""What is kept of what is watched says all that decisions hear of it, and holds no text twice."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import pytest
from builders import Node, failed, namespace, node

from evencore.domain.brief import brief_event, brief_pod
from evencore.domain.event_views import EventView
from evencore.domain.topology import made_at, node_facts, room_since
from evencore.domain.views import FailedPodView, Metadata, NamespaceView, NodeView
from evencore.keeping import kept_event, kept_namespace, kept_node, kept_pod
from evencore.kube.decoding import Decoder
from evencore.kube.errors import Call

T = TypeVar("T")


def decoded(obj: object, view: type[T]) -> T:
    """Decode an object anew, so that none of its texts is another's."""
    return msgspec.json.decode(msgspec.json.encode(obj), type=view)


def view(built: Node) -> NodeView:
    return decoded(built.obj, NodeView)


CASES = {
    "a node of which nothing is known": node("n1"),
    "a node with labels": node("n1").named().width(4).largest(22, 44).label("zone", "a"),
    "what an admin wrote": node("n1").topology(numa=[22, 24], policy="single-numa-node"),
    "what an admin wrote wrongly": node("n1").topology(policy="all-numa-nodes"),
    "since when there is more room": (
        node("n1")
        .annotate("evencore.io/room-since", "2026-03-01T11:00:00Z")
        .metadata(creationTimestamp="2026-03-01T10:00:00Z")
    ),
    "when it was made": node("n1").metadata(creationTimestamp="2026-03-01T10:00:00Z"),
    "empty labels": node("n1").metadata(labels={}),
}


@pytest.mark.parametrize("built", CASES.values(), ids=CASES.keys())
def test_decisions_hear_the_same_of_what_is_kept(built: Node) -> None:
    whole = view(built)
    kept = kept_node(whole)

    assert node_facts(kept) == node_facts(whole)
    assert room_since(kept) == room_since(whole)
    assert made_at(kept) == made_at(whole)


def test_what_nobody_reads_is_not_kept() -> None:
    built = node("n1").annotate("csi.example/nodeid", "x").metadata(uid="u1", ownerReferences=[])
    built.annotate("evencore.io/room-since", "2026-03-01T11:00:00Z")

    found = kept_node(view(built)).metadata

    assert found is not None
    assert found.annotations == {"evencore.io/room-since": "2026-03-01T11:00:00Z"}
    assert (found.uid, found.owner_references) == (None, None)


def test_of_a_namespace_is_kept_what_is_written_for_us() -> None:
    built = namespace().annotate("evencore.io/cpu", "warn").annotate("note", "x" * 1000)
    labels = {"evencore.io/admission": "enabled"}
    built.metadata(labels={"team": "a", **labels})
    whole = decoded(built.obj, NamespaceView)
    kept = Metadata(name="apps", labels=labels, annotations={"evencore.io/cpu": "warn"})
    assert kept_namespace(whole) == NamespaceView(kept)
    assert kept_namespace(NamespaceView()) == NamespaceView()
    bare = NamespaceView(Metadata(name="apps", labels={}, annotations={"note": "x"}))
    assert kept_namespace(bare) == NamespaceView(Metadata(name="apps"))


def test_nodes_share_the_texts_of_their_labels() -> None:
    shared = "a value that is longer than what decoders remember by themselves"
    made = [node(f"n{n}").label("topology.example/a-rather-long-key", shared) for n in range(2)]

    one, other = (kept_node(view(built)).metadata for built in made)

    assert one is not None
    assert other is not None
    for mine, other_s in zip((one.labels or {}).items(), (other.labels or {}).items(), strict=True):
        assert mine[0] is other_s[0]
        assert mine[1] is other_s[1]


def test_a_label_that_is_the_name_is_the_name() -> None:
    found = kept_node(view(node("worker-7.example").label("host", "worker-7.example"))).metadata

    assert found is not None
    assert (found.labels or {})["host"] is found.name


def test_nothing_is_kept_of_a_page_but_what_is_kept_of_its_nodes() -> None:
    body = msgspec.json.encode(
        {"metadata": {"resourceVersion": "7"}, "items": [node("n1").width(2).obj, {"spec": {}}]}
    )
    page = Decoder(NodeView, "/api/v1/nodes", kept_node).page(body, Call("GET", "/", "server"))

    assert page.objects == {"n1": kept_node(view(node("n1").width(2)))}


def rejection_event(number: int) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "apps", "creationTimestamp": "2026-03-01T11:00:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "apps", "name": f"p-{number}", "uid": "u"},
        "reason": "TopologyAffinityError",
        "message": "Resources cannot be allocated with Topology locality",
        "source": {"component": "kubelet", "host": "n1"},
        "count": 1,
    }


def test_failed_pods_of_one_owner_share_their_texts_and_say_what_they_said() -> None:
    objects = [failed("n1", number=number).obj for number in range(2)]
    one, other = (kept_pod(decoded(obj, FailedPodView)) for obj in objects)

    assert [one, other] == [brief_pod(decoded(obj, FailedPodView)) for obj in objects]
    assert one.status
    assert other.status
    assert one.status.message is other.status.message
    assert one.controller
    assert other.controller
    assert one.controller.uid is other.controller.uid


def test_events_of_one_node_share_their_texts_and_say_what_they_said() -> None:
    objects = [rejection_event(number) for number in range(2)]
    one, other = (kept_event(decoded(obj, EventView)) for obj in objects)

    assert [one, other] == [brief_event(decoded(obj, EventView)) for obj in objects]
    assert one.message is other.message
    assert one.source
    assert other.source
    assert one.source.host is other.source.host
