"""The pods that manifests will make: found in any kind of object that carries a pod template.

Pure: takes documents that were read elsewhere. What is made of a found pod is `explain`'s work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evencore.domain.objects import items_of, map_at, text_at
from evencore.domain.text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evencore.domain.objects import Object, Source


@dataclass(frozen=True, slots=True)
class FoundPod:
    """A pod as the API server would get it from the controller that makes it."""

    kind: str  # of the object that it was found in
    name: str
    path: str  # where its template stands in that object; "" for a Pod
    namespace: str  # "" = not told
    source: Source
    pod: Object
    notes: tuple[str, ...] = ()  # what was made otherwise than it is written, and why
    copies: int | None = 1  # that its object wants at one time; None: one for each node

    @property
    def place(self) -> str:
        """The object in words: "Deployment web"."""
        return f"{self.kind} {self.name}"


class PassedOver(NamedTuple):
    """An object in which there is no pod."""

    kind: str
    name: str
    source: Source
    reason: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """Everything that was found."""

    pods: tuple[FoundPod, ...]
    passed_over: tuple[PassedOver, ...]
    problems: tuple[str, ...]  # what is no manifest, each with its place


class _Kind(NamedTuple):
    """Where a kind keeps its template, and who owns the pods made of it."""

    template: tuple[str, ...]
    owner: str | None = None  # None: the object itself


_SPEC_TEMPLATE = ("spec", "template")
_KINDS = {
    "Deployment": _Kind(_SPEC_TEMPLATE, "ReplicaSet"),
    "Rollout": _Kind(_SPEC_TEMPLATE, "ReplicaSet"),  # Argo Rollouts
    "StatefulSet": _Kind(_SPEC_TEMPLATE),
    "DaemonSet": _Kind(_SPEC_TEMPLATE),
    "ReplicaSet": _Kind(_SPEC_TEMPLATE),
    "ReplicationController": _Kind(_SPEC_TEMPLATE),
    "Job": _Kind(_SPEC_TEMPLATE),
    "CronJob": _Kind(("spec", "jobTemplate", "spec", "template"), "Job"),
    "PodTemplate": _Kind(("template",), ""),  # nobody owns what is made of it
}
_FACTS = {"Namespace", "LimitRange"}  # they matter, but not as pods
_CLUSTER = {"Node", "NodeResourceTopology"}
_FROM_TEMPLATE = ("labels", "annotations", "finalizers")  # all that controllers take over


def find_pods(documents: Iterable[tuple[Source, object]], namespace: str = "") -> Manifests:
    """Find the pods of all documents; `namespace` is for objects that name none.

    Lists are opened, nested ones as well. A kind that is not known is searched for pod templates,
    so Argo Rollouts, Kubeflow jobs and the like are found too. Never raises.
    """
    pods: list[FoundPod] = []
    passed_over: list[PassedOver] = []
    problems: list[str] = []
    for source, value in documents:
        for item in items_of(value):
            if not isinstance(item, dict) or not isinstance(item.get("kind"), str):
                what = "an object without a kind" if isinstance(item, dict) else quoted(item)
                if item is not None:  # an empty document says nothing
                    problems.append(f"{source}: {what} is no manifest: those say apiVersion, kind")
                continue
            found, problem = _in_object(item, source, namespace)
            pods += found
            if problem:
                problems.append(f"{source}: {problem}")
            elif not found:
                passed_over.append(PassedOver(item["kind"], _name(item), source, _reason(item)))
    return Manifests(tuple(pods), tuple(passed_over), tuple(problems))


def _in_object(item: Object, source: Source, namespace: str) -> tuple[list[FoundPod], str | None]:
    """Find the pods of one object, or say why it is no valid manifest of its kind."""
    kind, name = item["kind"], _name(item)
    where = text_at(map_at(item, "metadata"), "namespace") or namespace
    if kind == "Pod":
        if not _is_template(item):
            return [], f"Pod {name} has no spec.containers"
        pod, notes = _as_created(item)
        return [FoundPod(kind, name, "", where, source, pod, notes)], None
    known = _KINDS.get(kind)
    if known is None:
        if kind in _FACTS or kind in _CLUSTER:
            return [], None
        templates = list(_templates(item))
    else:
        template = _at(item, known.template)
        if not _is_template(template):
            return [], f"{kind} {name} has no {'.'.join(known.template)}.spec.containers"
        templates = [(".".join(known.template), template)]
    owner = kind if known is None or known.owner is None else known.owner
    return [
        FoundPod(
            kind,
            name,
            path,
            where,
            source,
            _from_template(template, item, owner, where),
            copies=_copies(item),
        )
        for path, template in templates
    ], None


def _copies(item: Object) -> int | None:
    """Tell how many pods an object wants at one time (kinds that say it otherwise: one)."""
    if item["kind"] == "DaemonSet":
        return None
    spec = map_at(item, "spec")
    job = map_at(map_at(spec, "jobTemplate"), "spec") if item["kind"] == "CronJob" else spec
    wanted = [job.get(key) for key in ("replicas", "parallelism", "completions")]
    return min((n for n in wanted if isinstance(n, int) and n >= 0), default=1)


def _is_template(value: object) -> bool:
    containers = map_at(value, "spec").get("containers")
    return isinstance(containers, list) and any(isinstance(c, dict) for c in containers)


def _templates(item: Object) -> Iterator[tuple[str, Object]]:
    """Yield what looks like a pod template anywhere in an object, outermost first.

    Not in status, and not within a template: there it would be somebody else's text.
    """
    waiting: list[tuple[str, object]] = [(key, v) for key, v in item.items() if key != "status"]
    waiting.reverse()
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            if _is_template(value):
                yield path, value
            else:
                waiting += [(f"{path}.{key}", v) for key, v in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{path}[{i}]", v) for i, v in reversed(list(enumerate(value)))]


def _from_template(template: Object, item: Object, owner: str, namespace: str) -> Object:
    """Make the pod that a controller sends (GetPodFromTemplate of pkg/controller)."""
    name = _name(item)
    written = map_at(template, "metadata")
    metadata: Object = {"generateName": f"{name}-"}
    metadata |= {key: written[key] for key in _FROM_TEMPLATE if written.get(key) is not None}
    if namespace:
        metadata["namespace"] = namespace
    if owner:
        # The uid is known only if the object comes from a cluster and owns its pods itself.
        own = owner == item["kind"]
        uid = text_at(map_at(item, "metadata"), "uid") if own else ""
        metadata["ownerReferences"] = [
            {
                "apiVersion": item.get("apiVersion", "v1") if own else _API_VERSIONS[owner],
                "kind": owner,
                "name": name,
                "uid": uid,
                "controller": True,
            }
        ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


_API_VERSIONS = {"ReplicaSet": "apps/v1", "Job": "batch/v1"}


def _as_created(item: Object) -> tuple[Object, tuple[str, ...]]:
    """Return a pod as it was when it was created; one read from a cluster has been scheduled."""
    spec = item["spec"]
    if not text_at(map_at(item, "metadata"), "uid"):
        return item, ()
    pod = {key: value for key, value in item.items() if key != "status"}
    if not text_at(spec, "nodeName"):
        return pod, ()
    pod["spec"] = {key: value for key, value in spec.items() if key != "nodeName"}
    return pod, (f"it ran on {spec['nodeName']}; judged as if it were created anew",)


def _reason(item: Object) -> str:
    kind = item["kind"]
    if kind in _FACTS:
        return "makes no pods; what it says of its namespace was used"
    if kind in _CLUSTER:
        return "tells of the cluster: give it with --nodes"
    return "has no pod template"


def _name(item: Object) -> str:
    metadata = map_at(item, "metadata")
    return text_at(metadata, "name") or text_at(metadata, "generateName") or "(without a name)"


def _at(item: object, path: Iterable[str]) -> Any:  # noqa: ANN401  any JSON
    for key in path:
        item = map_at(item, key)
    return item
