"""Taints and tolerations, as far as pods are kept away or driven off. Pure.

Kubernetes: k8s.io/component-helpers/scheduling/corev1. PreferNoSchedule keeps nobody away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object

NO_EXECUTE: Final = "NoExecute"
_HARD: Final = ("NoSchedule", NO_EXECUTE)


def tolerates(toleration: Object, taint: Object) -> bool:
    """Tell whether a toleration covers a taint; without a key it covers every one."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (
        taint.get("value") or ""
    )


def untolerated(node: Object, tolerations: Sequence[Object]) -> list[Object]:
    """Give the taints of a node that keep a pod with these tolerations away."""
    return [
        taint
        for taint in dig(node, "spec", "taints") or ()
        if taint["effect"] in _HARD and not any(tolerates(one, taint) for one in tolerations)
    ]


def stay_s(node: Object, tolerations: Sequence[Object]) -> float | None:
    """Tell for how many seconds a pod may stay on a node from now; None: as long as it likes.

    Kubernetes rule: the shortest tolerationSeconds among those that cover a NoExecute taint; one
    that nothing covers drives the pod off at once.
    """
    waits: list[float] = []
    for taint in dig(node, "spec", "taints") or ():
        if taint["effect"] != NO_EXECUTE:
            continue
        covering = [one for one in tolerations if tolerates(one, taint)]
        if not covering:
            return 0.0
        waits += (
            max(0.0, one["tolerationSeconds"])
            for one in covering
            if one.get("tolerationSeconds") is not None
        )
    return min(waits, default=None)
