"""Prints what the pocket cluster's API costs, from a process of its own: part of `make bench`.

10,000 pods of 1.7 KB and 500 nodes; one client, one request at a time, plain HTTP. Then how fast
its loops of rejected pods turn, beside those of a real control plane.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import rejection_loops
import urllib3

if TYPE_CHECKING:
    from collections.abc import Callable

PODS, NODES = 10_000, 500
SAMPLE = 1_000
PATH = "/api/v1/namespaces/default/pods"
CAPTURE = Path(__file__).parents[1] / "captures" / "16-create-web.json"
JSON, MERGE = "application/json", "application/merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Api:
    """One keep-alive connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = urllib3.PoolManager(retries=False, maxsize=1)

    def ask(
        self, method: str, path: str, body: object = None, type_: str = JSON, **more: str
    ) -> bytes:
        """Send a request that must succeed."""
        encoded = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": type_, **more}
        answer = self._pool.request(method, self._url + path, body=encoded, headers=headers)
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.data.decode()}")
        return answer.data


def tell(what: str, count: int, work: Callable[[], Any]) -> None:
    """Print how long something takes, or how often it can be done in a second."""
    started = time.perf_counter()
    work()
    took = time.perf_counter() - started
    figure = f"{took * 1000:8.0f} ms" if count == 1 else f"{count / took:8.0f} a second"
    click.echo(f"  {what:38} {figure}")


def sample_pod() -> dict[str, Any]:
    """Make a pod as a ReplicaSet's pod is, without owner."""
    spec = json.loads(CAPTURE.read_text())["request"]["object"]["spec"]
    del spec["volumes"], spec["containers"][0]["volumeMounts"]
    return {"metadata": {"generateName": "web-", "labels": {"app": "web"}}, "spec": spec}


def main() -> None:
    """Start the server, measure, stop it."""
    command = [sys.executable, "-m", "simulator", "--plain"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        click.echo(f"Pocket cluster: {line.split(chr(32), 1)[1].strip()}")
        click.echo(f"  with Python and imports {time.perf_counter() - began:.2f} s")
        try:
            measure(Api(line.split()[0]))
        finally:
            process.terminate()
    click.echo("Loops of rejected pods: as measured, here (in virtual time), deviation")
    for line in rejection_loops.table():
        click.echo(f"  {line}")


def measure(api: Api) -> None:
    """Fill the cluster and read it in several ways."""
    for number in range(NODES):
        api.ask("POST", "/api/v1/nodes", {"metadata": {"name": f"n{number}"}})
    pod = sample_pod()
    tell("pods created", PODS, lambda: [api.ask("POST", PATH, pod) for _ in range(PODS)])
    tell(f"first list of {PODS} pods", 1, lambda: api.ask("GET", PATH))
    tell(f"next list of {PODS} pods", 1, lambda: api.ask("GET", PATH))
    failed = f"{PATH}?fieldSelector=status.phase%3DFailed"
    tell("the failed ones of them (none)", 1, lambda: api.ask("GET", failed))
    tell("all of them as a table", 1, lambda: api.ask("GET", PATH, Accept=TABLE))
    tell(f"list of {NODES} nodes", 1, lambda: api.ask("GET", "/api/v1/nodes"))
    items = json.loads(api.ask("GET", f"{PATH}?limit={SAMPLE}"))["items"]
    paths = [f"{PATH}/{item['metadata']['name']}" for item in items]
    tell("pods read", SAMPLE, lambda: [api.ask("GET", path) for path in paths])
    binding = {"target": {"name": "n1"}}
    tell("pods bound", SAMPLE, lambda: [api.ask("POST", f"{p}/binding", binding) for p in paths])
    status = {"status": {"phase": "Running"}}
    tell(
        "status patched",
        SAMPLE,
        lambda: [api.ask("PATCH", f"{path}/status", status, MERGE) for path in paths],
    )


if __name__ == "__main__":
    main()
