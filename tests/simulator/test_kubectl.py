"""The real kubectl, doing what people do with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from simulator_kubectl import Kubectl

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.server import ApiServer

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - name: app
    image: registry.example/app:1
    resources: {limits: {cpu: 2500m, memory: 1Gi}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: app, image: "registry.example/shop:1"}]}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
status:
  capacity: {cpu: "8", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""


@pytest.fixture
def kubectl(server: ApiServer, tmp_path: Path) -> Kubectl:
    return Kubectl(server, tmp_path)


def words(line: str) -> list[str]:
    return line.split()


def test_apply_makes_changes_and_leaves_alone(kubectl: Kubectl) -> None:
    def apply(text: str) -> str:
        return kubectl("apply", "-f", "-", stdin=text)

    assert apply(DEPLOYMENT) == "deployment.apps/shop created\n"
    assert apply(DEPLOYMENT) == "deployment.apps/shop unchanged\n"
    changed = DEPLOYMENT.replace("replicas: 2", "replicas: 3").replace("shop:1", "shop:2")
    assert apply(changed) == "deployment.apps/shop configured\n"
    shop = json.loads(kubectl("get", "deployment", "shop", "-o", "json"))
    assert (shop["spec"]["replicas"], shop["metadata"]["generation"]) == (3, 2)
    container = shop["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["imagePullPolicy"]) == (
        "registry.example/shop:2",
        "IfNotPresent",
    )


def test_apply_removes_what_was_applied_before_and_is_no_longer(kubectl: Kubectl) -> None:
    more = POD.replace("{app: web}", "{app: web, extra: x}")
    kubectl("apply", "-f", "-", stdin=more)
    kubectl("label", "pod", "web", "other=stays")
    kubectl("apply", "-f", "-", stdin=POD)
    labels = json.loads(kubectl("get", "pod", "web", "-o", "json"))["metadata"]["labels"]
    assert labels == {"app": "web", "other": "stays"}


def test_a_dry_run_on_the_server_makes_nothing(kubectl: Kubectl) -> None:
    assert "(server dry run)" in kubectl("apply", "-f", "-", "--dry-run=server", stdin=POD)
    assert kubectl("get", "pods", "-o", "name") == ""


def test_get_shows_the_columns_of_people(kubectl: Kubectl) -> None:
    for text in (POD, DEPLOYMENT, NODE):
        kubectl("apply", "-f", "-", stdin=text)
    head, row = kubectl("get", "pods", "-o", "wide").splitlines()
    assert words(head)[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert words(row)[:4] == ["web", "0/1", "Pending", "0"]
    head, row = kubectl("get", "nodes").splitlines()
    assert words(head) == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert words(row)[:3] == ["n1", "Ready", "worker"]
    head, row = kubectl("get", "deploy").splitlines()
    assert words(head) == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert words(row)[:4] == ["shop", "0/2", "0", "0"]
    assert "default" in kubectl("get", "ns")


def test_get_yaml_is_the_object(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=POD)
    shown = yaml.safe_load(kubectl("get", "pod", "web", "-o", "yaml"))
    assert (shown["kind"], shown["apiVersion"]) == ("Pod", "v1")
    assert shown["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}
    resources = shown["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "2500m", "memory": "1Gi"}


def test_get_watch_prints_a_line_per_change(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=POD)
    with kubectl.start("get", "pods", "-w", "--no-headers") as watching:
        assert watching.stdout is not None
        assert words(watching.stdout.readline())[:3] == ["web", "0/1", "Pending"]
        patch = '{"status":{"phase":"Failed","reason":"SMTAlignmentError"}}'
        kubectl("patch", "pod", "web", "--subresource=status", "--type=merge", "-p", patch)
        assert words(watching.stdout.readline())[:3] == ["web", "0/1", "SMTAlignmentError"]
        watching.terminate()


def test_describe_shows_a_pod_with_its_events(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=POD)
    uid = json.loads(kubectl("get", "pod", "web", "-o", "json"))["metadata"]["uid"]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web", "uid": uid},
        "type": "Warning",
        "reason": "SMTAlignmentError",
        "message": "requested 3 cpus",
        "source": {"component": "kubelet", "host": "n1"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
    }
    kubectl("create", "-f", "-", stdin=json.dumps(event))
    described = kubectl("describe", "pod", "web")
    assert "QoS Class:" in described
    assert "SMTAlignmentError" in described.partition("Events:")[2]
    head, row = kubectl("get", "events").splitlines()
    assert words(head) == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert words(row)[1:4] == ["Warning", "SMTAlignmentError", "pod/web"]
    assert "requested 3 cpus" in kubectl("events")


def test_label_annotate_and_the_three_patches(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=POD)
    kubectl("label", "pod", "web", "tier=front")
    kubectl("annotate", "pod", "web", "note=hello")
    kubectl(
        "patch",
        "pod",
        "web",
        "--type=json",
        "-p",
        '[{"op":"remove","path":"/metadata/labels/app"}]',
    )
    kubectl("patch", "pod", "web", "--type=merge", "-p", '{"metadata":{"labels":{"m":"1"}}}')
    image = '{"spec":{"containers":[{"name":"app","image":"registry.example/app:2"}]}}'
    kubectl("patch", "pod", "web", "--type=strategic", "-p", image)
    pod = json.loads(kubectl("get", "pod", "web", "-o", "json"))
    assert pod["metadata"]["labels"] == {"tier": "front", "m": "1"}
    assert pod["metadata"]["annotations"]["note"] == "hello"
    assert pod["spec"]["containers"][0]["image"] == "registry.example/app:2"
    refused = kubectl("patch", "pod", "web", "-p", '{"spec":{"priority":5}}', fails=True)
    assert 'The Pod "web" is invalid: spec: Forbidden' in refused


def test_scale_and_delete(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("scale", "deployment", "shop", "--replicas=5")
    assert kubectl("get", "deploy", "shop", "-o", "jsonpath={.spec.replicas}") == "5"
    kubectl("scale", "deployment", "shop", "--current-replicas=4", "--replicas=1", fails=True)
    assert "deleted" in kubectl("delete", "deployment", "shop")
    assert "NotFound" in kubectl("get", "deployment", "shop", fails=True)
    kubectl("apply", "-f", "-", stdin=POD)
    assert "deleted" in kubectl("delete", "pod", "-l", "app=web")


def test_namespaces_selectors_short_names_and_cordon(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin="{kind: Namespace, apiVersion: v1, metadata: {name: team}}")
    kubectl("apply", "-n", "team", "-f", "-", stdin=POD)
    assert kubectl("get", "po", "-A", "-l", "app=web", "-o", "name") == "pod/web\n"
    assert kubectl("get", "po", "-A", "--field-selector=status.phase=Failed", "-o", "name") == ""
    kubectl("delete", "ns", "team")
    assert kubectl("get", "po", "-A", "-o", "name") == ""
    kubectl("apply", "-f", "-", stdin=NODE)
    kubectl("cordon", "n1")
    assert "Ready,SchedulingDisabled" in kubectl("get", "no")
    assert "deployments" in kubectl("api-resources")


def test_apply_on_the_server_side(kubectl: Kubectl) -> None:
    def apply(text: str, *more: str, fails: bool = False) -> str:
        return kubectl("apply", "--server-side", *more, "-f", "-", stdin=text, fails=fails)

    assert apply(DEPLOYMENT) == "deployment.apps/shop serverside-applied\n"
    other = DEPLOYMENT.replace("replicas: 2", "replicas: 4")
    assert ".spec.replicas" in apply(other, "--field-manager=other", fails=True)
    apply(other, "--field-manager=other", "--force-conflicts")
    assert kubectl("get", "deploy", "shop", "-o", "jsonpath={.spec.replicas}") == "4"


def test_create_of_kinds_that_kubectl_sends_as_protobuf(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "team")
    kubectl("create", "deployment", "d", "--image=app:1", "--replicas=3", "--port=80", "-n", "team")
    made = json.loads(kubectl("get", "deployment", "d", "-n", "team", "-o", "json"))
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert (made["spec"]["replicas"], container["ports"][0]["containerPort"]) == (3, 80)
    kubectl("create", "job", "j", "--image=app:1")
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    assert kubectl("get", "configmap", "c", "-o", "jsonpath={.data.a}") == "b"
    kubectl("create", "secret", "generic", "s", "--from-literal=a=b")
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.a}") == "Yg=="


SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: shop}, ports: [{port: 80}]}
"""


