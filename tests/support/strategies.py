"""Pods, clusters and policies for property tests: mostly what exists, sometimes what is odd.

Names, labels and owners come from small sets, so that they meet. Amounts are such that requests
never exceed limits: pods that do never reach a webhook.
"""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from apiserver import PREFERRED, REQUIRED
from builders import (
    Node,
    NodeTopology,
    Pod,
    container,
    failed,
    limit_range,
    namespace,
    node,
    node_topology,
    pod,
)
from hypothesis import strategies as st

from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

NODES = [f"n{number}" for number in range(6)]
OWNERS = ["rs-1", "rs-2"]
WIDTHS = st.sampled_from([1, 2, 2, 2, 4, 8])

# Spellings of the same amount stand together.
_AMOUNTS: list[list[object]] = [
    ["1", "1000m", "1.0", 1],
    ["2", "2000m", "2.", 2, 2.0, "0.002k"],
    ["3", "3000m", "3e0", "+3", 3],
    ["5", "5", "50e-1"],
    ["9", "9E0"],
    ["27", "27.000"],
    ["0.5", "500m", ".5", 0.5],
    ["2500m", "2.5", 2.5],
    ["1999m", "1.999"],
    ["100n", "100n"],
    ["16", "16"],
    ["1Ki", "1024"],
    ["9007199254740993", 9007199254740993],
]
equal_amounts = st.sampled_from(_AMOUNTS).flatmap(
    lambda same: st.tuples(st.sampled_from(same), st.sampled_from(same))
)
_shapes = st.sampled_from(["equal"] * 12 + ["limits", "null", "cpu", "less", "extra", "none"])


@st.composite
def containers(draw: st.DrawFn, name: str) -> Json:
    """Return a container; most have equal requests and limits."""
    request, limit = draw(equal_amounts)
    built = container(name)
    requests, limits = {"cpu": request, "memory": "1Gi"}, {"cpu": limit, "memory": "1024Mi"}
    match draw(_shapes):
        case "equal":
            built.requests(requests).limits(limits)
        case "limits":
            built.limits(limits).without_requests()
        case "null":
            built.limits(limits).requests(None)
        case "cpu":
            built.limits(limits).requests({"memory": "1Gi"})
        case "less":
            built.limits({"cpu": "4", "memory": "1Gi"}).requests({"cpu": "1", "memory": "1Gi"})
        case "extra":
            built.requests(requests).limits(limits).also("example.com/gpu", "1")
        case "none":
            built.obj.pop("resources")
    return built.obj


_expressions = st.one_of(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["zone", "disk", "evencore.io/node"]),
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(st.sampled_from(["a", "b", "n1"]), min_size=1, max_size=2),
        }
    ),
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["zone", "disk"]),
            "operator": st.sampled_from(["Exists", "DoesNotExist"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["rank", "evencore.io/max-pod-cpus"]),
            "operator": st.sampled_from(["Gt", "Lt"]),
            "values": st.sampled_from([["2"], ["-1"], ["10"]]),
        }
    ),
)
_fields = st.fixed_dictionaries(
    {
        "key": st.just("metadata.name"),
        "operator": st.sampled_from(["In", "NotIn"]),
        "values": st.sampled_from(NODES).map(lambda name: [name]),
    }
)
_maybe_null_list = st.sampled_from([None, []])
terms = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": _maybe_null_list | st.lists(_expressions, min_size=1, max_size=2),
        "matchFields": _maybe_null_list | st.lists(_fields, min_size=1, max_size=2),
    },
)
_node_affinities = st.fixed_dictionaries(
    {},
    optional={
        REQUIRED: st.none()
        | st.fixed_dictionaries({"nodeSelectorTerms": st.lists(terms, min_size=1, max_size=3)}),
        PREFERRED: _maybe_null_list
        | st.lists(
            st.fixed_dictionaries({"weight": st.integers(1, 100), "preference": terms}),
            min_size=1,
            max_size=2,
        ),
    },
)
affinities = st.one_of(
    st.none(),
    st.just({}),
    st.fixed_dictionaries(
        {"nodeAffinity": st.none() | _node_affinities},
        optional={"podAntiAffinity": st.just({PREFERRED: []})},
    ),
)
annotations = st.fixed_dictionaries(
    {},
    optional={
        "evencore.io/cpu": st.sampled_from(["round-up", "warn", "deny", "keep", "Keep", ""]),
        "evencore.io/cpu.c0": st.sampled_from(["round-up", "keep", "x"]),
        "evencore.io/cpu.gone": st.just("keep"),
        "evencore.io/topology": st.sampled_from(["required", "preferred", "off", "on"]),
        "evencore.io/on-rejection": st.sampled_from(["hold", "exclude", "report"]),
        "evencore.io/original-cpu": st.sampled_from(['{"c0":"1"}', "[]", "x", ""]),
        "evencore.io/decision": st.just("before"),
        "evencore.io/typo": st.just("\x00é"),
        "weird~key/x": st.just("1"),
    },
)


