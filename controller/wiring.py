"""A controller put together from its parts."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from controller.certificates import CERTIFICATES, make_keeper
from controller.cleaner import Cleaner
from controller.expectations import Expectations
from controller.handlers import BARE, FITS, HOPE, NODE, OWNER, PLACED, ROOM, Handlers
from controller.labeller import Known, Labeller
from controller.limbo import Limbo
from controller.owners import Hands, OwnerReconciler
from controller.placed import BareReconciler, PlacedReconciler
from controller.queue import Key, Queue
from controller.releaser import Releaser
from controller.replacer import Replacer
from controller.reporter import REPORT, Reporter
from controller.rooms import RoomReconciler
from controller.runner import Controller, Lane, Parts
from controller.state import State
from controller.teller import Teller
from controller.unasked import ASKED, Unasked
from controller.views import FullNode, WatchedPod, alike, live
from controller.workload import Workloads
from evencore.domain import names
from evencore.domain.exclusive import NONE, in_use
from evencore.domain.learnt import NOTHING
from evencore.domain.scope import takes_part
from evencore.domain.views import TopologyView
from evencore.kube.bucket import Bucket
from evencore.kube.lease import Elector, LeaseName
from evencore.kube.reflector import Rules
from evencore.kube.resource import Resource
from evencore.kube.snapshots import LiveSnapshot
from evencore.kube.source import Kind
from evencore.kube.surroundings import Surroundings
from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.domain.policy import Policy
    from evencore.domain.views import NodeView
    from evencore.kube.client import Client
    from evencore.settings import ControllerSettings

LIVE_PODS: Final = Resource(
    "/api/v1/pods", field_selector="status.phase!=Succeeded,status.phase!=Failed"
)
NODES: Final = Resource("/api/v1/nodes")
TOPOLOGIES: Final = Resource(
    "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies", optional=True
)
_MANY: Final = Rules(page_size=500)  # client-go's; nobody here waits while a page is decoded
KINDS: Final = {
    "pods": Kind(LIVE_PODS, WatchedPod, _MANY, keep=live),
    "nodes": Kind(NODES, FullNode, _MANY, keep=alike),
    "topologies": Kind(TOPOLOGIES, TopologyView),
}


def controller(client: Client, settings: ControllerSettings, policy: Policy) -> Controller:
    """Put a controller together; nothing is started."""
    stop, lost = threading.Event(), threading.Event()

    def on_lost(_: str) -> None:
        lost.set()
        stop.set()

    return Controller(parts(client, settings, policy, stop, on_lost), stop, lost)


def parts(  # noqa: PLR0913, PLR0917  what a process begins with
    client: Client,
    settings: ControllerSettings,
    policy: Policy,
    stop: threading.Event,
    on_lost: Callable[[str], None],
    around: Surroundings | None = None,
) -> Parts:
    """Put together what a controller is made of; `on_lost` is told why it leads no more."""
    around = around or Surroundings()
    now, clock = around.now, around.clock
    state, expectations = State(Limbo(clock.now)), Expectations(clock.now)
    queue, news = Queue(clock.now), Queue(clock.now)
    handlers = Handlers(state, queue, expectations, now)

    def listener(name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        handlers(name, key, before, after)
        unasked.seen(name, key, before, after)

    view = LiveSnapshot(client, policy, KINDS, listener, around)
    lease = LeaseName(settings.namespace, settings.lease)
    elector = Elector(
        client,
        lease,
        settings.identity,
        on_lost,
        clock=clock,
        wall=now,
        random=around.random,
    )
    bucket = Bucket(settings.writes_per_second, settings.write_burst)
    writer = Writer(
        client, stop, allowed=elector.leads, bucket=bucket, clock=clock, random=around.random
    )
    reporter = Reporter(writer, news, now)
    workloads = Workloads(writer, clock.now)
    hands = Hands(
        Releaser(writer, policy, view, expectations, now, clock=clock.now),
        Replacer(writer, workloads, expectations),
        Cleaner(writer, policy, expectations),
        Teller(reporter, workloads),
    )
    owners = OwnerReconciler(state, view, policy, hands, expectations, now)
    rooms = RoomReconciler(partial(view.object, "nodes"), state, view, writer, queue, now)
    placed = PlacedReconciler(writer, partial(view.object, "pods"), policy, view, reporter, now)
    bare = BareReconciler(partial(view.object, "failed pods"), policy, view, reporter)
    unasked = Unasked(news, elector.leads, policy, view, writer, reporter, now)
    labeller = Labeller(writer, partial(_look, view, state, policy))
    reconcilers: dict[str, Callable[[str], float | None]] = {
        OWNER: owners.reconcile,
        ROOM: rooms.reconcile,
        HOPE: rooms.hope,
        PLACED: placed.aligned,
        FITS: placed.fits,
        BARE: bare.reconcile,
        NODE: labeller.reconcile,
        REPORT: reporter.write,
        ASKED: unasked.reconcile,
    }
    certificates = Queue(clock.now)  # of its own, so that they never wait behind pods
    if settings.certs == "self":
        keeper = make_keeper(client, settings, elector.leads, reporter, now)
        reconcilers[CERTIFICATES] = keeper.step
        certificates.add(Key(CERTIFICATES, ""))
    return Parts(
        view,
        (Lane(queue, settings.workers), Lane(news, 1), Lane(certificates, 1)),
        elector,
        lambda: handlers.lead(view.objects, view().evidence.rejecting()),
        reconcilers,
    )


def _look(view: LiveSnapshot, state: State, policy: Policy, name: str) -> Known | None:
    """Put together what is known of a node."""
    node: NodeView | None = view.object("nodes", name)
    if node is None:
        return None
    pods = in_use(state.exclusive.of(name).values()).get(name, NONE)
    learnt = state.learnt.get(name, NOTHING)
    if learnt.width:
        namespaces = view().namespaces.items()
        taking_part = [key for key, found in namespaces if takes_part(key, found, policy)]
        arch = ((node.metadata.labels if node.metadata else None) or {}).get(names.ARCH)
        learnt = learnt.believed(policy.default_threads_per_core, taking_part, arch)
    return Known(node, view.object("topologies", name), learnt, pods)
