"""Objects of any kind become a snapshot; what is none of ours is left, nothing is raised."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from builders import NOW, failed, limit_range, namespace, node, node_topology, pod

from evencore.domain.collect import collect, flatten
from evencore.domain.snapshot import CpuMaximum, Maxima, Nodes, Snapshot


def test_an_empty_snapshot_knows_nothing() -> None:
    known = Snapshot()
    assert known.nodes.facts == ()
    assert not known.namespaces
    assert not known.maxima
    assert not known.evidence.owners()


def test_each_kind_finds_its_place() -> None:
    found = collect(
        o.obj
        for o in (node("n1").width(4), namespace("apps"), limit_range().maximum("3"), failed("n1"))
    )
    assert [f.width for f in found.snapshot.nodes.facts] == [4]
    assert list(found.snapshot.namespaces) == ["apps"]
    assert found.snapshot.maxima == {"apps": Maxima(container=CpuMaximum(3000, "lr"))}
    assert [r.node for r in found.snapshot.evidence.all_of("apps/rs-1")] == ["n1"]


def test_a_node_resource_topology_finds_its_node_in_any_order() -> None:
    seen = node_topology("n1").numa("22").attribute("topologyManagerPolicy", "none")
    for objects in ([node("n1").obj, seen.obj], [seen.obj, node("n1").obj]):
        assert collect(objects).snapshot.nodes.facts[0].max_container == 22


def test_other_kinds_are_left() -> None:
    found = collect([{"kind": "Service"}, {"no": "kind"}, {"kind": 7}, node("n1").obj])
    assert [f.name for f in found.snapshot.nodes.facts] == ["n1"]


def test_only_rejected_pods_leave_a_trace() -> None:
    assert not collect([pod().owner().obj]).snapshot.evidence.owners()


def test_the_newest_rejection_dates_a_dump() -> None:
    ago = timedelta(hours=3)
    pods = [failed("n1").rejected("n1", ago=ago).obj, failed("n2").rejected("n2", ago=2 * ago).obj]
    assert collect(pods).newest_rejection == NOW - ago


def test_what_an_admin_wrote_wrongly_is_told() -> None:
    (problem,) = collect([node("n1").annotate("evencore.io/topology", "{").obj]).problems
    assert problem.startswith("node n1: annotation evencore.io/topology")


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param({"kind": "Node"}, ["Node"], id="an object"),
        pytest.param({"kind": "List", "items": [{"kind": "Pod"}]}, ["Pod"], id="a list"),
        pytest.param({"kind": "NodeList", "items": [{}]}, ["Node"], id="a list of one kind"),
        pytest.param(
            {"kind": "List", "items": [{"kind": "PodList", "items": [{}, {}]}]},
            ["Pod", "Pod"],
            id="lists in a list",
        ),
        pytest.param({"kind": "List", "items": [None, "x", 3]}, [], id="items that are no objects"),
        pytest.param({"kind": "List", "items": None}, ["List"], id="a list without items"),
        pytest.param(None, [], id="an empty document"),
        pytest.param("text", [], id="text"),
        pytest.param([{"kind": "Pod"}], ["Pod"], id="an array"),
    ],
)
def test_lists_are_flattened(document: Any, want: list[str]) -> None:  # noqa: ANN401  any JSON
    assert [item["kind"] for item in flatten(document)] == want


@pytest.mark.parametrize(
    ("ranges", "want"),
    [
        pytest.param([limit_range()], Maxima(), id="no limits"),
        pytest.param(
            [limit_range("a").maximum("4"), limit_range("b").maximum("3")],
            Maxima(container=CpuMaximum(3000, "b")),
            id="the lowest of several LimitRanges",
        ),
        pytest.param(
            [limit_range("a").maximum("4").maximum("2500m")],
            Maxima(container=CpuMaximum(2500, "a")),
            id="the lowest within one",
        ),
        pytest.param(
            [limit_range("a").maximum("4").maximum("9", "Pod")],
            Maxima(CpuMaximum(4000, "a"), CpuMaximum(9000, "a")),
            id="containers and pods have their own",
        ),
        pytest.param([limit_range().maximum("3", "PersistentVolumeClaim")], Maxima(), id="claims"),
        pytest.param([limit_range().maximum("junk")], Maxima(), id="junk does not count"),
        pytest.param([limit_range().maximum(3)], Maxima(CpuMaximum(3000, "lr")), id="a number"),
    ],
)
def test_the_maxima_of_a_namespace(ranges: list[Any], want: Maxima) -> None:
    assert collect(r.obj for r in ranges).snapshot.maxima == {"apps": want}


def test_nodes_are_in_the_order_of_their_names() -> None:
    nodes = collect([node(name).obj for name in ("n2", "n10", "n1")]).snapshot.nodes
    assert [f.name for f in nodes.facts] == ["n1", "n10", "n2"]
    assert nodes.by_name["n10"].name == "n10"


def test_a_bit_set_is_walked_from_the_first_node() -> None:
    nodes = collect([node(name).obj for name in ("n1", "n2", "n3")]).snapshot.nodes
    mask = nodes.index.named("n3") | nodes.index.named("n1")
    assert [f.name for f in nodes.within(mask)] == ["n1", "n3"]
    assert list(Nodes().within(0)) == []


def said(reason: str, about: dict[str, str], at: str = "2026-03-01T10:39:00Z") -> dict[str, Any]:
    source = {"component": "kubelet", "host": "n1"}
    about = {"namespace": "apps", "uid": "u1", **about}
    return {"reason": reason, "involvedObject": about, "source": source, "lastTimestamp": at}


def test_events_tell_of_pods_that_are_gone() -> None:
    one = said("TopologyAffinityError", {"kind": "Pod", "name": "web-0"})
    found = collect([{"kind": "EventList", "items": [one]}])
    evidence = found.snapshot.evidence.all_of("StatefulSet/apps/web")
    assert [(r.uid, r.node) for r in evidence] == [("u1", "n1")]
    assert found.newest_rejection == NOW - timedelta(minutes=1)


def test_events_tell_of_kubelets_that_started() -> None:
    about = {"kind": "Node", "name": "n1", "namespace": "default"}
    start = said("Starting", about) | {"kind": "Event"}
    assert not collect([failed("n1").obj, start]).snapshot.evidence.of("apps/rs-1", NOW).nodes
    settled = collect([failed("n1").obj, start], settle=timedelta(seconds=30))
    assert settled.snapshot.evidence.owners() == ["apps/rs-1"]
