"""Making and deleting pods, with the Events that tell of it.

Kubernetes: RealPodControl and slowStartBatch of pkg/controller. A workload that cannot have its
pods is told by the first few, not by thousands: batches of 1, 2, 4, ….
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.controllers.recorder import NORMAL, WARNING
from simulator.errors import ApiError
from simulator.resources import PODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.controllers.background import Background
    from simulator.controllers.client import Client
    from simulator.objects import Object


async def create_pod(client: Client, owner: Object, pod: Object) -> None:
    """Make a pod of an owner."""
    try:
        made = await client.create(PODS, owner["metadata"]["namespace"], pod)
    except ApiError as refused:
        if refused.reason != "NotFound":  # its namespace is gone: nobody would read it
            client.record(owner, WARNING, "FailedCreate", f"Error creating: {refused.message}")
        raise
    client.record(owner, NORMAL, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")


async def delete_pod(client: Client, owner: Object, pod: Object) -> None:
    """Delete a pod of an owner; no error if somebody else was faster."""
    name = pod["metadata"]["name"]
    try:
        await client.delete(PODS, pod)
    except ApiError as refused:
        if refused.reason in ("NotFound", "Conflict"):
            return
        client.record(owner, WARNING, "FailedDelete", f"Error deleting: {refused.message}")
        raise
    client.record(owner, NORMAL, "SuccessfulDelete", f"Deleted pod: {name}")


async def create_slowly(
    background: Background, client: Client, owner: Object, pods: Sequence[Object]
) -> Exception | None:
    """Make pods in batches that double as long as all goes well; returns the first error."""
    left, size = list(pods), 1
    while left:
        batch, left = left[:size], left[size:]
        errors = await background.together([create_pod(client, owner, pod) for pod in batch])
        if errors:
            return errors[0]
        size *= 2
    return None


async def delete_all(
    background: Background, client: Client, owner: Object, pods: Sequence[Object]
) -> Exception | None:
    """Delete pods, all at once; returns the first error."""
    errors = await background.together([delete_pod(client, owner, pod) for pod in pods])
    return errors[0] if errors else None
