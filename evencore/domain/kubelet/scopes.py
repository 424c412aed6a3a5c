"""Topology scopes: which hints are asked for and merged, and in which order CPUs are given out.

Kubernetes: cm/topologymanager/scope_none.go, scope_container.go, scope_pod.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from evencore.domain.kubelet.hints import UNKNOWN
from evencore.domain.kubelet.merge import NONE, Merger
from evencore.domain.kubelet.refusals import TopologyAffinity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.hints import Hint, Hints
    from evencore.domain.kubelet.machine import Machine
    from evencore.domain.kubelet.pod import Container, Pod

Affinities = dict[str, "Hint"]
"""Container -> the hint it was given."""


class Provider(Protocol):
    """A manager that gives hints: of CPUs, of memory."""

    def hints(self, pod: Pod, container: Container) -> Hints | None:
        """Give hints for one container."""

    def pod_hints(self, pod: Pod) -> Hints | None:
        """Give hints for a pod as a whole."""

    def allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        """Allocate for one container. Raises Refusal."""

    def allocate_pod(self, pod: Pod, hint: Hint) -> None:
        """Allocate for a pod as a whole. Raises Refusal."""


class TopologyManager:
    """The topology manager with its policy and scope."""

    def __init__(self, machine: Machine, config: Config, providers: Sequence[Provider]) -> None:
        self._providers = providers
        self._none, self._pod_scope = config.topology_policy == NONE, config.pod_scope
        self._gate = config.pod_level_managers
        self._merger = Merger(config.topology_policy, machine, closest=config.closest_numa)

    def admit(self, pod: Pod, affinities: Affinities) -> None:
        """Allocate all that a pod needs, or raise Refusal; containers reached are in `affinities`.

        What containers before the refused one were given stays theirs until the pod is removed.
        """
        if self._none:
            for container in pod.containers:
                self._allocate(pod, container, UNKNOWN)
        elif self._pod_scope:
            self._admit_pod(pod, affinities)
        else:
            self._admit_containers(pod, affinities)

    def _admit_containers(self, pod: Pod, affinities: Affinities) -> None:
        for container in pod.containers:
            hint = self._merger.merge(
                [provider.hints(pod, container) for provider in self._providers]
            )
            if hint is None:
                # The text begins "Pod Scope" though this is the other one.
                raise (
                    _of_pod_level("with a container-level")
                    if self._by_pod(pod)
                    else TopologyAffinity
                )
            affinities[container.name] = hint
            self._allocate(pod, container, hint)

    def _admit_pod(self, pod: Pod, affinities: Affinities) -> None:
        hint = self._merger.merge([one.pod_hints(pod) for one in self._providers])
        if hint is None:
            raise _of_pod_level("under pod-scope") if self._by_pod(pod) else TopologyAffinity
        if self._by_pod(pod):
            affinities.update((container.name, hint) for container in pod.containers)
            for provider in self._providers:
                provider.allocate_pod(pod, hint)
            return
        for container in pod.containers:
            affinities[container.name] = hint
            self._allocate(pod, container, hint)

    def _by_pod(self, pod: Pod) -> bool:
        return self._gate and pod.pod_level is not None

    def _allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        for provider in self._providers:
            provider.allocate(pod, container, hint)


def _of_pod_level(where: str) -> TopologyAffinity:
    return TopologyAffinity(
        f"Pod Scope pod with pod-level resources failed admission {where} topology manager"
    )
