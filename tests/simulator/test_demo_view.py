"""What the demo says of a workload and of what it is promised."""

from __future__ import annotations

import pytest

from evencore.tables import Pen
from simulator.demo import view
from simulator.demo.worlds import Row
from simulator.scenario.ledger import Workload
from simulator.scenario.reading import scenario

PLAIN = Pen(colour=False)


def deployment(*cpus: str, replicas: int | None = None) -> dict[str, object]:
    containers = [
        {"name": f"c{n}", "resources": {"limits": {"cpu": cpu}}} for n, cpu in enumerate(cpus)
    ]
    spec = {"template": {"spec": {"containers": containers}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop"},
        "spec": spec if replicas is None else {**spec, "replicas": replicas},
    }


def story(manifest: dict[str, object], **expected: object) -> list[view.Asked]:
    expect = [{"workload": "deployment/shop", **expected}]
    steps = [{"at": 0, "apply": manifest}]
    return view.asked(scenario({"for": "1s", "steps": steps, "expect": expect}))


@pytest.mark.parametrize(
    ("manifest", "cpus"),
    [
        (deployment("3"), "3"),
        (deployment("2500m", replicas=1), "2500m"),
        (deployment("14", replicas=3), "3 x 14"),
        (deployment("2", "500m"), "2 + 500m"),
    ],
)
def test_what_the_pods_of_a_workload_ask_for(manifest: dict[str, object], cpus: str) -> None:
    assert [one.cpus for one in story(manifest, rejected=0)] == [cpus]


@pytest.mark.parametrize(
    ("expected", "promise"),
    [
        ({"rejected": 0}, "0 failed"),
        ({"rejected": "0-3", "running": 0}, "≤ 3 failed, 0 running"),
        ({"rejected": "2-3", "running": "4+"}, "2-3 failed, ≥ 4 running"),
        ({"succeeded": 5}, "5 succeeded"),
    ],
)
def test_a_promise_in_words(expected: dict[str, object], promise: str) -> None:
    assert [one.promise for one in story(deployment("3"), **expected)] == [promise]


def test_both_clusters_stand_side_by_side_and_a_broken_promise_is_named() -> None:
    asked = story(deployment("27"), rejected="0-3")
    shop = Workload("Deployment", "default", "shop")
    plain, ours = {shop: Row(failed=612)}, {shop: Row(failed=4, held=1, running=2)}
    assert list(view.table(asked, plain, ours, PLAIN, {shop}))[-1] == (
        "shop      27       612        0        4     1        2   ≤ 3 failed: BROKEN"
    )
    assert list(view.table(asked, {}, {}, PLAIN))[-1] == (
        "shop      27         0        0        0     0        0"
    )
    assert view.totals(72, plain, ours) == (
        "   1:12  plain: 612 failed, 0 running; with evencore: 4 failed, 1 held, 2 running"
    )
