"""What a kubelet tells of the containers of a pod, as Events. Pure.

Kubernetes: images/image_manager.go, kuberuntime_container.go, in the words of 1.36. An image is
always there already; imagePullPolicy Always asks the registry all the same, so that it is pulled,
in no time and of no size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.kubelet.restarts import backing_off
from simulator.recording import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.objects import Object


def started(pod: Object, *, again: bool = False) -> Iterator[Told]:
    """Tell that containers were made and run; `again`: only those that had ended."""
    for container, place in containers(pod, apps_only=again):
        yield from _pulled(container, place)
        yield Told("Normal", "Created", "Container created", place=place)
        yield Told("Normal", "Started", "Container started", place=place)


def waiting(pod: Object) -> Iterator[Told]:
    """Tell that containers ended too often to be started at once."""
    for container, place in containers(pod, apps_only=True):
        yield Told("Warning", "BackOff", backing_off(pod, container["name"]), place=place)


def stopping(pod: Object) -> Iterator[Told]:
    """Tell that containers are stopped."""
    for container, place in containers(pod, apps_only=False):
        if not place.startswith("spec.initContainers") or _is_sidecar(container):
            text = f"Stopping container {container['name']}"
            yield Told("Normal", "Killing", text, place=place)


def containers(pod: Object, *, apps_only: bool) -> Iterable[tuple[Object, str]]:
    """Give containers with the place that Events name, in the order in which they start."""
    for part in ("containers",) if apps_only else ("initContainers", "containers"):
        for one in pod["spec"].get(part) or ():
            yield one, f"spec.{part}{{{one['name']}}}"


def _pulled(container: Object, place: str) -> Iterator[Told]:
    image = container.get("image", "")
    if container.get("imagePullPolicy") != "Always":
        text = (
            f'Container image "{image}" already present on machine and can be accessed by the pod'
        )
        yield Told("Normal", "Pulled", text, place=place)
        return
    yield Told("Normal", "Pulling", f'Pulling image "{image}"', place=place)
    text = f'Successfully pulled image "{image}" in 0s (0s including waiting). Image size: 0 bytes.'
    yield Told("Normal", "Pulled", text, place=place)


def _is_sidecar(container: Object) -> bool:
    return bool(container.get("restartPolicy") == "Always")
