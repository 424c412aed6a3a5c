"""Leader election on a Lease: one of several processes acts, the others wait.

For: reading and writing a coordination.k8s.io/v1 Lease over the same raw calls as everything here,
through outages, and telling everybody else in the process whether it leads.
Not for: the decision (`election`), and not for ending the process: `on_lost` has to.

Order of an orderly stop: first end what writes, then set `stop`: the lease is given back, and the
next process takes it at its next try instead of after `lease_duration_s`.
"""

from __future__ import annotations

import logging
import random as _random
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.kube import errors
from evencore.kube.client import JSON
from evencore.kube.clock import Clock, SystemClock
from evencore.kube.election import Claim, Election, Lost, Record, Timing, Wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.kube.client import Client

_log = logging.getLogger(__name__)

_MERGE_PATCH: Final = "application/merge-patch+json"
_RELEASED_S: Final = 1
"""leaseDurationSeconds of a lease that was given back, as client-go writes it."""


class LeaseName(NamedTuple):
    """Which Lease: every process of one kind contends for the same."""

    namespace: str
    name: str

    @property
    def collection(self) -> str:
        """The path to make it under."""
        return f"/apis/coordination.k8s.io/v1/namespaces/{quote(self.namespace, '')}/leases"

    @property
    def path(self) -> str:
        """The path of the object itself."""
        return f"{self.collection}/{quote(self.name, '')}"


