"""Rung 1: every container of a Guaranteed pod gets a whole, SMT-even CPU request = limit.

Kubelet rule (cm/cpumanager/policy_static.go, enforceSMTAlignment): with full-pcpus-only each
container on its own must ask for a multiple of the threads per core. A fraction is never refused,
and never pinned either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evencore.domain.policy import CpuMode
from evencore.domain.resources import ContainerAmounts, pod_total
from evencore.domain.text import cpus, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evencore.domain.snapshot import CpuMaximum, Maxima


class CpuChange(Struct, frozen=True, gc=False):
    """The CPU request and limit of one container, before and after, in thousandths."""

    container: ContainerAmounts
    before: int
    after: int
    sentence: str


class Asked(NamedTuple):
    """What a container asks for in the end."""

    container: ContainerAmounts
    millis: int  # of CPU
    ours: bool  # to align


class Alignment(Struct, frozen=True, gc=False):
    """What rung 1 does to a pod for one width."""

    width: int
    changes: tuple[CpuChange, ...]
    warnings: tuple[str, ...]
    denials: tuple[str, ...]
    result: tuple[Asked, ...]
    sentences: tuple[str, ...]  # one for each change


def round_up(millis: int, width: int) -> int:
    """Return the smallest whole multiple of `width` CPUs that is at least `millis`, in millis."""
    step = width * 1000
    return -(-millis // step) * step


def align(
    containers: Sequence[ContainerAmounts],
    modes: Sequence[CpuMode],
    width: int,
    round_from: int,
    maximum: Maxima,
) -> Alignment:
    """Work out rung 1 for a Guaranteed pod on nodes of `width` threads per core.

    `modes`: one for each container. `round_from` (thousandths): containers below it are left alone.
    `maximum`: what LimitRanges
    allow. Raising a container above it would make the API server refuse the pod, so such a
    container is left as it is, with a warning.
    """
    changes: list[CpuChange] = []
    warnings: list[str] = []
    denials: list[str] = []
    result: list[Asked] = []
    for container, mode in zip(containers, modes, strict=True):
        before = after = container.cpu.request or 0
        wanted = round_up(before, width)
        if wanted != before and before >= round_from and mode is not CpuMode.KEEP:
            where = f"container {container.name}: cpu {cpus(before)}"
            if mode is not CpuMode.ROUND_UP:
                refused = mode is CpuMode.DENY and before % 1000 == 0
                (denials if refused else warnings).append(f"{where} {_fault(before, width)}")
            elif maximum.container and wanted > maximum.container.millis:
                warnings.append(f"{where} kept: {cpus(wanted)} {_above(maximum.container)}")
            else:
                after = wanted
                sentence = f"{where} → {cpus(after)}, {_cores(before, after, width)}"
                changes.append(CpuChange(container, before, after, sentence))
        result.append(Asked(container, after, _ours(container, mode, round_from)))
    if changes and maximum.pod:
        total = pod_total((container.kind, after) for container, after, _ in result)
        if total > maximum.pod.millis:
            warnings.append(f"cpu kept: {cpus(total)} for the pod {_above(maximum.pod)}")
            result = [one._replace(millis=one.container.cpu.request or 0) for one in result]
            changes = []
    return Alignment(
        width,
        tuple(changes),
        tuple(warnings),
        tuple(denials),
        tuple(result),
        tuple(change.sentence for change in changes),
    )


def as_it_is(
    containers: Sequence[ContainerAmounts], modes: Sequence[CpuMode], round_from: int
) -> tuple[Asked, ...]:
    """Return what the containers of a pod ask for that exists: nothing can be aligned any more."""
    return tuple(
        Asked(one, one.cpu.request or 0, _ours(one, mode, round_from))
        for one, mode in zip(containers, modes, strict=True)
    )


def _ours(container: ContainerAmounts, mode: CpuMode, round_from: int) -> bool:
    return mode is CpuMode.ROUND_UP and (container.cpu.request or 0) >= round_from


def _above(maximum: CpuMaximum) -> str:
    return f"is above the maximum {cpus(maximum.millis)} of LimitRange {maximum.limit_range}"


def _cores(before: int, after: int, width: int) -> str:
    what = "whole CPUs" if width == 1 else f"whole cores of {width} threads"
    # A rounded fraction can cost much: 100m becomes 2.
    return f"{what}; {cpus(after - before)} more" if before % 1000 else what


def _fault(millis: int, width: int) -> str:
    above = round_up(millis, width)
    fitting = [cpus(value) for value in (above - width * 1000, above) if value > 0]
    if millis % 1000:
        return f"is a fraction, which no kubelet pins; {cpus(above)} would be pinned"
    return (
        f"→ {one_of(fitting)}: kubelets with full-pcpus-only refuse it ({width} threads per core)"
    )
