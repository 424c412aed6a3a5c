"""What becomes of a Job: how many pods it wants, and whether it is over. Pure.

Kubernetes: pkg/controller/job/job_controller.go and backoff_utils.go. Failed pods are made again
after 10 s, doubling with each failure in a row up to 10 min; more failures than backoffLimit end
the Job. Each pod that failed is a failure in the row, however many of them failed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.clock import parse_timestamp, timestamp
from simulator.controllers import job_failure_policy, job_pods
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.controllers.job_pods import Counted
    from simulator.objects import Object

_FIRST_WAIT_S: Final = 10.0
_LONGEST_WAIT_S: Final = 600.0


class Ending(NamedTuple):
    """How a Job ends: a first condition while its pods go, then the last one."""

    first: str  # FailureTarget or SuccessCriteriaMet
    last: str  # Failed or Complete
    reason: str
    message: str


_LAST: Final = {"FailureTarget": "Failed", "SuccessCriteriaMet": "Complete"}

COMPLETED: Final = Ending(
    "SuccessCriteriaMet",
    "Complete",
    "CompletionsReached",
    "Reached expected number of succeeded pods",
)
TOO_OFTEN: Final = Ending(
    "FailureTarget",
    "Failed",
    "BackoffLimitExceeded",
    "Job has reached the specified backoff limit",
)
TOO_LONG: Final = Ending(
    "FailureTarget",
    "Failed",
    "DeadlineExceeded",
    "Job was active longer than specified deadline",
)


class Failures(NamedTuple):
    """Failures in a row since the last success."""

    times: int = 0
    last: float = 0.0

    def wait_left(self, now: float) -> float:
        """Tell for how many seconds no pod is made."""
        if not self.times:
            return 0.0
        wait = min(_FIRST_WAIT_S * 2.0 ** min(self.times - 1, 30), _LONGEST_WAIT_S)
        return max(0.0, self.last + wait - now)

    def after(self, failed: Iterable[Object], succeeded: Iterable[Object]) -> Failures:
        """Count pods that ended; a success starts the row anew."""
        row, since = self, max(map(job_pods.ended_at, succeeded), default=None)
        if since is not None:
            row = Failures()
        ends = [end for pod in failed if (end := job_pods.ended_at(pod)) >= (since or 0.0)]
        return Failures(row.times + len(ends), max([row.last, *ends]))


def is_finished(job: Object) -> bool:
    """Tell whether a Job is over."""
    return any(has_condition(job, one) for one in ("Complete", "Failed"))


def has_condition(job: Object, type_: str) -> bool:
    """Tell whether a condition of a Job is true."""
    conditions = dig(job, "status", "conditions") or ()
    return any(one["type"] == type_ and one["status"] == "True" for one in conditions)


def ending(job: Object, counted: Counted, now: float) -> Ending | None:
    """Tell how the Job ends, if it does."""
    spec, status = job["spec"], job.get("status") or {}
    for condition in status.get("conditions") or ():
        last = _LAST.get(condition["type"])
        if last:  # the end has begun already
            return Ending(condition["type"], last, condition["reason"], condition["message"])
    fatal = job_failure_policy.fatal(job, counted.failed)
    if fatal:
        return Ending("FailureTarget", "Failed", "PodFailurePolicy", fatal)
    failed = status.get("failed", 0) + len(counted.failed)
    if counted.failed and failed > spec["backoffLimit"]:
        return TOO_OFTEN
    if _restarted_too_often(spec, counted):
        return TOO_OFTEN
    left = deadline_left(job, now)
    if left is not None and left <= 0:
        return TOO_LONG
    done = status.get("succeeded", 0) + len(counted.succeeded)
    if spec.get("completions") is None:
        return COMPLETED if done and not counted.active else None
    return COMPLETED if done >= spec["completions"] else None


def _restarted_too_often(spec: Object, counted: Counted) -> bool:
    """Count the restarts of running pods: with restartPolicy OnFailure they are failures."""
    if dig(spec, "template", "spec", "restartPolicy") != "OnFailure":
        return False
    restarts = sum(
        status.get("restartCount", 0)
        for pod in counted.active
        for status in dig(pod, "status", "containerStatuses") or ()
    )
    return bool(restarts and restarts >= spec["backoffLimit"])


def deadline_left(job: Object, now: float) -> float | None:
    """Tell in how many seconds the Job has been active for too long; None: never."""
    deadline, start = dig(job, "spec", "activeDeadlineSeconds"), dig(job, "status", "startTime")
    if deadline is None or start is None or dig(job, "spec", "suspend"):
        return None
    return parse_timestamp(start) + float(deadline) - now


def kept_for(job: Object, now: float) -> float | None:
    """Tell for how many seconds a Job that is over is kept; None: for ever, or it is not over."""
    ttl = dig(job, "spec", "ttlSecondsAfterFinished")
    for one in dig(job, "status", "conditions") or ():
        if ttl is not None and one["type"] in _LAST.values() and one["status"] == "True":
            return parse_timestamp(one["lastTransitionTime"]) + float(ttl) - now
    return None


def wanted_active(spec: Object, active: int, succeeded: int) -> int:
    """Tell how many pods are to be at work."""
    parallel: int = spec.get("parallelism", 1)
    if spec.get("completions") is None:
        # Once one has succeeded the others finish, and no new ones start.
        return min(active, parallel) if succeeded else parallel
    completions: int = spec["completions"]
    return max(0, min(parallel, completions - succeeded))


def with_condition(
    conditions: list[Object], type_: str, status: str, why: tuple[str, str], now: float
) -> list[Object]:
    """Give the conditions with this one, at its old place if it was there."""
    made = {
        "type": type_,
        "status": status,
        "lastProbeTime": timestamp(now),
        "lastTransitionTime": timestamp(now),
        "reason": why[0],
        "message": why[1],
    }
    if all(one["type"] != type_ for one in conditions):
        return [*conditions, made]
    return [made if one["type"] == type_ else one for one in conditions]
