"""One kubelet: lets pods in or rejects them, and looks after them until they are gone.

For: what happens when, on one node. Not for: verdicts (`model`, `predicates`), the lives of those
who are let in (`containers`), the shape of what is written (`status`, `nodes`) and the writing
(`voice`).

Kubernetes: kubelet.go (HandlePodAdditions, rejectPod, SyncTerminatingPod), pod_workers.go.
How long things take is in the node file.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet.refusals import StartError
from simulator.clock import timestamp
from simulator.kubelet import nodes, status
from simulator.kubelet.containers import Containers, current
from simulator.kubelet.exact import model_of
from simulator.kubelet.lives import Life, has_ended
from simulator.kubelet.model import Rejected
from simulator.kubelet.predicates import objection
from simulator.kubelet.resize import resources_of
from simulator.kubelet.resizing import Resizing, needs_answer
from simulator.kubelet.status import Addresses
from simulator.kubelet.voice import Voice
from simulator.objects import key_of
from simulator.recording import Told
from simulator.requests import of_pod
from simulator.resources import NODES, PODS

if TYPE_CHECKING:
    from evencore.nodefiles.files import NodeFile
    from simulator.clock import Timer
    from simulator.kubelet.voice import Site
    from simulator.objects import Object
    from simulator.requests import Amounts

_NET: Final = 256


class Kubelet:
    """The kubelet of one node; `number` tells nodes apart in addresses."""

    def __init__(self, site: Site, name: str, number: int, file: NodeFile) -> None:
        self.name, self.file = name, file
        self._store, self._clock, self._send = site.store, site.store.clock, site.send
        self._voice = Voice(site, name)
        self._machine = file.machine.build()
        self._model = model_of(file)
        self._containers = Containers(site, self._voice, file.delays)
        self._resizing = Resizing(site, self._voice, static=file.kubelet.static)
        self._number, self._given = number, 0
        self._address = f"10.0.{number // _NET}.{number % _NET}"
        self._lives: dict[str, Life] = {}
        self._up = False
        self._beat: Timer | None = None
        self._topology: Timer | None = None

    def start(self) -> None:
        """Register and go to work; pods that were here before are asked again (restart)."""
        self._up = True
        now = self._clock.now()
        node = nodes.node(self.name, self.file, self._machine, self._address, now)
        self._send(self._voice.register(node))
        self._beat = self._clock.after(nodes.LEASE_S / 4, self._renew)
        self._publish_soon()
        self.restart()

    def stop(self) -> None:
        """Fall silent, as a node does that is lost; what runs goes on running unseen."""
        self._up = False
        for timer in (self._beat, self._topology):
            if timer is not None:
                timer.cancel()
        self._beat = self._topology = None
        for life in self._lives.values():
            life.stop()
        self._lives = {uid: life for uid, life in self._lives.items() if life.admitted}

    def restart(self) -> None:
        """Do what a new kubelet process does: all running pods go through admission again."""
        self._send(self._voice.born())
        here = {
            record.object["metadata"]["uid"]: record.object
            for record in self._store.table(PODS).records()
            if record.object["spec"].get("nodeName") == self.name
        }
        for uid in self._lives.keys() - here.keys():
            self._release(uid)
        running = [
            pod
            for uid, pod in here.items()
            if (life := self._lives.get(uid)) and life.admitted and not has_ended(pod)
        ]
        running.sort(key=lambda pod: pod["metadata"]["creationTimestamp"])
        try:
            answers = self._model.restart(running)
        except StartError:
            self.stop()  # a kubelet that exits: nobody renews the lease
            return
        accepted: list[Amounts] = []
        now = timestamp(self._clock.now())
        for pod, answer in zip(running, answers, strict=True):
            verdict = answer if isinstance(answer, Rejected) else None
            verdict = verdict or objection(pod, self._node(), accepted)
            if verdict is not None:
                self._reject(pod, verdict)
            else:
                life = self._lives[pod["metadata"]["uid"]]
                accepted.append(life.requests)
                self._containers.go_on(pod, life)
                if status.was_doubted(pod):
                    self._send(self._write(pod, partial(status.still_ready, now=now)))
        for pod in here.values():
            if status.is_unexplained(pod):
                self._send(self._write(pod, status.explained))
            self.see(pod, gone=False)

    def see(self, pod: Object, *, gone: bool) -> None:
        """Take notice of a pod that is bound to this node. Only sets timers."""
        uid = pod["metadata"]["uid"]
        if not self._up:
            return
        if gone or has_ended(pod):
            self._release(uid)
            if not gone and pod["metadata"].get("deletionGracePeriodSeconds"):
                # It was rejected, or ended, just when it was deleted: nothing is left to stop.
                self._send(self._voice.delete(key_of(pod), uid))
            return
        life = self._lives.get(uid)
        if life is None:
            life = self._lives[uid] = Life(key_of(pod), uid, self._addresses(), of_pod(pod["spec"]))
            life.next = self._clock.after(self.file.delays.admit, lambda: self._admit(uid))
        if life.admitted and needs_answer(pod, life):
            self._resizing.look(pod, life, self._node(), self._others(life))
        if "deletionTimestamp" in pod["metadata"] and life.end is None:
            grace = pod["metadata"].get("deletionGracePeriodSeconds", 0)
            seconds = min(grace, self.file.delays.stop)
            life.end = self._clock.after(seconds, lambda: self._stop(life))

    def _admit(self, uid: str) -> None:
        life = self._lives.get(uid)
        pod = current(self._store, life) if life else None
        if pod is None or life is None or "deletionTimestamp" in pod["metadata"]:
            return
        verdict = self._verdict(pod)
        if verdict is not None:
            self._reject(pod, verdict)
            return
        life.admitted, life.allocated = True, resources_of(pod)
        self._publish_soon()
        now, addresses = timestamp(self._clock.now()), life.addresses
        self._send(self._write(pod, lambda it: status.starting(it, addresses, now)))
        self._containers.go_on(pod, life)

    def _verdict(self, pod: Object) -> Rejected | None:
        uid = pod["metadata"]["uid"]
        answer = self._model.admit(pod)
        if isinstance(answer, Rejected):
            return answer
        verdict = objection(pod, self._node(), self._others(None))
        if verdict is not None:
            self._model.remove(uid)
        return verdict

    def _reject(self, pod: Object, verdict: Rejected) -> None:
        life, now = self._lives[pod["metadata"]["uid"]], timestamp(self._clock.now())
        life.stop()
        life.admitted = False  # the life stays until the status is there: nobody is asked twice
        self._model.remove(life.uid)
        self._publish_soon()

        async def tell() -> None:
            told = Told("Warning", verdict.reason, verdict.message)
            await self._voice.tell(pod, told)
            await self._write(pod, lambda it: status.rejected(it, verdict, now))

        self._send(tell())

    def _stop(self, life: Life) -> None:
        pod = current(self._store, life)
        if pod is not None:
            self._containers.stop(pod, life)

    async def _write(self, pod: Object, make: status.Make) -> None:
        await self._voice.status(key_of(pod), pod["metadata"]["uid"], make)

    def _release(self, uid: str) -> None:
        life = self._lives.pop(uid, None)
        if life is None:
            return
        life.stop()
        self._model.remove(uid)
        self._publish_soon()
        # There is room now: whoever waits to grow is looked at again.
        for one in [one for one in self._lives.values() if one.waits is not None]:
            if (pod := current(self._store, one)) is not None:
                self.see(pod, gone=False)

    def _others(self, life: Life | None) -> list[Amounts]:
        return [one.requests for one in self._lives.values() if one.admitted and one is not life]

    def _renew(self) -> None:
        self._send(self._voice.renew())
        self._beat = self._clock.after(nodes.LEASE_S / 4, self._renew)

    def _publish_soon(self) -> None:
        if self._topology is None and self._up:
            self._topology = self._clock.after(self.file.delays.topology, self._publish)

    def _publish(self) -> None:
        self._topology = None
        shown = nodes.topology(self.name, self.file, self._machine, self._model)
        self._send(self._voice.topology(shown))

    def _node(self) -> Object:
        record = self._store.table(NODES).get(("", self.name))
        if record is not None:
            return record.object
        now = self._clock.now()
        return nodes.node(self.name, self.file, self._machine, self._address, now)

    def _addresses(self) -> Addresses:
        self._given += 1
        net = f"10.{128 + self._number // _NET % 128}.{self._number % _NET}"
        return Addresses(self._address, f"{net}.{self._given % (_NET - 2) + 1}")
