"""Everything that the checks look at: what was read, what was tried, and what could not be."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.doctor.views import CordonedNode, Hook, HookConfiguration, Lease, SeenPod
from evencore.domain import names
from evencore.domain.collect import flatten
from evencore.domain.lenient import read
from evencore.domain.objects import map_at, text_at
from evencore.nodes.objects import Objects as NodeObjects
from evencore.rejections.objects import Sorter
from evencore.rejections.picture import Picture, picture_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evencore.domain.policy import Policy

# Parts of the world, by the resources that tell of them; a check names those that it needs.
CONFIGURATIONS: Final = "mutatingwebhookconfigurations"
NAMESPACES: Final = "namespaces"
NODES: Final = "nodes"
PODS: Final = "pods"
EVENTS: Final = "events"
LEASE: Final = "leases"
ENDPOINTS: Final = "endpointslices"
OWNERS: Final = "replicasets"  # and other owners of rejected pods


class Call(Enum):
    """What became of a pod that was created for trial."""

    CHANGED = "changed"  # by us: our annotation was on it
    UNCHANGED = "unchanged"
    FAILED = "failed"  # for the webhook, which must not fail
    UNKNOWN = "unknown"


class Trial(NamedTuple):
    """A server-side dry run of creating a Guaranteed pod that must be changed."""

    namespace: str
    call: Call
    text: str = ""  # what the API server said


class Shake(Enum):
    """What became of a TLS handshake with the webhook."""

    GOOD = "good"
    UNTRUSTED = "untrusted"  # the caBundle did not sign what was shown
    EXPIRED = "expired"
    OTHER_NAME = "other name"
    UNREACHABLE = "unreachable"  # from here, which need not mean from the API server


class Handshake(NamedTuple):
    """A TLS handshake, verified with the caBundle as the API server does."""

    shake: Shake
    where: str
    text: str = ""
    not_before: datetime | None = None
    not_after: datetime | None = None


class Placed(NamedTuple):
    """A webhook of ours and where it stands."""

    configuration: str
    place: int  # among the webhooks of the configuration
    hook: Hook

    @property
    def object(self) -> str:
        """What to look at."""
        return f"MutatingWebhookConfiguration/{self.configuration}"


@dataclass(slots=True)
class World:
    """The cluster as the checks see it."""

    now: datetime
    policy: Policy
    own_namespace: str
    lease_name: str
    picture: Picture
    hooks: tuple[Placed, ...] = ()
    namespaces: Mapping[str, dict[str, str]] = field(default_factory=dict)  # name → labels
    nodes: NodeObjects = field(default_factory=NodeObjects)
    cordoned: frozenset[str] = frozenset()
    pods: tuple[SeenPod, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)  # part → why it could not be read
    # What is asked for once the above is known:
    lease: Lease | None = None
    ready: dict[str, int] = field(default_factory=dict)  # namespace/service → ready endpoints
    pinned: dict[str, str] = field(default_factory=dict)  # key of owner → nodeName in its template
    trial: Trial | None = None
    handshakes: dict[str, Handshake] = field(default_factory=dict)  # by name of the hook

    @property
    def participants(self) -> list[str]:
        """The namespaces that take part."""
        return sorted(
            name
            for name, labels in self.namespaces.items()
            if labels.get(names.ADMISSION) == names.ENABLED
            and name not in self.policy.ignored_namespaces
        )

    @property
    def called(self) -> bool:
        """Whether it is proved that the API server calls us."""
        return self.trial is not None and self.trial.call is Call.CHANGED


class Builder:
    """Takes objects in as they come and keeps of them what the checks look at."""

    def __init__(self) -> None:
        self._sorter = Sorter()
        self._nodes = NodeObjects()
        self._hooks: list[Placed] = []
        self._namespaces: dict[str, dict[str, str]] = {}
        self._cordoned: set[str] = set()
        self._pods: list[SeenPod] = []

    def take(self, document: object) -> None:
        """Take in an object, or a list of them."""
        for item in flatten(document):
            kind, meta = text_at(item, "kind"), map_at(item, "metadata")
            name = text_at(meta, "name")
            self._nodes.take(item)
            self._sorter.take(item)
            if kind == "MutatingWebhookConfiguration":
                hooks = read(HookConfiguration, item)[0].webhooks or ()
                self._hooks += [Placed(name, *it) for it in enumerate(hooks) if it[1].ours]
            elif kind == "Namespace":
                labels = map_at(meta, "labels")
                self._namespaces[name] = {k: v for k, v in labels.items() if isinstance(v, str)}
            elif kind == "Node":
                node = read(CordonedNode, item)[0]
                if node.spec and node.spec.unschedulable is True:
                    self._cordoned.add(name)
            elif kind == "Pod":
                pod = read(SeenPod, item)[0]
                if pod.matters:
                    self._pods.append(pod)

    def world(
        self,
        missing: Mapping[str, str],
        policy: Policy,
        now: datetime,
        own_namespace: str,
        lease_name: str,
    ) -> World:
        """Return what is known so far."""
        return World(
            now,
            policy,
            own_namespace,
            lease_name,
            picture_of(self._sorter.objects, policy, now),
            tuple(self._hooks),
            self._namespaces,
            self._nodes,
            frozenset(self._cordoned),
            tuple(self._pods),
            dict(missing),
        )
