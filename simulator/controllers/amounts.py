"""Numbers that may be percentages: maxSurge and maxUnavailable. Pure."""

from __future__ import annotations


def share(value: int | str | None, total: int, *, up: bool = True) -> int:
    """Give an absolute number; `up` says which way a part of a pod is rounded."""
    if isinstance(value, str) and value.endswith("%"):
        hundredths = int(value[:-1]) * total
        return -(-hundredths // 100) if up else hundredths // 100
    return int(value or 0)
