"""Jobs: pods that are to succeed, made again after failures until it is too often.

For: carrying out `job_plan`.
Not for: success policies and limits per index; `job_ttl` deletes Jobs that are over.

Kubernetes: pkg/controller/job. Changes of pods are looked at a second later, many at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.controllers import job_plan, job_pods, job_status
from simulator.controllers import pods as pod_rules
from simulator.controllers.claims import claims, settle
from simulator.controllers.client import Client
from simulator.controllers.job_plan import Failures
from simulator.controllers.podcontrol import create_slowly, delete_all
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import NORMAL, WARNING
from simulator.controllers.watching import follow, selector_of
from simulator.errors import ApiError
from simulator.objects import controller_of, key_of
from simulator.resources import JOBS, PODS

if TYPE_CHECKING:
    from simulator.controllers.client import Cluster
    from simulator.controllers.job_plan import Ending
    from simulator.controllers.job_pods import Counted
    from simulator.objects import Key, Object

_NAME: Final = "job-controller"
_BATCH_S: Final = 1.0
_BURST: Final = 500


class _Managed(NamedTuple):
    """What came of making and deleting pods; `active` as the status tells it."""

    active: int
    deleted: int = 0
    error: Exception | None = None


class Jobs:
    """Keeps the pods of all Jobs."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client = Client(cluster, _NAME, _NAME)
        self._table = cluster.store.table(JOBS)
        self._failures: dict[Key, Failures] = {}
        self._queue = WorkQueue(cluster.background, self._sync)
        self._orphans = WorkQueue(cluster.background, self._sync_orphan)
        follow(cluster, JOBS, self._queue.add, lambda key: self._queue.add_after(key, _BATCH_S))
        cluster.pods.listen(self._note_orphan)

    def _note_orphan(self, pod: Object, _: Object | None) -> None:
        """Let go of pods whose Job is gone: nobody will count them."""
        owner = controller_of(pod)
        if job_pods.is_tracked(pod) and pod_rules.is_going_away(pod):
            key = (pod["metadata"]["namespace"], owner["name"] if owner else "")
            job = self._table.get(key)
            if job is None or owner is None or job.object["metadata"]["uid"] != owner["uid"]:
                self._orphans.add((pod["metadata"]["namespace"], pod["metadata"]["name"]))

    def _leave(self, key: Key) -> None:
        """Let go of the pods of a Job that is gone (deleteJob): some went before it did."""
        for record in self._cluster.store.table(PODS).records():
            owner = controller_of(record.object)
            if (
                owner
                and owner["name"] == key[1]
                and record.object["metadata"]["namespace"] == key[0]
            ):
                self._note_orphan(record.object, None)

    async def _sync_orphan(self, key: Key) -> None:
        record = self._cluster.store.table(PODS).get(key)
        if record is not None:
            await self._untrack([record.object])

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None:
            self._failures.pop(key, None)
            self._leave(key)
            return
        job, index = record.object, self._cluster.pods
        uid, now = job["metadata"]["uid"], self._cluster.store.clock.now()
        if job_plan.is_finished(job):
            self._failures.pop(key, None)
            await self._untrack(index.all(uid))
            return
        found = claims(selector_of(job), index.all(uid), index.orphans(key[0]))
        counted = job_pods.count(job, await settle(self._client, job, found))
        failed = [*counted.failed, *counted.ignored]  # all of them make the next ones wait
        if counted.succeeded or failed:
            before = self._failures.get(key, Failures())
            self._failures[key] = before.after(failed, counted.succeeded)
        end = job_plan.ending(job, counted, now)
        status = job_status.started(job, job.get("status") or {}, now)
        done = _Managed(len(counted.active))
        if end is not None:
            gone = counted.active
            error = await delete_all(self._cluster.background, self._client, job, gone)
            done = _Managed(0, len(gone), error)
            counted = job_pods.closed(counted, failed=end.last == "Failed")
        elif not pod_rules.is_going_away(job):
            done = await self._manage(job, counted)
        going = counted.going + done.deleted
        status = job_status.of_pods(status, done.active, job_status.ready(counted), going)
        await self._write(job, status, counted, end)
        self._tell_suspension(job)
        if done.error is not None:
            raise done.error
        left = job_plan.deadline_left({**job, "status": status}, now)
        if left is not None and end is None:
            self._queue.add_after(key, left)

    async def _manage(self, job: Object, counted: Counted) -> _Managed:
        """Make or delete pods."""
        spec, background = job["spec"], self._cluster.background
        succeeded = (job.get("status") or {}).get("succeeded", 0) + len(counted.succeeded)
        active = len(counted.active)
        wanted = 0
        if not spec.get("suspend"):
            wanted = job_plan.wanted_active(spec, active, succeeded)
        if wanted < active:
            surplus = job_pods.first_to_go(counted.active)[: active - wanted]
            await self._untrack(surplus)  # deleted by us, not failed
            error = await delete_all(background, self._client, job, surplus)
            return _Managed(wanted, len(surplus), error)
        awaited = counted.going if job_pods.is_patient(job) else 0
        missing = min(max(0, wanted - active - awaited), _BURST)
        now, key = self._cluster.store.clock.now(), key_of(job)
        wait = self._failures.get(key, Failures()).wait_left(now)
        if missing and wait > 0:
            self._queue.add_after(key, wait)
            return _Managed(0)  # Kubernetes' own oddity: those still at work are not told of
        made = [job_pods.new_pod(job, index) for index in self._indexes(job, counted, missing)]
        error = await create_slowly(background, self._client, job, made)
        return _Managed(active + len(made), error=error)

    def _indexes(self, job: Object, counted: Counted, missing: int) -> list[int] | list[None]:
        if not job_pods.is_indexed(job):
            return [None] * missing
        busy = {job_pods.index_of(pod) for pod in counted.active}
        taken = job_status.completed(job, counted) | {index for index in busy if index is not None}
        return job_pods.free_indexes(job["spec"]["completions"], taken, missing)

    async def _write(
        self, job: Object, status: Object, counted: Counted, end: Ending | None
    ) -> None:
        """Write the status; pods that ended are let go between the two halves of it."""
        now = self._cluster.store.clock.now()
        if end is not None and not job_plan.has_condition(job, end.first):
            status = job_status.ended(status, end, through=False, now=now)
        ends = [*counted.succeeded, *counted.failed, *counted.ignored]
        pending = job_status.with_uncounted(status, counted)
        seen = job
        if ends or pending.get("conditions") != (job.get("status") or {}).get("conditions"):
            seen = await self._put(job, pending)
        await self._untrack(ends)
        final = job_status.with_counted(job, pending, counted)
        if end is not None and not status["terminating"]:
            final = job_status.ended(final, end, through=True, now=now)
            self._tell_end(job, end)
        await self._put(seen, final)

    async def _put(self, job: Object, status: Object) -> Object:
        await self._client.update_status(JOBS, job, status)
        return {**job, "status": status}

    async def _untrack(self, pods: list[Object]) -> None:
        """Take the finalizer off; a pod that is gone already needs nothing."""
        tracked = [pod for pod in pods if job_pods.is_tracked(pod)]
        errors = await self._cluster.background.together(
            [self._untrack_one(pod) for pod in tracked]
        )
        if errors:
            raise errors[0]

    async def _untrack_one(self, pod: Object) -> None:
        try:
            await self._client.update(PODS, pod, job_pods.untracked)
        except ApiError as refused:
            if refused.reason != "NotFound":
                raise

    def _tell_end(self, job: Object, end: Ending) -> None:
        if end.last == "Complete":
            self._client.record(job, NORMAL, "Completed", "Job completed")
        else:
            self._client.record(job, WARNING, end.reason, end.message)

    def _tell_suspension(self, job: Object) -> None:
        was, wanted = job_plan.has_condition(job, "Suspended"), bool(job["spec"].get("suspend"))
        if was != wanted:
            word = "Suspended" if wanted else "Resumed"
            self._client.record(job, NORMAL, word, f"Job {word.lower()}")
