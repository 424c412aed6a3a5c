"""The Flask yardstick: the webhook's job as most people would write it in Python.

Run by gunicorn with its gthread worker: `gunicorn tests.bench.flask_yardstick:app`.
Flask's own request parsing, the standard library's json, one dict after the other.
"""

import base64
import json
import math
from decimal import Decimal
from typing import Any

from flask import Flask, Response, jsonify, request

WIDTH = 2
"""Logical CPUs per physical core."""

_UNITS = {
    "m": Decimal("0.001"),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGT", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGT", 1)},
}

app = Flask(__name__)


def parse_quantity(text: str) -> Decimal:
    """Return a Kubernetes quantity exactly. Raises decimal.InvalidOperation."""
    number = text.rstrip("mkKMGTi")
    suffix = text[len(number) :]
    return Decimal(number) * _UNITS[suffix] if suffix else Decimal(number)


def guaranteed(containers: list[dict[str, Any]]) -> bool:
    """Tell whether every container asks for CPU and memory, and for as much as its limit."""
    for container in containers:
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name in ("cpu", "memory"):
            if name not in limits or name not in requests:
                return False
            limit = parse_quantity(limits[name])
            if not limit or limit != parse_quantity(requests[name]):
                return False
    return bool(containers)


def patch(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON Patch operations for a pod, none if nothing is to be changed."""
    spec, metadata = pod["spec"], pod["metadata"]
    lists = {kind: spec.get(kind) or [] for kind in ("initContainers", "containers")}
    if not guaranteed([container for found in lists.values() for container in found]):
        return []
    operations: list[dict[str, Any]] = []
    original, done = {}, []
    for kind, containers in lists.items():
        for index, container in enumerate(containers):
            was = container["resources"]["limits"]["cpu"]
            cpus = parse_quantity(was)
            aligned = math.ceil(cpus / WIDTH) * WIDTH
            if aligned == cpus:
                continue
            value, name = str(aligned), container["name"]
            for field in ("requests", "limits"):
                path = f"/spec/{kind}/{index}/resources/{field}/cpu"
                operations.append({"op": "replace", "path": path, "value": value})
            original[name] = was
            done.append(f"{name}: cpu {was} to {value}, whole cores of {WIDTH} threads")
    if not operations:
        return []
    if "annotations" not in metadata:
        operations.append({"op": "add", "path": "/metadata/annotations", "value": {}})
    for key, text in (("original-cpu", json.dumps(original)), ("decision", "; ".join(done))):
        path = f"/metadata/annotations/evencore.io~1{key}"
        operations.append({"op": "add", "path": path, "value": text})
    return operations


@app.post("/mutate")
def mutate() -> Response:
    """Answer one AdmissionReview."""
    review = request.get_json()
    asked = review["request"]
    answer = {"uid": asked["uid"], "allowed": True}
    operations = patch(asked["object"]) if asked["operation"] == "CREATE" else []
    if operations:
        encoded = base64.b64encode(json.dumps(operations).encode()).decode()
        answer |= {"patchType": "JSONPatch", "patch": encoded}
    return jsonify(apiVersion=review["apiVersion"], kind=review["kind"], response=answer)


@app.get("/readyz")
def readyz() -> str:
    """Say that requests are answered."""
    return "ok"
