"""The Events that we write, in the shape in which kubelets and controllers write theirs.

For: building the body of a core/v1 Event and of the patch that counts it up. Pure.
Not for: deciding which Events are the same; the caller knows what repeats.

Why core/v1 and not events.k8s.io/v1, which is stored as the same object: what we report stands
beside the kubelet's own Events, which are core/v1 with `count`, `firstTimestamp` and
`lastTimestamp`; kubectl and dashboards show "x5 over 10m" from these three. The newer form would
need an `action`, keeps its count in `series` and forbids those fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evencore.kube.errors import shortened

if TYPE_CHECKING:
    from datetime import datetime

MOST_CHARACTERS: Final = 1024
"""Of a message: what the newer API allows; a reader of that API sees ours too."""

_HOME: Final = "default"
"""Where Events on objects without a namespace live."""


class About(NamedTuple):
    """The object that an Event is about; `namespace` is empty for nodes."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Event:
    """One Event, `count` times between `first` and `last` (aware datetimes).

    `name` makes it unique in its namespace: who writes the same Event again after a lost answer
    uses the same name, and meets a Conflict instead of making a second one.
    """

    name: str
    about: About
    reason: str
    message: str
    first: datetime
    last: datetime
    count: int = 1
    warning: bool = False

    @property
    def namespace(self) -> str:
        """The namespace it lives in: that of its object (Kubernetes refuses any other)."""
        return self.about.namespace or _HOME

    def body(self, component: str) -> dict[str, Any]:
        """Give the whole object, as `component` reports it."""
        involved = {
            "apiVersion": self.about.api_version,
            "kind": self.about.kind,
            "namespace": self.about.namespace,
            "name": self.about.name,
            "uid": self.about.uid,
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "involvedObject": {key: value for key, value in involved.items() if value},
            "type": "Warning" if self.warning else "Normal",
            "reason": self.reason,
            "source": {"component": component},
            "reportingComponent": component,
            "reportingInstance": "",
            "firstTimestamp": rfc3339(self.first),
            **self.counted(),
        }

    def counted(self) -> dict[str, Any]:
        """Give what changes when it happens again; absolute, so that twice is once."""
        return {
            "count": self.count,
            "lastTimestamp": rfc3339(self.last),
            "message": shortened(self.message, MOST_CHARACTERS),
        }


def rfc3339(at: datetime) -> str:
    """Write a moment as metav1.Time: UTC, whole seconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
