"""A pod on its node: how far it has come, and how long its containers run. No I/O.

Containers are stretches of time here: annotations of the pod say when they end by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simulator.kubelet.restarts import Back
from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.clock import Timer
    from simulator.kubelet.resize import Refused, Resources
    from simulator.kubelet.status import Addresses
    from simulator.objects import Key, Object
    from simulator.recording import Told
    from simulator.requests import Amounts

RUN_SECONDS: Final = "pocket.evencore.io/run-seconds"
"""Annotation: so many seconds after they were started the containers end, each time."""
EXIT_CODE: Final = "pocket.evencore.io/exit-code"
"""Annotation: the exit code they end with; without it 0."""

_ENDED: Final = ("Succeeded", "Failed")


@dataclass(slots=True)
class Life:
    """A pod on a node; `next` and `end` are the timers of its next station and of its end."""

    key: Key
    uid: str
    addresses: Addresses
    requests: Amounts
    admitted: bool = False
    allocated: Resources = field(default_factory=dict)
    waits: tuple[int, Refused] | None = None  # a resize, by its generation
    since: float = 0.0  # when the containers were started last
    back: Back = field(default_factory=Back)
    told: dict[Told, Key] = field(default_factory=dict)  # Events about containers
    next: Timer | None = None
    end: Timer | None = None

    def stop(self) -> None:
        """Cancel what was to come."""
        for timer in (self.next, self.end):
            if timer is not None:
                timer.cancel()
        self.next = self.end = None


def phase_of(pod: Object) -> str:
    """Tell the phase."""
    return dig(pod, "status", "phase") or ""


def has_ended(pod: Object) -> bool:
    """Tell whether nothing more can become of the pod."""
    return phase_of(pod) in _ENDED


def run_seconds(pod: Object) -> float | None:
    """Tell how long the containers run; None: until they are told to stop."""
    return _number(dig(pod, "metadata", "annotations", RUN_SECONDS))


def exit_code(pod: Object) -> int:
    """Tell with which code the containers end by themselves."""
    return int(_number(dig(pod, "metadata", "annotations", EXIT_CODE)) or 0)


def _number(text: str | None) -> float | None:
    """Read what a person wrote; what is no number counts as nothing, as a pod cannot be refused."""
    whole, _, rest = (text or "").partition(".")
    return (
        float(f"{whole}.{rest or 0}") if whole.isdecimal() and (rest or "0").isdecimal() else None
    )