class Elector:
    """Contends for `lease` as `identity`. Run it in one thread: `run(stop)`.

    `elected` is set once we lead. `on_lost` is called at most once, in that thread, if we led and
    do not any more; `run` returns then. It is not called for an orderly stop. `wall` gives the
    time of day that is written for people to read; it is never compared with anything.
    """

    def __init__(  # noqa: PLR0913  the last four have defaults
        self,
        client: Client,
        lease: LeaseName,
        identity: str,
        on_lost: Callable[[str], None],
        *,
        timing: Timing | None = None,
        clock: Clock | None = None,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[], float] = _random.random,
    ) -> None:
        self._client = client
        self._lease = lease
        self._identity = identity
        self._on_lost = on_lost
        self._timing = timing or Timing()
        self._clock = clock or SystemClock()
        self._wall = wall
        self._random = random
        self._election = Election(identity, self._timing)
        self._mine: _Lease | None = None  # as we wrote it last; None: has to be read
        self._said = ""
        self.elected = threading.Event()
        self.holder = ""
        """Who leads as far as we know; empty before the first answer."""

    def leads(self) -> bool:
        """Tell whether we lead at this very moment; callable from any thread.

        Exact even if the thread of `run` hangs in a request: the deadline is looked at here.
        """
        return self._election.leads(self._clock.now())

    def run(self, stop: threading.Event) -> None:
        """Contend until `stop` is set, then give the lease back; or until it is lost."""
        while not stop.is_set():
            lost, asked_s = self._try()
            if lost is not None:
                _log.error("%s no longer leads: %s", self._identity, lost.why)
                self._on_lost(lost.why)
                return
            pause_s = self._election.pause_s(self._clock.now(), self._random, asked_s)
            self._clock.wait(stop, pause_s)
        self._give_back()

    def _try(self) -> tuple[Lost | None, float]:
        """Take a turn, whatever comes; also returns the seconds that the server asked for."""
        asked_s = 0.0
        try:
            return self._turn(), asked_s
        except errors.KubeError as error:
            asked_s = error.retry_after or asked_s
            self._say(logging.WARNING, f"the lease could not be read or written: {error}")
        except Exception:  # noqa: BLE001  were this thread to end, `on_lost` would never be called
            _log.exception("%s: this is a bug", self._lease.path)
        # Nobody knows whether a write went through.
        self._mine = None
        return self._election.overdue(self._clock.now()), asked_s

    def _turn(self) -> Lost | None:
        """Try once to become or to stay leader."""
        overdue = self._election.overdue(self._clock.now())
        if overdue is not None:
            return overdue
        # A leader need not read what it wrote itself: somebody else's write shows as a conflict.
        found = self._mine or self._read()
        action = self._election.step(found.record if found else None, self._clock.now())
        if isinstance(action, Lost):
            return action
        if isinstance(action, Wait):
            self.holder = action.holder
            self._say(logging.INFO, f"{action.holder} leads; {self._identity} waits")
            return None
        return self._claim(found, action)

    def _claim(self, found: _Lease | None, claim: Claim) -> Lost | None:
        sent_at, stamp = self._clock.now(), _micro_time(self._wall())
        acquired = stamp if claim.fresh or found is None else found.record.acquired or stamp
        wanted = Record(
            self._identity, self._timing.lease_duration_s, acquired, stamp, claim.transitions
        )
        self._mine = self._write(found, wanted)
        lost = self._election.wrote(self._mine.record, sent_at, self._clock.now())
        if lost is None:
            self.holder = self._identity
            self._say(logging.INFO, f"{self._identity} leads")
            self.elected.set()
        return lost

    def _read(self) -> _Lease | None:
        """Read the Lease; None if there is none."""
        try:
            reply = self._client.get(self._lease.path, read_timeout_s=self._patience_s())
        except errors.NotFound:
            return None
        try:
            return _decoded(reply.read(), reply.call)
        finally:
            reply.close()

    def _write(self, found: _Lease | None, record: Record) -> _Lease:
        """Make the Lease, or change it if it is still as `found`. Raises Conflict if it is not."""
        spec = {
            "holderIdentity": record.holder,
            "leaseDurationSeconds": int(record.duration_s or self._timing.lease_duration_s),
            "acquireTime": record.acquired,
            "renewTime": record.renewed,
            "leaseTransitions": record.transitions,
        }
        metadata: dict[str, Any]
        if found is None:
            verb, path, kind = "POST", self._lease.collection, JSON
            metadata = {"name": self._lease.name, "namespace": self._lease.namespace}
        else:
            # A merge patch, so that labels and fields of others stay. The version names this very
            # state of this very object, so the uid adds nothing.
            verb, path, kind = "PATCH", self._lease.path, _MERGE_PATCH
            metadata = {"resourceVersion": found.version}
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        }
        answer = self._client.write(
            verb, path, body, content_type=kind, read_timeout_s=self._patience_s()
        )
        return _decoded(answer, errors.Call(verb, path, self._client.server))

    def _give_back(self) -> None:
        """Write that nobody holds the lease, if it is ours."""
        if not self.leads():
            return
        found, self._mine = self._mine, None
        self._election.release()
        try:
            try:
                self._write_nobody(found)
            except errors.Conflict:
                # Somebody may have put a label on it, which is no reason to let others wait.
                self._write_nobody(None)
        except Exception as error:  # noqa: BLE001  nothing may hold up the end of the process
            _log.warning("the lease could not be given back and runs out by itself: %s", error)

    def _write_nobody(self, known: _Lease | None) -> None:
        found = known or self._read()
        if found is None or found.record.holder != self._identity:
            return
        now = _micro_time(self._wall())
        self._write(found, Record("", _RELEASED_S, now, now, found.record.transitions))
        _log.info("%s has given the lease back", self._identity)

    def _patience_s(self) -> float:
        """How long one request may take to connect, and then to be silent.

        A leader must have come to its deadline by then at the latest; a second try before it is
        worth more than waiting longer for the first.
        """
        left_s = self._election.left_s(self._clock.now())
        most_s = self._timing.renew_deadline_s
        return max(0.1, min(most_s, most_s if left_s is None else left_s) / 2.0)

    def _say(self, level: int, text: str) -> None:
        """Log what is not the same as the last time."""
        if text != self._said:
            self._said = text
            _log.log(level, "%s", text)


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Body(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec | None = None


class _Lease(NamedTuple):
    """A Lease as it was read or written."""

    record: Record
    version: str


def _decoded(body: bytes, call: errors.Call) -> _Lease:
    try:
        found = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise errors.Unreadable(
            f"{call} was answered with something that is no Lease: "
            f"{errors.shortened(str(error))}: {errors.Unreadable.advice}"
        ) from error
    spec = found.spec or _Spec()
    record = Record(
        spec.holder_identity or "",
        spec.lease_duration_seconds,
        spec.acquire_time or "",
        spec.renew_time or "",
        spec.lease_transitions or 0,
    )
    return _Lease(record, found.metadata.resource_version)


def _micro_time(at: datetime) -> str:
    """Write a moment as metav1.MicroTime."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
