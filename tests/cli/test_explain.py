"""`evencore explain` on the command line: what people and pipelines see of it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner
from jsonpatch import apply_patch

from evencore.explain_command import make_explain_command
from evencore.files import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from click.testing import Result

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(
    *args: str,
    stdin: str | None = None,
    read_cluster: Callable[[str | None, str | None], Iterable[object]] | None = None,
    colour: bool = False,
) -> Result:
    command = make_explain_command(read_cluster, lambda: NOW)
    return CliRunner().invoke(command, args, input=stdin, color=colour)


def report(*args: str, stdin: str | None = None) -> dict[str, Any]:
    result = run(*args, "-o", "json", stdin=stdin)
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def only(*args: str, stdin: str | None = None) -> dict[str, Any]:
    (pod,) = report(*args, stdin=stdin)["pods"]
    return dict(pod)


def write(name: str, text: str) -> str:
    """Write a file in the present directory, which is the test's own."""
    with open(name, "w") as file:  # noqa: PTH123  a name is shorter than a Path here
        file.write(textwrap.dedent(text))
    return name


def pod(cpu: object = 3, **metadata: object) -> str:
    resources = {"limits": {"cpu": cpu, "memory": "1Gi"}}
    spec = {"containers": [{"name": "app", "resources": resources}]}
    return json.dumps({"kind": "Pod", "metadata": {"name": "web"} | metadata, "spec": spec})


def node(name: str, **annotation: object) -> dict[str, Any]:
    annotations = {"evencore.io/topology": json.dumps(annotation)} if annotation else {}
    return {"kind": "Node", "metadata": {"name": name, "annotations": annotations}}


def namespace(name: str, **labels: str) -> dict[str, Any]:
    named = {key.replace("_", "/"): value for key, value in labels.items()}
    return {"kind": "Namespace", "metadata": {"name": name, "labels": named}}


