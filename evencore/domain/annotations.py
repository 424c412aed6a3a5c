"""What people write on pods and namespaces: annotations, laid over the policy file.

A wrong value never fails anything: it gives a warning that names it and what is allowed, and the
next level counts (pod, else namespace, else file).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from evencore.domain import names
from evencore.domain.policy import CpuMode, OnRejection, TopologyMode
from evencore.domain.text import cut, one_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evencore.domain.policy import Policy
    from evencore.domain.resources import ContainerAmounts


class PodPolicy(Struct, frozen=True, gc=False):
    """What holds for one pod: its annotations over its namespace's over the file."""

    cpu: CpuMode
    topology: TopologyMode
    on_rejection: OnRejection
    cpu_of: Mapping[str, CpuMode] = MappingProxyType({})
    warnings: tuple[str, ...] = ()

    def cpu_mode(self, container: str) -> CpuMode:
        """Return what to do with the CPU of one container."""
        return self.cpu_of.get(container, self.cpu)

    def cpu_modes(self, containers: Sequence[ContainerAmounts]) -> tuple[CpuMode, ...]:
        """Return what to do with the CPU of each container."""
        if not self.cpu_of:
            return (self.cpu,) * len(containers)
        return tuple(self.cpu_mode(container.name) for container in containers)

    def keeps_all(self, containers: Sequence[ContainerAmounts]) -> bool:
        """Tell whether the CPU of every container is to be left alone."""
        if self.cpu is not CpuMode.KEEP and not self.cpu_of:
            return False
        return all(mode is CpuMode.KEEP for mode in self.cpu_modes(containers))


def policy_for(
    policy: Policy,
    pod: Mapping[str, str],
    namespace: Mapping[str, str],
    containers: Sequence[ContainerAmounts],
) -> PodPolicy:
    """Lay a pod's annotations over its namespace's over the policy.

    A wrong value is passed over, with a warning that names it and what is allowed. An annotation
    for one container goes before one for all, on the same object.
    """
    result = PodPolicy(policy.cpu, policy.topology, policy.on_rejection)
    for place, written in (("namespace annotation", namespace), ("annotation", pod)):
        ours = [key for key in written if key.startswith(names.PREFIX)]
        if ours:
            known = frozenset(container.name for container in containers)
            result = _overlay(result, {key: written[key] for key in ours}, place, known)
    return result


_NOT_WRITTEN_BY_PEOPLE = frozenset({names.ORIGINAL_CPU, names.DECISION})
# And one for each container.
_KNOWN = {
    key: key.removeprefix(names.PREFIX) for key in (names.CPU, names.TOPOLOGY, names.ON_REJECTION)
}
_MOST = 4  # mistakes of a kind that are told one by one
_LONGEST = 60  # characters of a key that are looked at

E = TypeVar("E", bound=StrEnum)


def _overlay(
    below: PodPolicy, ours: Mapping[str, str], place: str, containers: frozenset[str]
) -> PodPolicy:
    mistakes: list[str] = []

    def chosen(key: str, modes: type[E]) -> E | None:
        try:
            return modes(ours[key]) if key in ours else None
        except ValueError:
            mistakes.append(f"{place} {key}: {quoted(ours[key])} is not {one_of(modes)}; ignored")
            return None

    cpu = chosen(names.CPU, CpuMode)
    # What the pod says of all its containers goes before what the namespace says of one.
    cpu_of = dict(below.cpu_of) if cpu is None else {}
    topology = chosen(names.TOPOLOGY, TopologyMode)
    on_rejection = chosen(names.ON_REJECTION, OnRejection)
    unknown = []
    for key in sorted(ours.keys() - _NOT_WRITTEN_BY_PEOPLE - _KNOWN.keys()):
        name = key.removeprefix(names.CPU_OF_CONTAINER)
        if name in containers and name != key:
            mode = chosen(key, CpuMode)
            cpu_of |= {name: mode} if mode else {}
        elif name == key or place == "annotation":  # a namespace has pods of all kinds
            unknown.append(key)
    return PodPolicy(
        cpu or below.cpu,
        topology or below.topology,
        on_rejection or below.on_rejection,
        cpu_of,
        (
            *below.warnings,
            *_first(mistakes, str),
            *_first(unknown, lambda key: _unknown(place, key)),
        ),
    )


def _first(found: Sequence[str], told: Callable[[str], str]) -> list[str]:
    """Tell the first few of many mistakes and count the rest: a pod may carry thousands."""
    shown = [told(each) for each in found[:_MOST]]
    return shown if len(found) <= _MOST else [*shown, f"{len(found) - _MOST} more like these"]


def _unknown(place: str, key: str) -> str:
    if key.startswith(names.CPU_OF_CONTAINER):
        name = key.removeprefix(names.CPU_OF_CONTAINER)
        return f"{place} {cut(key, _LONGEST)}: the pod has no container {quoted(name)}; ignored"
    from difflib import get_close_matches  # noqa: PLC0415  for who made a mistake

    near = get_close_matches(key[:_LONGEST].removeprefix(names.PREFIX), _KNOWN.values(), n=1)
    hint = f"did you mean {names.PREFIX}{near[0]}?" if near else f"known: {', '.join(_KNOWN)}"
    return f"{place} {quoted(key)} is unknown; {hint}"
