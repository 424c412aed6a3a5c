"""What pods ask for and what nodes have, of every resource, and the pod as its kubelet reads it.

CPU in thousandths, everything else in whole units. Kubernetes rules: resourcehelper.PodRequests
(containers that run together are added up, an init container counts as far as it is larger,
pod-level requests go before both, overhead comes on top); fractions are rounded up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.granted import granted
from evencore.domain.kubelet.pod import pod_of
from evencore.domain.lenient import read
from evencore.domain.objects import map_at, text_at
from evencore.domain.qos import QoS
from evencore.domain.quantity import QuantityError, parse_nanos
from evencore.domain.resources import CPU, Kind, pod_total, read_amounts
from evencore.domain.views import PodSpec, PodView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.domain.kubelet.pod import Pod
    from evencore.domain.objects import Object

Amounts = dict[str, int]
PODS: Final = "pods"
_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")


class Asked(NamedTuple):
    """One pod, read once."""

    raw: Object
    view: PodView
    pod: Pod
    requests: Amounts
    cpu_of: dict[str, int]  # container → exclusive CPUs
    devices: tuple[str, ...]  # resources whose NUMA nodes a device plugin knows, and we do not

    @property
    def spec(self) -> PodSpec:
        """Its spec; a pod without one asks for nothing."""
        return self.view.spec or _NO_SPEC

    @property
    def name(self) -> str:
        """namespace/name."""
        meta = self.view.meta
        return f"{meta.namespace or 'default'}/{meta.name or meta.generate_name or '?'}"


_NO_SPEC: Final = PodSpec()


def read_pod(raw: Object, uid: str = "") -> Asked | None:
    """Read a pod; None if it has values that are no quantities. `uid`: if it has none itself.

    A resize that its kubelet has not granted does not count.
    """
    raw = granted(raw)
    view = read(PodView, raw)[0]
    amounts = read_amounts(view.spec or _NO_SPEC)
    try:
        requests = _requests(map_at(raw, "spec"))
    except QuantityError:
        return None
    if amounts.problems:
        return None
    said = text_at(map_at(raw, "status"), "qosClass")
    qos = QoS(said) if said in _CLASSES else None
    pod = pod_of(view.meta.uid or uid, amounts, qos)
    exclusive = pod.guaranteed and pod.pod_level is None
    cpu_of = {c.name: c.whole_cpus for c in pod.containers if exclusive and c.whole_cpus}
    devices = (name for name, asked in requests.items() if asked and name not in _PLAIN)
    return Asked(raw, view, pod, requests, cpu_of, tuple(sorted(devices)))


_CLASSES: Final = frozenset(one.value for one in QoS)


def problems_of(raw: Object) -> tuple[str, ...]:
    """Say what of a pod cannot be read; `read_pod` gives None, or passes over what is odd."""
    view, problems = read(PodView, raw)
    problems += read_amounts(view.spec or _NO_SPEC).problems
    try:
        _requests(map_at(raw, "spec"))
    except QuantityError as error:
        problems = problems or (f"an amount of it {error}",)
    return problems


def amounts_of(resources: Object) -> Amounts:
    """Read a resource list. Raises QuantityError."""
    return {name: _whole(name, value) for name, value in resources.items()}


def kinds(spec: Object) -> Iterator[tuple[Kind, Object]]:
    """Iterate over init containers and sidecars in their order, then the app containers."""
    for part, kind in (("initContainers", Kind.INIT), ("containers", Kind.APP)):
        found = spec.get(part)
        for one in found if isinstance(found, list) else ():
            sidecar = kind is Kind.INIT and text_at(one, "restartPolicy") == "Always"
            yield Kind.SIDECAR if sidecar else kind, one


def requested(container: Object) -> Object:
    """Return the requests of a container; a missing one takes the value of the limit."""
    resources = map_at(container, "resources")
    return map_at(resources, "limits") | map_at(resources, "requests")


def _requests(spec: Object) -> Amounts:
    parts = [(kind, amounts_of(requested(one))) for kind, one in kinds(spec)]
    names = dict.fromkeys(name for _, amounts in parts for name in amounts)
    total = {name: pod_total((kind, got.get(name, 0)) for kind, got in parts) for name in names}
    total |= amounts_of(map_at(map_at(spec, "resources"), "requests"))
    for name, extra in amounts_of(map_at(spec, "overhead")).items():
        total[name] = total.get(name, 0) + extra
    return total


def _whole(name: str, value: object) -> int:
    return -(-parse_nanos(value) // (10**6 if name == CPU else 10**9))
