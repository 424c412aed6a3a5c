"""Answers the resizes of one node's pods: condition, Events, and what containers have.

For: the I/O around `resize`. A resize that is granted is done at once: no time passes in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.clock import timestamp
from simulator.kubelet import resize
from simulator.recording import Told
from simulator.requests import of_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from simulator.kubelet.lives import Life
    from simulator.kubelet.resize import Refused
    from simulator.kubelet.voice import Site, Voice
    from simulator.objects import Object
    from simulator.requests import Amounts


def needs_answer(pod: Object, life: Life) -> bool:
    """Tell whether a pod asks for something else than it has, or did."""
    return life.waits is not None or resize.resources_of(pod) != life.allocated


class Resizing:
    """Decides about pods that need an answer."""

    def __init__(self, site: Site, voice: Voice, *, static: bool) -> None:
        self._clock, self._send = site.store.clock, site.send
        self._voice, self._static = voice, static

    def look(self, pod: Object, life: Life, node: Object, others: Sequence[Amounts]) -> None:
        """Answer a resize, once: the same refusal is not told again."""
        wanted = resize.resources_of(pod)
        if wanted == life.allocated:
            life.waits = None  # taken back
            self._soon(lambda: self._write(life, None))
            return
        why = resize.refusal(pod, life.allocated, node, others, static=self._static)
        generation = pod["metadata"].get("generation", 0)
        if why is None:
            life.allocated, life.requests, life.waits = wanted, of_pod(pod["spec"]), None
            self._soon(lambda: self._grant(pod, life))
        elif life.waits != (generation, why):
            life.waits = (generation, why)
            self._soon(lambda: self._refuse(pod, life, why))

    def _soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Write after the change that this answers has been told to everybody."""
        self._clock.after(0, lambda: self._send(work()))

    async def _grant(self, pod: Object, life: Life) -> None:
        started = resize.message("started", pod)
        await self._voice.tell(pod, Told("Normal", "ResizeStarted", started))
        await self._write(life, None)
        completed = resize.message("completed", pod)
        await self._voice.tell(pod, Told("Normal", "ResizeCompleted", completed))

    async def _refuse(self, pod: Object, life: Life, why: Refused) -> None:
        text = resize.message(why.reason, pod, why.message)
        await self._voice.tell(pod, Told("Warning", f"Resize{why.reason}", text))
        await self._write(life, why)

    async def _write(self, life: Life, why: Refused | None) -> None:
        now = timestamp(self._clock.now())

        def status(current: Object) -> Object:
            return resize.granted(current) if why is None else resize.refused(current, why, now)

        await self._voice.status(life.key, life.uid, status)
