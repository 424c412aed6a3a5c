"""Case 59 against the pocket cluster and the real webhook: each state is found out."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import servers
import yaml
from certificates import Authority
from cli.test_rejections_case57 import RBAC, TOKENS, Root, make
from click.testing import CliRunner
from scripted_webhook import HOOKS, SERVICE, configuration, hook

from evencore.admin import COMMANDS, _examine
from evencore.doctor_command import make_doctor_command
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click
    from click.testing import Result
    from servers import Running

CASE: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases/59-doctor-silent-ignore.yaml").read_text()
)
ENABLED = {"evencore.io/admission": "enabled"}
SELECTOR = {"namespaceSelector": {"matchLabels": ENABLED}}
OWN = "evencore-system"
NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n7"}}


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("webhook")
    snapshot = directory / "nodes.yaml"
    snapshot.write_text(yaml.safe_dump(NODE))
    with servers.webhook(directory, "--snapshot", str(snapshot)) as running:
        yield running


class State:
    """A cluster that is healthy until a test makes it ill."""

    def __init__(self, root: Root, webhook: Running) -> None:
        self.root, self.webhook = root, webhook
        root.post("/api/v1/namespaces", {"metadata": {"name": OWN}})
        for name in ("a", "b"):
            root.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": ENABLED}})
        root.post("/api/v1/nodes", NODE)
        self.renew(datetime.now(UTC))

    def renew(self, at: datetime) -> None:
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases"
        spec = {
            "holderIdentity": "controller-1",
            "leaseDurationSeconds": 15,
            "renewTime": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        body = {"metadata": {"name": "evencore-controller"}, "spec": spec}
        status, _ = self.root.ask("POST", leases, body)
        if status == 409:
            assert self.root.ask("PATCH", f"{leases}/evencore-controller", body)[0] == 200

    def install(self, ca: str = "", port: int = 0, **more: object) -> None:
        url = f"https://127.0.0.1:{port or self.webhook.port}/mutate"
        bundle = base64.b64encode((ca or self.webhook.authority.pem).encode()).decode()
        entry: dict[str, Any] = {"failurePolicy": "Ignore", **SELECTOR, **more}
        entry.setdefault("reinvocationPolicy", "IfNeeded")
        where = entry.pop("where", {"url": url})
        made = hook("pods.evencore.io", {**where, "caBundle": bundle}, **entry)
        self.root.post(HOOKS, configuration(made, name="evencore"))

    def doctor(
        self, *args: str, user: str = "root", command: click.Command = COMMANDS["doctor"]
    ) -> Result:
        kubeconfig = f"{user}.kubeconfig"
        return CliRunner().invoke(command, ["--kubeconfig", kubeconfig, *args])

    def ids(self, **more: Any) -> tuple[int, set[str]]:  # noqa: ANN401  of `doctor`
        result = self.doctor("-o", "json", **more)
        assert result.stderr == ""
        return result.exit_code, {one["id"] for one in json.loads(result.stdout)["findings"]}


@pytest.fixture
def state(webhook: Running) -> Iterator[State]:
    services = {SERVICE: ("127.0.0.1", webhook.port)}
    options = Options(tokens=TOKENS, rbac=True, secure=False, services=services)
    with ApiServer(options) as server, Root(server) as root:
        for user in TOKENS:
            Path(f"{user}.kubeconfig").write_text(server.kubeconfig(user))
        yield State(root, webhook)


def test_healthy(state: State) -> None:
    state.install()
    result = state.doctor()
    assert result.stdout.splitlines() == [
        "healthy: 20 checks; the webhook is called",
        "taking part: 2 namespaces: a, b",
    ]
    assert result.exit_code == 0
    assert state.root.get("/api/v1/pods")["items"] == []  # nothing is left behind


def test_healthy_behind_a_service_that_only_the_cluster_can_reach(state: State) -> None:
    namespace, name = SERVICE
    state.install(where={"service": {"namespace": namespace, "name": name, "path": "/mutate"}})
    assert state.ids() == (0, set())


def test_cabundle_mismatch(state: State) -> None:
    state.install(ca=Authority().pem)
    assert state.ids() == (1, {"cabundle-mismatch", "webhook-not-called"})
    shown = state.doctor().stdout
    assert "error MutatingWebhookConfiguration/evencore (cabundle-mismatch)" in shown
    assert "was not signed by the caBundle" in shown
    assert "  $ kubectl -n evencore-system rollout restart deployment evencore-webhook" in shown


def test_nobody_there(state: State) -> None:
    """No endpoints: the pocket cluster has no Services; what an API server sees is the same."""
    state.install(port=1)
    assert state.ids() == (1, {"webhook-not-called", "webhook-unreachable"})


def test_expiring(state: State) -> None:
    """A certificate of 65 minutes, 10 minutes before its end."""
    state.install()
    soon = datetime.now(UTC) + timedelta(minutes=50)
    state.renew(soon)
    later = make_doctor_command(_examine, lambda: soon)
    assert state.ids(command=later) == (1, {"certificate-expiring"})


def test_selector_excludes_all(state: State) -> None:
    state.install(namespaceSelector={"matchLabels": {"pinning": "wanted", **ENABLED}})
    status, found = state.ids()
    assert (status, found) == (1, {"webhook-selector"})


def test_nobody_takes_part(state: State) -> None:
    state.install()
    for name in ("a", "b"):
        path = f"/api/v1/namespaces/{name}"
        state.root.ask("PATCH", path, {"metadata": {"labels": {"evencore.io/admission": None}}})
    assert state.ids() == (1, {"namespaces-none", "webhook-selector"})


def test_config_missing(state: State) -> None:
    assert state.ids() == (1, {"webhook-config-missing"})


def test_fail_without_own_exclusion(state: State) -> None:
    state.install(failurePolicy="Fail", namespaceSelector={})
    status, found = state.ids()
    assert (status, found) == (1, {"webhook-fail-closed"})
    assert "evencore-system and kube-system" in state.doctor().stdout


def test_fail_and_down_is_told_in_the_words_of_the_api_server(state: State) -> None:
    state.install(port=1, failurePolicy="Fail")
    _, found = state.ids()
    assert "webhook-call-fails" in found
    assert 'failed calling webhook "pods.evencore.io"' in " ".join(state.doctor().stdout.split())


def test_no_permission(state: State) -> None:
    """Everything may be read but the webhook configurations."""
    state.install()
    every = ["", "apps", "batch", "coordination.k8s.io", "topology.node.k8s.io"]
    rules = [{"apiGroups": every, "resources": ["*"], "verbs": ["get", "list", "create"]}]
    state.root.post(f"{RBAC}/clusterroles", {"metadata": {"name": "most"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "most"}
    subjects = [{"kind": "User", "name": "ann"}]
    state.root.post(
        f"{RBAC}/clusterrolebindings",
        {"metadata": {"name": "ann"}, "roleRef": role, "subjects": subjects},
    )
    result = state.doctor(user="ann")
    assert result.exit_code == 2
    assert "unknown mutatingwebhookconfigurations (not-checked)" in result.stdout
    assert "healthy" not in result.stdout
    assert "whether the webhook is called is not known" in result.stdout


def test_no_permission_at_all(state: State) -> None:
    state.install()
    assert state.ids(user="ann") == (2, {"not-checked"})


def failed(name: str, namespace: str, reason: str, message: str) -> dict[str, Any]:
    return {
        "ns": namespace,
        "name": name,
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "node": "n7",
        "owner": "ReplicaSet",
        "age": "1m",
    }


def test_wrong_smt(state: State) -> None:
    state.install()
    text = "SMT Alignment Error: requested 6 cpus not multiple cpus per core = 4"
    make(state.root, failed("odd", "a", "SMTAlignmentError", text))
    assert state.ids() == (1, {"wrong-width"})
    shown = state.doctor().stdout
    assert "Node n7 (wrong-width)" in shown
    assert "a/odd" in shown
    assert """$ kubectl annotate node n7 --overwrite evencore.io/topology='{"threads""" in shown


