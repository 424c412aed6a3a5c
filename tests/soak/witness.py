"""Sees all that happens in the cluster and all that we write, and says what must not be.

For: the promises that hold at every moment. Not for: what comes when nothing disturbs; see `calm`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from evencore.domain import names
from evencore.domain.rejection import read_time
from evencore.domain.verdict import excluded_in
from simulator.resources import LEASES, NODES, PODS
from simulator.store.table import DELETED
from soak import writes
from soak.budget import Budget
from soak.pods import app_of, gates_of

if TYPE_CHECKING:
    from simulator.store.table import Change
    from soak.processes import Process
    from soak.world import World

Object = dict[str, Any]

REJECTIONS: Final = frozenset(
    {"TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError"}
)
HELD: Final = "no pod is held longer than the maximum"
HELD_FOR: Final = "no pod is held whose like was not rejected within the hour"
KEPT_OFF: Final = "no pod is kept off a node where its like was not rejected just before"
RAN: Final = "no pod that ran is rejected for what we wrote"
BOUND: Final = "rejections of an owner, over any time"
SLACK_S: Final = 60.0
"""How late a pod may be let go: the API server is left alone for up to 30 s after it failed."""
SURE_S: Final = 1.0
"""A webhook that has heard of everything for so long knows all."""
TOLERATED_S: Final = 120.0
"""Clocks may differ by so much and rejections be bounded all the same."""
MEMORY_S: Final = 3600.0


class Witness:
    """One story's."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.rejected: dict[str, dict[str, float]] = defaultdict(dict)  # app → node → newest
        self.budget = Budget(world.promises, BOUND)
        self.seen = defaultdict[str, int](int)
        self._left: dict[str, dict[str, str]] = defaultdict(dict)  # rejected, by owner: uid → age
        self._asked: set[str] = set()  # pods that we asked to be deleted
        self._sure: set[str] = set()  # pods that met a webhook that knew all
        self._sure_since: float | None = None
        self._able_at = world.now()
        self._behind: set[str] = set()  # whose clock has been wrong

    def watch(self) -> None:
        """Follow the cluster, in its own thread."""
        self._world.store.table(PODS).listen(self._pod)
        self._world.store.table(NODES).listen(self._node)

    # Moments.

    def follow(self) -> None:
        """Note how well all are."""
        world, now = self._world, self._world.now()
        self._behind |= {one.name for one in world.processes() if one.off}
        if world.out or world.wish or not (world.door.sure and self._clocks_fit()):
            self._sure_since = None
        elif self._sure_since is None:
            self._sure_since = now
        if not self.able():
            self._able_at = now

    def able(self) -> bool:
        """Tell whether somebody leads whom nothing keeps from working."""
        leader = self._world.leader()
        return (
            leader is not None and leader.hears and self._world.now() >= self._world.troubled_until
        )

    def sure(self) -> bool:
        """Tell whether new pods meet a webhook that knows all."""
        since = self._sure_since
        return since is not None and self._world.now() - since >= SURE_S and self._world.door.sure

    def look(self) -> None:
        """Look at all pods that are held."""
        now, leader = self._world.now(), self._world.leader()
        longest = self._world.policy.holds.longest.total_seconds()
        behind = max(0.0, -leader.off.total_seconds()) if leader else 0.0
        for pod in self._world.pods():
            if names.HOLD not in gates_of(pod):
                continue
            made = read_time(pod["metadata"]["creationTimestamp"])
            assert made is not None
            due = max(made.timestamp() + longest + behind, self._able_at)
            wrong = f"{pod['metadata']['name']} is held {now - due:.0f} s too long"
            self._world.promises.within(HELD, SLACK_S - (now - due), "s", wrong)

    def _clocks_fit(self) -> bool:
        return all(abs(p.off.total_seconds()) <= TOLERATED_S for p in self._world.processes())

    # What happens.

    def _node(self, change: Change) -> None:
        if change.type != DELETED and change.previous is not None:
            before, after = change.previous.object, change.record.object
            labels = [one["metadata"].get("labels") or {} for one in (before, after)]
            theirs = [{k: v for k, v in one.items() if "evencore" not in k} for one in labels]
            parts = [one["status"].get("allocatable") for one in (before, after)]
            if theirs[0] == theirs[1] and parts[0] == parts[1]:
                return
        self.budget.room(self._world.now())

    def _pod(self, change: Change) -> None:
        pod, before = change.record.object, change.previous
        meta, status = pod["metadata"], pod["status"]
        was = before.object["status"] if before else {}
        if meta["uid"] in self._asked and (change.type == DELETED or _ends(pod)):
            self._left[writes.owner(pod)].pop(meta["uid"], None)
        if change.type == DELETED:
            if status.get("startTime") and pod["spec"].get("nodeName"):
                self.budget.room(self._world.now())
            return
        if before is None:
            self._made(pod)
        elif names.HOLD in gates_of(before.object) and names.HOLD not in gates_of(pod):
            self.seen["let go"] += 1
            self._kept_off(pod)
        if status.get("phase") == "Failed" and was.get("phase") != "Failed":
            self._failed(pod, was)
        if meta.get("deletionTimestamp") and not (before and _ends(before.object)):
            self.seen["deleted"] += 1

    def _made(self, pod: Object) -> None:
        meta, app, now = pod["metadata"], app_of(pod), self._world.now()
        if self.sure():
            self._sure.add(meta["uid"])
        if names.HOLD in gates_of(pod):
            self.seen["held"] += 1
            last = max(self.rejected[app].values(), default=None)
            left = MEMORY_S + SLACK_S - (now - last) if last is not None else -1.0
            left += self._off()
            self._world.promises.within(HELD_FOR, left, "s", f"{meta['name']}, {left:.0f} s")
        self._kept_off(pod)

    def _kept_off(self, pod: Object) -> None:
        meta, app, now = pod["metadata"], app_of(pod), self._world.now()
        said = (meta.get("annotations") or {}).get(names.DECISION, "")
        longest = self._world.policy.exclusions.maximum.total_seconds()
        for node in excluded_in(said):
            self.seen["kept off a node"] += 1
            last = self.rejected[app].get(node)
            left = longest + SLACK_S - (now - last) if last is not None else -1.0
            left += self._off()
            wrong = f"{meta['name']} off {node}, {-left:.0f} s too long: {said}"
            self._world.promises.within(KEPT_OFF, left, "s", wrong)

    def _failed(self, pod: Object, was: Object) -> None:
        status, meta, now = pod["status"], pod["metadata"], self._world.now()
        reason = status.get("reason", "")
        ran = was.get("phase") == "Running"
        if ran:
            # A kubelet that restarts may find no free cores for what it runs: not our doing.
            # Nobody in a story names nodes in a template, so all affinity is ours.
            wrong = f"{meta['name']}: {reason}" if reason == "NodeAffinity" else None
            self._world.promises.holds(RAN, wrong)
        if reason not in REJECTIONS:
            return
        app = app_of(pod)
        # Also one that ran: of a StatefulSet's, which is deleted at once, the Event alone is left,
        # and it does not tell.
        self.rejected[app][pod["spec"]["nodeName"]] = now
        self.seen["rejected"] += 1
        self._left[writes.owner(pod)][meta["uid"]] = writes.age(pod)
        if meta["uid"] in self._sure and _is_bound(pod) and not ran:
            self.budget.spend(app, now)

    def _off(self) -> float:
        return max((abs(p.off.total_seconds()) for p in self._world.processes()), default=0.0)

    # What we write.

    def write(self, process: Process, verb: str, path: str, body: Any, late_s: float) -> None:  # noqa: ANN401  JSON
        """Look at a write of ours as it arrives, `late_s` after it was sent."""
        server, store = self._world.cluster.server, self._world.store
        namespace, name = writes.target(path)
        pod, lease = server.call(
            lambda: (
                store.table(PODS).get((namespace, name)) if "/pods/" in path else None,
                store.table(LEASES).get(("evencore-system", "evencore-controller")),
            )
        )
        left = self._left[writes.owner(pod.object)] if pod else {}
        holder = lease.object if lease and late_s <= writes.ON_ITS_WAY_S else None
        seen = writes.Seen(
            pod.object if pod else None, holder, left, process.name not in self._behind
        )
        if pod and verb == "DELETE":
            self._asked.add(pod.object["metadata"]["uid"])
        keep = self._world.policy.rejections.keep
        for promise, wrong in writes.look(process.name, verb, path, body, seen, keep):
            told = f"{process.name}: {verb} {path}: {wrong}" if wrong else None
            self._world.promises.holds(promise, told)


def _ends(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _is_bound(pod: Object) -> bool:
    """Tell whether its owner is one whose pods may be held."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(one.get("controller") and one["kind"] != "DaemonSet" for one in owners)
