"""The fault switchboard: stands between connections and API server, and does what faults say.

For: switching faults on and off, answering or spoiling the requests they hit, tearing watches.
Not for: which request is hit; that is `faults`. Not for nodes and pods either: they fail where
they live.

It belongs to the server's thread; from outside: `server.call(lambda: server.faults.on(fault))`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.api.app import refused
from simulator.api.http import Stream
from simulator.auth.asked import of_request
from simulator.errors import ApiError, conflict, expired
from simulator.faults import Asker, Fault, Switch, refusal
from simulator.objects import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.app import App
    from simulator.api.http import Channel, Request, Response
    from simulator.chance import Chance
    from simulator.clock import Clock


class Dropped(ConnectionError):  # noqa: N818  what happened
    """The connection is to end without an answer."""


class Switchboard:
    """Answers requests as `app` does, unless a fault that is on hits them."""

    def __init__(self, app: App, clock: Clock, chance: Chance) -> None:
        self._app, self._clock = app, clock
        self._chance = chance.stream("faults")
        self._switches: list[Switch] = []
        self._open: dict[Channel, Asker] = {}

    def on(self, fault: Fault) -> Switch:
        """Switch a fault on; those that end watches hit the ones that are open at once."""
        switch = Switch(fault, self._chance)
        self._switches.append(switch)
        if fault.for_seconds is not None:
            self._clock.after(fault.for_seconds, switch.off)
        if fault.action in ("disconnect", "expire"):
            for channel, asker in list(self._open.items()):
                if switch.hit(asker):
                    self._end(channel, fault)
        return switch

    def all_off(self) -> None:
        """Let everything work again."""
        for switch in self._switches:
            switch.off()

    async def __call__(self, request: Request) -> Response | Stream:
        """Answer one request, or raise Dropped."""
        asker = self._asker(request)
        self._switches = [one for one in self._switches if one.is_on]
        lost, torn = False, None
        for switch in tuple(self._switches):
            # One after the other: a fault that ends it all leaves the counts of the rest alone.
            if not switch.hit(asker):
                continue
            fault = switch.fault
            if fault.action == "delay" and fault.after_seconds:
                await self._sleep(fault.after_seconds)
            elif fault.action == "lose":
                lost = True
            elif fault.action == "disconnect":
                torn = fault
            else:
                return self._spoiled(fault, request, asker)
        answer = await self._app(request)
        if lost:
            raise Dropped
        return self._followed(answer, asker, torn) if isinstance(answer, Stream) else answer

    def _asker(self, request: Request) -> Asker:
        asked = of_request(request.method, request.path, request.query)
        agent = request.headers.get("user-agent", "")
        return Asker(agent, self._app.name_of(request), asked.verb, request.path)

    async def _sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        timer = self._clock.after(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    def _spoiled(self, fault: Fault, request: Request, asker: Asker) -> Response | Stream:
        """Answer a request that is not carried out at all."""
        if fault.action == "error":
            return refused(refusal(fault))
        if fault.action == "conflict":
            return refused(self._conflict(request))
        if fault.action == "expire":
            return _expiry(asker)
        raise Dropped

    def _conflict(self, request: Request) -> ApiError:
        target = self._app.target_of(request)
        if target is None:
            return ApiError(409, "Conflict", "the object has been modified")
        return conflict(target.resource, target.name)

    def _followed(self, stream: Stream, asker: Asker, torn: Fault | None) -> Stream:
        """Remember a stream as long as it is open, and tear it off if a fault wants that."""

        def start(channel: Channel) -> Callable[[], None]:
            stop = stream.start(channel)
            self._open[channel] = asker
            timer = None
            if torn is not None:
                timer = self._clock.after(torn.after_seconds or 0.0, channel.tear)

            def stopped() -> None:
                stop()
                del self._open[channel]
                if timer is not None:
                    timer.cancel()

            return stopped

        return replace(stream, start=start)

    def _end(self, channel: Channel, fault: Fault) -> None:
        if fault.action == "expire":
            _say_expired(channel)
        elif fault.after_seconds is None:
            channel.tear()
        else:
            self._clock.after(fault.after_seconds, channel.tear)


def _expiry(asker: Asker) -> Response | Stream:
    if asker.verb != "watch":
        return refused(_too_old("list"))

    def start(channel: Channel) -> Callable[[], None]:
        _say_expired(channel)
        return lambda: None

    return Stream(start)


def _say_expired(channel: Channel) -> None:
    """End a watch as the API server does when it has forgotten what the client missed."""
    channel.write(b'{"type":"ERROR","object":%b}\n' % encode(_too_old("watch").status()))
    channel.end()


def _too_old(what: str) -> ApiError:
    return expired(f"The resourceVersion for the provided {what} is too old.")