def test_all_excluded(state: State) -> None:
    state.install()
    make(state.root, failed("big", "a", "TopologyAffinityError", "no locality"))
    # After the node was made, to the second: what came before would be no news.
    soon = (datetime.now(UTC) + timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = "/api/v1/namespaces/a/pods/big/status"
    state.root.ask("PATCH", path, {"status": {"startTime": soon}})
    assert state.ids() == (1, {"all-nodes-excluded"})
    assert "ReplicaSet a/of-big" in state.doctor().stdout


def test_no_cluster() -> None:
    closed = {"cluster": {"server": "https://127.0.0.1:1"}, "name": "c"}
    user = {"user": {"token": "t"}, "name": "u"}
    context = {"context": {"cluster": "c", "user": "u"}, "name": "x"}
    content = {"clusters": [closed], "users": [user], "contexts": [context], "current-context": "x"}
    Path("root.kubeconfig").write_text(yaml.safe_dump(content))
    result = CliRunner().invoke(COMMANDS["doctor"], ["--kubeconfig", "root.kubeconfig"])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_every_state_of_the_case_has_a_test() -> None:
    elsewhere = {"no-endpoints": "test_nobody_there"}
    names = set(globals())
    for one in CASE["input"]["states"]:
        wanted = f"test_{one['id'].replace('-', '_')}"
        assert elsewhere.get(one["id"], wanted) in names


def test_case_31_a_template_that_names_its_node(state: State) -> None:
    state.install()
    made = failed("pinned", "a", "TopologyAffinityError", "no locality")
    make(state.root, made)
    path = "/apis/apps/v1/namespaces/a/replicasets/of-pinned"
    change = {"spec": {"template": {"spec": {"nodeName": "n7"}}}}
    assert state.root.ask("PATCH", path, change)[0] == 200
    reference = state.root.get("/api/v1/namespaces/a/pods/pinned")["metadata"]["ownerReferences"]
    for number in range(2):
        again(state.root, {**made, "name": f"pinned-{number}"}, reference)
    status, found = state.ids()
    assert status == 1
    assert "node-name-in-template" in found
    assert "ReplicaSet a/of-pinned (node-name-in-template)" in state.doctor().stdout


def again(root: Root, one: dict[str, Any], reference: list[dict[str, Any]]) -> None:
    """Make one more pod of the same owner."""
    make(root, {**one, "owner": None})
    path = f"/api/v1/namespaces/{one['ns']}/pods/{one['name']}"
    assert root.ask("PATCH", path, {"metadata": {"ownerReferences": reference}})[0] == 200


def test_what_may_be_read_but_not_tried_is_unknown(state: State) -> None:
    """A reader's own permissions end at the trial."""
    state.install()
    groups = ["*"]
    rules = [{"apiGroups": groups, "resources": ["*"], "verbs": ["get", "list"]}]
    state.root.post(f"{RBAC}/clusterroles", {"metadata": {"name": "reader"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    subjects = [{"kind": "User", "name": "ann"}]
    state.root.post(
        f"{RBAC}/clusterrolebindings",
        {"metadata": {"name": "ann"}, "roleRef": role, "subjects": subjects},
    )
    assert state.ids(user="ann") == (2, {"webhook-called"})
