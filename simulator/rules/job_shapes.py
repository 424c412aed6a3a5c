"""The types of a Job's podFailurePolicy: a part of `shapes`."""

from __future__ import annotations

from msgspec import Struct


class _ExitCodes(Struct, rename="camel"):
    operator: str | None = None
    values: list[int] | None = None
    container_name: str | None = None


class _PodCondition(Struct):
    type: str
    status: str | None = None


class _FailureRule(Struct, rename="camel"):
    action: str | None = None
    on_exit_codes: _ExitCodes | None = None
    on_pod_conditions: list[_PodCondition] | None = None


class FailurePolicy(Struct):
    """The podFailurePolicy of a Job."""

    rules: list[_FailureRule] | None = None
