"""DaemonSets: the gaps of the loop as measured, which nodes get a pod, updates."""

from __future__ import annotations

import pytest
from controllers_support import Object, Still, play, selecting, template

from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.controllers.daemon_pods import REVISION
from simulator.controllers.daemonset_update import update
from simulator.resources import DAEMON_SETS, NODES
from simulator.rules.workloads import check


def nodes(still: Still) -> list[str]:
    return sorted(pod["spec"]["nodeName"] for pod in still.pods("Running"))


def test_a_failed_pod_is_made_again_after_1_2_4_seconds_and_so_on() -> None:
    async def story(still: Still) -> None:
        still.node("n1")
        await still.make(DAEMON_SETS, "agent", **selecting("agent"))
        await still.background.advance(300)
        gaps = still.gaps()
        assert len(gaps) + 1 == 10
        assert sum(at < 10 for at in (sum(gaps[:n]) for n in range(10))) == 5
        assert gaps[1:] == pytest.approx([1, 2, 4, 8, 16, 32, 64, 128], rel=0.15)
        assert len(still.pods()) == 1, "it deletes the failed pod"
        await still.background.advance(1000)
        assert still.gaps()[9] == pytest.approx(256, rel=0.15)
        event = still.events("FailedDaemonPod")[0]
        assert event["type"] == "Warning"
        assert event["message"].startswith("Found failed daemon pod default/agent-")
        assert event["message"].endswith(" on node n1, will try to kill it")
        assert event["source"] == {"component": "daemonset-controller"}

    play(story)


def test_the_wait_ends_at_fifteen_minutes() -> None:
    async def story(still: Still) -> None:
        still.node("n1")
        await still.make(DAEMON_SETS, "agent", **selecting("agent"))
        await still.background.advance(4000)
        assert still.gaps()[-2:] == pytest.approx([900, 900], abs=1)

    play(story)


def test_each_node_that_suits_gets_one_pod() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        for name in ("n1", "n2", "n3"):
            still.node(name)
        taint = {"key": "mine", "effect": "NoSchedule"}

        async def change(name: str, part: str, value: object) -> None:
            await still.writes.update(
                Target(NODES, "", name),
                lambda obj: {**obj, part: {**obj[part], **value}},  # type: ignore[dict-item]
                Call(),
            )
            await still.background.advance(5)

        await change("n3", "spec", {"taints": [taint]})
        selected = template("agent", nodeSelector={"disk": "fast"})
        await still.make(DAEMON_SETS, "agent", **{**selecting("agent"), "template": selected})
        await still.background.advance(5)
        assert nodes(still) == []
        for name in ("n1", "n2", "n3"):
            await change(name, "metadata", {"labels": {"disk": "fast"}})
        assert nodes(still) == ["n1", "n2"]
        status = still.get(DAEMON_SETS, "agent")["status"]
        assert status == {
            "currentNumberScheduled": 2,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 2,
            "numberReady": 2,
            "observedGeneration": 1,
            "updatedNumberScheduled": 2,
            "numberAvailable": 2,
        }
        await change("n2", "metadata", {"labels": {}})
        assert nodes(still) == ["n1"]
        await change("n1", "spec", {"taints": [taint]})
        assert nodes(still) == ["n1"], "NoSchedule drives nobody away"
        await change("n1", "spec", {"taints": [{**taint, "effect": "NoExecute"}]})
        assert nodes(still) == []

    play(story)


def test_an_update_replaces_one_pod_at_a_time() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        for name in ("n1", "n2", "n3"):
            still.node(name)
        await still.make(DAEMON_SETS, "agent", **selecting("agent"))
        await still.background.advance(5)
        new = template("agent", terminationGracePeriodSeconds=7)
        await still.change(DAEMON_SETS, "agent", template=new)
        least = 3
        for _ in range(100):
            await still.background.advance(0.02)
            least = min(least, len(still.pods("Running")))
        assert {pod["spec"]["terminationGracePeriodSeconds"] for pod in still.pods()} == {7}
        assert (least, nodes(still)) == (2, ["n1", "n2", "n3"])
        assert still.get(DAEMON_SETS, "agent")["status"]["updatedNumberScheduled"] == 3

    play(story)


