"""`evencore explain` with a cluster: nodes, rejections, namespaces, limits, and what it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from cli.explaining import (
    TWO_SMALL_ONE_LARGE,
    WEB,
    dump,
    namespace,
    node,
    only,
    pod,
    rejected,
    report,
    run,
    write,
)

from evencore.files import InputError


def unfit(one: dict[str, Any]) -> dict[tuple[str, bool], list[str]]:
    return {(g["reason"], g["keptOff"]): g["nodes"] for g in one["nodes"]["unfit"]}


def test_nodes_are_sorted_by_what_they_are_to_the_pod() -> None:
    cluster = dump("nodes.json", *TWO_SMALL_ONE_LARGE)
    one = only("-f", "-", "--nodes", cluster, stdin=pod(6))
    assert one["nodes"]["fit"] == ["n1"]
    assert one["nodes"]["mayFit"] == ["n4"]
    assert unfit(one) == {
        ("at most 2 CPUs for one container, 6 needed", True): ["n2"],
        ("4 threads per core, 6 CPUs are not whole cores", True): ["n3"],
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"annotations": {"evencore.io/topology": "off"}}},
        {"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}},
    ],
    ids=["topology off", "of a DaemonSet"],
)
def test_nodes_that_would_reject_the_pod_are_told_if_nothing_keeps_it_off(
    changes: dict[str, Any],
) -> None:
    cluster = dump("nodes.json", *TWO_SMALL_ONE_LARGE)
    manifest = json.dumps(json.loads(pod(6)) | changes)
    assert set(unfit(only("-f", "-", "--nodes", cluster, stdin=manifest))) == {
        ("at most 2 CPUs for one container, 6 needed", False),
        ("4 threads per core, 6 CPUs are not whole cores", False),
    }
    text = run("-f", "-", "--nodes", cluster, stdin=manifest).stdout
    assert "1 would reject it: at most 2 CPUs for one container, 6 needed (n2)" in text


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (
            {"nodeSelector": {"disk": "fast"}},
            "nodeSelector or required node affinity does not allow it",
        ),
        ({"nodeName": "elsewhere"}, "spec.nodeName is elsewhere"),
    ],
)
def test_nodes_that_the_pod_does_not_select(spec: dict[str, Any], reason: str) -> None:
    cluster = dump("nodes.json", *TWO_SMALL_ONE_LARGE)
    manifest = json.loads(pod(4))
    manifest["spec"] |= spec
    one = only("-f", "-", "--nodes", cluster, stdin=json.dumps(manifest))
    assert unfit(one) == {(reason, True): ["n1", "n2", "n3", "n4"]}


def test_only_some_names_are_shown_to_people_and_all_to_machines() -> None:
    cluster = dump("nodes.json", *(node(f"n{i}", threadsPerCore=2) for i in range(9)))
    assert (
        "9 of 9 fit (n0, n1, n2 and 6 more)"
        in run("-f", "-", "--nodes", cluster, stdin=pod(4)).stdout
    )
    assert len(only("-f", "-", "--nodes", cluster, stdin=pod(4))["nodes"]["fit"]) == 9


def made(kind: str) -> str:
    template = {"spec": json.loads(pod(4))["spec"]}
    spec = {"jobTemplate": {"spec": {"template": template}}, "template": template}
    group = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    metadata = {"name": "web", "namespace": "shop"}
    return json.dumps({"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec})


@pytest.mark.parametrize(
    ("kind", "owner_kind", "owner", "excluded"),
    [
        ("StatefulSet", "StatefulSet", "web", True),
        ("Deployment", "ReplicaSet", "web-5d4f8", True),
        ("ReplicaSet", "ReplicaSet", "web", True),
        ("Deployment", "ReplicaSet", "web-api-5d4f8", False),
        ("StatefulSet", "StatefulSet", "other", False),
        ("DaemonSet", "DaemonSet", "web", False),  # bound to its node: exclusion would end it
    ],
)
def test_failed_pods_exclude_their_node_from_the_next_pods_of_the_same_owner(
    kind: str, owner_kind: str, owner: str, *, excluded: bool
) -> None:
    nodes = [node(name, threadsPerCore=2) for name in ("n1", "n2")]
    cluster = dump("cluster.json", *nodes, rejected(owner_kind, owner))
    found = report("-f", "-", "--nodes", cluster, stdin=made(kind))
    assert found["asOf"] == "2026-03-01T10:40:00Z"  # of the newest rejection, not of today
    (one,) = found["pods"]
    assert one["nodes"]["fit"] == (["n2"] if excluded else ["n1", "n2"])
    if excluded:
        reason = "excluded until 10:42Z: TopologyAffinityError, 1 rejection"
        assert unfit(one) == {(reason, True): ["n1"]}


def test_the_event_of_a_pod_that_is_gone_excludes_its_node() -> None:
    """Of a StatefulSet nothing else is left; the manifest names no namespace."""
    told = {
        "kind": "Event",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-0", "uid": "u"},
        "reason": "TopologyAffinityError",
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": "2026-03-01T10:40:00Z",
    }
    nodes = [node(name, threadsPerCore=2) for name in ("n1", "n2")]
    cluster = dump("cluster.json", *nodes, told)
    manifest = json.loads(made("StatefulSet"))
    del manifest["metadata"]["namespace"]
    one = only("-f", "-", "-n", "shop", "--nodes", cluster, stdin=json.dumps(manifest))
    reason = "excluded until 10:42Z: TopologyAffinityError, 1 rejection"
    assert unfit(one) == {(reason, True): ["n1"]}
    elsewhere = only("-f", "-", "-n", "bar", "--nodes", cluster, stdin=json.dumps(manifest))
    assert elsewhere["nodes"]["fit"] == ["n1", "n2"]


@pytest.mark.parametrize(("kind", "owner"), [("Job", "web"), ("CronJob", "web-29384756")])
def test_a_pod_that_would_be_held_is_told_with_the_reason(kind: str, owner: str) -> None:
    """Of a Job after one rejection; where it may go is decided when it is let go."""
    nodes = [node(name, threadsPerCore=2) for name in ("n1", "n2")]
    cluster = dump("cluster.json", *nodes, rejected("Job", owner))
    one = only("-f", "-", "--nodes", cluster, stdin=made(kind))
    why = "1 rejection within 10m, the last on n1: TopologyAffinityError"
    assert one["hold"] == f"held, until 10:55Z at most: {why}"
    assert (one["outcome"], one["placement"]) == ("changed", [])
    assert (one["nodes"]["fit"], one["nodes"]["rejectedLately"]) == (["n1", "n2"], ["n1"])
    text = run("-f", "-", "--nodes", cluster, stdin=made(kind)).stdout
    assert f"  hold    held, until 10:55Z at most: {why}\n" in text
    assert "          rejected its like lately and not excluded (n1)\n" in text


def test_a_pod_that_would_be_held_is_a_change() -> None:
    cluster = dump("cluster.json", node("n1", threadsPerCore=2), rejected("Job", "web"))
    assert run("-f", "-", "--nodes", cluster, "--fail-on-change", stdin=made("Job")).exit_code == 1


def test_a_node_that_cannot_be_excluded_is_told() -> None:
    """The last one that is left to an owner whose pods are not held."""
    cluster = dump("cluster.json", node("n1", threadsPerCore=2), rejected("Job", "web"))
    policy = write("policy.yaml", "onRejection: exclude")
    one = only("-f", "-", "--nodes", cluster, "--policy", policy, stdin=made("Job"))
    assert one["hold"] is None
    assert (one["nodes"]["fit"], one["nodes"]["rejectedLately"]) == (["n1"], ["n1"])


def test_without_rejections_it_is_now() -> None:
    assert report("-f", "-", stdin=pod())["asOf"] == "2026-03-01T12:00:00Z"


@pytest.mark.parametrize(
    ("known", "called", "command"),
    [
        (namespace("shop", **{"evencore.io_admission": "enabled"}), True, None),
        (
            namespace("shop"),
            False,
            "kubectl label namespace shop evencore.io/admission=enabled",
        ),
        (
            namespace("shop", **{"evencore.io_admission": "disabled"}),
            False,
            "kubectl label namespace shop evencore.io/admission=enabled --overwrite",
        ),
        (namespace("other"), None, None),
    ],
)
@pytest.mark.parametrize("where", ["cluster", "manifest"])
def test_whether_the_namespace_takes_part(
    known: dict[str, Any],
    called: bool | None,  # noqa: FBT001  as the table has it
    command: str | None,
    where: str,
) -> None:
    file = dump("namespace.json", known)
    other = ("--nodes", file) if where == "cluster" else ("-f", file)
    one = only("-f", "-", "-n", "shop", *other, stdin=pod())
    assert (one["admission"]["called"], one["admission"]["command"]) == (called, command)
    changed = run("-f", "-", "-n", "shop", *other, "--fail-on-change", stdin=pod()).exit_code
    assert changed == (0 if called is False else 1)


def test_applying_a_namespace_leaves_the_label_that_the_cluster_has() -> None:
    cluster = dump("cluster.json", namespace("shop", **{"evencore.io_admission": "enabled"}))
    manifest = dump("namespace.json", namespace("shop"))
    one = only("-f", "-", "-f", manifest, "--nodes", cluster, "-n", "shop", stdin=pod())
    assert one["admission"]["called"] is True


def limit_range(name: str, **item: object) -> dict[str, Any]:
    item = {"type": "Container", **item}
    return {"kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": [item]}}


def test_limit_ranges_fill_in_and_bound_what_is_written() -> None:
    """As in a cluster: the webhook sees what LimitRanges made of the pod."""
    bare = '{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}'
    amounts = {"cpu": "1500m", "memory": "1Gi"}
    ranges = dump("ranges.json", limit_range("small", default=amounts, max={"cpu": "2"}))
    assert only("-f", "-", stdin=bare)["qosClass"] == "BestEffort"
    one = only("-f", "-", "-f", ranges, "-n", "shop", stdin=bare)
    assert one["qosClass"] == "Guaranteed"
    assert one["containers"][0]["cpu"] == {"before": "1500m", "after": "2"}
    kept = only("-f", "-", "-f", ranges, "-n", "shop", stdin=pod(3))
    assert kept["containers"][0]["reason"] == "kept: 4 is above the maximum 2 of LimitRange small"


@pytest.mark.parametrize(
    ("policy", "cpu", "want"),
    [
        ("cpu: keep", 3, "left-alone"),
        ("cpu: deny", 3, "denied"),
        ("roundFrom: 0.5", "100m", "unchanged"),
        ("defaultThreadsPerCore: 1", 3, "unchanged"),
        ("ignoredNamespaces: [shop]", 3, "left-alone"),
        ("", 3, "changed"),
    ],
)
def test_the_policy_file_counts(policy: str, cpu: object, want: str) -> None:
    write("policy.yaml", policy)
    args = ("--policy", "policy.yaml") if policy else ()
    assert only("-f", "-", "-n", "shop", *args, stdin=pod(cpu))["outcome"] == want


@pytest.mark.parametrize(
    ("annotations", "cpu", "want"),
    [
        ({"evencore.io/cpu": "warn"}, 3, "use 2 or 4: kubelets with full-pcpus-only refuse it"),
        ({"evencore.io/cpu": "deny"}, 3, "use 2 or 4: kubelets with full-pcpus-only refuse it"),
        ({"evencore.io/cpu": "warn"}, "2500m", "is a fraction, which no kubelet pins"),
        ({}, 4, "whole cores of 2 threads already"),
        ({}, 3, "whole cores of 2 threads"),
    ],
)
def test_each_container_has_its_reason(annotations: dict[str, str], cpu: object, want: str) -> None:
    one = only("-f", "-", stdin=pod(cpu, annotations=annotations))
    assert one["containers"][0]["reason"].startswith(want)


def test_one_container_may_be_kept() -> None:
    manifest = json.loads(pod(3, annotations={"evencore.io/cpu.app": "keep"}))
    spec = manifest["spec"]
    spec["initContainers"] = [spec["containers"][0] | {"name": "first"}]
    one = only("-f", "-", stdin=json.dumps(manifest))
    assert [(c["name"], c["kind"], c["cpu"]["after"]) for c in one["containers"]] == [
        ("app", "container", "3"),
        ("first", "init container", "4"),
    ]
    assert one["containers"][0]["reason"] == "kept: evencore.io/cpu is keep"


def test_without_nodes_it_says_what_the_default_is() -> None:
    text = run("-f", "-", stdin=pod()).stdout
    assert "no nodes are known: pods are aligned to 2 threads per core" in text


def test_a_mistake_of_an_admin_on_a_node_is_told() -> None:
    write("nodes.json", json.dumps(node("n1", treadsPerCore=2)))
    notes = report("-f", "-", "--nodes", "nodes.json", stdin=pod())["notes"]
    assert "node n1: annotation evencore.io/topology: treadsPerCore: unknown" in notes[0]


def test_colour_is_for_terminals_alone() -> None:
    assert "\x1b" not in run("-f", "-", stdin=pod(), colour=True).stdout


def test_names_cannot_steer_the_terminal() -> None:
    manifest = pod(3, name="\x1b[31mred\ud800").replace("app", "\\u001b[2J")
    result = run("-f", "-", stdin=manifest)
    assert "\x1b" not in result.output
    assert "Pod ?[31mred\ufffd" in result.stdout


def test_the_cluster_is_read_by_what_was_handed_in() -> None:
    asked = []

    def read_cluster(kubeconfig: str | None, context: str | None) -> list[object]:
        asked.append((kubeconfig, context))
        return [{"kind": "NodeList", "items": [node("n1", threadsPerCore=8)]}]

    result = run(
        "-f", "-", "--context", "blue", "-o", "json", stdin=pod(), read_cluster=read_cluster
    )
    assert json.loads(result.stdout)["pods"][0]["threadsPerCore"] == 8
    assert asked == [(None, "blue")]


def test_a_cluster_that_cannot_be_read_is_wrong_input() -> None:
    def read_cluster(_kubeconfig: str | None, _context: str | None) -> list[object]:
        raise InputError(["the cluster does not answer"])

    result = run("-f", "-", "--context", "blue", stdin=pod(), read_cluster=read_cluster)
    assert (result.exit_code, result.stderr) == (2, "evencore: the cluster does not answer\n")


_PROGRAM = "from evencore.cli import main; main()"


def test_a_real_process() -> None:
    write("web.yaml", WEB)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, "explain", "-f", "web.yaml", "--fail-on-change"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # its namespace does not take part
    assert done.stdout.startswith("Deployment web, namespace shop")
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
