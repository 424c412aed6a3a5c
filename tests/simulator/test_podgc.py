"""Pods of nodes that are gone, and too many pods that ended."""

from __future__ import annotations

from controllers_support import Object, Still, play, selecting, template

from simulator.clock import timestamp
from simulator.controllers.client import Cluster
from simulator.controllers.dependents import Dependents
from simulator.controllers.podgc import PodGC, surplus
from simulator.resources import DEPLOYMENTS, NODES, PODS, REPLICA_SETS


def test_pods_of_a_node_that_is_gone_are_failed_and_deleted() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        still.kubelets.node = "n1"
        still.node("n1")
        await still.make(REPLICA_SETS, "web", replicas=1, **selecting("web"))
        await still.background.advance(5)
        (first,) = still.pods("Running")
        ends: list[Object] = []
        still.store.table(PODS).listen(
            lambda change: (
                ends.append(change.record.object["status"])
                if change.record.key[1] == first["metadata"]["name"]
                else None
            )
        )
        still.store.delete(NODES, "", "n1")
        await still.background.advance(35)
        assert ends == []
        await still.background.advance(30)
        assert [end["phase"] for end in ends] == ["Failed", "Failed"]
        assert ends[0]["conditions"][-1]["message"] == "PodGC: node no longer exists"
        assert first["metadata"]["uid"] not in [pod["metadata"]["uid"] for pod in still.pods()]

    play(story)


def test_dead_pods_are_held_at_the_threshold_the_oldest_going_first() -> None:
    async def story(still: Still) -> None:
        cluster = Cluster(still.store, still.writes, still.background, Dependents(still.store))
        PodGC(cluster, threshold=50)
        spec = {"replicas": 1, **selecting("web")}
        await still.make(DEPLOYMENTS, "web", **spec)
        await still.background.advance(10)
        oldest = still.kubelets.rejections[0]
        assert len(still.pods("Failed")) > 50
        gated = template("web", schedulingGates=[{"name": "a/b"}])
        await still.change(DEPLOYMENTS, "web", template=gated, strategy={"type": "Recreate"})
        await still.background.advance(60)
        left = still.pods("Failed")
        assert len(left) == 50
        made = min(pod["metadata"]["creationTimestamp"] for pod in left)
        assert made > timestamp(oldest + 1)

    play(story)


def test_nothing_goes_below_the_threshold() -> None:
    assert surplus([{}] * 3, 3) == []
