"""The pods of a Job: how they are made, and how they count. Pure.

Kubernetes: pkg/controller/job (indexed_job_utils.go, tracking_utils.go). A finalizer holds every
pod until it has been counted, so that none is missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.clock import parse_timestamp
from simulator.controllers import job_failure_policy
from simulator.controllers import pods as rules
from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.objects import Object

TRACKING: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
_LONGEST_NAME: Final = 57  # leaves room for the random end of a generated name


def is_indexed(job: Object) -> bool:
    """Tell whether each completion has a number."""
    return bool(dig(job, "spec", "completionMode") == "Indexed")


def new_pod(job: Object, index: int | None) -> Object:
    """Make a pod; `index` for indexed Jobs."""
    pod = copy(rules.from_template(job["spec"]["template"], job))
    metadata = pod["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is None:
        return pod
    name, number = job["metadata"]["name"], str(index)
    metadata["annotations"] = {**metadata.get("annotations", {}), INDEX: number}
    metadata["labels"] = {**metadata.get("labels", {}), INDEX: number}
    metadata["generateName"] = f"{name[: _LONGEST_NAME - len(number)]}-{number}-"
    pod["spec"]["hostname"] = f"{name}-{number}"
    for part in ("initContainers", "containers"):
        for container in pod["spec"].get(part) or ():
            _tell_index(container)
    return pod


def _tell_index(container: Object) -> None:
    given = container.get("env") or []
    if all(one["name"] != "JOB_COMPLETION_INDEX" for one in given):
        source: Any = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
        container["env"] = [*given, {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}]


def index_of(pod: Object) -> int | None:
    """Tell which completion a pod works on."""
    said = dig(pod, "metadata", "annotations", INDEX)
    return int(said) if isinstance(said, str) and said.isdecimal() else None


class Counted(NamedTuple):
    """Pods by what they mean for the Job; the ended ones only until they have been counted."""

    active: list[Object]
    succeeded: list[Object]
    failed: list[Object]
    ignored: list[Object]  # ended, but count for nothing
    leaving: list[Object]  # deleted, and the Job waits for their end
    going: int


def is_patient(job: Object) -> bool:
    """Tell whether a deleted pod is made again, and counts, only when it has ended."""
    return bool(dig(job, "spec", "podReplacementPolicy") == "Failed")


def count(job: Object, pods: Iterable[Object]) -> Counted:
    """Sort the pods. A pod that is deleted counts as failed, unless the Job waits for its end."""
    patient = is_patient(job)
    found = Counted([], [], [], [], [], 0)
    going = 0
    for pod in pods:
        leaving = rules.is_going_away(pod)
        going += leaving and not rules.is_over(pod)
        if rules.is_active(pod):
            found.active.append(pod)
        elif is_tracked(pod):
            if rules.phase(pod) == "Succeeded":
                found.succeeded.append(pod)
            elif rules.phase(pod) == "Failed" or not patient:
                ignored = job_failure_policy.is_ignored(job, pod)
                (found.ignored if ignored else found.failed).append(pod)
            else:
                found.leaving.append(pod)
    return found._replace(going=going)


def closed(counted: Counted, *, failed: bool) -> Counted:
    """Count the pods of a Job that is over: who is still at work has failed, if the Job has."""
    rest = [pod for pod in (*counted.active, *counted.leaving) if is_tracked(pod)]
    counted = counted._replace(active=[], leaving=[])
    if failed:
        return counted._replace(failed=[*counted.failed, *rest])
    return counted._replace(ignored=[*counted.ignored, *rest])


def is_tracked(pod: Object) -> bool:
    """Tell whether a pod has not been counted yet."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def untracked(pod: Object) -> Object:
    """Give a pod without the finalizer."""
    metadata = dict(pod["metadata"])
    left = [one for one in metadata.get("finalizers") or () if one != TRACKING]
    metadata["finalizers"] = left
    if not left:
        del metadata["finalizers"]
    return {**pod, "metadata": metadata}


def ended_at(pod: Object) -> float:
    """Tell when a pod ended.

    A rejected pod has neither containers nor conditions: its creation counts, in whole seconds.
    """
    ends = [
        parse_timestamp(end)
        for status in dig(pod, "status", "containerStatuses") or ()
        if (end := dig(status, "state", "terminated", "finishedAt"))
    ]
    if ends:
        return max(ends)
    for condition in dig(pod, "status", "conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "False":
            since = condition.get("lastTransitionTime")
            if since:
                return parse_timestamp(since)
    metadata = pod["metadata"]
    if metadata.get("deletionTimestamp"):
        grace = metadata.get("deletionGracePeriodSeconds") or 0
        return parse_timestamp(metadata["deletionTimestamp"]) - grace
    return parse_timestamp(metadata["creationTimestamp"])


def free_indexes(completions: int, taken: set[int], wanted: int) -> list[int]:
    """Give the lowest indexes that nobody works on and that are not done."""
    found: list[int] = []
    for index in range(completions):
        if len(found) == wanted:
            break
        if index not in taken:
            found.append(index)
    return found


def read_indexes(text: str) -> set[int]:
    """Read the completed indexes of a status: 0-2,5."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """Write indexes as the status has them."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] == index - 1:
            runs[-1][1:] = [index]
        else:
            runs.append([index])
    return ",".join("-".join(map(str, run)) for run in runs)


def first_to_go(pods: Sequence[Object]) -> list[Object]:
    """Sort surplus pods: the ones that are missed least come first."""
    return sorted(pods, key=rules.first_to_go)
