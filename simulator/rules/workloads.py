"""What a workload's selector and template must be, and what a Job gets from the API server.

Kubernetes rules: ValidateDeployment and its neighbours (the selector picks the template's labels,
and never changes), and generateSelector of the Job strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import dig
from simulator.resources import DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS, STATEFUL_SETS
from simulator.rules import faults, jobs, new_pods, rollouts
from simulator.selectors import of_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object
    from simulator.resources import Resource

_SELECTING: Final = (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS)
_UID: Final = "batch.kubernetes.io/controller-uid"
_NAME: Final = "batch.kubernetes.io/job-name"


def check(resource: Resource, obj: Object) -> Iterator[Cause]:
    """Tell what is wrong with a workload; nothing for other kinds."""
    if resource is JOBS:
        yield from jobs.check(obj)
    if resource not in _SELECTING:
        return
    spec = obj["spec"]
    if isinstance(spec.get("replicas"), int) and spec["replicas"] < 0:
        why = "must be greater than or equal to 0"
        yield faults.invalid("spec.replicas", spec["replicas"], why)
    yield from _template(dig(spec, "template", "spec") or {})
    yield from rollouts.check(resource, spec)
    selector = of_label_selector(spec.get("selector"))
    labels = dig(spec, "template", "metadata", "labels") or {}
    if not selector:
        yield faults.required("spec.selector")
    elif not all(one.holds(labels) for one in selector):
        why = "`selector` does not match template `labels`"
        yield faults.invalid("spec.template.metadata.labels", labels, why)


def _template(spec: Object) -> Iterator[Cause]:
    for fault in new_pods.check_spec(spec):
        yield fault._replace(field=f"spec.template.{fault.field}")
    restart = spec.get("restartPolicy")
    if restart in ("OnFailure", "Never"):
        yield faults.unsupported("spec.template.spec.restartPolicy", restart, ("Always",))


def check_update(resource: Resource, old: Object, new: Object) -> Iterator[Cause]:
    """Tell which fields of a workload changed that may not."""
    if resource not in (*_SELECTING, JOBS):
        return
    fixed = ["selector"]
    if resource is JOBS:
        fixed += (
            ["completionMode"] if dig(old, "spec", "suspend") else ["completionMode", "template"]
        )
    for part in fixed:
        if dig(old, "spec", part) != dig(new, "spec", part):
            yield faults.invalid(f"spec.{part}", dig(new, "spec", part), "field is immutable")


def with_job_labels(job: Object) -> Object:
    """Give a new Job the selector and labels by which it knows its pods."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return job
    uid, name = metadata["uid"], metadata["name"]
    template = spec["template"]
    labels = {
        **(dig(template, "metadata", "labels") or {}),
        _UID: uid,
        _NAME: name,
        # The names of before 1.27, still written.
        "controller-uid": uid,
        "job-name": name,
    }
    template = {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}}
    selector = {"matchLabels": {_UID: uid}}
    return {**job, "spec": {**spec, "selector": selector, "template": template}}
