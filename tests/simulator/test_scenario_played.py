"""Scenarios, played: what steps do to a cluster, what is counted, what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scripted_webhook import NAME, SERVICE, configuration, hook, response
from simulator_still import cpus
from simulator_support import Wire, pod

from simulator.cluster import Cluster
from simulator.resources import NODES
from simulator.scenario import report
from simulator.scenario.ledger import Counts
from simulator.scenario.player import Entry, Outcome, Player, options_of
from simulator.scenario.progress import Progress
from simulator.scenario.reading import scenario
from simulator.scenario.verdict import disappointments

if TYPE_CHECKING:
    from scripted_webhook import ScriptedWebhook

    from simulator.objects import Object

NO_ROOM = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
    "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)
TOO_LARGE = "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 8000"
DENIED = f'admission webhook "{NAME}" denied the request: not today'
NO_SPEC = (
    'Pod in version "v1" cannot be handled as a Pod: Expected `object | null`, got `int` - at '
    "`$.spec`"
)
PROTECTED = 'namespaces "kube-system" is forbidden: this namespace may not be deleted'

NODE = {"name": "n1", "machine": {"coresPerSocket": 4}}


class Played:
    """A scenario of 10 seconds on one node of 8 CPUs, and what came of it."""

    def __init__(self, *steps: dict[str, Any], **more: Any) -> None:  # noqa: ANN401  any content of a file
        given = {"for": "10s", "nodes": [NODE], "steps": list(steps), **more}
        self.scenario = scenario(given)
        self.told: list[Entry] = []
        options = options_of(self.scenario, secure=False)
        with Cluster(self.scenario.file.machines(), options) as cluster:
            self.outcome = Player(self.scenario, cluster, self.told.append).play()
            store = cluster.server.store
            self.node: Object = store.get(NODES, "", "n1").object

    def lines(self) -> list[str]:
        return [report.line(entry).strip() for entry in self.told]

    def counts(self, workload: str) -> Counts:
        found = {str(one): counts for one, counts in self.outcome.workloads.items()}
        return found[workload]

    def disappointments(self) -> list[str]:
        return list(disappointments(self.scenario.file.expect, self.outcome))


def at(when: str, **what: object) -> dict[str, Any]:
    return {"at": when, **what}


def test_what_becomes_of_pods_is_counted_and_told() -> None:
    ends = pod("ends", restartPolicy="Never")
    ends["metadata"]["annotations"] = {"pocket.evencore.io/run-seconds": "2"}
    fails = pod("fails", restartPolicy="Never")
    fails["metadata"]["annotations"] = {
        "pocket.evencore.io/run-seconds": "2",
        "pocket.evencore.io/exit-code": "1",
    }
    whole = pod("whole", nodeName="n1", **cpus("100"))
    played = Played(
        at("1s", apply=[pod("runs"), ends, fails, whole, pod("waits", **cpus("9"))]),
        at("5s", delete="pod/runs"),
        every="5s",
    )
    assert played.lines() == [
        "0:01  apply pod/runs: created",
        "0:01  apply pod/ends: created",
        "0:01  apply pod/fails: created",
        "0:01  apply pod/whole: created",
        "0:01  apply pod/waits: created",
        f"0:01  ! FailedScheduling, default-scheduler: {NO_ROOM}",
        f"0:01  ! OutOfcpu, kubelet: {TOO_LARGE}",
        "0:05  pod/runs: +1 created, now 1 running",
        "0:05  pod/ends: +1 created, +1 succeeded, now none",
        "0:05  pod/fails: +1 created, +1 failed, now none",
        "0:05  pod/whole: +1 created, +1 rejected, now none",
        "0:05  pod/waits: +1 created, now 1 pending",
        "0:05  delete pod/runs",
        "0:10  pod/runs: now none",
    ]
    assert played.outcome.nodes == {"n1": {"OutOfcpu": 1}}


def test_objects_of_a_step_are_done_one_by_one_and_in_the_words_of_kubectl() -> None:
    there = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    played = Played(
        at("1s", apply=there, namespace="kube-system"),
        at("2s", apply=[there, there], namespace="kube-system"),
        at("3s", apply={**there, "data": {}}, namespace="kube-system"),
        at("5s", delete="cm/c"),
        at("6s", delete=["cm/c", "ns/kube-system"], namespace="kube-system", refused=True),
    )
    assert played.lines() == [
        "0:01  apply configmap/c: created",
        "0:02  apply configmap/c: unchanged",
        "0:02  apply configmap/c: unchanged",
        "0:03  apply configmap/c: configured",
        '0:05  refused: delete configmap/c: configmaps "c" not found',
        "0:06  delete configmap/c",
        f"0:06  refused: delete namespace/kube-system: {PROTECTED}",
    ]
    assert played.disappointments() == [
        'delete configmap/c was refused: configmaps "c" not found',
        "delete configmap/c was to be refused, and was not",
    ]


def test_what_has_no_name_gets_one_each_time() -> None:
    unnamed = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "c-"}}
    first, second = Played(at("1s", apply=[unnamed, unnamed])).lines()
    assert first.startswith("0:01  apply configmap/c-: created c-")
    assert first != second


def test_what_is_odd_is_refused_or_told_as_it_is() -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Warning"}
    event |= {"involvedObject": {}, "reason": "a\x1bb", "message": 3, "count": "many"}
    played = Played(at("1s", apply=[{**pod(), "spec": 3}, event, event]))
    assert played.lines() == [
        f"0:01  refused: apply pod/p: {NO_SPEC}",
        "0:01  apply event/e: created",
        "0:01  ! a b, : 3",
        "0:01  apply event/e: unchanged",
    ]


def deployment(replicas: int, cpu: str) -> Object:
    labels = {"app": "shop"}
    template = {"metadata": {"labels": labels}, "spec": cpus(cpu)}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop"},
        "spec": spec,
    }


def test_pods_count_for_the_workload_at_the_top_and_scale_changes_it() -> None:
    played = Played(at("0s", apply=deployment(2, "1")), at("5s", scale={"deploy/shop": 3}))
    assert played.lines() == [
        "0:00  apply deployment/shop: created",
        "0:05  scale deployment/shop to 3",
        "0:10  deployment/shop: +3 created, now 3 running",
    ]


def test_marks_and_taints_are_set_and_taken_away() -> None:
    name, one = "node/n1", {"key": "a", "value": "b", "effect": "NoSchedule"}
    played = Played(
        at("1s", label={name: {"rack": "7", "kubernetes.io/os": None}}),
        at("1s", annotate={name: {"evencore.io/topology": "2"}}),
        at("1s", cordon="n1"),
        at("2s", taint={"n1": [one, {"key": "gone"}]}),
        at("3s", taint={"n1": [one]}),
    )
    assert played.lines() == [
        "0:01  label node/n1 rack=7 kubernetes.io/os-",
        "0:01  annotate node/n1 evencore.io/topology=2",
        "0:01  cordon node/n1",
        "0:02  taint node/n1 a=b:NoSchedule, gone=:NoSchedule",
        "0:03  taint node/n1 a=b:NoSchedule",
    ]
    metadata, spec = played.node["metadata"], played.node["spec"]
    assert metadata["labels"]["rack"] == "7"
    assert "kubernetes.io/os" not in metadata["labels"]
    assert metadata["annotations"]["evencore.io/topology"] == "2"
    assert spec["unschedulable"] is True
    # Cordoning has a taint of its own, which is not a person's to take away.
    assert {taint["key"] for taint in spec["taints"]} == {"a", "node.kubernetes.io/unschedulable"}


def test_a_drained_node_is_cordoned_and_empty_but_for_daemons() -> None:
    agent = deployment(1, "1")
    del agent["spec"]["replicas"]
    agent |= {"kind": "DaemonSet"}
    agent["spec"]["selector"] = {"matchLabels": {"app": "agent"}}
    agent["spec"]["template"]["metadata"] = {"labels": {"app": "agent"}}
    played = Played(at("0s", apply=[deployment(2, "1"), agent]), at("5s", drain="n1"))
    assert "0:05  drain node/n1: 2 evicted" in played.lines()
    assert played.counts("deployment/shop") == Counts(created=4, pending=2)
    assert played.counts("daemonset/shop") == Counts(created=1, running=1)


def test_a_restarted_kubelet_asks_again_and_a_stopped_one_not_at_all() -> None:
    """The label that the first pod wants is gone by the restart; the second comes too late."""
    wants = pod("wants", nodeName="n1", nodeSelector={"rack": "7"}, **cpus("1"))
    played = Played(
        at("0s", label={"node/n1": {"rack": "7"}}),
        at("1s", apply=wants),
        at("3s", label={"node/n1": {"rack": None}}),
        at("4s", restart="n1"),
        at("5s", stop="n1"),
        at("6s", apply=pod("late", nodeName="n1")),
    )
    assert played.counts("pod/wants") == Counts(created=1, rejected=1)
    assert played.counts("pod/late") == Counts(created=1, pending=1)
    assert played.outcome.nodes == {"n1": {"NodeAffinity": 1}}


def test_a_started_kubelet_takes_up_what_waits() -> None:
    late = at("2s", apply=pod("late", nodeName="n1"))
    played = Played(at("1s", stop="n1"), late, at("5s", start="n1"))
    assert played.counts("pod/late") == Counts(created=1, running=1)


def test_a_fault_hits_who_comes_over_the_wire() -> None:
    fault = {"action": "error", "code": 503, "path": "/api/v1/nodes", "times": 1}
    given = scenario({"for": "10s", "nodes": [NODE], "steps": [at("1s", fault=fault)]})
    told: list[Entry] = []
    options = options_of(given, secure=False)
    with Cluster(given.file.machines(), options) as cluster, Wire(cluster.server) as wire:
        Player(given, cluster, told.append).play()
        assert [wire.ask("GET", "/api/v1/nodes")[0] for _ in range(2)] == [503, 200]
    assert [entry.text for entry in told] == [
        "fault: action error, path /api/v1/nodes, code 503, times 1"
    ]


def test_a_webhook_that_runs_somewhere_warns_and_refuses(webhook: ScriptedWebhook) -> None:
    def answer(request: Object) -> Object:
        if request["object"]["metadata"]["name"] == "unwanted":
            return response(request, allowed=False, status={"message": "not today"})
        return response(request, warnings=["this is odd"])

    webhook.answer("/mutate", answer)
    played = Played(
        at("0s", apply=configuration(hook(NAME, webhook.config()))),
        at("1s", apply=pod("odd")),
        at("2s", apply=pod("unwanted"), refused=True),
        services={"/".join(SERVICE): f"127.0.0.1:{webhook.port}"},
    )
    assert played.lines()[1:] == [
        "0:01  apply pod/odd: created",
        "0:01  Warning: this is odd",
        f"0:02  refused: apply pod/unwanted: {DENIED}",
        "0:10  pod/odd: +1 created, now 1 running",
    ]
    assert played.disappointments() == []


EXPECTED = {
    "met": ({"workload": "deployment/shop", "created": "1-3", "running": 2}, []),
    "too few": (
        {"workload": "deployment/shop", "running": "3+"},
        ["deployment/shop: running is 2, expected at least 3"],
    ),
    "too many, and more than one amount": (
        {"workload": "deployment/shop", "created": "0-1", "pending": 1},
        [
            "deployment/shop: created is 2, expected 0 to 1",
            "deployment/shop: pending is 0, expected 1",
        ],
    ),
    "a name that is not there": (
        {"workload": "deployment/shpo", "rejected": 0},
        ["deployment/shpo: it made no pods; is it the one that was meant?"],
    ),
    "nobody made any, as wanted": ({"workload": "deployment/none", "created": 0}, []),
    "another namespace": (
        {"workload": "deployment/shop", "namespace": "other", "created": 2},
        ["deployment/shop in other: created is 0, expected 2"],
    ),
    "a node that rejects nothing": ({"node": "n1", "rejected": 0}, []),
    "a node that should": (
        {"node": "n1", "rejected": 1},
        ["node/n1: rejected is 0, expected 1"],
    ),
}


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return Played(at("0s", apply=deployment(2, "1"))).outcome


@pytest.mark.parametrize(("expected", "want"), EXPECTED.values(), ids=EXPECTED)
def test_what_is_expected_is_judged(
    outcome: Outcome, expected: dict[str, Any], want: list[str]
) -> None:
    file = scenario({"for": "10s", "nodes": [NODE], "steps": [], "expect": [expected]}).file
    assert list(disappointments(file.expect, outcome)) == want


def test_real_time_is_waited_for_and_news_are_told_in_between() -> None:
    """A hundred times as fast: the scenario lasts a tenth of a second."""
    whole = pod("whole", nodeName="n1", **cpus("100"))
    played = Played(at("1s", apply=whole), clock=100)
    assert [entry.kind for entry in played.told] == ["step", "warning", "pods"]
    assert 1 <= played.told[1].at < 10


def test_who_waits_is_told_how_far_it_is_only_when_nothing_else_is_told() -> None:
    seconds, told = [0.0], list[str]()
    progress = Progress(told.append, lambda: seconds[0])
    for now, other in ((1.9, False), (2.0, False), (3.9, True), (5.8, False), (5.9, False)):
        seconds[0] = now
        if other:
            progress.told()
        progress.at(f"at {now}")
    assert told == ["at 2.0", "at 5.9"]


def test_how_far_it_is_is_known_every_ten_seconds_even_if_nothing_happens() -> None:
    given, reached = scenario({"for": "25s", "nodes": [NODE], "steps": []}), list[float]()
    with Cluster(given.file.machines(), options_of(given, secure=False)) as cluster:
        Player(given, cluster, lambda _: None, reached.append).play()
    assert reached == pytest.approx([10, 20, 25])
