"""The CPU of each container, before and after, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain import names
from evencore.domain.policy import CpuMode
from evencore.domain.quantity import format_millis
from evencore.domain.text import cpus

if TYPE_CHECKING:
    from evencore.domain.annotations import PodPolicy
    from evencore.domain.decision import Decision
    from evencore.domain.policy import Policy
    from evencore.domain.resources import ContainerAmounts, PodAmounts


class ContainerReport(NamedTuple):
    """The CPU of one container; None = it asks for none."""

    name: str
    kind: str
    before: str | None
    after: str | None
    reason: str


def containers_of(
    amounts: PodAmounts, decision: Decision, asked: PodPolicy, policy: Policy
) -> tuple[ContainerReport, ...]:
    """Tell of each container what its CPU becomes, and why."""
    after = {(c.container.kind, c.container.position): c for c in decision.changes}
    reports = []
    for container in amounts.containers:
        before = container.cpu.request
        change = after.get((container.kind, container.position))
        where = f"container {container.name}: cpu {cpus(before or 0)} "
        if decision.alignment is None:
            reason = ""
        elif change is not None:
            reason = change.sentence.removeprefix(f"{where}→ {cpus(change.after)}, ")
        else:
            reason = _unchanged(container, decision, asked, policy, where)
        written = None if before is None else format_millis(before)
        reports.append(
            ContainerReport(
                container.name,
                container.kind.value,
                written,
                written if change is None else format_millis(change.after),
                reason,
            )
        )
    return tuple(reports)


def _unchanged(
    container: ContainerAmounts, decision: Decision, asked: PodPolicy, policy: Policy, where: str
) -> str:
    """Say why a container of an aligned pod stays as it is."""
    alignment = decision.alignment
    millis = container.cpu.request or 0
    width = alignment.width if alignment else 1
    if millis % (width * 1000) == 0:
        return "whole CPUs already" if width == 1 else f"whole cores of {width} threads already"
    for sentence in (*alignment.warnings, *alignment.denials) if alignment else ():
        if sentence.startswith(where):
            rest = sentence.removeprefix(where)
            return f"use {rest[2:]}" if rest.startswith("→ ") else rest
    if asked.cpu_mode(container.name) is CpuMode.KEEP:
        return f"kept: {names.CPU} is {CpuMode.KEEP}"
    if millis < policy.round_from:
        return f"kept: below roundFrom, {cpus(policy.round_from)}"
    return "kept: see the warnings"
