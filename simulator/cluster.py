"""The whole pocket cluster, put together: API server, scheduler, controllers, nodes.

For: starting one as a context manager, reaching its parts, moving its virtual time.
Not for: what the parts do. A part more is a line in `PARTS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from simulator import controllers
from simulator.controllers.background import Background
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.voice import Site
from simulator.nodelife.controller import NodeLife
from simulator.scheduler.scheduler import Scheduler
from simulator.server import ApiServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evencore.nodefiles.files import NodesFile
    from simulator.api.writes import Writes
    from simulator.kubelet.kubelet import Kubelet
    from simulator.server import Options
    from simulator.store.store import Store

    Part = Callable[[Store, Writes, Background], object]


def _schedule(store: Store, writes: Writes, background: Background) -> None:
    Scheduler(store, writes, background.start)


def _look_after_nodes(store: Store, writes: Writes, background: Background) -> None:
    NodeLife(store, writes, background.start)


PARTS: Final[Sequence[Part]] = (_schedule, _look_after_nodes, controllers.start)
"""What lives in a cluster besides its nodes; each hangs itself on the store."""


class Cluster:
    """A cluster with the nodes of some node file."""

    def __init__(self, nodes: NodesFile, options: Options | None = None) -> None:
        self.server = ApiServer(options)
        self._nodes = nodes
        self._background = Background(self.server.store.clock)
        self._fleet: Fleet | None = None

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.server.call(self._furnish)
        return self

    def __exit__(self, *_: object) -> None:
        self.server.__exit__()

    def kubelet(self, name: str) -> Kubelet:
        """Give the kubelet of a node; work with it in the server's thread only (`server.call`)."""
        if self._fleet is None:
            raise RuntimeError("the cluster is not running: enter it as a context first")
        return self._fleet[name]

    def settle(self) -> None:
        """Wait until everybody has done what there is to do at this moment.

        With a virtual clock nothing happens after it until time is moved.
        """
        virtual = self.server.store.clock.speed is None
        work = self._background.advance(0) if virtual else self._background.idle()
        self.server.wait_for(work)

    def advance(self, seconds: float) -> None:
        """Let virtual time pass; what is due happens on the way, each thing at its moment."""
        self.server.wait_for(self._background.advance(seconds))

    def _furnish(self) -> None:
        store, writes = self.server.store, self.server.writes
        for part in PARTS:
            part(store, writes, self._background)
        self._fleet = Fleet(Site(store, writes, self._background.start))
        self._fleet.run(self._nodes.nodes)
