"""A controller put together from its parts."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from controller.expectations import Expectations
from controller.handlers import BARE, OWNER, PLACED, ROOM, Handlers
from controller.owners import OwnerReconciler
from controller.placed import BareReconciler, PlacedReconciler
from controller.queue import Queue
from controller.releaser import Releaser
from controller.reporter import REPORT, Reporter
from controller.rooms import RoomReconciler
from controller.runner import Controller, Parts
from controller.state import State
from controller.views import FullNode, LivePod
from evencore.kube.bucket import Bucket
from evencore.kube.lease import Elector, LeaseName
from evencore.kube.resource import Resource
from evencore.kube.snapshots import LiveSnapshot
from evencore.kube.source import Kind
from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from evencore.domain.policy import Policy
    from evencore.kube.client import Client
    from evencore.settings import ControllerSettings

LIVE_PODS: Final = Resource(
    "/api/v1/pods", field_selector="status.phase!=Succeeded,status.phase!=Failed"
)
NODES: Final = Resource("/api/v1/nodes")


def _now() -> datetime:
    return datetime.now(UTC)


def _set(*events: threading.Event) -> None:
    for event in events:
        event.set()


def controller(client: Client, settings: ControllerSettings, policy: Policy) -> Controller:
    """Put a controller together; nothing is started."""
    stop = threading.Event()
    state, queue, expectations = State(), Queue(), Expectations()
    view = LiveSnapshot(
        client,
        policy,
        {"pods": Kind(LIVE_PODS, LivePod), "nodes": Kind(NODES, FullNode)},
        Handlers(state, queue, expectations),
    )
    lease = LeaseName(settings.namespace, settings.lease)
    lost = threading.Event()
    elector = Elector(client, lease, settings.identity, lambda _: _set(lost, stop))
    bucket = Bucket(settings.writes_per_second, settings.write_burst)
    writer = Writer(client, stop, allowed=elector.leads, bucket=bucket)
    reporter = Reporter(writer, queue, _now)
    releaser = Releaser(client, writer, policy, view, _now)
    owners = OwnerReconciler(
        client, state, view, policy, releaser, writer, reporter, expectations, _now
    )
    rooms = RoomReconciler(lambda name: view.objects("nodes").get(name), view, writer, queue, _now)
    placed = PlacedReconciler(
        client, lambda key: view.objects("pods").get(key), policy, view, reporter, _now
    )
    bare = BareReconciler(lambda key: view.objects("failed pods").get(key), reporter)
    parts = Parts(
        view,
        queue,
        elector,
        {
            OWNER: owners.reconcile,
            ROOM: rooms.reconcile,
            PLACED: placed.reconcile,
            BARE: bare.reconcile,
            REPORT: reporter.write,
        },
    )
    return Controller(parts, settings.workers, stop, lost)
