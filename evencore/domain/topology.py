"""What is known of a node's cores and NUMA nodes, and what that lets a pod ask for.

Sources, best first: the annotation that an admin wrote, the labels that the controller set, the
NodeResourceTopology object of topology.node.k8s.io/v1alpha2. What nobody told stays None, and a
node of which nothing is known is never refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from evencore.domain import names
from evencore.domain.forms import TRUTH, choice, listed, optional, whole
from evencore.domain.policy import WIDTHS, PolicyError, checked
from evencore.domain.quantity import QuantityError, parse_millis
from evencore.domain.rejection import read_time
from evencore.domain.text import quoted
from evencore.domain.written import Written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evencore.domain.views import NodeView, TopologyView

TopologyPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]
Scope = Literal["container", "pod"]

_POLICIES: tuple[TopologyPolicy, ...] = ("none", "best-effort", "restricted", "single-numa-node")
_NUMA = optional(listed(whole(0, 4096, quotes=False), tuple, (1, 64)))
# The deprecated topologyPolicies of NodeResourceTopology.
_OLD_POLICIES: dict[str, tuple[TopologyPolicy, Scope]] = {
    "SingleNUMANodeContainerLevel": ("single-numa-node", "container"),
    "SingleNUMANodePodLevel": ("single-numa-node", "pod"),
    "Restricted": ("restricted", "container"),
    "RestrictedContainerLevel": ("restricted", "container"),
    "RestrictedPodLevel": ("restricted", "pod"),
    "BestEffort": ("best-effort", "container"),
    "BestEffortContainerLevel": ("best-effort", "container"),
    "BestEffortPodLevel": ("best-effort", "pod"),
    "None": ("none", "container"),
}


class Topology(Written, frozen=True, rename="camel"):
    """What one source tells of a node; the shape of the annotation `evencore.io/topology`."""

    policy: Annotated[TopologyPolicy | None, optional(choice(*_POLICIES))] = None
    scope: Annotated[Scope | None, optional(choice("container", "pod"))] = None
    # False: the kubelet checks no alignment, so any whole number will do.
    full_pcpus_only: Annotated[bool | None, optional(TRUTH)] = None
    threads_per_core: Annotated[int | None, optional(choice(*WIDTHS))] = None
    # Allocatable exclusive CPUs of each NUMA node.
    numa: Annotated[tuple[int, ...] | None, _NUMA] = None


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node as decisions see it. CPUs are whole logical CPUs; None = not known."""

    name: str
    labels: Mapping[str, str]
    width: int | None = None  # threads per core
    max_container: int | None = None  # largest aligned request of one container, ever
    max_pod: int | None = None  # same for a pod's sum
    checks_alignment: bool = True  # False: known to run without full-pcpus-only
    problems: tuple[str, ...] = ()  # what an admin wrote and we could not read


class Told(NamedTuple):
    """What people and agents tell of a node; labels are not among it."""

    admin: Topology  # in the annotation
    seen: Topology  # in its NodeResourceTopology
    problems: tuple[str, ...] = ()  # what the admin wrote and we could not read


def told(node: NodeView, topology: TopologyView | None = None) -> Told:
    """Read the annotation of a node and its NodeResourceTopology. Never raises."""
    metadata = node.metadata
    name = (metadata.name if metadata else None) or ""
    text = ((metadata.annotations if metadata else None) or {}).get(names.NODE_TOPOLOGY)
    admin, problems = _annotation(text, name) if text is not None else (Topology(), ())
    return Told(admin, _discovered(topology) if topology is not None else Topology(), problems)


