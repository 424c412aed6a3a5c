"""What a story looks at in a pod."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def app_of(pod: Object) -> str:
    """Return which workload of the story a pod belongs to."""
    return str((pod["metadata"].get("labels") or {}).get("app", ""))


def gates_of(pod: Object) -> list[str]:
    """Return the names of a pod's scheduling gates."""
    return [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
