"""What tenants write does not fill our memory, nor reach beyond their own namespace."""

from __future__ import annotations

import threading
import tracemalloc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from builders import NOW, failed
from wire.scripted import ScriptedServer
from wire.support import client_of

from controller.state import Owner
from controller.views import WatchedPod, live
from controller.workload import Workloads
from evencore.domain import names
from evencore.domain.brief import brief_event, brief_pod
from evencore.domain.event_views import EventView
from evencore.domain.events import told
from evencore.domain.learnt import NOTHING, Learnt
from evencore.domain.ledger import Ledger
from evencore.domain.lenient import read
from evencore.domain.rejection import Kind, Rejection, classify, rejection_of
from evencore.domain.views import FailedPodView
from evencore.kube.crowds import Crowd, Growing
from evencore.kube.decoding import Decoder
from evencore.kube.errors import Call
from evencore.kube.store import Store
from evencore.kube.witnesses import MOST_EVENTS, WITNESSES
from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

KIB = 1024


def _event(number: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
    at = (NOW + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "metadata": {"name": f"e{number}", "namespace": "shop", "creationTimestamp": at},
        "involvedObject": {
            "kind": "Pod",
            "namespace": "shop",
            "name": "web-0",
            "uid": f"u{number}",
        },
        "reason": "TopologyAffinityError",
        "message": "Resources cannot be allocated with Topology locality",
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": at,
        **more,
    }


def _grown(make: Callable[[], object]) -> int:
    """Return how many bytes are kept of what `make` makes."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = make()
        grown = tracemalloc.get_traced_memory()[0] - before
        del kept
        return grown
    finally:
        tracemalloc.stop()


LARGE = "x" * (200 * KIB)

LARGE_WITNESSES = {
    "a failed pod with a large annotation of ours": failed("n1")
    .annotate(names.ON_REJECTION, LARGE)
    .obj,
    "a failed pod with a large message": failed("n1").rejected("n1", message=LARGE).obj,
    "a failed pod with a large reason": failed("n1").rejected("n1", "OutOf" + LARGE).obj,
    "a failed pod with an owner of a large name": failed("n1")
    .metadata(ownerReferences=[{"kind": "X", "uid": "u", "name": LARGE, "controller": True}])
    .obj,
    "a failed pod with thousands of owners and finalizers": failed("n1")
    .metadata(
        ownerReferences=[{"uid": f"u{n}", "kind": "X", "name": "x" * 100} for n in range(2000)],
        finalizers=[f"a.example/{n:0100}" for n in range(2000)],
    )
    .obj,
    "an Event with a large message": _event(1, message=LARGE),
    "an Event with a large note": _event(1, note=LARGE),
    "an Event of a large host": _event(1, source={"component": "kubelet", "host": LARGE}),
    "an Event about a pod of a large name": _event(
        1, involvedObject={"kind": "Pod", "namespace": "shop", "name": LARGE, "uid": "u"}
    ),
    "an Event with large annotations": _event(
        1,
        metadata={
            "name": "e1",
            "namespace": "shop",
            "annotations": {names.ON_REJECTION: LARGE},
            "finalizers": [LARGE],
        },
    ),
}


@pytest.mark.parametrize("name", LARGE_WITNESSES)
def test_of_a_witness_of_any_size_little_is_kept(name: str) -> None:
    obj = LARGE_WITNESSES[name]
    kind = WITNESSES["topology rejections" if "reason" in obj else "failed pods"]
    page = msgspec.json.encode({"metadata": {"resourceVersion": "1"}, "items": [obj]})
    assert len(page) > 200 * KIB
    decoder: Decoder[Any] = Decoder(kind.view, kind.resource.path, kind.keep)
    call = Call("GET", "/", "x")
    assert _grown(lambda: decoder.page(page, call)) < 8 * KIB


def test_of_a_live_pod_with_a_large_decision_little_is_kept() -> None:
    obj = failed("n1").annotate(names.DECISION, LARGE).annotate(names.ORIGINAL_CPU, LARGE).obj
    body = msgspec.json.encode({**obj, "status": {"phase": "Pending"}})
    assert _grown(lambda: live(msgspec.json.decode(body, type=WatchedPod))) < 32 * KIB


def test_a_real_witness_loses_nothing_that_is_read_of_it() -> None:
    real = read(EventView, _event(7))[0]
    assert told(brief_event(real)) == told(real)
    pod = read(FailedPodView, failed("n1").rejected("n1").obj)[0]
    assert rejection_of(brief_pod(pod)) == rejection_of(pod)
    assert rejection_of(pod) is not None


def test_of_a_million_events_in_one_namespace_the_newest_few_are_kept() -> None:
    """A list of them is never held whole, either."""
    crowd = WITNESSES["topology rejections"].crowd
    assert crowd is not None
    growing: Growing[EventView] = Growing(crowd)
    views = [read(EventView, _event(number))[0] for number in range(6_000)]
    most = 0
    for start in range(0, len(views), 100):
        growing.add({f"shop/e{n}": views[n] for n in range(start, start + 100)})
        most = max(most, len(growing.objects))
    assert most <= 4 * MOST_EVENTS
    told_of: list[tuple[str, bool]] = []
    store: Store[EventView] = Store(
        lambda key, _, after: told_of.append((key, after is not None)), crowd
    )
    store.replace(growing.done())
    assert list(store.view()) == [f"shop/e{n}" for n in range(5_000, 6_000)]
    store.upsert("shop/e6000", views[0])
    assert len(store.view()) == MOST_EVENTS
    assert told_of[-2:] == [("shop/e6000", True), ("shop/e5000", False)]


def test_events_of_one_namespace_crowd_out_none_of_another() -> None:
    store: Store[str] = Store(lambda *_: None, Crowd(2, lambda obj: obj))
    store.replace({"shop/a": "1", "team/a": "0", "team/b": "0"})
    for number in range(50):
        store.upsert(f"team/x{number}", str(number))
        store.upsert("team/x0", "again")
    assert sorted(store.view()) == ["shop/a", "team/x0", "team/x49"]
    store.delete("team/x49")
    store.upsert("team/y", "1")
    assert sorted(store.view()) == ["shop/a", "team/x0", "team/y"]


def test_kubelets_that_do_not_exist_are_not_remembered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evencore.domain.ledger._MOST_REMEMBERED", 50)
    ledger = Ledger()

    def start() -> Ledger:
        for number in range(2_000):
            ledger.kubelet_started(f"n{number}", NOW)
            ledger.node_made(f"n{number}", NOW)
        return ledger

    assert _grown(start) < 50 * KIB


OF_OTHERS = {
    "an Event of one namespace about a pod of another": {
        "involvedObject": {"kind": "Pod", "namespace": "team", "name": "web-0", "uid": "u1"}
    },
    "an Event of one namespace about a node": {
        "involvedObject": {"kind": "Node", "namespace": "default", "name": "n1", "uid": "n1"},
        "reason": "Starting",
    },
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_who_writes_events_in_one_namespace_tells_nothing_of_others(name: str) -> None:
    """No API server takes these two; ours to rely on it, and to look once more."""
    view = read(EventView, _event(1, **OF_OTHERS[name]))[0]
    assert told(view) is None
    assert told(brief_event(view)) is None


REASONS = {
    "a known reason with a line end": ("TopologyAffinityError\n", None),
    "a known reason with a colour": ("\x1b[31mTopologyAffinityError", None),
    "a resource with a line end": ("OutOfcpu\nforged", None),
    "a resource that clears the screen": ("OutOfcpu\x1b[2J", None),
    "no resource": ("OutOf", None),
    "an extended resource": ("OutOfexample.com/gpu_2-x", Kind.OUT_OF),
    "an old spelling": ("Out Of cpu", Kind.OUT_OF),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_reason_that_could_steer_a_terminal_is_none_of_ours(name: str) -> None:
    reason, kind = REASONS[name]
    assert classify(reason, "no") is kind


def _learnt(*words: tuple[str, int]) -> Learnt:
    learnt = NOTHING
    for number, (namespace, width) in enumerate(words):
        at = NOW + timedelta(seconds=number)
        learnt = learnt.also(
            Rejection(
                "u", "o", "n1", Kind.MISALIGNED, "SMTAlignmentError", at, namespace, "w", width
            )
        )
    return learnt


FORGED = {
    "one namespace tells of a width above the usual": ([("a", 4)], None),
    "one namespace tells of a width below the usual": ([("a", 1)], None),
    "one namespace tells of the usual width": ([("a", 2)], 2),
    "one namespace tells of it a hundred times": ([("a", 4)] * 100, None),
    "two namespaces tell of the same width": ([("a", 4), ("b", 4)], 4),
    "two namespaces contradict each other": ([("a", 4), ("b", 8)], None),
    "one namespace tells the usual, two another": ([("b", 4), ("c", 4), ("a", 2)], 4),
    "one namespace that changes its mind": ([("a", 4), ("b", 4), ("a", 8)], None),
    "many namespaces": ([(f"n{number}", 8) for number in range(50)], 8),
}


@pytest.mark.parametrize("name", FORGED)
def test_one_tenant_alone_teaches_no_width_that_others_pods_are_rounded_by(name: str) -> None:
    words, width = FORGED[name]
    believed = _learnt(*words).believed(2, ["a", "b", "c"], None)
    assert (believed.width.width if believed.width else None) == width
    assert (believed.doubted is None) is (width is not None)


def test_the_only_namespace_that_takes_part_may_teach_any_width_that_exists() -> None:
    assert _learnt(("a", 8)).believed(2, ["a"], "ppc64le").width is not None
    assert _learnt(("b", 8)).believed(2, ["a"], "ppc64le").width is None
    doubted = _learnt(("a", 8)).believed(2, ["a"], "amd64")
    assert (doubted.width, doubted.doubted) == (
        None,
        "no core of amd64 has 8 threads, as pod a/w claims",
    )
    assert NOTHING.believed(2, [], None) is NOTHING


def test_words_on_a_width_do_not_grow_with_those_who_tell_it() -> None:
    assert len(_learnt(*[(f"n{number}", 2) for number in range(500)]).words) == 8


OWNERS = {
    "a name that leaves its folder": ("apps/v1", "ReplicaSet", "../secrets/token"),
    "two dots": ("apps/v1", "ReplicaSet", ".."),
    "a query in its name": ("apps/v1", "ReplicaSet", "web?watch=true"),
    "a line end in its name": ("apps/v1", "ReplicaSet", "web\r\nX-Evil: 1"),
    "an empty name": ("apps/v1", "ReplicaSet", ""),
    "a query in its version": ("apps/v1?watch=true&x=", "ReplicaSet", "web"),
    "a version that leaves its folder": ("apps/..", "ReplicaSet", "web"),
    "no version": ("", "ReplicationController", "web"),
    "a kind of another group": ("example.com/v1", "ReplicaSet", "web"),
    "a kind that holds secrets": ("v1", "Secret", "token"),
}


@pytest.mark.parametrize("name", OWNERS)
def test_a_forged_owner_makes_us_read_nothing(name: str) -> None:
    version, kind, owner = OWNERS[name]
    with ScriptedServer() as server:
        client = client_of(server)
        workloads = Workloads(Writer(client, threading.Event()))
        assert workloads.read(Owner(version, kind, "shop", owner, "u")) is None
        assert server.seen == []
        client.close()
