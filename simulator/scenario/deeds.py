"""Which deeds a step of a scenario is: one for each of its objects, with its name in words.

Not for: how they are done (`acts`), and when.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.resources import ALL, NODES, SCALE
from simulator.scenario import acts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.cluster import Cluster
    from simulator.objects import Object
    from simulator.scenario.model import Step
    from simulator.scenario.values import Reference

Act = Callable[["Cluster", Call], Awaitable[str]]
"""Does something, and tells what became of it in a word, or nothing."""

_BY_KIND: Final = {(one.api_version, one.kind): one for one in ALL}


class Deed(NamedTuple):
    """Something to do with one object."""

    text: str
    act: Act


def call(verb: str) -> Call:
    """Say who does a deed, and with which options, as kubectl does."""
    if verb == "delete":
        return Call(options={"kind": "DeleteOptions", "apiVersion": "v1"})
    options = {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": acts.MANAGER}
    return Call(options=options)


def deeds(step: Step, manifests: Iterable[Object]) -> Iterator[Deed]:
    """Give what a step does, object by object; `manifests` is what it applies."""
    if step.verb == "apply":
        return (_application(obj, step.namespace) for obj in manifests)
    return _BY_VERB[step.verb](step)


def _application(obj: Object, namespace: str) -> Deed:
    resource, metadata = _BY_KIND[obj["apiVersion"], obj["kind"]], obj["metadata"]
    space = (metadata.get("namespace") or namespace) if resource.namespaced else ""
    name = metadata.get("name") or ""
    act = partial(acts.create_or_change, Target(resource, space, name), obj)
    return Deed(f"apply {resource.singular}/{name or metadata['generateName']}", act)


def _deletions(step: Step) -> Iterator[Deed]:
    for reference in step.delete or ():
        target = _target(reference, step.namespace)
        yield Deed(f"delete {reference}", partial(acts.delete, target))


def _scalings(step: Step) -> Iterator[Deed]:
    for reference, replicas in (step.scale or {}).items():
        target = _target(reference, step.namespace)._replace(subresource=SCALE)
        yield Deed(f"scale {reference} to {replicas}", partial(acts.scale, target, replicas))


def _marks(step: Step) -> Iterator[Deed]:
    """Labels and annotations, in the words of kubectl: a=b sets one, a- takes it away."""
    part, given = ("labels", step.label) if step.label else ("annotations", step.annotate)
    for reference, marks in (given or {}).items():
        shown = (f"{key}-" if value is None else f"{key}={value}" for key, value in marks.items())
        patch = {"metadata": {part: marks}}
        act = partial(acts.patch, _target(reference, step.namespace), patch)
        yield Deed(f"{step.verb} {reference} {' '.join(shown)}", act)


def _taints(step: Step) -> Iterator[Deed]:
    for name, taints in (step.taint or {}).items():
        given = [taint.model_dump() for taint in taints]
        shown = ", ".join(f"{one['key']}={one['value']}:{one['effect']}" for one in given)
        text = f"taint node/{name} {shown or 'with nothing'}"
        yield Deed(text, partial(acts.taint, name, given))


def _cordons(step: Step) -> Iterator[Deed]:
    # As kubectl, uncordon takes the field away: a node without it is like a new one.
    patch = {"spec": {"unschedulable": True if step.cordon else None}}
    for name in step.cordon or step.uncordon or ():
        act = partial(acts.patch, Target(NODES, "", name), patch)
        yield Deed(f"{step.verb} node/{name}", act)


def _drains(step: Step) -> Iterator[Deed]:
    for name in step.drain or ():
        yield Deed(f"drain node/{name}", partial(acts.drain, name))


def _turns(step: Step) -> Iterator[Deed]:
    for name in step.restart or step.stop or step.start or ():
        yield Deed(f"{step.verb} the kubelet of {name}", partial(acts.kubelet, name, step.verb))


def _faults(step: Step) -> Iterator[Deed]:
    if step.fault is not None:
        said = step.fault.model_dump(exclude_defaults=True, by_alias=True)
        shown = ", ".join(f"{key} {value}" for key, value in said.items())
        yield Deed(f"fault: {shown}", partial(acts.switch_on, step.fault))


_BY_VERB: Final[dict[str, Callable[[Step], Iterator[Deed]]]] = {
    "delete": _deletions,
    "scale": _scalings,
    "label": _marks,
    "annotate": _marks,
    "taint": _taints,
    "cordon": _cordons,
    "uncordon": _cordons,
    "drain": _drains,
    "restart": _turns,
    "stop": _turns,
    "start": _turns,
    "fault": _faults,
}


def _target(reference: Reference, namespace: str) -> Target:
    resource = reference.resource
    return Target(resource, namespace if resource.namespaced else "", reference.name)
