"""Who leads: the decision of leader election, without clock or network.

For: what to do about a Lease that was just read, and until when we may believe to lead. Pure.
Not for: reading and writing it; that is `lease`.

Rules of client-go's leaderelection. Wall clocks of different machines are never compared: whether
the holder is alive is judged by *our* clock, from the moment at which we first saw its last sign
of life. A leader stops to lead `renew_deadline_s` after its last success was *sent*; the others
wait for the whole `lease_duration_s` after they saw it, which is later and longer: so never two
lead at once, whatever the network does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

JITTER: Final = 1.2
"""Who waits for the lease asks every 1 to 2.2 retry periods, so that many do not ask together."""

_CLOSEST_S: Final = 1.0
"""Between two tries as the deadline comes near: a read and a write in each are two a second."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How patient each side is, in seconds. Raises ValueError with every problem.

    The defaults are those of Kubernetes' own controllers.
    """

    lease_duration_s: float = 15.0
    """Others take over this long after the last sign of life: whole seconds, for the API's sake."""
    renew_deadline_s: float = 10.0
    """A leader that could not renew for so long has lost."""
    retry_period_s: float = 2.0
    """Between two tries."""

    def __post_init__(self) -> None:
        problems = []
        if self.lease_duration_s < 1 or self.lease_duration_s != int(self.lease_duration_s):
            problems.append(
                f"the lease duration is {self.lease_duration_s:g} s: give whole seconds, at least 1"
            )
        if self.lease_duration_s <= self.renew_deadline_s:
            problems.append(
                f"the renew deadline is {self.renew_deadline_s:g} s: give less than the lease "
                f"duration, {self.lease_duration_s:g} s, or two may lead at once"
            )
        if self.retry_period_s <= 0 or self.retry_period_s * JITTER >= self.renew_deadline_s:
            problems.append(
                f"the retry period is {self.retry_period_s:g} s: give more than 0 and less than "
                f"the renew deadline, {self.renew_deadline_s:g} s, divided by {JITTER:g}"
            )
        if problems:
            raise ValueError("; ".join(problems))


class Record(NamedTuple):
    """The spec of a Lease, as it was read; texts are compared and never understood."""

    holder: str = ""  # empty: released
    duration_s: float | None = None
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0


class Wait(NamedTuple):
    """Somebody else leads, and may be alive."""

    holder: str


class Claim(NamedTuple):
    """Write ourselves as holder. `fresh`: as a new one, who begins now."""

    transitions: int
    fresh: bool


class Lost(NamedTuple):
    """We led, and do not any more."""

    why: str


Action = Wait | Claim | Lost


class Election:
    """One candidate. `identity` must be its own: another process with it would lead as well.

    All times are monotonic seconds. One thread calls; `leads` may be asked by any.
    """

    def __init__(self, identity: str, timing: Timing) -> None:
        self._identity = identity
        self._timing = timing
        self._seen: Record | None = None
        self._seen_at = float("-inf")
        # One number, so that a reader in another thread sees all or nothing.
        self._until: float | None = None  # None: not leading

    def leads(self, now: float) -> bool:
        """Tell whether we lead at this very moment, however late the next `step` comes."""
        until = self._until
        return until is not None and now < until

    def left_s(self, now: float) -> float | None:
        """Seconds until the deadline of a leader, 0 if it has passed; None for who does not lead.

        A deadline that has passed is final, `step` says so: no late success brings it back.
        """
        return None if self._until is None else max(0.0, self._until - now)

    def step(self, observed: Record | None, now: float) -> Action:
        """Decide about the Lease as it is; None: there is none."""
        overdue = self.overdue(now)
        if overdue is not None:
            return overdue
        if observed is None:
            return Claim(0, fresh=True)
        if observed != self._seen:
            self._seen, self._seen_at = observed, now
        if observed.holder == self._identity:
            return Claim(observed.transitions, fresh=False)
        if self._until is not None:
            return self._lost(f"the lease is held by {observed.holder or 'nobody'}")
        # The holder's own promise counts, not ours: versions with other settings may live together.
        lasts_s = observed.duration_s or self._timing.lease_duration_s
        if observed.holder and now < self._seen_at + lasts_s:
            return Wait(observed.holder)
        return Claim(observed.transitions + 1, fresh=True)

    def overdue(self, now: float) -> Lost | None:
        """Say that the deadline has passed, if we lead and it has."""
        if self._until is None or now < self._until:
            return None
        return self._lost(f"the lease could not be renewed for {self._timing.renew_deadline_s:g} s")

    def wrote(self, record: Record, sent_at: float, now: float) -> Lost | None:
        """Take in that our claim, sent at `sent_at`, was accepted; it may have come too late."""
        overdue = self.overdue(now)
        if overdue is not None:
            return overdue
        self._seen, self._seen_at = record, now
        self._until = sent_at + self._timing.renew_deadline_s
        return self.overdue(now)

    def pause_s(self, now: float, random: Callable[[], float], asked_s: float = 0.0) -> float:
        """Seconds until the next try; `asked_s`: what the server asked for.

        A leader goes on every retry period whatever it is asked for: to lose the lease makes
        another process list everything, which costs the server more than one small request. The
        last tries come closer, so that none is wasted on the very deadline.
        """
        left_s = self.left_s(now)
        if left_s is not None:
            return min(self._timing.retry_period_s, max(left_s / 2.0, _CLOSEST_S), left_s)
        jittered_s = self._timing.retry_period_s * (1.0 + JITTER * random())
        return max(jittered_s, min(asked_s, self._timing.lease_duration_s))

    def release(self) -> None:
        """Lead no more, of our own will."""
        self._until = None

    def _lost(self, why: str) -> Lost:
        self._until = None
        return Lost(why)
