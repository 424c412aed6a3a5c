"""What holds for labels whatever is on a node, told of it, learnt or running there."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from builders import NOW, node, node_topology
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain import names
from evencore.domain.exclusive import InUse
from evencore.domain.labelling import Labelling, labelling
from evencore.domain.learnt import Learnt, Witness
from evencore.domain.lenient import read
from evencore.domain.policy import WIDTHS
from evencore.domain.views import NodeView, TopologyView

if TYPE_CHECKING:
    from builders import Node

WIDTH, MAXIMA = names.THREADS_PER_CORE, (names.MAX_CONTAINER_CPUS, names.MAX_POD_CPUS)


class Situation(NamedTuple):
    """One node, and all that is known of it."""

    node: Node
    topology: TopologyView | None
    learnt: Learnt
    in_use: InUse
    admin: dict[str, Any]


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    built = node("n1")
    reasons = {}
    values = st.sampled_from(["1", "2", "4", "8", "20", "22", "24", "46", "many", ""])
    for key in (WIDTH, *MAXIMA):
        value = draw(st.none() | values)
        if value is not None:
            built.label(key, value)
            if draw(st.booleans()):
                reasons[key] = f"{value}: because"
    built.annotate(names.LABEL_REASONS, json.dumps(reasons))
    numa = st.lists(st.integers(0, 30), min_size=1, max_size=3)
    options = {
        "policy": st.sampled_from(["none", "best-effort", "restricted", "single-numa-node"]),
        "scope": st.sampled_from(["container", "pod"]),
        "fullPcpusOnly": st.booleans(),
        "threadsPerCore": st.sampled_from(WIDTHS),
        "numa": numa,
    }
    admin = draw(st.fixed_dictionaries({}, optional=options))
    if admin:
        built.topology(**admin)
    told = draw(st.none() | numa)
    topology = read(TopologyView, node_topology("n1").numa(*told).obj)[0] if told else None
    width = draw(st.none() | st.sampled_from(WIDTHS))
    learnt = Learnt(None if width is None else Witness(NOW, "shop/web-1", width))
    running = draw(st.frozensets(st.integers(1, 30), max_size=3))
    pods = draw(st.integers(1 if running else 0, 5))
    astray = draw(st.integers(0, pods))
    settled = draw(st.integers(0, astray))
    in_use = InUse(pods, 0, running, sum(running), astray, settled)
    return Situation(built, topology, learnt, in_use, admin)


def decided(it: Situation) -> Labelling:
    return labelling(read(NodeView, it.node.obj)[0], it.topology, it.learnt, it.in_use)


def number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


@given(situations())
def test_once_written_nothing_more_is_to_write(it: Situation) -> None:
    found = decided(it)
    after = copy.deepcopy(it.node)
    for key, value in found.labels.items():
        after.label(key, value) if value is not None else after.obj["metadata"]["labels"].pop(key)
    for key, value in found.annotations.items():
        after.annotate(key, value)
    assert decided(it._replace(node=after)).labels == {}


@given(situations())
def test_while_pods_have_exclusive_cpus_a_label_only_appears_or_rises(it: Situation) -> None:
    before = it.node.obj["metadata"].get("labels", {})
    for key, value in decided(it).labels.items():
        old = number(before.get(key))
        assert (
            not it.in_use.pods
            or key not in before
            or (key == names.NODE and value is None and it.in_use.settled)
            or (key in MAXIMA and (old is None or old < int(value or "")))
        )


@given(situations())
def test_no_label_is_set_that_something_running_contradicts(it: Situation) -> None:
    labels = decided(it).labels
    width, container, pod = (number(labels.get(key)) for key in (WIDTH, *MAXIMA))
    assert width is None or not any(cpus % width for cpus in it.in_use.containers)
    assert container is None or container >= max(it.in_use.containers, default=0)
    assert pod is None or pod >= it.in_use.largest_pod
    assert not (labels.get(names.NODE) and it.in_use.astray)


@given(situations())
def test_a_width_is_set_only_where_it_is_known_to_be_checked(it: Situation) -> None:
    if WIDTH in decided(it).labels:
        assert it.admin.get("fullPcpusOnly", it.learnt.width is not None)


@given(situations())
def test_what_is_by_hand_stays_unless_an_admin_tells_otherwise(it: Situation) -> None:
    metadata = it.node.obj["metadata"]
    ours = json.loads(metadata["annotations"][names.LABEL_REASONS])
    told = {WIDTH: "threadsPerCore", **dict.fromkeys(MAXIMA, "numa")}
    for key in decided(it).labels.keys() & metadata.get("labels", {}).keys():
        assert key in ours or told[key] in it.admin
