"""Which types the fields of an object have, where everything else here relies on them.

For: refusing at the door what a real API server could not decode either (400), so that no other
file has to expect a text where a list belongs.
Not for: what values mean (422, the other rules), and not for fields that nobody here reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from simulator.errors import bad_request
from simulator.rules.job_shapes import FailurePolicy

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.resources import Resource

Text = str | None
Texts = dict[str, str] | None
Amount = str | int | float
Map = dict[str, Any]


class _Owner(Struct, rename="camel"):
    uid: str
    name: str
    kind: str
    api_version: str
    controller: bool | None = None


class _Metadata(Struct, rename="camel"):
    name: Text = None
    generate_name: Text = None
    namespace: Text = None
    uid: Text = None
    resource_version: Text = None
    labels: Texts = None
    annotations: Texts = None
    finalizers: list[str] | None = None
    owner_references: list[_Owner] | None = None
    managed_fields: list[Map] | None = None


class _Resources(Struct):
    requests: dict[str, Amount] | None = None
    limits: dict[str, Amount] | None = None


class _Env(Struct, rename="camel"):
    name: str
    value_from: dict[str, Map] | None = None


class _Mount(Struct, rename="camel"):
    mount_path: Text = None


class _Probe(Struct, rename="camel"):
    http_get: Map | None = None


class _Container(Struct, rename="camel"):
    name: Text = None
    image: Text = None
    resources: _Resources | None = None
    ports: list[Map] | None = None
    env: list[_Env] | None = None
    volume_mounts: list[_Mount] | None = None
    liveness_probe: _Probe | None = None
    readiness_probe: _Probe | None = None
    startup_probe: _Probe | None = None
    restart_policy: Text = None


class _Requirement(Struct):
    key: Text = None
    operator: Text = None
    values: list[str] | None = None


class _Term(Struct, rename="camel"):
    match_expressions: list[_Requirement] | None = None
    match_fields: list[_Requirement] | None = None


class _Required(Struct, rename="camel"):
    node_selector_terms: list[_Term] | None = None


class _Preferred(Struct):
    weight: int | None = None
    preference: _Term | None = None


class _NodeAffinity(Struct, rename="camel"):
    required_during_scheduling_ignored_during_execution: _Required | None = None
    preferred_during_scheduling_ignored_during_execution: list[_Preferred] | None = None


class _Affinity(Struct, rename="camel"):
    node_affinity: _NodeAffinity | None = None


class _Toleration(Struct, rename="camel"):
    key: Text = None
    operator: Text = None
    value: Text = None
    effect: Text = None
    toleration_seconds: int | None = None


class _Gate(Struct):
    name: Text = None


class _PodSpec(Struct, rename="camel"):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    ephemeral_containers: list[_Container] | None = None
    volumes: list[Map] | None = None
    node_name: Text = None
    node_selector: Texts = None
    affinity: _Affinity | None = None
    tolerations: list[_Toleration] | None = None
    scheduling_gates: list[_Gate] | None = None
    service_account_name: Text = None
    service_account: Text = None
    priority_class_name: Text = None
    restart_policy: Text = None
    termination_grace_period_seconds: int | None = None
    resources: _Resources | None = None


class _Template(Struct):
    metadata: _Metadata | None = None
    spec: _PodSpec | None = None


class _Condition(Struct):
    type: str
    status: str


class _ContainerStatus(Struct, rename="camel"):
    name: str
    state: dict[str, Map] | None = None
    last_state: dict[str, Map] | None = None
    restart_count: int = 0


class _Status(Struct, rename="camel"):
    phase: Text = None
    conditions: list[_Condition] | None = None
    container_statuses: list[_ContainerStatus] | None = None
    init_container_statuses: list[_ContainerStatus] | None = None


class _Pod(Struct):
    metadata: _Metadata | None = None
    spec: _PodSpec | None = None
    status: _Status | None = None


class _LabelSelector(Struct, rename="camel"):
    match_labels: Texts = None
    match_expressions: list[_Requirement] | None = None


class _WorkloadSpec(Struct, rename="camel"):
    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    selector: _LabelSelector | None = None
    template: _Template | None = None
    strategy: Map | None = None
    update_strategy: Map | None = None


class _JobSpec(_WorkloadSpec, rename="camel"):
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool | None = None
    pod_failure_policy: FailurePolicy | None = None


class _Job(Struct):
    metadata: _Metadata | None = None
    spec: _JobSpec | None = None
    status: _Status | None = None


class _Workload(Struct):
    metadata: _Metadata | None = None
    spec: _WorkloadSpec | None = None
    status: _Status | None = None


class _ControllerSpec(Struct):
    replicas: int | None = None
    selector: Texts = None
    template: _Template | None = None


class _Controller(Struct):
    metadata: _Metadata | None = None
    spec: _ControllerSpec | None = None
    status: Map | None = None


class _Limits(Struct):
    limits: list[dict[str, str | dict[str, Amount]]] | None = None


class _LimitRange(Struct):
    metadata: _Metadata | None = None
    spec: _Limits | None = None


class _ConfigMap(Struct, rename="camel"):
    metadata: _Metadata | None = None
    data: Texts = None
    binary_data: Texts = None


class _Secret(Struct, rename="camel"):
    metadata: _Metadata | None = None
    data: Texts = None
    string_data: Texts = None
    type: Text = None


class _Port(Struct, rename="camel"):
    name: Text = None
    port: int | None = None
    protocol: Text = None
    target_port: int | str | None = None
    node_port: int | None = None


class _ServiceSpec(Struct, rename="camel"):
    type: Text = None
    ports: list[_Port] | None = None
    selector: Texts = None
    cluster_ip: Text = msgspec.field(default=None, name="clusterIP")
    cluster_ips: list[str] | None = msgspec.field(default=None, name="clusterIPs")
    external_ips: list[str] | None = msgspec.field(default=None, name="externalIPs")
    external_name: Text = None


class _Service(Struct):
    metadata: _Metadata | None = None
    spec: _ServiceSpec | None = None
    status: Map | None = None


class _Rule(Struct, rename="camel"):
    verbs: list[str] | None = None
    api_groups: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None
    non_resource_urls: list[str] | None = msgspec.field(default=None, name="nonResourceURLs")


class _Aggregation(Struct, rename="camel"):
    cluster_role_selectors: list[_LabelSelector] | None = None


class _Role(Struct, rename="camel"):
    metadata: _Metadata | None = None
    rules: list[_Rule] | None = None
    aggregation_rule: _Aggregation | None = None


class _RoleRef(Struct):
    kind: str
    name: str


class _Subject(Struct):
    kind: str
    name: str
    namespace: Text = None


class _RoleBinding(Struct, rename="camel"):
    role_ref: _RoleRef
    metadata: _Metadata | None = None
    subjects: list[_Subject] | None = None


class _Any(Struct):
    metadata: _Metadata | None = None
    spec: Map | None = None
    status: Map | None = None


_SHAPES: Final[dict[str, type[Struct]]] = {
    "pods": _Pod,
    "deployments.apps": _Workload,
    "replicasets.apps": _Workload,
    "statefulsets.apps": _Workload,
    "daemonsets.apps": _Workload,
    "jobs.batch": _Job,
    "replicationcontrollers": _Controller,
    "limitranges": _LimitRange,
    "configmaps": _ConfigMap,
    "secrets": _Secret,
    "services": _Service,
    "roles.rbac.authorization.k8s.io": _Role,
    "clusterroles.rbac.authorization.k8s.io": _Role,
    "rolebindings.rbac.authorization.k8s.io": _RoleBinding,
    "clusterrolebindings.rbac.authorization.k8s.io": _RoleBinding,
}


def check(resource: Resource, obj: Object) -> None:
    """Refuse an object with a field of another type. Raises a 400 that says where."""
    try:
        msgspec.convert(obj, _SHAPES.get(resource.storage, _Any))
    except msgspec.ValidationError as error:
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a '
            f"{resource.kind}: {error}"
        ) from error
