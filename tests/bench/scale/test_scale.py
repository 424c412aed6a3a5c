"""The benchmark of large clusters measures what it says. No test knows how fast anything is."""

import json
import math
from pathlib import Path

import msgspec
import pytest

from controller.views import FullNode, WatchedPod, live
from evencore.domain.rejection import rejection_of
from evencore.domain.views import FailedPodView
from tests.bench.errors import BenchError
from tests.bench.servers import BIN

from . import answering, controlling, processes
from .__main__ import Plan, data, run, text
from .crowded import Crowd
from .figures import Figure
from .lives import OF_NODES, OF_PODS, Lives
from .memory import memory
from .processes import Size
from .tables import NODES, PODS, VERSION, page, table_of, tables

CROWD = Crowd(nodes=100, pods=1000, rejected=50)
TINY = Plan(
    sizes=(Size(nodes=20, pods=300, rejected=10),),
    control=controlling.Amounts(rounds=1, events=100, rate=500, held=10),
    answer=answering.Amounts(rounds=1, rate=100, own_seconds=0.3, other_seconds=0.3),
    rejections=0,
)


@pytest.mark.parametrize("kind", ["ordinary", "pinned", "aligned", "placed", "released", "leaving"])
def test_pods_are_as_large_as_those_of_real_clusters(kind: str) -> None:
    assert 7_500 < len(CROWD.pod(3, 5, kind)) < 9_500


def test_nodes_are_as_large_as_those_of_real_clusters() -> None:
    assert 10_000 < len(CROWD.node(3, 5)) < 12_000
    assert (
        json.loads(CROWD.node(3, 5))["metadata"]
        == json.loads(CROWD.node_metadata(3, 5))["metadata"]
    )


@pytest.mark.parametrize(
    ("kind", "exclusive", "admitted", "held", "told"),
    [
        pytest.param("ordinary", False, False, False, False, id="not Guaranteed"),
        pytest.param("pinned", True, True, False, False, id="has CPUs of its own"),
        pytest.param("aligned", True, True, False, True, id="was changed by the webhook"),
        pytest.param("placed", True, False, False, True, id="has no node yet"),
        pytest.param("held", True, False, True, True, id="waits for us"),
    ],
)
def test_a_pod_is_to_the_controller_what_it_is_called(
    kind: str,
    exclusive: bool,  # noqa: FBT001  a table
    admitted: bool,  # noqa: FBT001  a table
    held: bool,  # noqa: FBT001  a table
    told: bool,  # noqa: FBT001  a table
) -> None:
    pod = live(msgspec.json.decode(CROWD.pod(3, 5, kind), type=WatchedPod))

    assert (bool(pod.exclusive), bool(pod.admitted_on)) == (exclusive, admitted)
    assert (pod.held, bool(pod.decision)) == (held, told)


def test_rejected_pods_are_rejections_of_few_nodes() -> None:
    pods = [msgspec.json.decode(CROWD.failed_pod(n, 1), type=FailedPodView) for n in range(50)]
    found = [rejection_of(pod) for pod in pods]

    assert len({one.uid for one in found if one}) == 50
    assert len({one.node for one in found if one}) == 4


@pytest.mark.parametrize("limit", [0, 1, 30, 100, 500])
def test_pages_come_to_the_whole_table(limit: int) -> None:
    table, start, names = tables(CROWD)[NODES], 0, []
    while True:
        found = json.loads(page(table, start, limit))
        names += [item["metadata"]["name"] for item in found["items"]]
        start = int(found["metadata"].get("continue", 0))
        if not start:
            break

    assert names == [f"node-{number:05d}" for number in range(100)]


def test_what_is_not_there_is_no_table() -> None:
    assert table_of("/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies", {}, "") == ""
    assert table_of("/api/v1/namespaces/team-001/pods/a", {}, "") == ""


def test_a_stream_is_whole_lives_and_versions_rise() -> None:
    lives = Lives(CROWD).stream()
    sent = [one for _ in range(160) for one in next(lives)]
    events = [json.loads(line) for table, line in sent if table in {PODS, NODES}]
    versions = [int(one["object"]["metadata"]["resourceVersion"]) for one in events]
    types = [one["type"] for one in events if "spec" in one["object"]]
    nodes = [view for view in events if "nodeInfo" in view["object"]["status"]]

    assert versions == sorted(set(versions))
    assert versions[0] > VERSION
    assert len(nodes) * OF_PODS == (len(events) - len(nodes)) * OF_NODES
    assert types.count("ADDED") == types.count("DELETED") > 0


def test_a_heartbeat_changes_nothing_that_the_controller_reads() -> None:
    first, second = (
        msgspec.json.decode(CROWD.node(1, version, beat=beat), type=FullNode)
        for version, beat in ((1, "2026-03-01T10:40:00Z"), (2, "2026-03-01T10:45:00Z"))
    )

    assert first == second


@pytest.mark.parametrize(
    ("value", "limit", "at_least", "want"),
    [
        pytest.param(5.0, 6.0, False, True, id="below the most"),
        pytest.param(7.0, 6.0, False, False, id="above the most"),
        pytest.param(7.0, 6.0, True, True, id="above the least"),
        pytest.param(5.0, 6.0, True, False, id="below the least"),
        pytest.param(math.nan, 6.0, False, False, id="no figure is no success"),
        pytest.param(5.0, None, False, None, id="no limit"),
    ],
)
def test_limits(value: float, limit: float | None, at_least: bool, want: bool | None) -> None:  # noqa: FBT001  a table
    figure = Figure(what="w", size="s", value=value, unit="u", limit=limit, at_least=at_least)

    assert figure.met is want


def test_memory_of_a_process_that_has_ended_is_nothing() -> None:
    assert memory([2**22 + 1]).rss == 0


def test_who_has_no_environment_as_the_image_has_it_is_told_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "BIN", tmp_path)

    with pytest.raises(BenchError, match="make bench-scale"):
        run(TINY)


def test_a_small_cluster_is_measured_from_its_start_to_its_releases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "BIN", BIN)  # no figure is looked at: any environment will do
    figures = run(TINY)
    said = text(TINY, figures)

    assert all(math.isfinite(figure.value) and figure.value > 0 for figure in figures)
    assert len({figure.what for figure in figures}) == len(figures) == 17
    assert all(figure.what in said for figure in figures)
    assert len(json.loads(json.dumps(data(figures)))["figures"]) == 17
