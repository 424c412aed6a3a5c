"""Counts, from a watch of all pods, what became of each one: by uid, so that none counts twice."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evencore.domain import names
from evencore.domain.rejection import classify
from evencore.kube.errors import KubeError

if TYPE_CHECKING:
    from e2e.api import Api, Object

WORKLOAD = "workload"
"""The label by which pods tell what they belong to (`workloads`)."""


@dataclass
class Life:
    """What was seen of one pod."""

    namespace: str
    name: str
    workload: str
    pod: Object = field(default_factory=dict)
    rejected: str = ""  # the kubelet's reason
    held_once: bool = False  # it was held by our gate, if only for a while
    let_go: bool = False  # and let go by the controller
    gone: bool = False
    ran_as: Any = None  # what we could have changed, when it was first seen running
    touched: str = ""  # what was done to it after that

    @property
    def phase(self) -> str:
        """Its phase, empty when it is gone."""
        return "" if self.gone else self.pod["status"].get("phase", "")

    @property
    def steered(self) -> bool:
        """Whether it was held, or let go after that."""
        return self.held_once or self.let_go

    @property
    def held(self) -> bool:
        """Whether our gate is on it."""
        gates = self.pod["spec"].get("schedulingGates") or ()
        return not self.gone and any(gate["name"] == names.HOLD for gate in gates)


class Counter:
    """Watches from its making to `close`."""

    def __init__(self, api: Api) -> None:
        self._lives: dict[str, Life] = {}
        self._forgiven: set[str] = set()
        self._lock = threading.Lock()
        self._ended = ""
        version = api.get("/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        self._reply = api.watch("/api/v1/pods", resourceVersion=version)
        self._thread = threading.Thread(target=self._follow, name="counter", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no further."""
        self._reply.abort()
        self._thread.join()

    def lives(self, namespace: str, workload: str | None = None) -> list[Life]:
        """Return the pods that were seen in a namespace."""
        assert not self._ended, f"the watch of the tests themselves ended: {self._ended}"
        with self._lock:
            return [
                life
                for life in self._lives.values()
                if life.namespace == namespace and workload in (None, life.workload)
            ]

    def rejected(self, namespace: str, workload: str, *, let_go: bool = False) -> list[Life]:
        """Return the rejected pods, of the first tries or of those that were let go again."""
        found = self.lives(namespace, workload)
        return [life for life in found if life.rejected and life.let_go is let_go]

    def running(self, namespace: str, workload: str | None = None) -> list[Life]:
        """Return the pods that run."""
        return [life for life in self.lives(namespace, workload) if life.phase == "Running"]

    def held(self, namespace: str, workload: str | None = None) -> list[Life]:
        """Return the pods that wait for us."""
        return [life for life in self.lives(namespace, workload) if life.held]

    def alive(self, namespace: str) -> list[Life]:
        """Return the pods that are there, in whatever state."""
        return [life for life in self.lives(namespace) if not life.gone]

    def forgive(self, uid: str) -> None:
        """Note that a test itself ends this pod."""
        self._forgiven.add(uid)

    def touched(self, namespace: str) -> list[str]:
        """Tell which pods of a namespace were changed or deleted after they had run."""
        lives = self.lives(namespace)
        return [f"{life.name}: {life.touched}" for life in lives if life.touched]

    def _follow(self) -> None:
        try:
            for line in self._reply.lines():
                event = json.loads(line)
                with self._lock:
                    self._take(event["type"], event["object"])
        except (KubeError, KeyError, ValueError) as error:
            self._ended = f"{type(error).__name__}: {error}"
        self._ended = self._ended or "by the server"

    def _take(self, kind: str, pod: Object) -> None:
        meta, status = pod["metadata"], pod.get("status") or {}
        labels = meta.get("labels") or {}
        life = self._lives.setdefault(
            meta["uid"], Life(meta["namespace"], meta["name"], labels.get(WORKLOAD, ""))
        )
        life.pod, life.gone = pod, kind == "DELETED"
        life.held_once = life.held_once or life.held
        life.let_go = life.let_go or labels.get(names.STEERING) == names.RELEASED
        if status.get("phase") == "Failed" and classify(
            status.get("reason"), status.get("message")
        ):
            life.rejected = status["reason"]
        self._look_at_who_ran(life, meta["uid"])

    def _look_at_who_ran(self, life: Life, uid: str) -> None:
        meta = life.pod["metadata"]
        ours = (life.pod["spec"], meta.get("labels"), meta.get("annotations"))
        ended = life.phase in ("Succeeded", "Failed")
        if life.phase == "Running" and life.ran_as is None:
            life.ran_as = ours
        elif life.ran_as is not None and not ended and uid not in self._forgiven:
            if life.gone or "deletionTimestamp" in meta:
                life.touched = life.touched or "deleted"
            elif ours != life.ran_as:
                life.touched = life.touched or "changed"
