"""`evencore nodes`: what is known of nodes, from whom, and what contradicts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builders import NOW, Node, Pod, failed, node, node_topology, pod
from click.testing import CliRunner

from evencore.domain import names
from evencore.files import InputError
from evencore.nodes_command import make_nodes_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

MISALIGNED = (
    "Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 4"
)


def run(*args: str, objects: tuple[Any, ...] = (), notes: tuple[str, ...] = ()) -> Result:
    """Run the command; without -f the cluster has these objects."""

    def read(
        kubeconfig: str | None, _context: str | None, take: Callable[[object], None]
    ) -> tuple[str, ...]:
        if kubeconfig == "down":
            raise InputError(["the API server does not answer"])
        for one in objects:
            take(one.obj)
        return notes

    return CliRunner().invoke(make_nodes_command(read, lambda: NOW), args)


def report(*objects: object, args: tuple[str, ...] = ()) -> dict[str, Any]:
    result = run("-o", "json", *args, objects=objects)
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def only(*objects: object) -> dict[str, Any]:
    (one,) = report(*objects)["nodes"]
    return dict(one)


def known(name: str = "n1") -> Node:
    return node(name).named().topology(policy="single-numa-node", numa=[22, 24], **FULL)


FULL = {"threadsPerCore": 2, "fullPcpusOnly": True}


def sized(built: Node, capacity: str, allocatable: str) -> Node:
    built.obj["status"] = {"capacity": {"cpu": capacity}, "allocatable": {"cpu": allocatable}}
    return built


def running(cpus: object, name: str = "n1", phase: str = "Running") -> Pod:
    built = pod(f"run-{cpus}").cpu(cpus).spec(nodeName=name)
    built.obj["status"] = {"phase": phase}
    return built


def test_what_an_admin_wrote() -> None:
    one = only(known())
    assert one["policy"] == {"value": "single-numa-node", "source": "annotation"}
    assert one["scope"] is None
    assert (one["threadsPerCore"], one["threadsPerCoreSource"]) == (2, "annotation")
    assert one["fullPcpusOnly"] is True
    assert (one["numa"], one["numaSource"]) == ([22, 24], "annotation")
    assert (one["maxContainerCpus"], one["maxPodCpus"]) == (24, 46)
    assert [text.partition(":")[0] for text in one["toLabel"]] == [
        f"{names.THREADS_PER_CORE}=2",
        f"{names.MAX_CONTAINER_CPUS}=24",
        f"{names.MAX_POD_CPUS}=46",
    ]
    assert one["problems"] == []


def test_what_agents_tell() -> None:
    told = node_topology("n1").numa("22", "24").attribute("topologyManagerPolicy", "restricted")
    one = only(node("n1"), told.attribute("topologyManagerScope", "pod"))
    source = "NodeResourceTopology"
    assert one["policy"] == {"value": "restricted", "source": source}
    assert one["scope"] == {"value": "pod", "source": source}
    assert (one["numa"], one["numaSource"]) == ([22, 24], source)


def test_labels_say_why_they_are_there() -> None:
    built = (
        node("n1")
        .named()
        .width(2)
        .largest(24)
        .annotate(names.LABEL_REASONS, json.dumps({names.THREADS_PER_CORE: "2: learnt", "x": 1}))
    )
    assert {label["key"]: label["because"] for label in only(built)["labels"]} == {
        names.NODE: "the node's name",
        names.THREADS_PER_CORE: "learnt",
        names.MAX_CONTAINER_CPUS: "set by hand",
        names.MAX_POD_CPUS: "set by hand",
    }


CHECKED = {
    "said by an admin": (node("n1").topology(**FULL), True),
    "denied by an admin": (node("n1").topology(threadsPerCore=2, fullPcpusOnly=False), False),
    "a width by hand proves nothing": (node("n1").width(2), None),
    "the controller labels only what is checked": (
        node("n1")
        .width(2)
        .annotate(names.LABEL_REASONS, json.dumps({names.THREADS_PER_CORE: "2: learnt"})),
        True,
    ),
}


@pytest.mark.parametrize(("built", "checked"), CHECKED.values(), ids=CHECKED)
def test_whether_alignment_is_checked(built: Node, *, checked: bool | None) -> None:
    assert only(built)["fullPcpusOnly"] is checked


def test_what_was_learnt_and_from_what() -> None:
    refused = failed("n1").rejected("n1", "SMTAlignmentError", MISALIGNED)
    other = failed("n1", number=3).rejected("n1", "SMTAlignmentError", MISALIGNED)
    one = only(
        node("n1").named(),
        refused.metadata(namespace="shop"),
        other.metadata(namespace="apps"),
        failed("n1", number=2),
    )
    assert one["learnt"]["threadsPerCore"] == {
        "value": 4,
        "pod": "shop/failed-n1-1",
        "at": "2026-03-01T10:39:50Z",
    }
    assert one["learnt"]["topologyAffinity"]["pod"] == "apps/failed-n1-2"
    assert one["fullPcpusOnly"] is True
    assert one["toLabel"][0].startswith(f"{names.THREADS_PER_CORE}=4: learnt from its kubelet")


def test_exclusive_cpus_in_use_and_how_many_there_are() -> None:
    pods = running(4), running(2, phase="Pending"), running("2500m"), running(8, "n2")
    assert only(known(), *pods)["exclusiveCpus"] == {"pods": 2, "asked": 6, "room": 46}
    one = only(sized(node("n1"), "48", "46500m"), *pods)
    assert one["exclusiveCpus"] == {"pods": 2, "asked": 6, "room": 46}
    assert only(node("n1"), *pods)["exclusiveCpus"]["room"] is None


def test_rejections_of_the_last_hour_each_once() -> None:
    old = failed("n1", number=2)
    old.obj["status"]["startTime"] = "2026-03-01T09:39:00Z"
    # The pod of the first is there, too.
    events = [event("rs-1/n1/1"), event("gone")]
    one = from_dump(failed("n1").obj, old.obj, node("n1").obj, *events)["nodes"][0]
    assert one["rejections"] == {
        "lastHour": 2,
        "reasons": {"TopologyAffinityError": 2},
        "last": "2026-03-01T10:39:55Z",
    }


def event(uid: str) -> dict[str, Any]:
    return {
        "kind": "Event",
        "reason": "TopologyAffinityError",
        "involvedObject": {"kind": "Pod", "name": "db-0", "namespace": "shop", "uid": uid},
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": "2026-03-01T10:39:55Z",
    }


def from_dump(*objects: object, args: tuple[str, ...] = ()) -> dict[str, Any]:
    document = json.dumps({"kind": "List", "items": objects})
    command = make_nodes_command(lambda *_: (), lambda: NOW)
    result = CliRunner().invoke(command, ["-f", "-", "-o", "json", *args], input=document)
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def test_a_dump_is_judged_as_of_its_newest_rejection() -> None:
    refused = failed("n1")
    refused.obj["status"]["startTime"] = "2025-01-01T00:00:00Z"
    found = from_dump(node("n1").obj, refused.obj)
    assert found["asOf"] == "2025-01-01T00:00:00Z"
    assert found["nodes"][0]["rejections"]["lastHour"] == 1


def test_since_when_there_is_more_room() -> None:
    built = node("n1").annotate(names.ROOM_SINCE, "2026-03-01T10:20:00Z")
    assert only(built)["roomSince"] == "2026-03-01T10:20:00Z"
    assert only(built.annotate(names.ROOM_SINCE, "soon"))["roomSince"] is None


PROBLEMS = {
    "an annotation that cannot be read": (
        (node("n1").annotate(names.NODE_TOPOLOGY, "{"),),
        "annotation evencore.io/topology: '{' is not JSON",
    ),
    "a label that its kubelet contradicts": (
        (
            node("n1").width(2),
            failed("n1").rejected("n1", "SMTAlignmentError", MISALIGNED),
            failed("n1", number=2)
            .rejected("n1", "SMTAlignmentError", MISALIGNED)
            .metadata(namespace="shop"),
        ),
        "evencore.io/threads-per-core is '2', set by hand, but should be 4",
    ),
    "a width that pods of one namespace alone tell": (
        (node("n1").width(2), failed("n1").rejected("n1", "SMTAlignmentError", MISALIGNED)),
        "4 threads per core are told by pods of too few namespaces to go by it",
    ),
    "NUMA nodes that are no whole cores": (
        (node("n1").width(2), node_topology("n1").numa("23", "24")),
        "23 and 24 CPUs on its NUMA nodes are not whole cores of 2 threads",
    ),
    "a reserved fraction that takes half a core": (
        (sized(node("n1").width(2), "48", "47500m"),),
        "1 reserved CPU split a core of 2 threads",
    ),
    "more running than could": (
        (known(), running(26)),
        "max-container-cpus would be 24, but a container with 26 exclusive CPUs runs here",
    ),
}


@pytest.mark.parametrize(("objects", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_are_told_to_people_and_machines_and_are_no_failure(
    objects: tuple[Any, ...], problem: str
) -> None:
    assert any(problem in text for text in only(*objects)["problems"])
    result = run("-o", "wide", objects=objects)
    assert problem in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(("capacity", "allocatable"), [("48", "46"), ("48", "48"), ("48", "many")])
def test_whole_reserved_cores_are_no_problem(capacity: str, allocatable: str) -> None:
    assert only(sized(node("n1").named().width(2), capacity, allocatable))["problems"] == []


def test_mixed_widths_are_told_even_if_one_node_is_asked_for() -> None:
    nodes = known("n1"), known("n2"), node("n3").width(4)
    found = report(*nodes, args=("n1",))
    assert [one["name"] for one in found["nodes"]] == ["n1"]
    (problem,) = found["problems"]
    assert "2 threads per core on n1, n2; 4 threads per core on n3" in problem
    unchecked = node("n3").topology(threadsPerCore=4, fullPcpusOnly=False)
    assert report(*nodes[:2], unchecked)["problems"] == []


TABLE = """\
NODE  POLICY            SCOPE  THREADS  NUMA   LARGEST  IN USE  REJECTED
n1    single-numa-node  ?      2        22,24  24/46    4/46    1 TopologyAffinityError; last 10:39Z
n2    ?                 ?      ?        ?      ?/?      0/?     -
n3    ?                 ?      2 ?      ?      ?/?      0/?     -
n4    ?                 ?      2 free   ?      ?/?      0/?     -

