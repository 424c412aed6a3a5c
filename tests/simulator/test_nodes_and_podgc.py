"""Nodes that are lost and what becomes of their pods; too many pods that ended."""

from __future__ import annotations

from controllers_support import Object, Still, play, selecting, template

from simulator.clock import micro_timestamp
from simulator.controllers import start
from simulator.controllers.client import Cluster
from simulator.controllers.dependents import Dependents
from simulator.controllers.podgc import PodGC, surplus
from simulator.controllers.taints import stay_s
from simulator.resources import DEPLOYMENTS, LEASES, NODES, PODS, REPLICA_SETS

PATH = ("kube-node-lease", "n1")


async def a_node_with_a_pod(still: Still) -> None:
    still.kubelets.admits = lambda _: True
    still.kubelets.node = "n1"
    still.node("n1")
    renew(still)
    await still.make(REPLICA_SETS, "web", replicas=1, **selecting("web"))
    await still.background.advance(5)
    assert len(still.pods("Running")) == 1


def renew(still: Still) -> None:
    spec = {"holderIdentity": "n1", "renewTime": micro_timestamp(still.store.clock.now())}
    kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    lease = {**kind, "metadata": {"name": "n1"}, "spec": spec}
    if still.store.table(LEASES).get(PATH):
        still.store.update(LEASES, *PATH, lease)
    else:
        still.store.create(LEASES, PATH[0], lease)


def node(still: Still) -> Object:
    return still.store.get(NODES, "", "n1").object


def taints(still: Still) -> list[tuple[str, str]]:
    found = node(still)["spec"].get("taints", ())
    return [(one["key"].rpartition("/")[2], one["effect"]) for one in found]


def test_a_node_whose_lease_is_renewed_stays_ready() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        for _ in range(20):
            await still.background.advance(10)
            renew(still)
        assert (node(still)["status"]["conditions"][0]["status"], taints(still)) == ("True", [])

    play(story)


def test_a_silent_node_loses_its_pods_after_their_toleration() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        (first,) = still.pods()
        await still.background.advance(60)
        ready = node(still)["status"]["conditions"][0]
        assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
        assert taints(still) == [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
        (pod,) = still.pods()
        assert pod["status"]["conditions"][0]["status"] == "False", "its pod is not ready"
        await still.background.advance(280)
        assert [pod["metadata"]["uid"] for pod in still.pods()] == [first["metadata"]["uid"]]
        await still.background.advance(20)
        assert first["metadata"]["uid"] not in [pod["metadata"]["uid"] for pod in still.pods()]
        event = still.events("TaintManagerEviction")[0]
        name = first["metadata"]["name"]
        assert event["message"] == f"Marking for deletion Pod default/{name}"

    play(story)


def test_a_node_that_comes_back_in_time_keeps_its_pods() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        (first,) = still.pods()
        await still.background.advance(200)
        renew(still)
        back = node(still)
        status = {"conditions": [{"type": "Ready", "status": "True"}]}
        still.store.update(NODES, "", "n1", {**back, "status": status})
        for _ in range(30):
            await still.background.advance(10)
            renew(still)
        assert taints(still) == []
        assert [pod["metadata"]["uid"] for pod in still.pods()] == [first["metadata"]["uid"]]

    play(story)


def test_a_cordoned_node_is_tainted_and_the_taint_goes_again() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        for cordoned, want in ((True, [("unschedulable", "NoSchedule")]), (False, [])):
            have = node(still)
            spec = {**have["spec"], "unschedulable": cordoned}
            still.store.update(NODES, "", "n1", {**have, "spec": spec})
            await still.background.advance(1)
            assert taints(still) == want

    play(story)


STAYS: dict[str, tuple[list[Object], float | None]] = {
    "nothing covers the taint": ([], 0.0),
    "covered for ever": ([{"operator": "Exists"}], None),
    "covered for a while": ([{"key": "t", "operator": "Exists", "tolerationSeconds": 30}], 30.0),
    "the shortest counts": (
        [{"operator": "Exists"}, {"key": "t", "operator": "Exists", "tolerationSeconds": 5}],
        5.0,
    ),
    "another value": ([{"key": "t", "value": "x"}], 0.0),
    "another effect": ([{"key": "t", "operator": "Exists", "effect": "NoSchedule"}], 0.0),
}


def test_how_long_a_pod_may_stay() -> None:
    tainted = {"spec": {"taints": [{"key": "t", "effect": "NoExecute"}]}}
    got = {name: stay_s(tainted, tolerations) for name, (tolerations, _) in STAYS.items()}
    assert got == {name: want for name, (_, want) in STAYS.items()}


def test_pods_of_a_node_that_is_gone_are_failed_and_deleted() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        (first,) = still.pods()
        phases: list[str] = []
        still.store.table(PODS).listen(
            lambda change: (
                phases.append(change.record.object["status"]["phase"])
                if change.record.key[1] == first["metadata"]["name"]
                else None
            )
        )
        still.store.delete(NODES, "", "n1")
        await still.background.advance(35)
        assert phases == []
        await still.background.advance(30)
        assert phases == ["Failed", "Failed"]
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
        assert made > micro_timestamp(oldest + 1)

    play(story)


def test_nothing_goes_below_the_threshold() -> None:
    assert surplus([{}] * 3, 3) == []


def test_controllers_that_start_late_give_leases_their_whole_time() -> None:
    async def story(still: Still) -> None:
        await a_node_with_a_pod(still)
        start(still.store, still.writes, still.background)
        await still.background.advance(20)
        assert taints(still) == []
        await still.background.advance(40)
        assert taints(still)[0] == ("unreachable", "NoSchedule")

    play(story)
