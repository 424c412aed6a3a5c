"""What a Job's podFailurePolicy says of a pod that failed. Pure.

For: FailJob, Ignore and Count, by exit codes or by conditions of the pod.
Not for: FailIndex, which belongs to limits per index; here it counts as any failure.

Kubernetes: pkg/controller/job/pod_failure_policy.go. The first rule that matches decides. A pod
that its kubelet rejected has neither exit codes nor conditions: no rule ever matches one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

_FAIL_JOB: Final = "FailJob"
_IGNORE: Final = "Ignore"


class Match(NamedTuple):
    """The rule that matches a pod, and how: as the Job's conditions tell it."""

    action: str
    message: str


def is_ignored(job: Object, pod: Object) -> bool:
    """Tell whether a failed pod does not count towards backoffLimit."""
    found = match(job, pod)
    return found is not None and found.action == _IGNORE


def fatal(job: Object, failed: Iterable[Object]) -> str | None:
    """Give the message of the first failed pod that ends the whole Job."""
    found = (match(job, pod) for pod in failed)
    return next((one.message for one in found if one and one.action == _FAIL_JOB), None)


def match(job: Object, pod: Object) -> Match | None:
    """Find the first rule that matches a failed pod."""
    for number, rule in enumerate(dig(job, "spec", "podFailurePolicy", "rules") or ()):
        how = _by_exit_code(rule, pod) or _by_condition(rule, pod)
        if how:
            return Match(rule["action"], f"{how} matching {rule['action']} rule at index {number}")
    return None


def _by_exit_code(rule: Object, pod: Object) -> str:
    wanted = rule.get("onExitCodes")
    if not wanted:
        return ""
    for part in ("containerStatuses", "initContainerStatuses"):
        for status in dig(pod, "status", part) or ():
            code = dig(status, "state", "terminated", "exitCode")
            named = wanted.get("containerName") in (None, status["name"])
            if code and named and (code in wanted["values"]) == (wanted["operator"] == "In"):
                what = f"Container {status['name']} for pod {_name(pod)}"
                return f"{what} failed with exit code {code}"
    return ""


def _by_condition(rule: Object, pod: Object) -> str:
    patterns = [(one["type"], one["status"]) for one in rule.get("onPodConditions") or ()]
    for condition in dig(pod, "status", "conditions") or ():
        if (condition["type"], condition["status"]) in patterns:
            return f"Pod {_name(pod)} has condition {condition['type']}"
    return ""


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
