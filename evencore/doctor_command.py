"""`evencore doctor`: reads, tries out, and says what is wrong. Decides nothing itself.

How a cluster is reached is handed in by `evencore.admin`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import click
from msgspec import structs

from evencore.doctor.calling import service_of
from evencore.doctor.machine import to_dict
from evencore.doctor.report import FINDINGS, HEALTHY, UNKNOWN, Report, diagnose
from evencore.doctor.text import render
from evencore.doctor.trying import Address, address_of, trial_namespaces
from evencore.doctor.views import EndpointSlice, Lease
from evencore.doctor.workloads import looping
from evencore.doctor.world import (
    ENDPOINTS,
    LEASE,
    OWNERS,
    Builder,
    Call,
    Handshake,
    Trial,
    World,
)
from evencore.domain.lenient import read
from evencore.domain.objects import map_at, text_at
from evencore.domain.policy import Policy, PolicyError
from evencore.files import InputError, read_document
from evencore.patience import Patience
from evencore.terminal import colour_wanted, fail, policy_option


class Denied(Exception):  # noqa: N818  an answer, not a fault
    """Something may not be read."""


class Cluster(Protocol):
    """How to examine one. Everything but `read` raises Denied for want of permission."""

    def read(self, take: Callable[[object], None]) -> dict[str, str]:
        """Hand over every object; returns resource → why it could not be read."""

    def lease(self, namespace: str, name: str) -> object:
        """Read a Lease; None if there is none."""

    def owner(self, kind: str, namespace: str, name: str) -> object:
        """Read what makes pods; None if there is none."""

    def endpoints(self, namespace: str, service: str) -> list[Any] | None:
        """Read the EndpointSlices of a Service; None where there is no such API."""

    def try_pod(self, namespace: str) -> Trial:
        """Create a pod, but for keeping it."""

    def shake_hands(self, address: Address) -> Handshake:
        """Do a TLS handshake."""


Reach = Callable[[str | None, str | None], AbstractContextManager[Cluster]]
"""Takes --kubeconfig and --context. Raises InputError."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What was written on the command line."""

    kubeconfig: str | None
    context: str | None
    policy: str | None
    namespace: str
    lease: str
    output: str


def make_doctor_command(
    reach: Reach, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> click.Command:
    """Make the command."""

    @click.command(epilog=_EPILOG)
    @click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster.")
    @click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
    @policy_option
    @click.option(
        "-n",
        "--namespace",
        default="evencore-system",
        show_default=True,
        metavar="NAME",
        help="Our own namespace.",
    )
    @click.option(
        "--lease",
        default="evencore-controller",
        show_default=True,
        metavar="NAME",
        help="The Lease of the controllers.",
    )
    @click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="For people, or for machines.",
    )
    def command(**written: Any) -> None:  # noqa: ANN401  click's names are the fields of _Options
        """Tell whether evencore really works here, and what to do where it does not.

        Asks the API server for a pod that must come back changed (a dry run: no object is left
        behind), shakes hands with the webhook, and looks at its configuration, the controller,
        nodes and workloads.
        """
        options = _Options(**written)
        report = _report(options, reach, now)
        if options.output == "json":
            click.echo(json.dumps(to_dict(report), indent=2))
        else:
            click.echo(render(report, colour=colour_wanted()), nl=False)
        sys.exit(report.status)

    command.name = "doctor"
    return command


_EPILOG = f"""\b
Examples:
  evencore doctor
  evencore doctor -o json | jq -r '.findings[] | .id + " " + .remedy'

Exit status: {HEALTHY} healthy; {FINDINGS} something is wrong;
{UNKNOWN} nothing wrong was found, but not everything could be looked at; also wrong usage
and a cluster that does not answer."""


def _report(options: _Options, reach: Reach, now: Callable[[], datetime]) -> Report:
    try:
        policy = _policy(options.policy, options.namespace)
        with (
            Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience,
            reach(options.kubeconfig, options.context) as cluster,
        ):
            patience.doing("reading the cluster")
            builder = Builder()
            missing = cluster.read(builder.take)
            world = builder.world(missing, policy, now(), options.namespace, options.lease)
            patience.doing("looking at the controller and at owners of rejected pods")
            _look(world, cluster)
            patience.doing("trying whether the webhook is called")
            _try(world, cluster)
            return diagnose(world)
    except (InputError, PolicyError) as error:
        fail(str(error).splitlines())


def _policy(file: str | None, own: str) -> Policy:
    policy = Policy()
    if file is not None:
        policy = Policy.from_mapping(read_document(file, "a policy").value, file)
    return structs.replace(policy, ignored_namespaces=policy.ignored_namespaces | {own})


def _look(world: World, cluster: Cluster) -> None:
    """Read what is known to matter only now."""
    try:
        lease = cluster.lease(world.own_namespace, world.lease_name)
        world.lease = read(Lease, lease)[0] if lease is not None else None
    except Denied as error:
        world.missing[LEASE] = str(error)
    try:
        for key, owner in looping(world):
            made_by = cluster.owner(owner.kind, owner.namespace, owner.name)
            spec = map_at(map_at(map_at(made_by, "spec"), "template"), "spec")
            if node := text_at(spec, "nodeName"):
                world.pinned[key] = node
    except Denied as error:
        world.missing[OWNERS] = str(error)
    try:
        for place in filter(None, map(service_of, world.hooks)):
            namespace, _, name = place.partition("/")
            slices = cluster.endpoints(namespace, name)
            if slices is not None:
                world.ready[place] = sum(read(EndpointSlice, one)[0].ready for one in slices)
    except Denied as error:
        world.missing[ENDPOINTS] = str(error)


def _try(world: World, cluster: Cluster) -> None:
    """Try out whether we are called: in one namespace after the other, until one can tell."""
    for namespace in trial_namespaces(world):
        world.trial = cluster.try_pod(namespace)
        if world.trial.call is not Call.UNKNOWN:
            break
    for one in world.hooks:
        address = address_of(one.hook)
        if address is not None:
            world.handshakes[one.hook.name] = cluster.shake_hands(address)
