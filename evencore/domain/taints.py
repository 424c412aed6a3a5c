"""Taints of nodes, and whether pods tolerate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evencore.domain.objects import Object


def tolerates(toleration: Object, taint: Object) -> bool:
    """Tell whether a toleration covers a taint: an empty key or effect covers every one.

    Kubernetes: Toleration.ToleratesTaint. An empty key goes with the operator Exists alone.
    """
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(toleration.get("key")) and same
