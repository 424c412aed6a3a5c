"""The report: who loops, where, since when, what was done, what happens next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain import names
from evencore.domain.text import count
from evencore.rejections.listing import rejected_pods
from evencore.rejections.picture import picture_of
from evencore.rejections.prospect import prospect

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from controller.state import Owner
    from evencore.domain.policy import Policy
    from evencore.rejections.listing import RejectedPod
    from evencore.rejections.objects import Objects
    from evencore.rejections.picture import Picture
    from evencore.rejections.prospect import Prospect


class OwnerReport(NamedTuple):
    """One owner whose pods are, or were, rejected."""

    owner: Owner
    rejections: int  # that can still be seen
    since: datetime | None
    last: datetime | None
    nodes: tuple[tuple[str, int], ...]  # most first
    reasons: tuple[tuple[str, int], ...]
    from_events: int  # of these: the pod is gone, its Event tells
    cleaned: str | None  # what was deleted, as it was told last
    prospect: Prospect

    @property
    def state(self) -> str:
        """One word for it."""
        if self.prospect.flock.held:
            return "held"
        if self.prospect.stuck:
            return "stuck"
        if self.prospect.excluded:
            return "excluded"
        return "released" if self.prospect.flock.in_flight else "quiet"


class Report(NamedTuple):
    """Everything that `evencore rejections` tells."""

    owners: tuple[OwnerReport, ...]  # who was rejected last comes first
    manual: tuple[RejectedPod, ...]  # pods that only a person can help
    notes: tuple[str, ...]
    now: datetime


def report(
    objects: Objects,
    policy: Policy,
    now: datetime,
    namespace: str | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Tell of all owners with rejections or steered pods, in one namespace or in all."""
    picture = picture_of(objects, policy, now)
    owners = [
        _owner(picture, key)
        for key, owner in picture.owners.items()
        if namespace in (None, owner.namespace)
    ]
    owners = sorted(filter(_matters, owners), key=_recent_first)
    manual = [
        pod
        for pod in rejected_pods(objects.failed, now)
        if pod.action and namespace in (None, pod.namespace)
    ]
    counted = picture.only_counted
    more = [f"{count(counted, 'failed pod')} of reason OutOf…: counted only"] if counted else []
    return Report(tuple(owners), tuple(manual), (*notes, *more), now)


def _matters(one: OwnerReport) -> bool:
    """Leave out who was rejected so long ago that only its pods' labels tell of it."""
    flock = one.prospect.flock
    return bool(one.rejections or flock.held or flock.in_flight or one.prospect.waiting)


def _recent_first(one: OwnerReport) -> tuple[float, str, str]:
    return (-one.last.timestamp() if one.last else 0.0, one.owner.namespace, one.owner.name)


def _owner(picture: Picture, key: str) -> OwnerReport:
    owner, pods = picture.owners[key], picture.rejections.get(key, [])
    # Pods that asked for odd CPUs are no evidence for a verdict, but rejected all the same.
    seen = {pod.uid: (pod.at or picture.now, pod.node, pod.reason) for pod in pods}
    seen |= {
        one.uid: (one.at, one.node, one.reason) for one in picture.snapshot.evidence.all_of(key)
    }
    times = [at for at, _, _ in seen.values()]
    told = picture.told.get((owner.namespace, owner.kind, owner.name, names.REJECTED_PODS_DELETED))
    return OwnerReport(
        owner,
        len(seen),
        min(times, default=None),
        max(times, default=None),
        _most_first(node for _, node, _ in seen.values()),
        _most_first(reason for _, _, reason in seen.values()),
        len(seen) - len(pods),
        told.message if told else None,
        prospect(picture, key),
    )


def _most_first(found: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counted = Counter(found)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