def test_an_update_that_surges_makes_the_new_pod_first() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        for name in ("n1", "n2", "n3"):
            still.node(name)
        rolling = {"maxSurge": 1, "maxUnavailable": 0}
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        spec = {**selecting("agent"), "updateStrategy": strategy, "minReadySeconds": 2}
        await still.make(DAEMON_SETS, "agent", **spec)
        await still.background.advance(5)
        assert still.get(DAEMON_SETS, "agent")["status"]["numberAvailable"] == 3
        new = template("agent", terminationGracePeriodSeconds=7)
        await still.change(DAEMON_SETS, "agent", template=new)
        least, most = 3, 3
        for _ in range(150):
            await still.background.advance(0.1)
            least = min(least, len(still.pods("Running")))
            most = max(most, len(still.pods()))
        assert {pod["spec"]["terminationGracePeriodSeconds"] for pod in still.pods()} == {7}
        assert (least, most, nodes(still)) == (3, 4, ["n1", "n2", "n3"])
        status = still.get(DAEMON_SETS, "agent")["status"]
        assert (status["updatedNumberScheduled"], status["numberAvailable"]) == (3, 3)

    play(story)


def placed(node: str, revision: str, *, ready: bool = True) -> Object:
    conditions = [{"type": "Ready", "status": "True"}] if ready else []
    return {
        "metadata": {"name": f"{node}-{revision}", "labels": {REVISION: revision}},
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": conditions},
    }


OLD = [placed(node, "old") for node in ("n1", "n2", "n3")]
BROKEN = placed("n1", "old", ready=False)
# maxUnavailable, maxSurge, the pods, which ones go, which nodes get a second one.
UPDATES: dict[str, tuple[object, object, list[Object], list[str], list[str]]] = {
    "one goes": (1, 0, OLD, ["n1-old"], []),
    "two thirds go": ("50%", 0, OLD, ["n1-old", "n2-old"], []),
    "nobody goes while one is away": (1, 0, [*OLD[1:], placed("n1", "new", ready=False)], [], []),
    "a broken one holds nobody up": (2, 0, [BROKEN, *OLD[1:]], ["n1-old", "n2-old"], []),
    "one is made": (0, 1, OLD, [], ["n1"]),
    "none is made while one is not up": (0, 1, [*OLD, placed("n2", "new", ready=False)], [], []),
    "the old one goes when the new one is up": (
        0,
        1,
        [*OLD, placed("n2", "new")],
        ["n2-old"],
        ["n1"],
    ),
    "beside a broken one it is made at once": (0, 1, [BROKEN, *OLD[1:]], [], ["n1", "n2"]),
    "a broken one does not wait for the new one": (
        0,
        1,
        [BROKEN, placed("n1", "new", ready=False), *OLD[1:]],
        ["n1-old"],
        [],
    ),
}


@pytest.mark.parametrize(("away", "surge", "there", "gone", "made"), UPDATES.values(), ids=UPDATES)
def test_what_an_update_does_next(
    away: object, surge: object, there: list[Object], gone: list[str], made: list[str]
) -> None:
    rolling = {"maxUnavailable": away, "maxSurge": surge}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    owner = {"spec": {**selecting("agent"), "updateStrategy": strategy}}
    empty = [{"metadata": {"name": node}} for node in ("n1", "n2", "n3")]
    found = update(owner, empty, there, "new", 0)
    assert ([pod["metadata"]["name"] for pod in found.delete], found.create) == (gone, made)


STRATEGIES: dict[str, tuple[object, object, list[str]]] = {
    "deletes first": (1, 0, []),
    "makes first": (0, "10%", []),
    "neither": ("0%", 0, ["maxUnavailable"]),
    "both": (1, 1, ["maxSurge"]),
}


@pytest.mark.parametrize(("away", "surge", "places"), STRATEGIES.values(), ids=STRATEGIES)
def test_what_an_update_strategy_may_not_be(away: object, surge: object, places: list[str]) -> None:
    rolling = {"maxUnavailable": away, "maxSurge": surge}
    spec = {**selecting("agent"), "updateStrategy": {"rollingUpdate": rolling}}
    found = [cause.field.rpartition(".")[2] for cause in check(DAEMON_SETS, {"spec": spec})]
    assert found == places
