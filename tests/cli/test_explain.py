"""`evencore explain` on the command line: what people and pipelines see of it."""

from __future__ import annotations

import json
import subprocess
import textwrap

import pytest
import yaml
from cli.explaining import (
    TWO_SMALL_ONE_LARGE,
    WEB,
    defaulted_pod,
    dump,
    node,
    only,
    pod,
    rejected,
    report,
    run,
    write,
)
from jsonpatch import apply_patch
from servers import EVENCORE

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


def test_what_yaml_takes_for_no_text_is_to_be_quoted() -> None:
    write("off.yaml", pod(annotations={"evencore.io/topology": False}))
    result = run("-f", "off.yaml")
    assert result.exit_code == 2
    assert "metadata.annotations['evencore.io/topology'] is not text: quote it" in result.stdout


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
exclusions, holds, ignoredNamespaces, onRejection, rejections, roundFrom, topology
        """)


POD_KEYS = {
    "admission",
    "containers",
    "document",
    "file",
    "hold",
    "kind",
    "name",
    "namespace",
    "nodes",
    "notes",
    "now",
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
    after = apply_patch(defaulted_pod("2500m"), one["patch"])
    assert after["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "4"
    assert after["metadata"]["annotations"]["evencore.io/original-cpu"] == '{"app":"2500m"}'


def test_what_was_patched_is_not_patched_again() -> None:
    cluster = dump("nodes.json", *TWO_SMALL_ONE_LARGE)
    one = only("-f", "-", "--nodes", cluster, stdin=pod(3))
    after = json.dumps(apply_patch(defaulted_pod(3), one["patch"]))
    again = only("-f", "-", "--nodes", cluster, stdin=after)
    assert (one["outcome"], again["outcome"]) == ("changed", "unchanged")
    assert again["nodes"] == one["nodes"]


@pytest.mark.parametrize(
    ("output", "code", "words"),
    [(">/dev/full", 2, "evencore: the report cannot be written: No space left"), (">&-", 0, "")],
)
def test_an_output_that_takes_nothing_is_no_traceback(output: str, code: int, words: str) -> None:
    shell = ["sh", "-c", f'exec "$0" explain -f - {output}', str(EVENCORE)]
    done = subprocess.run(shell, input=pod(), text=True, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.startswith(words)) == (code, True)
    assert "Traceback" not in done.stderr


NAMELESS = {
    "one manifest": ([None], "the manifest names no namespace; say with -n"),
    "all of several": ([None, None], "the manifests name no namespace; say with -n"),
    "one of several": ([None, "shop"], "1 of 2 manifests names no namespace; say with -n"),
    "some of several": ([None, None, "shop"], "2 of 3 manifests name no namespace; say with -n"),
}


@pytest.mark.parametrize(("namespaces", "note"), NAMELESS.values(), ids=NAMELESS)
def test_manifests_that_name_no_namespace_are_counted(
    namespaces: list[str | None], note: str
) -> None:
    made = [pod(3, **({"namespace": name} if name else {})) for name in namespaces]
    told = report("-f", write("pods.yaml", "---\n".join(f"{one}\n" for one in made)))
    assert [text for text in told["notes"] if text.startswith(note)]
