"""Services: their defaults, their address, what they must be. Nothing listens there.

For: manifests and tools that have Services; pods are never reached through them.

Kubernetes rules: SetDefaults_Service, ValidateService and the allocator of cluster IPs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.resources import SERVICES
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object
    from simulator.resources import Resource

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_HIGHEST_PORT: Final = 65535
_HEADLESS: Final = "None"
_ADDRESS: Final = ("clusterIP", "clusterIPs")


def defaulted(service: Object) -> Object:
    """Return a Service with its defaults."""
    given = service.get("spec") or {}
    spec = {"type": "ClusterIP", "sessionAffinity": "None", **given}
    if spec["type"] != "ExternalName":
        families = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
        spec = {"internalTrafficPolicy": "Cluster", **families, **spec}
    if spec["type"] in ("LoadBalancer", "NodePort"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec.get("ports"):
        spec["ports"] = [_port(one) for one in spec["ports"]]
    return {**service, "spec": spec}


def _port(given: Object) -> Object:
    port = {"protocol": "TCP", **given}
    if not port.get("targetPort") and "port" in port:
        port["targetPort"] = port["port"]
    return port


def with_address(service: Object) -> Object:
    """Give a new Service an address: of its uid, as nothing is ever sent there."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return service
    high, low = divmod(int(service["metadata"]["uid"][-4:], 16), 256)
    address = spec.get("clusterIP") or f"10.96.{high}.{low}"
    return {**service, "spec": {**spec, "clusterIP": address, "clusterIPs": [address]}}


def with_kept_address(old: Object, new: Object) -> Object:
    """Return the new spec with the address that the Service had, if it says none."""
    before: Object = old["spec"]
    after: Object = new["spec"]
    if after["type"] == "ExternalName" or after.get("clusterIP"):
        return after
    return {**after, **{part: before[part] for part in _ADDRESS if part in before}}


def check(resource: Resource, service: Object) -> Iterator[Cause]:
    """Tell what is wrong with a Service; nothing for other kinds."""
    if resource is not SERVICES:
        return
    spec = service["spec"]
    yield from faults.of_label_name("metadata.name", service["metadata"]["name"])
    if spec["type"] not in _TYPES:
        yield faults.unsupported("spec.type", spec["type"], _TYPES)
    ports = spec.get("ports") or []
    if not ports and spec["type"] != "ExternalName" and spec.get("clusterIP") != _HEADLESS:
        yield faults.required("spec.ports")
    seen: set[str] = set()
    for number, port in enumerate(ports):
        at, name = f"spec.ports[{number}]", port.get("name") or ""
        if not name and len(ports) > 1:
            yield faults.required(f"{at}.name")
        elif name and name in seen:
            yield faults.duplicate(f"{at}.name", name)
        seen.add(name)
        if not 1 <= (port.get("port") or 0) <= _HIGHEST_PORT:
            why = "must be between 1 and 65535, inclusive"
            yield faults.invalid(f"{at}.port", port.get("port") or 0, why)
        if port["protocol"] not in _PROTOCOLS:
            yield faults.unsupported(f"{at}.protocol", port["protocol"], _PROTOCOLS)
