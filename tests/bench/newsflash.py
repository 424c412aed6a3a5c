"""From a rejection on the wire to the webhook answering with it: `python -m tests.bench.newsflash`.

A pocket cluster's API server and the real webhook process, over TLS. A pod is marked as rejected;
from before that request on, the webhook is asked about the next pod of its owner without a pause,
until it keeps it off the node. What is told includes the write itself and the last answer: it is
no less than what a controller would see. The yardstick is an answer of the same webhook.
"""

import base64
import http.client
import json
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import urllib3

from simulator.server import ApiServer, Options

from .certificate import client_context, make_certificate
from .cores import choose_cores
from .progress import clear, note
from .servers import BIN, EVENCORE, Place, free_port, running
from .stats import percentile

AIM_SECONDS = 0.050
_PATIENCE_SECONDS = 10.0
_MERGE = "application/merge-patch+json"
_CONTAINER = {
    "name": "a",
    "image": "registry.example/a:1",
    "resources": {
        "requests": {"cpu": "4", "memory": "1Gi"},
        "limits": {"cpu": "4", "memory": "1Gi"},
    },
}


class _Api:
    """The API server, asked as plainly as can be."""

    def __init__(self, server: ApiServer) -> None:
        self._url, self._pool = server.url, urllib3.PoolManager()

    def send(
        self, verb: str, path: str, body: object, content_type: str = "application/json"
    ) -> Any:  # noqa: ANN401  JSON
        headers = {"Content-Type": content_type}
        answer = self._pool.request(verb, self._url + path, body=json.dumps(body), headers=headers)
        if answer.status >= 300:
            raise click.ClickException(f"{verb} {path}: {answer.status}: {answer.data[:200]!r}")
        return json.loads(answer.data)


def _owner(api: _Api, number: int) -> dict[str, Any]:
    """Make a ReplicaSet that wants no pods; returns the reference to it."""
    labels = {"app": f"web-{number}"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [_CONTAINER]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    body = {"metadata": {"name": f"web-{number}"}, "spec": spec}
    made = api.send("POST", "/apis/apps/v1/namespaces/default/replicasets", body)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": made["metadata"]["name"],
        "uid": made["metadata"]["uid"],
        "controller": True,
    }


def _review(owner: dict[str, Any]) -> bytes:
    metadata = {"generateName": f"{owner['name']}-", "ownerReferences": [owner]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "namespace": "default"},
        "spec": {"containers": [_CONTAINER]},
    }
    request = {
        "uid": "00000000-0000-4000-8000-000000000001",
        "operation": "CREATE",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "default",
        "object": pod,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(review).encode()


def _keeps_off(webhook: http.client.HTTPSConnection, review: bytes) -> bool:
    webhook.request("POST", "/mutate", review, {"Content-Type": "application/json"})
    response = json.loads(webhook.getresponse().read())["response"]
    return b"NotIn" in base64.b64decode(response.get("patch", ""))


def _one(api: _Api, webhook: http.client.HTTPSConnection, number: int) -> tuple[float, float]:
    """Reject one pod; returns the seconds until it counts, and those of one answer."""
    owner = _owner(api, number)
    metadata = {"name": f"web-{number}-a", "ownerReferences": [owner]}
    path = "/api/v1/namespaces/default/pods"
    spec = {"nodeName": "n1", "containers": [_CONTAINER]}
    api.send("POST", path, {"metadata": metadata, "spec": spec})
    review = _review(owner)
    began = time.perf_counter()
    if _keeps_off(webhook, review):
        raise click.ClickException("the webhook keeps a pod off a node before anything happened")
    answer = time.perf_counter() - began
    status = {
        "phase": "Failed",
        "reason": "TopologyAffinityError",
        "message": "Pod was rejected: Resources cannot be allocated with Topology locality",
        "startTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    began = time.perf_counter()
    api.send("PATCH", f"{path}/web-{number}-a/status", {"status": status}, _MERGE)
    while not _keeps_off(webhook, review):
        if time.perf_counter() - began > _PATIENCE_SECONDS:
            raise click.ClickException("the webhook never heard of a rejection")
    return time.perf_counter() - began, answer


def measure(samples: int) -> tuple[list[float], list[float]]:
    """Return the seconds until each rejection counted, and those of answers meanwhile."""
    with (
        tempfile.TemporaryDirectory(prefix="evencore-bench-") as name,
        ApiServer(Options(secure=False)) as server,
    ):
        directory, port = Path(name), free_port()
        place = Place(directory, make_certificate(directory), choose_cores())
        (directory / "kubeconfig").write_text(server.kubeconfig())
        api = _Api(server)
        for node in ("n1", "n2"):
            api.send("POST", "/api/v1/nodes", {"metadata": {"name": node}})
        made = int(time.time())
        command = [str(BIN / "evencore"), "webhook", "--bind", f"127.0.0.1:{port}"]
        command += ["--kubeconfig", str(directory / "kubeconfig"), *place.tls()]
        with running(EVENCORE, command, port, place):
            context = client_context(place.certificate.certificate)
            with closing(
                http.client.HTTPSConnection("127.0.0.1", port, context=context)
            ) as webhook:
                # A node that was made in the second of a rejection has had room since.
                while int(time.time()) == made:
                    time.sleep(0.05)
                note(f"{samples} rejections")
                found = [_one(api, webhook, number) for number in range(samples)]
    return [seconds for seconds, _ in found], [answer for _, answer in found]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--samples", type=click.IntRange(1), default=300, show_default=True)
def main(samples: int) -> None:
    """Measure how soon the webhook heeds a rejection."""
    heeded, answers = measure(samples)
    clear()
    p50, p99 = percentile(heeded, 0.5), percentile(heeded, 0.99)
    click.echo(
        f"from a rejection on the wire to an answer that heeds it, {samples} times: "
        f"p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, "
        f"{p50 / percentile(answers, 0.5):.1f} times an answer"
    )
    click.echo(f"p99 under 50 ms: {'met' if p99 < AIM_SECONDS else 'NOT met'}")


if __name__ == "__main__":
    main()
