"""Which static labels a node should carry, and why.

A label on a node is as dangerous when it appears as when it falls (docs/decisions/0008): kubelets
look at required affinity again at every restart. So a label is only set if it is always true of
the node, and is only changed while no pod has exclusive CPUs there; an upper bound may rise.
What somebody set by hand stays, unless an admin's annotation says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain import names
from evencore.domain.policy import WIDTHS
from evencore.domain.text import count, quoted
from evencore.domain.topology import largest, number_of, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evencore.domain.exclusive import InUse
    from evencore.domain.learnt import Learnt
    from evencore.domain.topology import Told
    from evencore.domain.views import NodeView, TopologyView

_LAX: Final = ("none", "best-effort")
_ANNOTATION: Final = f"annotation {names.NODE_TOPOLOGY}"
_OBJECT: Final = "NodeResourceTopology"


@dataclass(frozen=True, slots=True)
class Labelling:
    """What to write on a node, and what stands against writing more."""

    labels: Mapping[str, str | None]  # to set, None: to remove; empty: nothing
    annotations: Mapping[str, str]  # to set with them
    reasons: tuple[str, ...]  # of each label to set, in words
    problems: tuple[str, ...]  # contradictions, for people
    waiting: bool = False  # a change waits until no pod has exclusive CPUs on the node


class _Source(Enum):
    NAME = "the node's name"
    ADMIN = _ANNOTATION
    KUBELET = "its kubelet"
    OBJECT = _OBJECT


class _Fact(NamedTuple):
    """What a label should say."""

    key: str
    value: str
    source: _Source
    reason: str
    against: str | None = None  # what runs on the node though this were true


def labelling(
    node: NodeView, topology: TopologyView | None, learnt: Learnt, in_use: InUse
) -> Labelling:
    """Decide about the labels of one node. A fact that nobody tells any more leaves its label."""
    metadata = node.metadata
    name = (metadata.name if metadata else None) or ""
    present = dict((metadata.labels if metadata else None) or {})
    notes = label_reasons(node)
    said = told(node, topology)
    problems = [*said.problems, *(f"node {name}: {text}" for text in _doubts(said, learnt))]
    labels: dict[str, str | None] = {}
    reasons: list[str] = []
    waiting = False

    def settle(fact: _Fact) -> None:
        nonlocal waiting
        old = present.get(fact.key)
        if fact.against:
            problems.append(f"node {name}: {fact.key} would be {fact.value}, but {fact.against}")
        elif old != fact.value:
            ours = fact.key in notes and notes[fact.key].startswith(f"{old}: ")
            obstacle = _obstacle(fact, old, in_use, ours=ours)
            waiting = waiting or obstacle is _BUSY
            if obstacle:
                problems.append(
                    f"node {name}: {fact.key} is {quoted(old)}{obstacle}, "
                    f"but should be {fact.value}: {fact.reason}"
                )
            else:
                labels[fact.key] = present[fact.key] = fact.value
                reasons.append(f"{fact.key}={fact.value}: {fact.reason}")
                notes[fact.key] = f"{fact.value}: {fact.reason}"

    named = _Fact(names.NODE, names.node_label_value(name), _Source.NAME, "the node's name")
    if not in_use.astray:
        settle(named)
    elif present.get(names.NODE) != named.value:
        problems.append(f"node {name}: {names.NODE} waits: {_stray(in_use.astray)}")
    elif in_use.settled:  # else its kubelet refuses them: whoever names it in pods moves no label
        labels[names.NODE] = None
        reasons.append(f"{names.NODE} removed: {_stray(in_use.settled)}")
    for fact in _width(said, learnt, in_use):
        settle(fact)
    # With the width that the node will have from now on: larger bounds than the truth do no harm.
    for fact in _maxima(said, _checked_width(said, present), in_use):
        settle(fact)
    written = {key: text for key, text in notes.items() if key != names.NODE}
    changed = written if labels.keys() - {names.NODE} else {}
    annotations = {names.LABEL_REASONS: json.dumps(written, sort_keys=True)} if changed else {}
    return Labelling(labels, annotations, tuple(reasons), tuple(problems), waiting)


def _stray(number: int) -> str:
    pods = "a pod that keeps" if number == 1 else f"{number} pods that keep"
    return f"{pods} off this node came here before it had the label, and would be killed"


def label_reasons(node: NodeView) -> dict[str, str]:
    """Read why the controller set each label: key → "value: reason"; tolerant to anything."""
    text = ((node.metadata.annotations if node.metadata else None) or {}).get(names.LABEL_REASONS)
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    known = (names.THREADS_PER_CORE, names.MAX_CONTAINER_CPUS, names.MAX_POD_CPUS)
    found = value if isinstance(value, dict) else {}
    return {key: found[key] for key in known if isinstance(found.get(key), str)}


_BY_HAND: Final = ", set by hand"
_BUSY: Final = " and stays while pods have exclusive CPUs here"


def _obstacle(fact: _Fact, old: str | None, in_use: InUse, *, ours: bool) -> str | None:
    """Say why a label must not be set to what it should be; None = it may."""
    if old is None:
        return None
    if not ours and fact.source is not _Source.ADMIN:
        return _BY_HAND
    if fact.key in (names.MAX_CONTAINER_CPUS, names.MAX_POD_CPUS):
        before = number_of(old)
        # No affinity names a value that is no number; and a bound that rises keeps nobody off.
        if before is None or before < int(fact.value):
            return None
    return _BUSY if in_use.pods else None


def _width(said: Told, learnt: Learnt, in_use: InUse) -> Iterator[_Fact]:
    """Yield the width, if it is known and the kubelet is known to check alignment."""
    admin, kubelet = said.admin, learnt.width
    width, source = admin.threads_per_core, _Source.ADMIN
    checks = "fullPcpusOnly true" if admin.full_pcpus_only else None
    if kubelet:
        if admin.full_pcpus_only is False or width not in (None, kubelet.width):
            return  # see _doubts: one of both is wrong
        checks = checks or f"its kubelet checks that and {kubelet.sentence}"
        if width is None:
            width, source = kubelet.width, _Source.KUBELET
    if width is None or checks is None:
        return
    reason = (
        f"{_ANNOTATION}, {checks}"
        if source is _Source.ADMIN
        else f"learnt from its kubelet, which {kubelet.sentence if kubelet else ''}"
    )
    odd = next((cpus for cpus in sorted(in_use.containers) if cpus % width), None)
    against = f"a container with {count(odd, 'exclusive CPU')} runs here" if odd else None
    yield _Fact(names.THREADS_PER_CORE, str(width), source, reason, against)


def _checked_width(said: Told, labels: Mapping[str, str]) -> int:
    """Return the width to which all requests are held that this node admits; 1 if none is known."""
    width = number_of(labels.get(names.THREADS_PER_CORE))
    return width if width in WIDTHS and said.admin.full_pcpus_only is not False else 1


def _maxima(said: Told, width: int, in_use: InUse) -> Iterator[_Fact]:
    """Yield the largest container and the largest pod that the node could ever admit."""
    admin, seen = said.admin, said.seen
    numa, source = (admin.numa, _Source.ADMIN) if admin.numa else (seen.numa, _Source.OBJECT)
    policy = admin.policy or seen.policy
    scope = admin.scope or seen.scope
    container, pod = largest(numa, policy, scope, width)
    if numa is None or container is None or pod is None:
        return
    parts = [f"NUMA nodes of {', '.join(map(str, numa))} CPUs", policy, scope and f"scope {scope}"]
    if width > 1:
        parts.append(f"whole cores of {width} threads")
    reason = f"{source.value}: {', '.join(part for part in parts if part)}"
    for key, value, running, what in (
        (names.MAX_CONTAINER_CPUS, container, max(in_use.containers, default=0), "container"),
        (names.MAX_POD_CPUS, pod, in_use.largest_pod, "pod"),
    ):
        against = f"a {what} with {count(running, 'exclusive CPU')} runs here"
        yield _Fact(key, str(value), source, reason, against if running > value else None)


def _doubts(said: Told, learnt: Learnt) -> Iterator[str]:
    """Yield where a node's kubelet contradicts what is told of it, or may not be one at all."""
    admin, kubelet = said.admin, learnt.width
    if learnt.doubted and admin.threads_per_core is None:
        yield f"{learnt.doubted}; {_ANNOTATION} would settle it"
    if kubelet and admin.full_pcpus_only is False:
        yield (
            f"{_ANNOTATION} says fullPcpusOnly false, but its kubelet checks alignment: "
            f"it {kubelet.sentence}"
        )
    elif kubelet and admin.threads_per_core not in (None, kubelet.width):
        yield (
            f"{_ANNOTATION} says {admin.threads_per_core} threads per core, its kubelet "
            f"{kubelet.width}: it {kubelet.sentence}"
        )
    policy = admin.policy or said.seen.policy
    if learnt.strict and policy in _LAX:
        source = _ANNOTATION if admin.policy else _OBJECT
        yield (
            f"{source} says policy {policy}, but its kubelet {learnt.strict.sentence} "
            "with TopologyAffinityError"
        )