4 nodes, 1 unknown: no problems
"""


def test_the_table() -> None:
    unchecked = node("n4").topology(threadsPerCore=2, fullPcpusOnly=False)
    nodes = known(), node("n2"), node("n3").named().width(2), unchecked
    objects = *nodes, running(4), failed("n1")
    assert run(objects=objects).stdout == TABLE


def test_the_table_fits_120_columns_and_wide_says_the_rest_below_it() -> None:
    many = node("n1").named().topology(numa=[16] * 8, threadsPerCore=2, fullPcpusOnly=False)
    objects = (
        many,
        node("n2").width(4),
        failed("n1").rejected("n1", "SMTAlignmentError", MISALIGNED),
    )
    text = run(objects=objects).stdout
    assert max(map(len, text.splitlines())) <= 120
    assert "16,16,16,+5" in text
    wide = run("-o", "wide", objects=objects).stdout
    assert ",".join(["16"] * 8) in wide
    assert max(map(len, wide.splitlines())) <= 120
    assert "  n1: 4 threads per core: refused pod" in wide
    assert "would set:\n" in wide


WIDE = """\
Labels, and why they are there:
  the node's name
    node: n1, n2, n3
  set by hand
    threads-per-core=2: n1, n2
    threads-per-core=4: n3

Labels that the controller would set:
  annotation evencore.io/topology: NUMA nodes of 24, 24 CPUs, whole cores of 2 threads
    max-container-cpus=48: n1, n2
    max-pod-cpus=48: n1, n2
