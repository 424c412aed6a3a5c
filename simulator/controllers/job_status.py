"""The status of a Job. Pure.

Kubernetes: trackJobStatusAndRemoveFinalizers. Pods that ended are written down by uid first, then
lose their finalizer, and only then count; a controller that dies between loses and doubles none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import timestamp
from simulator.controllers import job_plan, job_pods
from simulator.controllers.pods import is_ready

if TYPE_CHECKING:
    from simulator.controllers.job_plan import Ending
    from simulator.controllers.job_pods import Counted
    from simulator.objects import Object


def with_uncounted(status: Object, counted: Counted) -> Object:
    """Write down who ended and is about to be counted."""
    pending = {
        part: [pod["metadata"]["uid"] for pod in pods]
        for part, pods in (("succeeded", counted.succeeded), ("failed", counted.failed))
        if pods
    }
    return {**status, "uncountedTerminatedPods": pending}


def with_counted(job: Object, status: Object, counted: Counted) -> Object:
    """Count those who ended; an index counts once, however often it succeeded."""
    made = {**status, "uncountedTerminatedPods": {}}
    succeeded = status.get("succeeded", 0) + len(counted.succeeded)
    if job_pods.is_indexed(job):
        done = completed(job, counted)
        succeeded = len(done)
        if done:
            made["completedIndexes"] = job_pods.write_indexes(done)
    totals = {"succeeded": succeeded, "failed": status.get("failed", 0) + len(counted.failed)}
    return made | {part: number for part, number in totals.items() if number}


def completed(job: Object, counted: Counted) -> set[int]:
    """Give the indexes that are done, those not counted yet included."""
    status = job.get("status") or {}
    done = job_pods.read_indexes(status.get("completedIndexes", ""))
    found = {job_pods.index_of(pod) for pod in counted.succeeded}
    total = job["spec"].get("completions") or 0
    return done | {index for index in found if index is not None and index < total}


def of_pods(status: Object, active: int, ready: int, going: int) -> Object:
    """Say how many pods are at work."""
    made = {**status, "ready": ready, "terminating": going, "active": active}
    if not active:
        del made["active"]
    return made


def ready(counted: Counted) -> int:
    """Count the active pods that are ready."""
    return sum(map(is_ready, counted.active))


def started(job: Object, status: Object, now: float) -> Object:
    """Follow `suspend`: startTime and the condition Suspended."""
    conditions = status.get("conditions") or []
    if job["spec"].get("suspend"):
        if job_plan.has_condition(job, "Suspended"):
            return status
        why = ("JobSuspended", "Job suspended")
        made = job_plan.with_condition(conditions, "Suspended", "True", why, now)
        return {k: v for k, v in status.items() if k != "startTime"} | {"conditions": made}
    if job_plan.has_condition(job, "Suspended"):
        why = ("JobResumed", "Job resumed")
        made = job_plan.with_condition(conditions, "Suspended", "False", why, now)
        return {**status, "conditions": made, "startTime": timestamp(now)}
    return {"startTime": timestamp(now), **status}


def ended(status: Object, end: Ending, *, through: bool, now: float) -> Object:
    """Write how the Job ends; the last condition comes when `through`: no pod is left."""
    why = (end.reason, end.message)
    conditions = list(status.get("conditions") or [])
    if all(one["type"] != end.first for one in conditions):
        conditions = job_plan.with_condition(conditions, end.first, "True", why, now)
    if through:
        conditions = job_plan.with_condition(conditions, end.last, "True", why, now)
        if end.last == "Complete":
            status = {**status, "completionTime": timestamp(now)}
    return {**status, "conditions": conditions}
