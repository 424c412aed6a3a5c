"""What tolerations must be.

Kubernetes rules: ValidateTolerations; its operators Lt and Gt are behind a switch, off here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.rules import faults, metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def check(tolerations: list[Object]) -> Iterator[Cause]:
    """Tell what is wrong with the tolerations of a pod."""
    for number, one in enumerate(tolerations):
        yield from _toleration(one, f"spec.tolerations[{number}]")


def _toleration(one: Object, at: str) -> Iterator[Cause]:
    key, operator, value = (one.get(part) or "" for part in ("key", "operator", "value"))
    if key:
        yield from metadata.qualified(f"{at}.key", key)
    elif operator != "Exists":
        why = (
            "operator must be Exists when `key` is empty, "
            'which means "match all values and all keys"'
        )
        yield faults.invalid(f"{at}.operator", operator, why)
    if one.get("tolerationSeconds") is not None and one.get("effect") != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield faults.invalid(f"{at}.effect", one.get("effect") or "", why)
    if operator in ("", "Equal"):
        yield from metadata.label_value(f"{at}.operator", key, value)
    elif operator not in _OPERATORS:
        yield faults.unsupported(f"{at}.operator", operator, _OPERATORS)
    elif value:
        why = "value must be empty when `operator` is 'Exists'"
        yield faults.invalid(f"{at}.operator", value, why)
    if one.get("effect") and one["effect"] not in _EFFECTS:
        yield faults.unsupported(f"{at}.effect", one["effect"], _EFFECTS)
