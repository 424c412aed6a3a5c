"""Whether this process should get traffic: named checks, and a flag for shutting down.

Not for liveness: `/healthz` depends on nothing, so that a check that fails never restarts us.
"""

from collections.abc import Callable, Mapping

# Why not ready, as a short sentence for people; None when all is well. Called at every probe.
Check = Callable[[], str | None]

SHUTTING_DOWN = "shutting down: SIGTERM was received, requests are still answered for a while"


class Readiness:
    """Named checks, asked at each probe, and `drain`, after which the answer is always no."""

    def __init__(self, checks: Mapping[str, Check] | None = None) -> None:
        self._checks = dict(checks or {})
        self._draining = False

    def drain(self) -> None:
        """Be not ready from now on. Called at SIGTERM; more calls change nothing."""
        self._draining = True

    @property
    def draining(self) -> bool:
        """Whether `drain` was called."""
        return self._draining

    def reasons(self) -> list[str]:
        """Say why this process is not ready, one line per reason; an empty list means ready."""
        if self._draining:
            return [SHUTTING_DOWN]
        reasons = []
        for name, check in self._checks.items():
            reason = _ask(check)
            if reason is not None:
                reasons.append(f"{name}: {reason}")
        return reasons


def _ask(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a broken check is a reason, not a broken probe
        return f"the check itself failed: {type(error).__name__}: {error}"