"""


def test_wide_says_each_reason_once_with_the_labels_and_nodes_that_it_is_for() -> None:
    two = [node(name).named().width(2).topology(numa=[24, 24]) for name in ("n1", "n2")]
    assert WIDE in run("-o", "wide", objects=(*two, node("n3").named().width(4))).stdout


def test_nothing_unprintable_reaches_the_terminal() -> None:
    text = run("-o", "wide", objects=(node("n1").label(names.NODE, "\x1b[31m"),)).stdout
    assert "\x1b" not in text


def test_what_could_not_be_read_is_told() -> None:
    result = run(objects=(node("n1"),), notes=("CPUs in use are not known: forbidden",))
    assert "CPUs in use are not known: forbidden" in result.stdout


WRONG = {
    "a node that is not there": (("n9",), "there is no node n9"),
    "a cluster that does not answer": (("--kubeconfig", "down"), "does not answer"),
    "two places to read from": (("-f", "x", "--context", "y"), "-f excludes"),
    "a file that is not there": (("-f", "missing.json"), "missing.json: there is no such file"),
}


@pytest.mark.parametrize(("args", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_and_ends_with_2(args: tuple[str, ...], message: str) -> None:
    result = run(*args, objects=(node("n1"),))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_odd_objects_are_passed_over() -> None:
    odd = {"kind": "Node", "metadata": {"name": "n1", "labels": 3}, "status": {"capacity": []}}
    found = from_dump(odd, {"kind": "Pod", "spec": 3}, {"kind": "Event"}, {"kind": 3}, 7)
    assert [one["name"] for one in found["nodes"]] == ["n1"]