def test_a_service_is_there_for_manifests_and_tools(kubectl: Kubectl) -> None:
    assert "service/shop created" in kubectl("apply", "-f", "-", stdin=SERVICE)
    assert "service/shop unchanged" in kubectl("apply", "-f", "-", stdin=SERVICE)
    kubectl("create", "service", "clusterip", "two", "--tcp=80:web", "--tcp=443:8443")
    kubectl("create", "service", "externalname", "far", "--external-name", "shop.example")
    kubectl("patch", "service", "shop", "-p", '{"spec":{"ports":[{"port":80,"targetPort":90}]}}')
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=SERVICE)
    heading, far, shop, two = kubectl("get", "services", "-o", "wide").splitlines()
    names = ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE", "SELECTOR"]
    assert heading.split() == names
    assert far.split()[1:5] == ["ExternalName", "<none>", "shop.example", "<none>"]
    assert [shop.split()[place] for place in (1, 3, 4, 6)] == [
        "ClusterIP",
        "<none>",
        "80/TCP",
        "app=shop",
    ]
    assert two.split()[4] == "80/TCP,443/TCP"
    described = kubectl("describe", "service", "shop").splitlines()
    assert ["TargetPort:", "90/TCP"] in [line.split() for line in described]
    assert "is running at https://127.0.0.1:" in kubectl("cluster-info")


def test_drain_evicts(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=NODE)
    kubectl("apply", "-f", "-", stdin=POD.replace("spec:\n", "spec:\n  nodeName: n1\n"))
    failed = '{"status":{"phase":"Failed"}}'
    kubectl("patch", "pod", "web", "--subresource=status", "--type=merge", "-p", failed)
    kubectl("drain", "n1", "--force")
    assert kubectl("get", "pods", "-o", "name") == ""
