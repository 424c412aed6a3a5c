"""Nodes: do they contradict what is told of them, are they set up in a way that can work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evencore.doctor.finding import Finding, Severity
from evencore.domain import names
from evencore.domain.exclusive import NONE
from evencore.domain.labelling import labelling
from evencore.domain.learnt import NOTHING
from evencore.domain.topology import node_facts, told
from evencore.nodes.problems import mixed_widths, split_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.doctor.world import World
    from evencore.domain.topology import NodeFacts


def widths(world: World) -> Iterator[Finding]:
    """Find a kubelet that named a width, where evencore goes by another."""
    for name, learnt in sorted(world.nodes.learnt.items()):
        if learnt.width is None:
            continue
        facts = _facts(world).get(name)
        known = facts.width if facts else None
        used = known if known is not None else world.policy.default_threads_per_core
        if used == learnt.width.width:
            continue
        source = "known of it" if known is not None else "configured"
        yield Finding(
            "wrong-width",
            Severity.ERROR,
            f"Node {name}",
            f"its kubelet {learnt.width.sentence} because it has {learnt.width.width} threads per "
            f"core, but evencore goes by {used} ({source})",
            f"kubectl annotate node {name} --overwrite "
            f"{names.NODE_TOPOLOGY}='{_with_width(world, name, learnt.width.width)}'",
        )


def contradictions(world: World) -> Iterator[Finding]:
    """Find what is told of a node against what its kubelet or its pods show."""
    wrong = {finding.object for finding in widths(world)}
    for name, node in sorted(world.nodes.nodes.items()):
        if f"Node {name}" in wrong:
            continue  # told already, with its own remedy
        arch = ((node.metadata.labels if node.metadata else None) or {}).get(names.ARCH)
        found = labelling(
            node,
            world.nodes.topologies.get(name),
            world.nodes.learnt.get(name, NOTHING).believed(
                world.policy.default_threads_per_core, world.participants, arch
            ),
            world.nodes.in_use.get(name, NONE),
        )
        for problem in found.problems:
            yield Finding(
                "node-contradiction",
                Severity.WARNING,
                f"Node {name}",
                problem.removeprefix(f"node {name}: "),
                f"evencore nodes {name} -o wide",
            )


def reserved(world: World) -> Iterator[Finding]:
    """Find CPUs reserved for the system that split a core."""
    for name, facts in sorted(_facts(world).items()):
        said = told(world.nodes.nodes[name], world.nodes.topologies.get(name))
        numa = said.admin.numa or said.seen.numa or ()
        found = split_cores(name, facts.width, numa, world.nodes.sizes.get(name))
        if found:
            yield Finding(
                "reserved-splits-cores",
                Severity.WARNING,
                f"Node {name}",
                found.removeprefix(f"node {name}: "),
                f"kubectl get --raw /api/v1/nodes/{name}/proxy/configz",
            )


def mixed(world: World) -> Iterator[Finding]:
    """Find nodes of several widths: worth knowing, not wrong."""
    if found := mixed_widths(_facts(world).values()):
        yield Finding(
            "mixed-widths",
            Severity.NOTE,
            "Nodes",
            found.removeprefix("mixed widths: "),
            f"kubectl get nodes -L {names.THREADS_PER_CORE}",
        )


def _facts(world: World) -> dict[str, NodeFacts]:
    return {
        name: node_facts(node, world.nodes.topologies.get(name))
        for name, node in world.nodes.nodes.items()
    }


def _with_width(world: World, name: str, width: int | None) -> str:
    """Write the annotation anew, with everything else that its admin said."""
    node = world.nodes.nodes.get(name)
    text = ((node.metadata.annotations if node and node.metadata else None) or {}).get(
        names.NODE_TOPOLOGY, "{}"
    )
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = {}
    said = said if isinstance(said, dict) else {}
    return json.dumps(said | {"threadsPerCore": width}, separators=(",", ":"))