_amount_of_inits = st.sampled_from([0, 0, 1, 3])
_containers = {
    name: containers(name) for name in (*(f"c{n}" for n in range(3)), *(f"i{n}" for n in range(3)))
}
_owners = st.sampled_from(
    [None, *((uid, kind) for uid in OWNERS for kind in ("ReplicaSet", "ReplicaSet", "DaemonSet"))]
)
_metadata = st.fixed_dictionaries(
    {},
    optional={
        "annotations": st.none() | annotations,
        "labels": st.sampled_from([None, {}, {"app": "web"}]),
        "creationTimestamp": st.none(),
    },
)
_rest_of_spec = st.fixed_dictionaries(
    {},
    optional={
        "affinity": affinities,
        "nodeSelector": st.sampled_from([None, {}, {"zone": "a"}, {"zone": "a", "disk": "b"}]),
        "nodeName": st.sampled_from([None, "", "", "n1"]),
        "os": st.sampled_from([None, {"name": "linux"}, {}, {"name": "windows"}]),
        "resources": st.sampled_from([None, {}, {}, {"limits": {"cpu": "9", "memory": "9Gi"}}]),
        "overhead": st.just({"cpu": "250m"}),
        "schedulingGates": st.just([{"name": "example.com/gate"}]),
    },
)


@st.composite
def pods(draw: st.DrawFn) -> Json:
    """Return a pod that the API server could send."""
    built: Pod = pod()
    apps = [draw(_containers[f"c{n}"]) for n in range(draw(st.integers(1, 3)))]
    inits = [draw(_containers[f"i{n}"]) for n in range(draw(_amount_of_inits))]
    for init in inits:
        if draw(st.booleans()):
            init["restartPolicy"] = "Always"
    built.spec(containers=apps, initContainers=inits or None, **draw(_rest_of_spec))
    if owner := draw(_owners):
        built.owner(*owner)
    return built.metadata(**draw(_metadata)).obj


def _labelled(name: str, width: int, largest: int, pod_largest: int | None = None) -> Node:
    return node(name).named().width(width).largest(largest, pod_largest)


# Kinds of node, and what their NodeResourceTopology says if they have one.
_KINDS_OF_NODE: list[Callable[[str], list[Node | NodeTopology]]] = [
    lambda n: [_labelled(n, 2, 22, 46)],
    lambda n: [_labelled(n, 2, 4)],
    lambda n: [_labelled(n, 2, 10)],
    lambda n: [_labelled(n, 4, 20, 40)],
    lambda n: [_labelled(n, 8, 2000)],
    lambda n: [_labelled(n, 1, 9)],
    lambda n: [node(n)],  # nothing known
    lambda n: [node(n).named()],
    lambda n: [node(n).width(2).largest(22)],  # without the label of its name
    lambda n: [node(n).width(4)],
    lambda n: [_labelled(n, 2, 22).topology(fullPcpusOnly=False)],
    lambda n: [_labelled(n, 4, 22).topology(fullPcpusOnly=False)],
    lambda n: [_labelled(n, 2, 22).topology(threadsPerCore=4)],  # labels are behind
    lambda n: [_labelled(n, 2, 22).topology(numa=[4], policy="restricted")],
    lambda n: [node(n).topology(numa=[22, 24], policy="single-numa-node", scope="pod")],
    lambda n: [node(n).topology(numa=[0, 0], threadsPerCore=2)],
    lambda n: [node(n).topology(numa=[5, 3], policy="single-numa-node", threadsPerCore=2)],
    lambda n: [_labelled(n, 2, 22).annotate("evencore.io/topology", "{")],
    lambda n: [node(n).topology(policy="Strict")],
    lambda n: [node(n).label("evencore.io/threads-per-core", "two").largest(22)],
    lambda n: [node(n).label("evencore.io/threads-per-core", "02").largest(4)],
    lambda n: [node(n).width(2), _seen(n, "22", "24", policy="single-numa-node")],
    lambda n: [node(n), _seen(n, "4", policy="none")],
    lambda n: [node(n), _seen(n, "4", "x", policy="odd")],
]


