"""A story that chance tells: workloads come and go, room too, we die, the API server fails.

For: playing one seed, and the promises that hold in every one; a broken one is an AssertionError
that names the seed and the moment. `make soak` plays many.
"""

from __future__ import annotations

import json
import random
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.domain.rejection import read_time
from evencore.kube import configuration
from evencore.kube.client import Client, connect
from evencore.nodefiles.files import NodesFile
from simulator.clock import Clock, timestamp
from simulator.cluster import Cluster
from simulator.faults import Fault
from simulator.kubelet.presets import PRESETS
from simulator.objects import dig
from simulator.resources import PODS
from simulator.server import Options
from soak.brain import REJECTIONS, Controller, Webhook

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.store.table import Change

Object = dict[str, Any]

AGENT: Final = "evencore-soak"
STEP_S: Final = 0.1
SLACK_S: Final = 30.0
ROOM_S: Final = 60.0
"""What fits runs so soon after there is room for it."""
AT_ONCE: Final = 25
"""Of one workload so many are rejected until the rest is held: it makes up to 20 pods in the same
moment, before anybody can know of the first, and a few in their place. ..."""
A_MINUTE: Final = 4
"""... Then, where room comes and goes all the time, so many a minute."""
APPS: Final = "/apis/apps/v1/namespaces/soak"
KINDS: Final = {
    "Deployment": f"{APPS}/deployments",
    "ReplicaSet": f"{APPS}/replicasets",
    "StatefulSet": f"{APPS}/statefulsets",
    "ReplicationController": "/api/v1/namespaces/soak/replicationcontrollers",
    "Job": "/apis/batch/v1/namespaces/soak/jobs",
}
PODS_PATH: Final = "/api/v1/namespaces/soak/pods"


class Watched(Client):
    """Our client; every write to a pod is looked at before it is sent."""

    def __init__(self, file: str, look: Callable[[str, str, Any], None]) -> None:
        super().__init__(lambda: configuration.load(file, None), agent=AGENT)
        self._look = look

    def write(self, verb: str, path: str, body: Any, *args: Any, **more: Any) -> bytes:  # noqa: ANN401  as the client has it
        """Look at a write and send it."""
        if "/pods/" in path and verb != "GET":
            self._look(verb, path, body)
        return super().write(verb, path, body, *args, **more)


