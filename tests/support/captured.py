"""Pods that a real API server sent to a webhook, and how their authors wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Object = dict[str, Any]

CAPTURES = Path(__file__).parents[1] / "captures"


def request(name: str) -> Object:
    """Give the request of a recorded review."""
    found: Object = json.loads((CAPTURES / f"{name}.json").read_text())["request"]
    return found


def as_written(seen: Object) -> Object:
    """Give a captured pod without what API server and admission added, as its author wrote it."""
    spec = dict(seen["spec"])
    for part in (
        "volumes",
        "terminationGracePeriodSeconds",
        "dnsPolicy",
        "serviceAccountName",
        "serviceAccount",
        "securityContext",
        "schedulerName",
        "priority",
        "enableServiceLinks",
        "preemptionPolicy",
    ):
        spec.pop(part, None)
    if spec["restartPolicy"] == "Always":
        del spec["restartPolicy"]
    written = [one for one in spec["tolerations"] if one.get("tolerationSeconds") != 300]
    spec["tolerations"] = written
    for part in ("initContainers", "containers"):
        if part in spec:
            spec[part] = [_container_as_written(one) for one in spec[part]]
    return {**seen, "spec": spec, "metadata": dict(seen["metadata"])}


def _container_as_written(given: Object) -> Object:
    added = (
        "volumeMounts",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "imagePullPolicy",
    )
    container = {key: value for key, value in given.items() if key not in added}
    resources = container.get("resources") or {}
    if resources.get("limits") == resources.get("requests"):
        container["resources"] = {k: v for k, v in resources.items() if k != "requests"}
    return container
