"""The admission answer: bytes in, status and bytes out. Knows no framework, never raises.

Fail-open: whatever happens inside, the pod is allowed, unchanged, with a warning. The cost of one
call is that of the whole product on a pod's way into the cluster, so nothing here waits.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import Encoder

from evencore.domain.decision import Decision, decide
from evencore.domain.patching import operations
from evencore.domain.views import PodView
from webhook import review
from webhook.alike import Crowds, Told, kind_of, unrejected
from webhook.review import Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot

OK = 200
BAD_REQUEST = 400


class Outcome(Struct, frozen=True, gc=False):
    """What became of one request, for the log and the metrics."""

    result: str  # patched, unchanged, denied, passed, unreadable, failed, refused
    request: Request | None = None
    decision: Decision | None = None
    error: BaseException | None = None
    detail: str = ""


class Mutator:
    """Answers admission requests. Calling one is thread-safe and takes no lock.

    `snapshot` is asked once per request and must not wait; `observe` is told each outcome and
    the seconds it took, and what it raises is ignored; `now` is the time by which exclusions end.
    """

    def __init__(
        self,
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        now: Callable[[], datetime],
        observe: Callable[[Outcome, float], None] = lambda _, __: None,
    ) -> None:
        self._policy = policy
        self._snapshot = snapshot
        self._now = now
        self._observe = observe
        self._crowds = Crowds()

    def __call__(self, body: bytes) -> tuple[int, bytes]:
        """Answer the body of a POST: 200 with a review, or 400 if the body is none."""
        begin = perf_counter()
        try:
            request, problems = review.decode(body)
        except review.NotAReview as error:
            self._tell(Outcome("refused", detail=str(error)), begin)
            return BAD_REQUEST, _encode_json({"error": str(error)})
        try:
            answer, outcome = self._answer(request, problems)
        except Exception as error:  # noqa: BLE001  fail-open: no fault of ours may stop a pod
            warning = "evencore failed inside and left this pod unchanged; its log says more"
            answer = review.allowed(request.uid, (warning,))
            outcome = Outcome("failed", request, error=error)
        self._tell(outcome, begin)
        return OK, answer

    def _answer(self, request: Request, problems: tuple[str, ...]) -> tuple[bytes, Outcome]:
        uid = request.uid
        if not request.creates_a_pod:
            return review.allowed(uid), Outcome("passed", request)
        if problems:
            # Patching what we read only in part could harm what we did not read.
            warnings = tuple(f"evencore left this pod unchanged: {each}" for each in problems)
            return review.allowed(uid, warnings), Outcome(
                "unreadable", request, detail="; ".join(problems)
            )
        pod = request.object or PodView()
        namespace = request.namespace or pod.meta.namespace or ""
        snapshot, now = self._snapshot(), self._now()
        kind = kind_of(pod, namespace, snapshot, now)
        told = self._crowds.find(kind, namespace, snapshot) if kind else None
        if told is not None:
            return review.again(uid, told.rest), Outcome(told.result, request, told.decision)
        if kind is not None:
            snapshot = unrejected(snapshot)
        decision = decide(pod, namespace, self._policy, snapshot, now)
        result, answer = _carried_out(uid, pod, decision)
        if kind is not None:
            told = Told(decision, result, review.rest_of(answer, uid))
            self._crowds.keep(kind, namespace, snapshot, told)
        return answer, Outcome(result, request, decision)

    def _tell(self, outcome: Outcome, begin: float) -> None:
        try:
            self._observe(outcome, perf_counter() - begin)
        except Exception:  # noqa: BLE001  a full disk under the log must not stop a pod
            return


def _carried_out(uid: str, pod: PodView, decision: Decision) -> tuple[str, bytes]:
    """Return what becomes of a pod, and the answer that says so."""
    if decision.denial:
        message = f"evencore: {decision.denial}"
        return "denied", review.denied(uid, message, decision.warnings)
    patch = operations(pod, decision)
    warnings = (
        *decision.warnings,
        *(decision.alignment.sentences if decision.alignment else ()),
    )
    if not patch:
        return "unchanged", review.allowed(uid, warnings)
    return "patched", review.patched(uid, patch, warnings)


_encode_json = Encoder().encode