def rejected(kind: str, owner: str, at: str = "10:40") -> dict[str, Any]:
    reference = {"kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}
    return {
        "kind": "Pod",
        "metadata": {"uid": f"u-{at}", "namespace": "shop", "ownerReferences": [reference]},
        "spec": {"nodeName": "n1"},
        "status": {
            "phase": "Failed",
            "reason": "TopologyAffinityError",
            "startTime": f"2026-03-01T{at}:00Z",
        },
    }


def dump(name: str, *items: object) -> str:
    return write(name, json.dumps({"kind": "List", "items": items}))


TWO_SMALL_ONE_LARGE = (
    node("n1", threadsPerCore=2, numa=[22, 22], policy="single-numa-node"),
    node("n2", threadsPerCore=2, numa=[2, 2], policy="single-numa-node"),
    node("n3", threadsPerCore=4, numa=[22], fullPcpusOnly=True),
    node("n4"),
)

WEB = """\
    apiVersion: v1
    kind: Namespace
    metadata: {name: shop}
    ---
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      template:
        spec:
          nodeSelector: {}
          containers:
          - {name: app, resources: {limits: {cpu: 3, memory: 1Gi}}}
          - {name: logs, resources: {limits: {cpu: 2.5, memory: 1Gi}}}
    ---
    kind: Service
    metadata: {name: web}
    ---
    kind: CronJob
    metadata: {name: nightly, namespace: shop}
    spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: run}]}}}}}
"""

WANTED = """\
Deployment web, namespace shop (web.yaml, document 2, line 5)
  changed: Guaranteed, 2 threads per core
  cpu     app   3 → 4      whole cores of 2 threads
          logs  2500m → 4  whole cores of 2 threads; 1500m more
  place   not on nodes of 2 CPUs per container: 4 needed
          not on n1 until 10:42Z: TopologyAffinityError, 1 rejection
  nodes   1 of 4 fits (n3)
          1 may fit, nothing is known of their cores (n4)
          1 not: at most 2 CPUs for one container, 4 needed (n2)
          1 not: excluded until 10:42Z: TopologyAffinityError, 1 rejection (n1)
  patch   replace /spec/containers/0/resources/requests/cpu "4"
          replace /spec/containers/0/resources/limits/cpu "4"
          replace /spec/containers/1/resources/requests/cpu "4"
          replace /spec/containers/1/resources/limits/cpu "4"
          add /spec/affinity {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"…
          add /metadata/annotations {"evencore.io/decision": "container app: cpu 3 → 4, whole cores…
          add /metadata/labels {"evencore.io/steering": "excluded"}
  warning namespace shop lacks the label evencore.io/admission=enabled: evencore is not called for
            its pods
          to change that: kubectl label namespace shop evencore.io/admission=enabled
  note    judged with the rejections of ReplicaSet web-5d4f8; a changed template starts without them

CronJob nightly, namespace shop (web.yaml, document 4, line 18)
  left alone: its QoS class is BestEffort: no kubelet pins its CPUs
  warning namespace shop lacks the label evencore.io/admission=enabled: evencore is not called for
            its pods
          to change that: kubectl label namespace shop evencore.io/admission=enabled

2 pods: 1 changed, 1 left alone; passed over: 1 Namespace, 1 Service
"""


def test_the_text_for_a_person() -> None:
    write("web.yaml", WEB)
    labelled = node("n2")
    labelled["metadata"]["labels"] = {
        "evencore.io/threads-per-core": "2",
        "evencore.io/max-container-cpus": "2",
    }
    n1, _, n3, n4 = TWO_SMALL_ONE_LARGE
    dump("cluster.json", n1, labelled, n3, n4, rejected("ReplicaSet", "web-5d4f8"))
    result = run("-f", "web.yaml", "--nodes", "cluster.json")
    assert result.stdout == WANTED
    assert (result.stderr, result.exit_code) == ("", 0)
    assert all(len(line) <= 100 for line in result.stdout.splitlines())


def test_what_is_wrong_names_file_container_and_value_and_all_of_it_is_told() -> None:
    write("web.yaml", "\n---\n".join([pod("2 cores"), pod(4), '{"kind": "Job"}', '{"a": 1}']))
    result = run("-f", "web.yaml")
    assert result.exit_code == 2
    assert result.stderr == textwrap.dedent("""\
        evencore: web.yaml, document 3, line 5: Job (without a name) has no \
spec.template.spec.containers
        evencore: web.yaml, document 4, line 7: an object without a kind is no manifest: those \
say apiVersion, kind
        evencore: web.yaml, document 1, line 1: Pod web: container app: limits.cpu '2 cores' is \
no Kubernetes quantity, such as 2, 2500m, 0.5 or 1e3 (units n u m k M G T P E, Ki to Ei)
        """)
    assert "2 pods: 1 unchanged, 1 unreadable" in result.stdout


JUNK = ["1e3m", "2 cores", "1K", "0x4", "1_000", "", "--1", "1,5", "NaN", "1e", "٣", "-1", -1, True]


@pytest.mark.parametrize("value", [*JUNK, None, [], {}, "1e999999999999"])
def test_no_junk_is_taken_for_a_quantity(value: object) -> None:
    result = run("-f", "-", stdin=pod(value))
    assert result.exit_code == 2
    assert "stdin: Pod web: container app: limits.cpu " in result.stderr
    assert "patch" not in result.stdout


@pytest.mark.parametrize(
    ("manifest", "flags", "want"),
    [
        (pod(3), (), 0),
        (pod(3), ("--fail-on-change",), 1),
        (pod(4), ("--fail-on-change",), 0),
        (pod("x"), ("--fail-on-change",), 2),
        (pod(3, annotations={"evencore.io/cpu": "deny"}), ("--fail-on-change",), 1),
        (pod(3, annotations={"evencore.io/cpu": "warn"}), ("--fail-on-change",), 0),
        (pod(3, annotations={"evencore.io/cpu": "keep"}), ("--fail-on-change",), 0),
        (pod(3, namespace="kube-system"), ("--fail-on-change",), 0),
        (pod(3), ("--fail-on-change", "-n", "kube-system"), 0),
        ('{"kind": "Service"}', ("--fail-on-change",), 0),
    ],
)
def test_exit_status(manifest: str, flags: tuple[str, ...], want: int) -> None:
    assert run("-f", "-", *flags, stdin=manifest).exit_code == want


@pytest.mark.parametrize(
    ("args", "want"),
    [
        ((), "Missing option '-f'"),
        (("-f", "-", "--nodes", "-"), "stdin can be read only once"),
        (("-f", "-", "--policy", "-"), "stdin can be read only once"),
        (("-f", "-", "--nodes", "n", "--context", "c"), "exclude each other"),
        (("-f", "-", "--kubeconfig", "c"), "reading a cluster is not available here"),
        (("-f", "-", "-o", "xml"), "'xml' is not one of"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], want: str) -> None:
    result = run(*args, stdin=pod())
    assert result.exit_code == 2
    assert want in result.stderr


def test_the_problems_of_all_files_are_told_at_once() -> None:
    write("policy.yaml", "cpu: rond-up\ncolour: red\n")
    write("nodes.json", "{")
    result = run("-f", "none.yaml", "--nodes", "nodes.json", "--policy", "policy.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == textwrap.dedent("""\
        evencore: none.yaml: there is no such file
        evencore: nodes.json: line 1, column 2: this is no JSON: Expecting property name enclosed \
in double quotes
        evencore: policy.yaml: cpu: must be 'round-up', 'warn', 'deny' or 'keep', not 'rond-up'
        evencore: policy.yaml: colour: unknown; allowed here: cpu, defaultThreadsPerCore, \
exclusions, ignoredNamespaces, onRejection, roundFrom, topology
        """)


POD_KEYS = {
    "admission",
    "containers",
    "document",
    "file",
    "kind",
    "name",
    "namespace",
    "nodes",
    "notes",
    "outcome",
    "patch",
    "path",
    "placement",
    "problems",
    "qosClass",
    "reason",
    "threadsPerCore",
    "warnings",
}


@pytest.mark.parametrize("manifest", [pod(3), pod(4), pod("100m", namespace="kube-system")])
def test_the_keys_for_machines_are_always_there(manifest: str) -> None:
    write("nodes.json", json.dumps(node("n1", threadsPerCore=2)))
    found = report("-f", "-", "--nodes", "nodes.json", stdin=manifest)
    assert found.keys() == {
        "apiVersion",
        "asOf",
        "kind",
        "nodes",
        "notes",
        "passedOver",
        "pods",
        "problems",
    }
    (one,) = found["pods"]
    assert one.keys() == POD_KEYS
    assert one["admission"].keys() == {"called", "command", "reason"}
    assert one["containers"][0].keys() == {"cpu", "kind", "name", "reason"}
    if one["nodes"] is not None:
        assert one["nodes"].keys() == {"fit", "mayFit", "rejectedLately", "unfit"}
    as_yaml = run("-f", "-", "--nodes", "nodes.json", "-o", "yaml", stdin=manifest)
    assert yaml.safe_load(as_yaml.stdout) == found


def test_an_unreadable_pod_has_the_same_keys_and_its_problems() -> None:
    result = run("-f", "-", "-o", "json", stdin=pod("x"))
    (one,) = json.loads(result.stdout)["pods"]
    assert one.keys() == POD_KEYS
    assert (one["outcome"], len(one["problems"])) == ("unreadable", 1)


def test_the_patch_is_the_one_that_the_webhook_would_send() -> None:
    """It holds for the pod after the API server's defaulting, which fills in the request."""
    one = only("-f", "-", stdin=pod("2500m"))
    sent = json.loads(pod("2500m"))
    resources = sent["spec"]["containers"][0]["resources"]
    resources["requests"] = dict(resources["limits"])
    after = apply_patch(sent, one["patch"])
    assert after["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "4"
    assert after["metadata"]["annotations"]["evencore.io/original-cpu"] == '{"app":"2500m"}'


def test_what_was_patched_is_not_patched_again() -> None:
    cluster = dump("nodes.json", *TWO_SMALL_ONE_LARGE)
    one = only("-f", "-", "--nodes", cluster, stdin=pod(3))
    after = json.dumps(apply_patch(defaulted_pod(3), one["patch"]))
    again = only("-f", "-", "--nodes", cluster, stdin=after)
    assert (one["outcome"], again["outcome"]) == ("changed", "unchanged")
    assert again["nodes"] == one["nodes"]


def defaulted_pod(cpu: object) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(pod(cpu))
    resources = value["spec"]["containers"][0]["resources"]
    resources["requests"] = dict(resources["limits"])
    return value


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
    return json.dumps(
        {"kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    )


@pytest.mark.parametrize(
    ("kind", "owner_kind", "owner", "excluded"),
    [
        ("StatefulSet", "StatefulSet", "web", True),
        ("Job", "Job", "web", True),
        ("Deployment", "ReplicaSet", "web-5d4f8", True),
        ("CronJob", "Job", "web-29384756", True),
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


def test_a_node_that_cannot_be_excluded_is_told() -> None:
    cluster = dump("cluster.json", node("n1", threadsPerCore=2), rejected("Job", "web"))
    one = only("-f", "-", "--nodes", cluster, stdin=made("Job"))
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
    assert "no nodes were given: pods are aligned to 2 threads per core" in text


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