def _seen(name: str, *cpus: str, policy: str) -> NodeTopology:
    return node_topology(name).numa(*cpus).attribute("topologyManagerPolicy", policy)


_kinds_of_node = st.sampled_from(_KINDS_OF_NODE)
_labels_of_others = st.sampled_from(
    [
        {},
        {"zone": "a"},
        {"zone": "b", "disk": "a", "rank": "7"},
        {"disk": "b", "rank": "-3"},
        {"zone": "a", "rank": "x"},
    ]
)
_clusters_of_kinds = st.lists(st.tuples(_kinds_of_node, _labels_of_others), max_size=len(NODES))
_namespaces = st.none() | annotations.map(lambda written: namespace().metadata(annotations=written))
_limit_ranges = st.sampled_from(
    [[]] * 3
    + [[limit_range().maximum(most)] for most in ("1", "3", "4", "x")]
    + [[limit_range().maximum(most, "Pod")] for most in ("4", "20")]
    + [[limit_range("a").maximum("20"), limit_range("b").maximum("2500m")]]
    + [[limit_range("a", "other").maximum("1")]]
)
_rejections = st.lists(
    st.tuples(
        st.sampled_from([*NODES, "gone", "x" * 70]),
        st.sampled_from(OWNERS),
        st.sampled_from([0, 10, 300, 2000]),
    ),
    max_size=4,
)


@st.composite
def clusters(draw: st.DrawFn) -> list[Json]:
    """Return the objects of a cluster."""
    found: list[Any] = []
    for name, (kind, others) in zip(NODES, draw(_clusters_of_kinds), strict=False):
        first, *rest = kind(name)
        for key, value in others.items():
            first.label(key, value)
        found += [first, *rest]
    if (written := draw(_namespaces)) is not None:
        found.append(written)
    found += draw(_limit_ranges)
    for number, (at, owner, seconds) in enumerate(draw(_rejections)):
        found.append(failed(at, owner, number).rejected(at, ago=timedelta(seconds=seconds)))
    if len(found) % 7 == 1:  # sometimes more rejecting nodes than one pod can name
        found += [failed(f"other-{number}", OWNERS[0], number) for number in range(30)]
    return [o.obj for o in found]


policies = st.builds(
    lambda **said: Policy.from_mapping(said),
    cpu=st.sampled_from(["round-up"] * 4 + ["warn", "deny", "keep"]),
    topology=st.sampled_from(["required", "required", "preferred", "off"]),
    onRejection=st.sampled_from(["hold", "hold", "exclude", "report"]),
    defaultThreadsPerCore=WIDTHS,
    roundFrom=st.sampled_from(["0", "0", "1", "2500m", "4"]),
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["2", "Pod", "", "\x00", "é" * 50, "-1", "1e999999999"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401  any JSON
    found = [path] if path else []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    return found + [place for key, inner in items for place in _places(inner, (*path, key))]


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[Json]) -> Json:
    """Return a value some places of which hold something else."""
    value = copy.deepcopy(draw(whole))
    for _ in range(draw(st.integers(1, 3))):
        places = _places(value)
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        at: Any = value
        for key in way:
            at = at[key]
        at[last] = draw(anything)
    return value
