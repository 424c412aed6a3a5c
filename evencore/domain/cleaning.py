"""Which rejected pods of an owner may go: those that no verdict needs and nobody will read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evencore.domain.evidence import MEMORY, MOST_TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evencore.domain.evidence import Seen
    from evencore.domain.policy import Exclusions, Policy


def superfluous(seen: Sequence[Seen], now: datetime, policy: Policy) -> list[str]:
    """Return the uids of the rejected pods of one owner that can be deleted, oldest first.

    `seen`: the rejections that count and whose pods are still there (`Ledger.pods_of`), oldest
    first. What is left leads whoever reads it anew to the same verdict and the same release, now
    and later: a property test holds that.
    """
    newest_first = list(reversed(seen))
    live = [one for one in newest_first if one.at >= now - MEMORY]
    holds = policy.holds
    needed = {one.uid for one in newest_first[: policy.rejections.keep]}
    needed |= {one.uid for one in live[: max(holds.after, holds.after_for_jobs)]}
    needed |= {one.uid for one in islice((o for o in live if o.released), MOST_TIMES)}
    most, on_node = rejections_to_maximum(policy.exclusions), dict[str, int]()
    for one in live:
        if one.settling:
            continue
        on_node[one.node] = on_node.get(one.node, 0) + 1
        if on_node[one.node] <= most:
            needed.add(one.uid)
    return [one.uid for one in seen if one.uid not in needed]


def rejections_to_maximum(times: Exclusions) -> int:
    """Return how many rejections on a node exclude it for the maximum; more change nothing."""
    number, time = 1, times.initial
    while time < times.maximum and time:
        number, time = number + 1, time * 2
    return number
