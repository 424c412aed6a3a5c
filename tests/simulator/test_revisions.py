"""ControllerRevisions: the history of StatefulSets and DaemonSets, and what kubectl makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from controllers_support import Object, Still, play, selecting, template
from simulator_kubectl import Kubectl

from simulator.cluster import Cluster
from simulator.controllers import revisions
from simulator.kubelet.presets import PRESETS
from simulator.resources import CONTROLLER_REVISIONS, DAEMON_SETS, STATEFUL_SETS

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.resources import Resource

KINDS = {"a StatefulSet": STATEFUL_SETS, "a DaemonSet": DAEMON_SETS}


def numbered(number: int, grace: int) -> Object:
    made = template("a", terminationGracePeriodSeconds=grace)
    return {
        "metadata": {"name": f"a-{number}"},
        "revision": number,
        "data": revisions.data_of(made),
    }


# The graces of the templates of revisions 1, 2, …; today's; which one is kept, with which number.
TODAY: dict[str, tuple[list[int], int, tuple[str, int]]] = {
    "the first template": ([], 1, ("", 1)),
    "a new one": ([1, 2], 3, ("", 3)),
    "the same as before": ([1, 2], 2, ("a-2", 2)),
    "an older one comes back": ([1, 2, 3], 1, ("a-1", 4)),
    "the only one": ([1], 1, ("a-1", 1)),
}


@pytest.mark.parametrize(("graces", "now", "want"), TODAY.values(), ids=TODAY)
def test_which_revision_is_todays(graces: list[int], now: int, want: tuple[str, int]) -> None:
    known = [numbered(number, grace) for number, grace in enumerate(graces, 1)]
    owner = {"spec": {"template": template("a", terminationGracePeriodSeconds=now)}}
    kept, number = revisions.today(owner, known)
    assert (kept["metadata"]["name"] if kept else "", number) == want


# Limit, names in use, which ones go.
SURPLUS: dict[str, tuple[int | None, set[str], list[str]]] = {
    "the oldest beyond the limit": (2, set(), ["a-1", "a-2"]),
    "those in use neither go nor count": (2, {"a-1"}, ["a-2"]),
    "no history at all": (0, {"a-4"}, ["a-1", "a-2", "a-3"]),
    "without limit": (None, set(), []),
    "fewer than the limit": (9, set(), []),
}


@pytest.mark.parametrize(("limit", "live", "want"), SURPLUS.values(), ids=SURPLUS)
def test_which_revisions_are_too_many(limit: int | None, live: set[str], want: list[str]) -> None:
    known = [numbered(number, number) for number in (3, 1, 4, 2)]
    assert [one["metadata"]["name"] for one in revisions.surplus(known, live, limit)] == want


def history(still: Still) -> list[tuple[int, int]]:
    """Give number and grace of each revision, by number."""
    found = [record.object for record in still.store.table(CONTROLLER_REVISIONS).records("default")]
    found.sort(key=revisions.number_of)
    graces = (revisions.template_of(one)["spec"]["terminationGracePeriodSeconds"] for one in found)
    return list(zip(map(revisions.number_of, found), graces, strict=True))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_template_is_a_revision_until_the_limit(kind: Resource) -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        still.node("n1")
        await still.make(kind, "a", replicas=1, revisionHistoryLimit=2, **selecting("a"))
        for grace in (1, 2, 1, 3, 4):
            await still.background.advance(20)
            changed = template("a", terminationGracePeriodSeconds=grace)
            await still.change(kind, "a", template=changed)
        await still.background.advance(20)
        assert history(still) == [(4, 1), (5, 3), (6, 4)]
        (pod,) = still.pods()
        assert pod["spec"]["terminationGracePeriodSeconds"] == 4
        first = still.store.table(CONTROLLER_REVISIONS).records("default")
        owners = {one["kind"] for r in first for one in r.object["metadata"]["ownerReferences"]}
        assert owners == {kind.kind}

    play(story)


WORKLOADS: dict[str, dict[str, Any]] = {
    "statefulset": {"apiVersion": "apps/v1", "kind": "StatefulSet"},
    "daemonset": {"apiVersion": "apps/v1", "kind": "DaemonSet"},
}


def manifest(kind: dict[str, Any]) -> dict[str, Any]:
    pods = {"containers": [{"name": "c", "image": "registry.example/c:1"}]}
    labels = {"app": "w"}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pods},
    }
    if kind["kind"] == "StatefulSet":
        spec |= {"replicas": 2, "serviceName": "w"}
    return {**kind, "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_kubectl_follows_lists_and_undoes_a_rollout(kind: str, tmp_path: Path) -> None:
    with Cluster(PRESETS["autokh"]) as cluster:
        kubectl = Kubectl(cluster.server, tmp_path)
        path = tmp_path / "w.json"
        path.write_text(json.dumps(manifest(WORKLOADS[kind])))
        kubectl("apply", "-f", str(path))

        def images() -> set[str]:
            kubectl("rollout", "status", f"{kind}/w", "--timeout=50s")
            found = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}")
            return set(found.split())

        assert images() == {"registry.example/c:1"}
        kubectl("set", "image", f"{kind}/w", "c=registry.example/c:2")
        assert images() == {"registry.example/c:2"}
        assert "registry.example/c:1" in kubectl("rollout", "history", f"{kind}/w", "--revision=1")
        undone = kubectl("rollout", "undo", f"{kind}/w")
        assert undone == f"{kind}.apps/w rolled back\n"
        assert images() == {"registry.example/c:1"}
        listed = kubectl("rollout", "history", f"{kind}/w").splitlines()
        assert [line.split()[0] for line in listed[2:] if line] == ["2", "3"]
        table = kubectl("get", "controllerrevisions").splitlines()
        assert table[0].split() == ["NAME", "CONTROLLER", "REVISION", "AGE"]
        assert {line.split()[1] for line in table[1:]} == {f"{kind}.apps/w"}
