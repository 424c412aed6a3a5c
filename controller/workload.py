"""The object that makes an owner's pods, as far as its pods do not tell it.

For: whether a template names a node, and how many retries a Job has left. Read when there is a
question, not watched: there are many, and the questions are rare.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import Struct

from controller.recent import Recent
from evencore.domain.verdict import may_be_held

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.state import Owner
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

_PLURALS: Final = {
    "ReplicaSet": "replicasets",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet": "statefulsets",
    "Job": "jobs",
}

_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_API_VERSION: Final = re.compile(r"([a-z]{1,20}/)?v[a-z0-9]{1,20}")

BACKOFF_LIMIT: Final = 6  # of a Job that says nothing (SetDefaults_Job)
FRESH_S: Final = 30.0
"""What was read so long ago is read again. An error is remembered as long."""


class Workload(NamedTuple):
    """What is known of one."""

    node_name: str | None = None  # in its template: no scheduler is asked where its pods go
    backoff_limit: int = BACKOFF_LIMIT
    per_index: bool = False  # each index of the Job has a limit of its own
    failed: int = 0  # pods of the Job that failed, as its controller counts

    @property
    def retries_left(self) -> int:
        """How many pods of a Job may yet fail before it is given up; 0 if it is not known."""
        return 0 if self.per_index else max(0, self.backoff_limit - self.failed)


class Workloads:
    """Reads them. Threads may share it."""

    def __init__(self, writer: Writer, now: Callable[[], float] = time.monotonic) -> None:
        self._writer, self._now = writer, now
        self._known: Recent[tuple[float, Workload | None]] = Recent()

    def read(self, owner: Owner) -> Workload | None:
        """Read an owner now; None if that cannot be done: another kind, gone, forbidden."""
        found = self._read(owner) if may_be_held(owner) else None
        self._known.put(owner.uid, (self._now(), found))
        return found

    def recent(self, owner: Owner) -> Workload | None:
        """As `read`, but what was read just before will do."""
        known = self._known.get(owner.uid)
        if known is None or self._now() - known[0] > FRESH_S:
            return self.read(owner)
        return known[1]

    def _read(self, owner: Owner) -> Workload | None:
        # Anybody may write any ownerReference: what is no name must not become part of a path.
        if not _NAME.fullmatch(owner.name) or not _API_VERSION.fullmatch(owner.api_version):
            return None
        root = "/api/v1" if owner.api_version == "v1" else f"/apis/{owner.api_version}"
        plural = _PLURALS[owner.kind]
        path = f"{root}/namespaces/{quote(owner.namespace, '')}/{plural}/{quote(owner.name, '')}"
        answer = self._writer.read(path)
        if not isinstance(answer, bytes):
            _log.info("%s %s/%s is not read: %s", *owner[1:4], answer.why)
            return None
        try:
            found = msgspec.json.decode(answer, type=_Object)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            _log.info("%s %s/%s cannot be read: %s", *owner[1:4], error)
            return None
        if found.metadata.uid != owner.uid:
            return None
        template = found.spec.template
        return Workload(
            (template.spec.node_name if template and template.spec else None) or None,
            BACKOFF_LIMIT if found.spec.backoff_limit is None else found.spec.backoff_limit,
            found.spec.backoff_limit_per_index is not None,
            (found.status.failed if found.status else None) or 0,
        )


class _Metadata(Struct):
    uid: str = ""


class _PodSpec(Struct, rename="camel"):
    node_name: str | None = None


class _Template(Struct):
    spec: _PodSpec | None = None


class _Spec(Struct, rename="camel"):
    template: _Template | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None


class _Status(Struct):
    failed: int | None = None


class _Object(Struct):
    metadata: _Metadata
    spec: _Spec
    status: _Status | None = None
