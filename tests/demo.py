"""`make demo`: the real webhook over TLS, fed with requests recorded from a real API server.

Starts `evencore webhook` as a process of its own with a throw-away certificate and the nodes of
demo-nodes.yaml, sends it every request of tests/captures/, and prints what happened to each.
"""

from __future__ import annotations

import base64
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from servers import webhook

HERE = Path(__file__).parent
CAPTURES = HERE / "captures"
NODES = HERE / "demo-nodes.yaml"


def main() -> None:
    """Play the demo."""
    captures = sorted(CAPTURES.glob("*.json"))
    click.echo("Starting evencore webhook over TLS, without a cluster, on the nodes of")
    click.echo("tests/demo-nodes.yaml, and sending it what a real API server once sent.\n")
    with (
        tempfile.TemporaryDirectory() as directory,
        webhook(Path(directory), "--snapshot", str(NODES)) as server,
    ):
        connection = server.connect()
        changed = 0
        begin = time.monotonic()
        for capture in captures:
            body = capture.read_bytes()
            connection.request("POST", "/mutate?timeout=3s", body)
            response = json.loads(connection.getresponse().read())["response"]
            changed += "patch" in response
            _show(json.loads(body)["request"], response)
        milliseconds = (time.monotonic() - begin) * 1000 / len(captures)
        connection.close()
    click.echo(
        f"\n{len(captures)} requests, {changed} pods changed, {len(captures) - changed} passed as "
        f"they were, {milliseconds:.1f} ms each over the wire."
    )
    click.echo("Why, for a manifest of yours: .venv/bin/evencore explain -f FILE")


def _show(request: dict[str, Any], response: dict[str, Any]) -> None:
    pod = request.get("object") or request.get("oldObject") or {}
    name = request.get("name") or pod.get("metadata", {}).get("generateName", "") + "…"
    what = request["operation"] + (f" {request['subResource']}" if "subResource" in request else "")
    patch = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    result = click.style("changed", fg="green") if patch else click.style("as it was", dim=True)
    click.echo(f"{what:26.26} {name:18.18} {result}")
    lines = _decision(patch).replace("; container", "\ncontainer").replace("; not on", "\nnot on")
    for line in lines.splitlines() or response.get("warnings", []):
        click.echo(f"    {line}")


def _decision(patch: list[dict[str, Any]]) -> str:
    """Find the sentences in the annotation that the patch adds."""
    for operation in patch:
        value = operation["value"]
        if operation["path"].endswith("evencore.io~1decision"):
            return str(value)
        if operation["path"] == "/metadata/annotations":
            return str(value["evencore.io/decision"])
    return ""


if __name__ == "__main__":
    main()
