"""What is told of each request: one log line and the metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evencore.admission_metrics import ADMISSIONS

if TYPE_CHECKING:
    from webhook.mutate import Outcome

Line = Callable[..., None]

# Results that an operator should see at the default level even if nothing was changed.
_WORTH_A_WARNING = frozenset({"unreadable", "refused"})
_QUIET = frozenset({"passed", "unchanged"})


class Recorder:
    """Tells the log and the metrics of each outcome. One instance per process."""

    def __init__(self, logger: Any) -> None:  # noqa: ANN401  structlog's loggers have no common type
        # Methods looked up once: in a logger of structlog that costs as much as half a line.
        self._error: Line = logger.error
        self._warning: Line = logger.warning
        self._info: Line = logger.info
        self._debug: Line = logger.debug
        self._admissions = ADMISSIONS

    def __call__(self, outcome: Outcome, seconds: float) -> None:
        """Record one outcome, which took so many seconds."""
        admissions, decision = self._admissions, outcome.decision
        admissions.results[outcome.result] += 1
        admissions.took(seconds)
        if decision is not None:
            for change in decision.changes:
                admissions.containers_aligned += 1
                admissions.millis_added += change.after - change.before
            if decision.steering:
                admissions.pods_steered += 1
        self._line(outcome)(outcome.result, **_fields(outcome))

    def _line(self, outcome: Outcome) -> Line:
        if outcome.result == "patched":
            return self._info
        if outcome.error is not None:
            return self._error
        if outcome.result in _WORTH_A_WARNING:
            return self._warning
        if outcome.result in _QUIET and not _warns(outcome):
            return self._debug
        return self._info


def _warns(outcome: Outcome) -> bool:
    return outcome.decision is not None and bool(outcome.decision.warnings)


def _fields(outcome: Outcome) -> dict[str, object]:
    fields: dict[str, object] = {}
    request = outcome.request
    if request is not None:
        fields["uid"] = request.uid
        if request.namespace:
            fields["namespace"] = request.namespace
        pod = request.object
        name = request.name or (pod.meta.name or pod.meta.generate_name if pod else None)
        if name:
            fields["pod"] = name
        owner = pod.controller if pod else None
        if owner is not None:
            fields["owner"] = f"{owner.kind}/{owner.name}"
    decision = outcome.decision
    if decision is not None:
        fields["decision"] = decision.denial or decision.left_alone or "; ".join(decision.sentences)
        if decision.warnings:
            fields["warnings"] = decision.warnings
    if outcome.detail:
        fields["detail"] = outcome.detail
    if outcome.error is not None:
        fields["exc_info"] = outcome.error
    return fields
