"""The resource table: what the API server serves, and what each resource may do.

For: names, scope, subresources and the few per-resource facts of the generic machinery.
Not for: rules of single kinds (defaults, validation); they are in `rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

STATUS: Final = "status"
SCALE: Final = "scale"

_NAMED: Final = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True, eq=False)  # there is one of each: compared by identity
class Resource:
    """One resource in one version of its API group."""

    group: str
    version: str
    plural: str
    kind: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    subresources: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # selectable, besides name and namespace
    generation: bool = False  # metadata.generation counts changes of the spec
    categories: tuple[str, ...] = ()
    stored_as: str = ""  # the `qualified` resource that keeps the objects; empty: itself
    unconditional: bool = True  # may be replaced without saying which version was seen
    create_only: bool = False  # a question that is answered, and not kept

    @property
    def qualified(self) -> str:
        """The name with the group, as in messages and RBAC: pods, deployments.apps."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage(self) -> str:
        """Which table of the store has the objects."""
        return self.stored_as or self.qualified

    @property
    def api_version(self) -> str:
        """As objects have it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """As in discovery."""
        return self.kind.lower()

    @property
    def selectable(self) -> tuple[str, ...]:
        """The fields that a field selector may name."""
        return _NAMED + self.fields


def _core(plural: str, kind: str, *short: str, **more: object) -> Resource:
    return Resource("", "v1", plural, kind, short, **more)  # type: ignore[arg-type]  # as above


def _apps(plural: str, kind: str, short: str, *sub: str, **more: object) -> Resource:
    return Resource(
        "apps",
        "v1",
        plural,
        kind,
        (short,),
        subresources=(STATUS, *sub),
        generation=True,
        categories=("all",),
        **more,  # type: ignore[arg-type]  # as above
    )


def _rbac(plural: str, kind: str, *, namespaced: bool) -> Resource:
    return Resource("rbac.authorization.k8s.io", "v1", plural, kind, namespaced=namespaced)


_POD_FIELDS: Final = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_INVOLVED: Final = tuple(
    f"involvedObject.{part}"
    for part in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
)
_REGARDING: Final = tuple(part.replace("involvedObject", "regarding") for part in _INVOLVED)

PODS: Final = _core(
    "pods",
    "Pod",
    "po",
    subresources=(STATUS, "binding", "ephemeralcontainers", "eviction", "resize"),
    fields=_POD_FIELDS,
    generation=True,
    categories=("all",),
)
NODES: Final = _core(
    "nodes",
    "Node",
    "no",
    namespaced=False,
    subresources=(STATUS,),
    fields=("spec.unschedulable",),
)
NAMESPACES: Final = _core(
    "namespaces",
    "Namespace",
    "ns",
    namespaced=False,
    subresources=(STATUS, "finalize"),
    fields=("status.phase",),
)
EVENTS: Final = _core(
    "events",
    "Event",
    "ev",
    fields=(*_INVOLVED, "reason", "reportingComponent", "source", "type"),
)
NEW_EVENTS: Final = Resource(
    "events.k8s.io",
    "v1",
    "events",
    "Event",
    ("ev",),
    fields=(*_REGARDING, "reason", "reportingController", "type"),
    stored_as="events",
)
SERVICES: Final = _core(
    "services",
    "Service",
    "svc",
    subresources=(STATUS,),
    fields=("spec.clusterIP", "spec.type"),
    categories=("all",),
)
SERVICE_ACCOUNTS: Final = _core("serviceaccounts", "ServiceAccount", "sa")
CONFIG_MAPS: Final = _core("configmaps", "ConfigMap", "cm")
SECRETS: Final = _core("secrets", "Secret", fields=("type",))
LIMIT_RANGES: Final = _core("limitranges", "LimitRange", "limits")
QUOTAS: Final = _core("resourcequotas", "ResourceQuota", "quota", subresources=(STATUS,))
REPLICATION_CONTROLLERS: Final = _core(
    "replicationcontrollers",
    "ReplicationController",
    "rc",
    subresources=(STATUS, SCALE),
    fields=("status.replicas",),
    generation=True,
    categories=("all",),
)
REPLICA_SETS: Final = _apps("replicasets", "ReplicaSet", "rs", SCALE, fields=("status.replicas",))
DEPLOYMENTS: Final = _apps("deployments", "Deployment", "deploy", SCALE)
STATEFUL_SETS: Final = _apps("statefulsets", "StatefulSet", "sts", SCALE)
DAEMON_SETS: Final = _apps("daemonsets", "DaemonSet", "ds")
CONTROLLER_REVISIONS: Final = Resource("apps", "v1", "controllerrevisions", "ControllerRevision")
JOBS: Final = Resource(
    "batch",
    "v1",
    "jobs",
    "Job",
    subresources=(STATUS,),
    fields=("status.successful",),
    generation=True,
    categories=("all",),
)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", unconditional=False)
PRIORITY_CLASSES: Final = Resource(
    "scheduling.k8s.io",
    "v1",
    "priorityclasses",
    "PriorityClass",
    ("pc",),
    namespaced=False,
    generation=True,
)
MUTATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
    generation=True,
    categories=("api-extensions",),
    unconditional=False,
)
_NRT: Final = ("noderesourcetopologies", "NodeResourceTopology", ("node-res-topo",))
_CUSTOM: Final[dict[str, Any]] = {"namespaced": False, "generation": True, "unconditional": False}
TOPOLOGIES: Final = Resource("topology.node.k8s.io", "v1alpha2", *_NRT, **_CUSTOM)
OLD_TOPOLOGIES: Final = Resource("topology.node.k8s.io", "v1alpha1", *_NRT, **_CUSTOM)

ROLES: Final = _rbac("roles", "Role", namespaced=True)
ROLE_BINDINGS: Final = _rbac("rolebindings", "RoleBinding", namespaced=True)
CLUSTER_ROLES: Final = _rbac("clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS: Final = _rbac("clusterrolebindings", "ClusterRoleBinding", namespaced=False)

# The first version of a group is the one that discovery prefers.
ALL: Final = (
    PODS,
    NODES,
    NAMESPACES,
    EVENTS,
    SERVICES,
    SERVICE_ACCOUNTS,
    CONFIG_MAPS,
    SECRETS,
    LIMIT_RANGES,
    QUOTAS,
    REPLICATION_CONTROLLERS,
    REPLICA_SETS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    CONTROLLER_REVISIONS,
    JOBS,
    LEASES,
    PRIORITY_CLASSES,
    MUTATING_WEBHOOKS,
    ROLES,
    ROLE_BINDINGS,
    CLUSTER_ROLES,
    CLUSTER_ROLE_BINDINGS,
    NEW_EVENTS,
    TOPOLOGIES,
    OLD_TOPOLOGIES,
)