class Story:
    """A cluster, us, and what chance does to both."""

    def __init__(self, seed: int, cluster: Cluster, file: str) -> None:
        self._seed, self._chance, self._policy = seed, random.Random(seed), Policy()  # noqa: S311  to be repeated
        self._cluster, self._store = cluster, cluster.server.store
        self._people = connect(file, agent="people")
        self._client = Watched(file, self._look)
        self._born: dict[str, float] = {}  # workloads, and since when they are what they are
        self._paths: dict[str, str] = {}
        self._rejected: dict[str, int] = {}  # since then
        self._worked = self._store.clock.now()
        self._number = 0
        self._part = True
        self.log: list[str] = []
        cluster.server.call(lambda: self._store.table(PODS).listen(self._note))
        space = {"metadata": {"name": "soak", "labels": {names.ADMISSION: names.ENABLED}}}
        self._send("POST", "/api/v1/namespaces", space)
        self._send("POST", "/api/v1/namespaces", {"metadata": {"name": "tenant"}})
        self._controller: Controller | None = self._make_controller()

    def play(self, minutes: int) -> None:
        """Let things happen, one every few seconds; in the end everything comes to rest."""
        for _ in range(4):
            self._fill("12")
        end = self._store.clock.now() + 60 * minutes
        while self._store.clock.now() < end:
            self._chance.choice(self._acts)(self)
            self._pass(self._chance.uniform(0.2, 20))
        self._rest()

    # What chance does.

    def _make_workload(self) -> None:
        if len(self._paths) > 4:
            return
        self._number += 1
        kind, name = self._chance.choice(list(KINDS)), f"w{self._number}"
        cpus = self._chance.choice(["3", "12", "16", "16"])
        replicas = self._chance.choice([1, 2, 5, 20])
        labels = {"app": name}
        template: Object = {"metadata": {"labels": labels}, "spec": _spec(cpus)}
        spec: Object = {"template": template}
        if self._chance.random() < 0.1:
            template["spec"]["schedulingGates"] = [{"name": "example.io/quota"}]
        if kind == "Job":
            template["spec"]["restartPolicy"] = "Never"
            limit = self._chance.choice([0, 1, 6])
            spec |= {"parallelism": min(replicas, 5), "completions": replicas}
            spec |= {"backoffLimit": limit}
        else:
            selector = labels if kind == "ReplicationController" else {"matchLabels": labels}
            spec |= {"replicas": replicas, "selector": selector}
        if kind == "StatefulSet":
            spec["podManagementPolicy"] = self._chance.choice(["OrderedReady", "Parallel"])
        self._say(f"{kind} {name}: {replicas} of {cpus} CPUs")
        self._paths[name] = f"{KINDS[kind]}/{name}"
        self._anew(name)
        self._send("POST", KINDS[kind], {"metadata": {"name": name}, "spec": spec})

    def _delete_workload(self) -> None:
        if self._paths:
            name = self._chance.choice(list(self._paths))
            policy = self._chance.choice(["Background", "Background", "Orphan"])
            self._say(f"{name} is deleted, {policy}")
            self._send("DELETE", self._paths.pop(name), {"propagationPolicy": policy})

    def _roll(self) -> None:
        if found := [n for n, path in self._paths.items() if "/deployments/" in path]:
            name = self._chance.choice(found)
            self._say(f"{name} is rolled")
            self._anew(name)
            meta = {"annotations": {"rolled": str(self._store.clock.now())}}
            self._patch(self._paths[name], {"spec": {"template": {"metadata": meta}}})

    def _fill(self, cpus: str = "") -> None:
        self._number += 1
        # Two of 12 on a node leave 22 CPUs to the scheduler's eyes, and 10 or 12 in a NUMA node.
        cpus = cpus or self._chance.choice(["2", "6", "12", "12"])
        self._say(f"a filler of {cpus} CPUs")
        labels = {"app": "filler", names.ADMISSION: names.DISABLED}
        meta = {"name": f"filler-{self._number}", "labels": labels}
        self._send("POST", PODS_PATH, {"metadata": meta, "spec": _spec(cpus)})

    def _empty(self) -> None:
        if fillers := self._pods("filler"):
            name = self._chance.choice(fillers)["metadata"]["name"]
            self._say(f"{name} ends")
            self._send("DELETE", f"{PODS_PATH}/{name}", None)

    def _kill(self) -> None:
        if self._controller is not None:
            self._say("the controller is killed")
            self._controller.kill()
            self._controller = None

    def _start(self) -> None:
        if self._controller is None:
            self._say("the controller is there again")
            self._controller = self._make_controller()

    def _fail(self) -> None:
        fault: Object = self._chance.choice(
            [
                {"action": "error", "code": 500},
                {"action": "error", "code": 429},
                {"action": "lose"},
                {"action": "conflict", "verbs": ["patch", "delete"]},
            ]
        )
        self._say(f"the API server: {fault}")
        fault |= {"client": f"*{AGENT}*", "probability": 0.5}
        fault |= {"for_seconds": self._chance.uniform(1, 30)}
        server = self._cluster.server
        server.call(lambda: server.faults.on(Fault(**fault)))

    def _forge(self) -> None:
        """Write what somebody of another namespace may, about a pod and a node of ours."""
        found = self._pods("")
        if not found:
            return
        meta, node = self._chance.choice(found)["metadata"], self._node()
        self._say(f"forged Events about {meta['name']} and {node}")
        now = _stamp(self._store.clock.now() + 3)
        for number, about, reason in (
            (1, {"kind": "Pod", "name": meta["name"], "uid": meta["uid"]}, "TopologyAffinityError"),
            (2, {"kind": "Node", "name": node, "uid": node}, "Starting"),
        ):
            self._number += 1
            event = {
                "metadata": {"name": f"forged-{number}-{self._number}", "namespace": "tenant"},
                "involvedObject": {**about, "namespace": "tenant"},
                "reason": reason,
                "source": {"component": "kubelet", "host": node},
                "lastTimestamp": now,
                "type": "Warning",
            }
            self._send("POST", "/api/v1/namespaces/tenant/events", event)

    def _relabel(self) -> None:
        node = self._node()
        self._say(f"{node} gets a label")
        labels = {"zone": str(self._chance.randrange(3))}
        self._patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": labels}})

    def _ungate(self) -> None:
        """Let somebody else's gates go, all of one pod."""
        theirs = [p for p in self._pods("") if "example.io/quota" in _gates(p)]
        if theirs:
            pod = self._chance.choice(theirs)
            ours = [{"name": names.HOLD}] if names.HOLD in _gates(pod) else []
            path = f"{PODS_PATH}/{pod['metadata']['name']}"
            self._say(f"{pod['metadata']['name']} is held by nobody else any more")
            self._patch(path, {"spec": {"schedulingGates": ours}})

    def _scale(self) -> None:
        found = [n for n, path in self._paths.items() if "/jobs/" not in path]
        if found:
            name, replicas = self._chance.choice(found), self._chance.choice([0, 1, 3, 10])
            self._say(f"{name} is scaled to {replicas}")
            self._anew(name)
            self._patch(self._paths[name], {"spec": {"replicas": replicas}})

    def _take_part(self) -> None:
        """Take the namespace out for a moment; what happens meanwhile is not our doing."""
        self._say("the namespace takes no part for a moment")
        for value in (None, names.ENABLED):
            self._part = value is not None
            labels = {names.ADMISSION: value}
            self._patch("/api/v1/namespaces/soak", {"metadata": {"labels": labels}})
            self._pass(self._chance.uniform(0.1, 5))
            for name in self._born:
                self._anew(name)

    _acts = (
        _make_workload, _make_workload, _delete_workload, _roll, _fill, _fill, _fill, _empty,
        _kill, _start, _start, _start, _fail, _forge, _relabel,
        _ungate, _ungate, _scale, _scale, _take_part,
    )  # fmt: skip

    # What holds whatever happens.

    def _look(self, verb: str, path: str, body: Any) -> None:  # noqa: ANN401  JSON
        """Every write of ours says which pod it means; none is to a pod that runs."""
        if verb == "DELETE":
            uid = dig(body, "preconditions", "uid")
        else:
            uid = next((op["value"] for op in body if op["path"] == "/metadata/uid"), None)
        assert uid, self._told(f"{verb} {path} names no uid")
        name = path.rpartition("/")[2]
        record = self._cluster.server.call(lambda: self._store.table(PODS).get(("soak", name)))
        if record is not None and record.object["metadata"]["uid"] == uid:
            phase = record.object["status"].get("phase")
            assert phase != "Running", self._told(f"{verb} {path}: it runs")

    def _note(self, change: Change) -> None:
        pod, before = change.record.object, change.previous
        failed = pod["status"].get("reason") in REJECTIONS and pod["status"]["phase"] == "Failed"
        app = pod["metadata"].get("labels", {}).get("app", "")
        if failed and before and before.object["status"].get("phase") != "Failed":
            assert before.object["status"].get("phase") != "Running", self._told("a pod that ran")
            self._rejected[app] = self._rejected.get(app, 0) + 1

    def _check(self) -> None:
        now = self._store.clock.now()
        for name, since in self._born.items() if self._part else ():
            most = AT_ONCE + A_MINUTE * (now - since) / 60
            got = self._rejected.get(name, 0)
            assert got <= most, self._told(f"{got} pods of {name} rejected, at most {most:.0f}")
        longest = self._policy.holds.longest.total_seconds()
        for pod in self._pods(""):
            made = read_time(pod["metadata"]["creationTimestamp"])
            assert made is not None
            late = now - max(made.timestamp() + longest, self._worked)
            assert names.HOLD not in _gates(pod) or late < SLACK_S, self._told(
                f"{pod['metadata']['name']} is held {late:.0f} s too long"
            )

    def _rest(self) -> None:
        """Everything that fits runs soon, if nobody disturbs it."""
        self._start()
        for name in list(self._paths)[1:]:
            self._send("DELETE", self._paths.pop(name), {"propagationPolicy": "Background"})
        self._pass(35)  # what fails has stopped failing
        for pod in self._pods("filler"):
            self._send("DELETE", f"{PODS_PATH}/{pod['metadata']['name']}", None)
        self._say("there is room")
        for name, path in self._paths.items():
            workload = json.loads(self._people.get(path).read())
            spec = workload["spec"]
            wanted = min(spec.get("replicas", 0), self._fits(spec))
            self._pass(ROOM_S + SLACK_S)
            phases = [pod["status"].get("phase") for pod in self._pods(name)]
            running = phases.count("Running")
            assert running >= wanted, self._told(f"{running} of {name} run, {wanted} fit: {phases}")

    def _fits(self, spec: Object) -> int:
        """Return how many such pods fit into the cluster when nobody else is there."""
        limits = spec["template"]["spec"]["containers"][0]["resources"]["limits"]
        size = -(-int(limits["cpu"]) // 2) * 2
        if "schedulingGates" in spec["template"]["spec"]:
            return 0
        apps = (pod["metadata"].get("labels", {}).get("app") for pod in self._pods(""))
        others = sum(app not in self._paths for app in apps)
        return 0 if others else self._nodes() * sum(numa // size for numa in (22, 24))

    # How.

    def _pass(self, seconds: float) -> None:
        end = self._store.clock.now() + seconds
        while self._store.clock.now() < end:
            self._cluster.advance(STEP_S)
            if self._controller is not None:
                self._controller.work()
        if self._controller is None:
            self._worked = self._store.clock.now()
        self._check()

    def _make_controller(self) -> Controller:
        return Controller(self._store, self._client, self._policy)

    def _anew(self, name: str) -> None:
        self._born[name], self._rejected[name] = self._store.clock.now(), 0

    def _nodes(self) -> int:
        return len(json.loads(self._people.get("/api/v1/nodes").read())["items"])

    def _node(self) -> str:
        items = json.loads(self._people.get("/api/v1/nodes").read())["items"]
        return str(self._chance.choice(items)["metadata"]["name"])

    def _pods(self, app: str) -> list[Object]:
        records = self._cluster.server.call(
            lambda: [one.object for one in self._store.table(PODS).records("soak")]
        )
        return [one for one in records if app in ("", one["metadata"].get("labels", {}).get("app"))]

    def _send(self, verb: str, path: str, body: object) -> None:
        self._people.write(verb, path, body)

    def _patch(self, path: str, body: object) -> None:
        self._people.write("PATCH", path, body, content_type="application/merge-patch+json")

    def _say(self, text: str) -> None:
        self.log.append(f"{self._store.clock.now() - 1.8e9:8.1f} {text}")

    def _told(self, wrong: str) -> str:
        self._say(wrong)
        return "\n".join([f"seed {self._seed}: {wrong}", *self.log[-25:]])


def _spec(cpus: str) -> Object:
    amounts = {"cpu": cpus, "memory": "64Mi"}
    container = {"name": "app", "image": "registry.example/app:1", "resources": {"limits": amounts}}
    return {"terminationGracePeriodSeconds": 1, "containers": [container]}


def _gates(pod: Object) -> list[str]:
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", ())]


def _stamp(at: float) -> str:
    return timestamp(at)


def play(seed: int, minutes: int, nodes: int = 2) -> Story:
    """Play the story of a seed."""
    policy, clock = Policy(), Clock.virtual()
    (machine,) = PRESETS["autokh"].nodes
    file = NodesFile(nodes=[machine.model_copy(update={"count": nodes})])
    now = lambda: datetime.fromtimestamp(clock.now(), UTC)  # noqa: E731
    webhook = Webhook(policy, now)
    options = Options(clock=clock, seed=seed, secure=False, mutating=(webhook,))
    with Cluster(file, options) as cluster, tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "kubeconfig"
        path.write_text(cluster.server.kubeconfig())
        cluster.server.call(lambda: webhook.watch(cluster.server.store))
        cluster.advance(300)  # kubelets have started long ago
        story = Story(seed, cluster, str(path))
        story.play(minutes)
        return story
