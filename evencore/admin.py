"""The commands of cluster admins, put together: the other half of the composition root.

For: handing them the ways to a cluster. Not for: deciding or printing anything.
"""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from certs.aims import Aims
from certs.keeper import Clocks, Keeper
from controller.views import LivePod
from evencore.certs_command import make_certs_command
from evencore.doctor.trying import SHAKES, trial_of
from evencore.doctor.world import Handshake, Shake
from evencore.doctor_command import Denied, make_doctor_command
from evencore.files import InputError
from evencore.handshaking import shake_hands
from evencore.kube import examining, removal
from evencore.kube.bundles import BundleStore
from evencore.kube.client import connect
from evencore.kube.errors import KubeError
from evencore.kube.gathering import Following, gather
from evencore.kube.node_reading import read_nodes
from evencore.kube.outcome import Done, Gone
from evencore.kube.secrets import SecretStore
from evencore.kube.writer import Ref, Writer
from evencore.nodes_command import make_nodes_command
from evencore.rejections.objects import Objects
from evencore.rejections_command import Cluster, make_rejections_command
from evencore.simulate_command import make_simulate_command
from evencore.uninstall_command import make_uninstall_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import click

    from certs.ports import Tell
    from evencore.doctor.trying import Address
    from evencore.doctor.world import Trial
    from evencore.kube.client import Client
    from evencore.rejections.listing import RejectedPod

T = TypeVar("T")

_READY_S: Final = 60.0


def _read(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    take: Callable[[object], None],
) -> tuple[str, ...]:
    try:
        with closing(connect(kubeconfig, context)) as client:
            return gather(client, take, namespace).notes
    except KubeError as error:
        raise InputError([str(error)]) from error


class _Live:
    """A cluster that is followed; see `rejections_command.Live`."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self.wait = following.wait

    def objects(self) -> Objects:
        """Return what there is now."""
        kinds = ("Node", "Namespace", "Pod", "Live", "Event")
        return Objects(*(self._following.objects(kind) for kind in kinds))


@contextmanager
def _follow(kubeconfig: str | None, context: str | None, namespace: str | None) -> Iterator[_Live]:
    try:
        with closing(connect(kubeconfig, context)) as client:
            # Read once before: a watch would try for ever what is forbidden or not there.
            readable = gather(client, lambda _: None, namespace).names
            with Following(client, LivePod, namespace, readable) as following:
                if not following.ready(_READY_S):
                    raise InputError([f"the cluster was not read within {_READY_S:.0f} s"])
                yield _Live(following)
    except KubeError as error:
        raise InputError([str(error)]) from error


def _delete(
    kubeconfig: str | None, context: str | None, pods: Iterable[RejectedPod]
) -> Iterator[str | None]:
    """Delete pods by uid: one of the same name that came since is another one."""
    with closing(connect(kubeconfig, context)) as client:
        writer = Writer(client, threading.Event())
        for pod in pods:
            outcome = writer.delete_pod(Ref(pod.namespace, pod.name, pod.uid))
            yield None if isinstance(outcome, Done | Gone) else outcome.why


def _read_nodes(
    kubeconfig: str | None, context: str | None, take: Callable[[object], None]
) -> tuple[str, ...]:
    try:
        with closing(connect(kubeconfig, context)) as client:
            return read_nodes(client, take)
    except KubeError as error:
        raise InputError([str(error)]) from error


class _Examined:
    """A cluster that the doctor looks at; see `doctor_command.Cluster`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def read(self, take: Callable[[object], None]) -> dict[str, str]:
        """Read all that can be listed."""
        return examining.read_all(self._client, take)

    def lease(self, namespace: str, name: str) -> object:
        """Read a Lease."""
        return _permitted(examining.read_lease(self._client, namespace, name))

    def owner(self, kind: str, namespace: str, name: str) -> object:
        """Read what makes pods."""
        return _permitted(examining.read_owner(self._client, kind, namespace, name))

    def endpoints(self, namespace: str, service: str) -> list[Any] | None:
        """Read EndpointSlices."""
        return _permitted(examining.read_endpoints(self._client, namespace, service))

    def try_pod(self, namespace: str) -> Trial:
        """Create a pod, but for keeping it."""
        answer = examining.try_pod(self._client, namespace)
        return trial_of(namespace, answer.pod, answer.text, failed=answer.failed)

    def shake_hands(self, address: Address) -> Handshake:
        """Do a TLS handshake."""
        shown = shake_hands(address.host, address.port, address.host, address.bundle)
        shake = Shake.UNREACHABLE if shown.unreachable else SHAKES[shown.problem]
        return Handshake(shake, address.text, shown.text, shown.not_before, shown.not_after)


def _permitted(found: T | examining.Refused) -> T:
    if isinstance(found, examining.Refused):
        raise Denied(found.why)
    return found


@contextmanager
def _examine(kubeconfig: str | None, context: str | None) -> Iterator[_Examined]:
    try:
        with closing(connect(kubeconfig, context)) as client:
            yield _Examined(client)
    except KubeError as error:
        raise InputError([str(error)]) from error


def _undo(
    kubeconfig: str | None, context: str | None, *, do: bool
) -> Iterator[tuple[str, str | None]]:
    """Take away what evencore has left, or only say so; all is read before anything is written."""
    try:
        with closing(connect(kubeconfig, context)) as client:
            for step in removal.steps(client):
                outcome = removal.carry_out(client, step) if do else Done()
                yield step.says, None if isinstance(outcome, Done | Gone) else outcome.why
            if holder := removal.at_work(client, datetime.now(UTC)):
                why = (
                    f"{holder} is at work and labels nodes again; stop it, then run this once more"
                )
                yield "stop the controller", why
    except KubeError as error:
        raise InputError([str(error)]) from error


@contextmanager
def _certificates(
    kubeconfig: str | None, context: str | None, namespace: str, secret: str, configuration: str
) -> Iterator[Callable[[Aims | None, Tell | None], Keeper]]:
    """Give what makes a keeper; without aims and voice, one that only looks."""
    try:
        with closing(connect(kubeconfig, context)) as client:
            ports = SecretStore(client, namespace, secret), BundleStore(client, configuration)
            clocks = Clocks(lambda: datetime.now(UTC), time.monotonic)

            def make(aims: Aims | None, tell: Tell | None) -> Keeper:
                some = aims or Aims(names=frozenset({configuration}))
                return Keeper(*ports, some, tell or (lambda *_, **__: None), clocks)

            yield make
    except KubeError as error:
        raise InputError([str(error)]) from error


COMMANDS: Final[Mapping[str, click.Command]] = {
    "certs": make_certs_command(_certificates),
    "doctor": make_doctor_command(_examine),
    "nodes": make_nodes_command(_read_nodes),
    "rejections": make_rejections_command(Cluster(_read, _follow, _delete)),
    "uninstall": make_uninstall_command(_undo),
    "simulate": make_simulate_command(),
}
