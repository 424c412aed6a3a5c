"""A rolling restart as the Deployment has it, while 500 admissions a second come in, if they can.

The real webhook, twice, behind a Service whose endpoints are late. Times are those of the manifest,
ten times shorter.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import signal
import ssl
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import servers
import uvloop
from apiserver import apply
from builders import container, pod, review
from clients import Client, GoTransport, LostCallError
from deployment.manifests import container as of_manifest
from deployment.service import Service

if TYPE_CHECKING:
    import pytest
    from clients import Reply
    from servers import Running

NODES: Final = Path(__file__).parents[1] / "demo-nodes.yaml"
REVIEW: Final = review(pod("web").containers(container(cpu="3"))).obj
BODY: Final = json.dumps(REVIEW).encode()
RATE: Final = 500  # a second; a machine that is busy with something else gives fewer
FRESH_EACH: Final = 5  # of so many calls one comes over a connection of its own
SHORTER: Final = 10.0
_FLAGS: Final = dict(
    arg.removeprefix("--").split("=") for arg in of_manifest("webhook")["args"][1:]
)
DRAIN_S: Final = float(_FLAGS["drain-seconds"]) / SHORTER
PRE_STOP_S: Final = of_manifest("webhook")["lifecycle"]["preStop"]["sleep"]["seconds"] / SHORTER
CLOSING_S: Final = 2.0
"""Not ten times shorter: a busy machine needs a while to answer what is under way."""

LATE_S: Final = PRE_STOP_S + DRAIN_S / 2
"""So late after a deletion new connections still come: well into the drain."""


@functools.cache  # the same answer comes thousands of times
def _mutates(patch: str) -> bool:
    """Tell whether a patch makes of the 3 CPUs 4."""
    after = apply(REVIEW["request"]["object"], json.loads(b64decode(patch)))
    resources = after["spec"]["containers"][0]["resources"]
    return bool(resources["limits"]["cpu"] == resources["requests"]["cpu"] == "4")


@dataclass
class Tally:
    """What became of the calls."""

    kept: int = 0
    fresh: int = 0
    failed: list[str] = field(default_factory=list)
    unmutated: int = 0
    seconds: float = 0.0

    def take(self, reply: Reply) -> None:
        """Look at one answer as an API server does."""
        response = json.loads(reply.body)["response"] if reply.status == 200 else {}
        if not response.get("allowed"):
            self.failed.append(f"{reply.status}: {reply.body[:200]!r}")
            return
        self.unmutated += not _mutates(response.get("patch") or "W10=")


class Callers:
    """Calls at a rate, whatever the answers do; `stop` ends it."""

    def __init__(self, service: Service, context: ssl.SSLContext) -> None:
        self._service, self._context = service, context
        self._pool = GoTransport(service.port, context)
        self.tally = Tally()
        self.stop = asyncio.Event()

    async def run(self) -> None:
        """Call until stopped, then wait for the last answers."""
        clock = asyncio.get_running_loop()
        began = due = clock.time()
        number = 0
        async with asyncio.TaskGroup() as group:
            while not self.stop.is_set():
                number += 1
                group.create_task(self._call(fresh=number % FRESH_EACH == 0))
                due = max(due + 1 / RATE, clock.time() - 0.1)  # who is late does not burst
                await asyncio.sleep(max(0.0, due - clock.time()))
        self.tally.seconds = clock.time() - began
        await self._pool.close()

    async def _call(self, *, fresh: bool) -> None:
        try:
            if fresh:
                async with await Client.dial(self._service.port, self._context) as client:
                    reply = await client.post(BODY)
                self.tally.fresh += 1
            else:
                reply = await self._pool.post(BODY)
                self.tally.kept += 1
        except (OSError, LostCallError) as error:
            self.tally.failed.append(repr(error))
        else:
            self.tally.take(reply)


class Rollout:
    """Replicas that follow each other: maxSurge 1, maxUnavailable 0."""

    def __init__(self, directory: Path, service: Service, context: ssl.SSLContext) -> None:
        self._directory, self._service, self._context = directory, service, context
        self._stack = contextlib.ExitStack()
        self._count = 0

    async def start(self) -> Running:
        """Start a pod, and lead to it as soon as it is ready."""
        self._count += 1
        directory = self._directory / str(self._count)
        directory.mkdir()
        flags = ("--snapshot", str(NODES), "--drain-seconds", str(DRAIN_S))
        flags += ("--closing-seconds", str(CLOSING_S))
        running = await asyncio.to_thread(
            self._stack.enter_context, servers.webhook(directory, *flags)
        )
        self._context.load_verify_locations(cadata=running.authority.pem)
        self._service.add(running.port)
        return running

    async def end(self, old: Running) -> None:
        """End a pod as its kubelet does; its endpoint is taken back late."""
        clock = asyncio.get_running_loop()
        clock.call_later(LATE_S, self._service.remove, old.port)
        # The kubelet's preStop, which is a time.
        await asyncio.sleep(PRE_STOP_S)
        old.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(old.wait) == 0

    async def close(self) -> None:
        """End all that still runs."""
        await asyncio.to_thread(self._stack.close)


async def _roll(directory: Path) -> Tally:
    context = ssl.create_default_context()
    context.check_hostname = False  # a Service is dialled by its address here
    async with Service() as service:
        rollout = Rollout(directory, service, context)
        try:
            old = [await rollout.start(), await rollout.start()]
            callers = Callers(service, context)
            calling = asyncio.create_task(callers.run())
            for one in old:
                await rollout.start()
                await rollout.end(one)
            callers.stop.set()
            await calling
        finally:
            await rollout.close()
    return callers.tally


def test_a_rolling_restart_under_load_fails_no_admission_and_leaves_no_pod_unmutated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        tally = runner.run(_roll(tmp_path))
    calls = tally.kept + tally.fresh
    with capsys.disabled():
        print(  # noqa: T201  figures are for people
            f"\nrolling restart: {calls} admissions, {calls / tally.seconds:.0f} a second, "
            f"{tally.fresh} of them over new connections: {len(tally.failed)} failed, "
            f"{tally.unmutated} unmutated"
        )
    assert tally.failed == []
    assert tally.unmutated == 0
    assert min(tally.kept, tally.fresh) > 100