def node_facts(node: NodeView, topology: TopologyView | None = None) -> NodeFacts:
    """Put together what all sources tell of a node. Never raises; see NodeFacts.problems."""
    metadata = node.metadata
    name = (metadata.name if metadata else None) or ""
    labels = (metadata.labels if metadata else None) or {}
    admin, seen, problems = told(node, topology)

    width = admin.threads_per_core or _width_label(labels)  # NodeResourceTopologies tell none
    numa = admin.numa or seen.numa
    policy = admin.policy or seen.policy
    scope = admin.scope or seen.scope
    checks = admin.full_pcpus_only is not False
    # Where nobody checks that they are whole cores, a request may have the last single thread.
    max_container, max_pod = largest(numa, policy, scope, (width if checks else None) or 1)
    if admin.numa is None:  # labels go before what is discovered
        told_container = number_of(labels.get(names.MAX_CONTAINER_CPUS))
        told_pod = number_of(labels.get(names.MAX_POD_CPUS))
        max_container = max_container if told_container is None else told_container
        max_pod = max_pod if told_pod is None else told_pod
    return NodeFacts(
        name,
        labels,
        width,
        max_container,
        max_pod,
        checks_alignment=checks,
        problems=problems,
    )


def made_at(node: NodeView) -> datetime | None:
    """Return when a node joined."""
    return read_time(node.metadata.creation_timestamp) if node.metadata else None


def room_since(node: NodeView) -> datetime | None:
    """Return since when there has been more room on a node: what it rejected before is no news.

    That is since the controller saw it (annotation), or since the node was made.
    """
    metadata = node.metadata
    if metadata is None:
        return None
    seen = read_time((metadata.annotations or {}).get(names.ROOM_SINCE))
    made = read_time(metadata.creation_timestamp)
    return max((at for at in (seen, made) if at), default=None)


def largest(
    numa: Sequence[int] | None, policy: TopologyPolicy | None, scope: Scope | None, width: int
) -> tuple[int | None, int | None]:
    """Return the largest aligned request of a container and of a pod that may ever be admitted.

    single-numa-node: a container (scope pod: the whole pod) must fit one NUMA node. All other
    policies can span NUMA nodes; restricted may refuse more than this, never less.
    """
    if numa is None or not any(numa):  # all zero: no static CPU manager, so nothing is pinned
        return None, None
    total = sum(numa) // width * width
    if policy != "single-numa-node":
        return total, total
    widest = max(numa) // width * width
    return widest, widest if scope == "pod" else sum(n // width * width for n in numa)


def _annotation(text: str, node: str) -> tuple[Topology, tuple[str, ...]]:
    source = f"node {node}: annotation {names.NODE_TOPOLOGY}"
    try:
        return checked(Topology, json.loads(text), source), ()
    except PolicyError as error:
        return Topology(), tuple(str(error).splitlines())
    except (ValueError, RecursionError):
        return Topology(), (f"{source}: {quoted(text)} is not JSON",)


def _discovered(view: TopologyView) -> Topology:
    """Read a NodeResourceTopology tolerantly: what is odd counts as not told."""
    policy, scope = _OLD_POLICIES.get((view.topology_policies or [""])[0], (None, None))
    attributes = {item.name: item.value for item in view.attributes or ()}
    for known in _POLICIES:
        if attributes.get("topologyManagerPolicy") == known:
            policy = known
    if attributes.get("topologyManagerScope") in ("container", "pod"):
        scope = "pod" if attributes["topologyManagerScope"] == "pod" else "container"
    numa = []
    for zone in view.zones or ():
        if zone.type == "Node":
            for resource in zone.resources or ():
                if resource.name == "cpu":
                    try:
                        numa.append(parse_millis(resource.allocatable) // 1000)
                    except QuantityError:
                        return Topology(policy=policy, scope=scope)
    return Topology(policy=policy, scope=scope, numa=tuple(numa) or None)


def _width_label(labels: Mapping[str, str]) -> int | None:
    width = number_of(labels.get(names.THREADS_PER_CORE))
    return width if width in WIDTHS else None


_NUMBER = re.compile(r"[0-9]{1,6}")


def number_of(label: str | None) -> int | None:
    """Read a label that holds a number; None for what is none."""
    return int(label) if label and _NUMBER.fullmatch(label) else None
