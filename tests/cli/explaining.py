"""Runs `evencore explain` in the process of the test, and writes the files that it reads."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from evencore.explain_command import make_explain_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.testing import Result

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


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


def defaulted_pod(cpu: object) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(pod(cpu))
    resources = value["spec"]["containers"][0]["resources"]
    resources["requests"] = dict(resources["limits"])
    return value


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
