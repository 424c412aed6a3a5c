"""When held pods of an owner are let go, and how many: slowly, and when there is reason to hope.

A function of values. Not for: what is written on a pod that is let go; that is `decision.let_go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.text import clock, count, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, timedelta

    from evencore.domain.evidence import Evidence
    from evencore.domain.policy import Holds


class HeldPod(NamedTuple):
    """A pod that has our gate."""

    created: datetime
    uid: str


class Flock(NamedTuple):
    """The pods of one owner, as far as their release goes."""

    held: Sequence[HeldPod] = ()  # by us alone; oldest first
    in_flight: int = 0  # let go, and no kubelet has answered yet
    admitted: Sequence[datetime] = ()  # when kubelets admitted those let go before; any order
    shared: Sequence[HeldPod] = ()  # held by others as well: they may take their gates off first


class Release(NamedTuple):
    """Which pods to let go now and why, or why not; and when to think again if nothing happens."""

    pods: tuple[str, ...]
    why: str
    again: datetime | None
    forced: bool = False  # held too long: nobody hopes, so they stay off all excluded nodes


def release(
    flock: Flock, evidence: Evidence, rooms: Mapping[str, datetime], now: datetime, holds: Holds
) -> Release:
    """Decide about the held pods of one owner.

    `rooms`: since when there has been more room on nodes that this owner may use. As long as those
    let go are admitted 1 pod follows, then 2, 4, ..., as the Job controller starts pods; a
    rejection starts over. While a kubelet still owes an answer nothing more is tried.
    """
    ours = sorted((*flock.held, *flock.shared)) if flock.shared else flock.held
    if not ours:
        return Release((), "no pod is held", None)
    overdue = tuple(pod.uid for pod in ours if now - pod.created >= holds.longest)
    if overdue:
        left = ours[len(overdue) :]
        why = f"held for {duration(holds.longest)}, longer than that no pod is held"
        return Release(overdue, why, left[0].created + holds.longest if left else None, forced=True)
    longest = ours[0].created + holds.longest
    if not flock.held:
        return Release((), "others hold them as well", longest)
    if flock.in_flight:
        why = f"{count(flock.in_flight, 'pod')} let go before must start first"
        return Release((), why, longest)
    due, why = _due(flock, evidence, rooms, holds)
    if due is not None and due > now:
        return Release((), f"held until {clock(due)}: {why}", min(due, longest))
    newest = evidence.newest
    started = sum(newest is None or at > newest for at in flock.admitted)
    batch = flock.held[: started + 1]
    again = longest if len(batch) < len(flock.held) else None
    return Release(tuple(pod.uid for pod in batch), why, again)


def hopeful(
    evidence: Evidence, rooms: Mapping[str, datetime], newcomer: tuple[str, datetime] | None
) -> dict[str, datetime]:
    """Return since when there has been more room where an owner may find some.

    That is on the nodes that rejected it, and on the one that joined last: `newcomer`, since then.
    It may be one and the same, and have got more room since.
    """
    found = {seen.node: rooms[seen.node] for seen in evidence.nodes if seen.node in rooms}
    if newcomer is not None:
        node, joined = newcomer
        found[node] = max(joined, found.get(node, joined))
    return found


def _due(
    flock: Flock, evidence: Evidence, rooms: Mapping[str, datetime], holds: Holds
) -> tuple[datetime | None, str]:
    """Return when the next pod may go, None for at once, and the reason.

    Times are of whole seconds: within the same one an admission is taken to be older than a
    rejection, and room to be newer, as `verdict.exclusions` does.
    """
    newest = evidence.newest
    if newest is None:
        return None, "no rejection is known any more"
    wait = _wait(evidence.failed_releases, max(flock.admitted, default=None), holds)
    due, why = newest + wait, f"{duration(wait)} after the last rejection"
    node = max(rooms, key=rooms.__getitem__, default="")
    if node and rooms[node] >= newest:
        sooner = newest + min(wait, holds.release_with_room)
        if sooner < due:
            return sooner, f"more room on {node} since {clock(rooms[node])}"
    return due, why


def _wait(failed: Iterable[datetime], admitted: datetime | None, holds: Holds) -> timedelta:
    """Double the wait for each release that failed since one went well.

    Several pods let go at the same time fail at about the same time, and count once.
    """
    wait, last = holds.first_release, None
    for at in sorted(at for at in failed if admitted is None or at >= admitted):
        if last is None or at - last > holds.first_release / 2:
            wait = min(wait * 2, holds.slowest_release)
        last = at
    return wait
