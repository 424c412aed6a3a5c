"""Case 57 against the pocket cluster: which rejected pods there are, and which may be deleted."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner
from simulator_support import Wire

from evencore.cli import main
from simulator.admission.chain import User
from simulator.api.bodies import MERGE_PATCH
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.testing import Result

_CASE = Path(__file__).parents[1] / "cases/57-cleanup-filters.yaml"
CASE: dict[str, Any] = yaml.safe_load(_CASE.read_text())
RBAC = "/apis/rbac.authorization.k8s.io/v1"
TOKENS = {"root": User("root", ("system:masters",)), "ann": User("ann", ())}
_OWNERS = {
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Node": "/api/v1/nodes",
}
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Root(Wire):
    """An admin in plain HTTP."""

    def ask(
        self, method: str, path: str, body: object = None, type_: str = MERGE_PATCH, **headers: str
    ) -> tuple[int, Any]:
        kind = type_ if method == "PATCH" else "application/json"
        return super().ask(method, path, body, kind, Authorization="Bearer root", **headers)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(Options(tokens=TOKENS, rbac=True, secure=False)) as running:
        yield running


@pytest.fixture
def root(server: ApiServer) -> Iterator[Root]:
    with Root(server) as wire:
        for name in ("a", "b", "c"):
            wire.post("/api/v1/namespaces", {"metadata": {"name": name}})
        for one in CASE["input"]["pods"]:
            make(wire, one)
        for user, token in (("root", "root"), ("ann", "ann")):
            # kubectl sends no token over plain HTTP; our client does.
            Path(f"{user}.kubeconfig").write_text(server.kubeconfig(token))
        yield wire


def make(wire: Root, one: dict[str, Any]) -> None:
    """Make one pod of the case, and its owner."""
    namespace, name = one["ns"], one["name"]
    metadata: dict[str, Any] = {"name": name, "annotations": one.get("annotations", {})}
    if kind := one["owner"]:
        metadata["ownerReferences"] = [owner(wire, kind, namespace, name)]
    containers = [{"name": "app", "image": "x"}]
    made = {"metadata": metadata, "spec": {"nodeName": one.get("node"), "containers": containers}}
    pods = f"/api/v1/namespaces/{namespace}/pods"
    wire.post(pods, made)
    number, unit = re.fullmatch(r"([0-9]+)([mhd])", one.get("age", "1h")).groups()  # type: ignore[union-attr]
    at = datetime.now(UTC) - timedelta(**{_UNITS[unit]: int(number)})
    status = {key: one[key] for key in ("phase", "reason", "message") if key in one}
    status["startTime"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    code, answer = wire.patch(f"{pods}/{name}/status", {"status": status}, MERGE_PATCH)
    assert code == 200, answer


def owner(wire: Root, kind: str, namespace: str, name: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    spec: dict[str, Any] = {
        "template": template,
        "selector": {"matchLabels": labels},
        "replicas": 0,
    }
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        spec = {"template": template}
    body = {"metadata": {"name": f"of-{name}"}, **({} if kind == "Node" else {"spec": spec})}
    made = wire.post(_OWNERS[kind].format(namespace), body)
    return {
        "apiVersion": made["apiVersion"],
        "kind": kind,
        "name": made["metadata"]["name"],
        "uid": made["metadata"]["uid"],
        "controller": True,
    }


def evencore(*args: str, user: str = "root") -> Result:
    return CliRunner().invoke(main, ["rejections", "--kubeconfig", f"{user}.kubeconfig", *args])


def left(root: Root) -> set[str]:
    return {one["metadata"]["name"] for one in root.get("/api/v1/pods")["items"]}


ALL = {one["name"] for one in CASE["input"]["pods"]}


def test_list_all(root: Root) -> None:
    del root
    table = evencore("--pods").stdout.splitlines()
    assert table[0].split() == ["NAMESPACE", "POD", "NODE", "AGE", "REASON", "OWNER"]
    assert {line.split()[1] for line in table[1:-1]} == {"t1", "t2", "t3", "u1", "bare"}
    (bare,) = (line for line in table if " bare " in line)
    assert bare.endswith("no controller")
    found = json.loads(evencore("--pods", "-o", "json").stdout)["pods"]
    assert {one["name"] for one in found} == {"t1", "t2", "t3", "u1", "bare"}


DELETED = {
    "clean-all": ((), {"t1", "t2", "t3", "u1"}),
    "clean-ns": (("-n", "a"), {"t1", "t2"}),
    "by-node": (("--node", "n1"), {"t1", "t2"}),
    "older": (("--older-than", "90m"), {"t2", "t3"}),
    "by-owner": (("--owner", "StatefulSet/of-t3"), {"t3"}),
    "by-reason": (("--reason", "smtalignmenterror"), {"t2"}),
}


@pytest.mark.parametrize(("args", "gone"), DELETED.values(), ids=DELETED)
def test_deleted_is_what_was_meant_and_only_with_yes(
    root: Root, args: tuple[str, ...], gone: set[str]
) -> None:
    dry = evencore("--delete-rejected", *args)
    assert (dry.exit_code, left(root)) == (0, ALL)
    assert "Nothing was deleted: add --yes" in dry.stdout
    done = evencore("--delete-rejected", *args, "--yes")
    assert done.exit_code == 0, done.output
    assert left(root) == ALL - gone
    assert f"{len(gone)} deleted" in done.stdout


def test_bad_ns(root: Root) -> None:
    done = evencore("--delete-rejected", "-n", "does-not-exist", "--yes")
    assert (done.exit_code, done.stdout) == (
        0,
        "0 deleted in namespace does-not-exist, 0 could not be, 0 kept\n",
    )
    assert left(root) == ALL


def test_forbidden(root: Root) -> None:
    """What may be deleted is, after the first that may not as well."""
    read = [{"apiGroups": [""], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    delete = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]
    subjects = [{"kind": "User", "name": "ann"}]
    group = "rbac.authorization.k8s.io"
    for name, rules in (("read", read), ("delete", delete)):
        root.post(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    reader = {"apiGroup": group, "kind": "ClusterRole", "name": "read"}
    root.post(
        f"{RBAC}/clusterrolebindings",
        {"metadata": {"name": "ann"}, "roleRef": reader, "subjects": subjects},
    )
    for namespace in ("a", "c"):
        root.post(
            f"{RBAC}/namespaces/{namespace}/rolebindings",
            {
                "metadata": {"name": "ann"},
                "roleRef": {**reader, "name": "delete"},
                "subjects": subjects,
            },
        )
    done = evencore("--delete-rejected", "--yes", user="ann")
    assert done.exit_code == 1
    assert left(root) == ALL - {"t1", "t2"}
    for name in ("t3", "u1"):
        assert f"evencore: b/{name} was not deleted:" in done.stderr
    assert done.stderr.count("was answered 403:") == 2


def test_who_may_read_one_namespace_alone_gets_what_can_be_known(root: Root) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "delete"]}]
    root.post(f"{RBAC}/clusterroles", {"metadata": {"name": "pods"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pods"}
    subjects = [{"kind": "User", "name": "ann"}]
    root.post(
        f"{RBAC}/namespaces/a/rolebindings",
        {"metadata": {"name": "ann"}, "roleRef": role, "subjects": subjects},
    )
    shown = evencore("-n", "a", user="ann")
    assert shown.exit_code == 0, shown.output
    assert "ReplicaSet/of-t1" in shown.stdout
    assert "where pods could go is not known: GET /api/v1/nodes" in shown.stdout
    refused = evencore(user="ann")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)


def test_no_cluster(server: ApiServer) -> None:
    closed = yaml.safe_load(server.kubeconfig())
    closed["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    Path("root.kubeconfig").write_text(yaml.safe_dump(closed))
    begin = time.monotonic()
    result = evencore("--pods")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert result.stderr.startswith("evencore: ")
    assert time.monotonic() - begin < 10
