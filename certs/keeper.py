"""Carries out the plan, one step at a time, and tells what it does and why.

Any number of keepers may be at it, on any machine: each write names the version of what was read,
and who comes second reads again. `rotation` decides; nothing is remembered here but since when all
has been as it is, and what was said last.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from certs import rotation
from certs.authority import make_authority
from certs.bundle import ordered, to_pem
from certs.facts import Held, Hook, Published
from certs.pace import Pace
from certs.pem import AUTHORITIES, AUTHORITY_KEY, CERTIFICATE, KEY, Pair
from certs.reading import read_bundle, read_certificate, read_secret
from certs.serving import make_leaf
from evencore import metrics
from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from certs.aims import Aims
    from certs.ports import Answer, Bundles, Secrets, StoredHooks, StoredSecret, Tell

_log = logging.getLogger(__name__)

TICK_S: Final = 5.0
"""Between two looks: a caBundle that was reset is repaired within it, and clocks may jump."""

_RACED_S: Final = 0.2
_RACES: Final = 10
"""After so many in a row the next look is an ordinary one: somebody writes all the time."""


class Seen(NamedTuple):
    """What was read, and what it means."""

    secret: StoredSecret
    hooks: StoredHooks
    held: Held
    published: Published


@dataclass(frozen=True, slots=True)
class Clocks:
    """The time of day, and seconds by a clock that never jumps."""

    now: Callable[[], datetime]
    steady: Callable[[], float]


class Keeper:
    """Keeps the certificates of one webhook. One thread calls it."""

    def __init__(
        self, secrets: Secrets, bundles: Bundles, aims: Aims, tell: Tell, clocks: Clocks
    ) -> None:
        self._secrets, self._bundles = secrets, bundles
        self._aims, self._tell, self._clocks = aims, tell, clocks
        self._pace = Pace(clocks.steady)
        self._same: object = None
        self.since = 0.0
        """Since when, by the steady clock, all has been as it is."""
        self._said = ""
        self._races = 0

    def look(self) -> Seen | str:
        """Read what there is; a sentence if it cannot be read."""
        # The Secret first: what is trusted may be newer than it, never older.
        secret = self._secrets.read()
        if secret.problem:
            return secret.problem
        hooks = self._bundles.read()
        if hooks.problem:
            return hooks.problem
        seen = Seen(secret, hooks, held(secret), published(hooks))
        self._note(seen)
        return seen

    def step(self, _: str = "") -> float:
        """Do the next step, if one is due; returns in how many seconds to look again."""
        seen = self.look()
        if isinstance(seen, str):
            self._say(logging.WARNING, f"the certificates could not be looked at: {seen}")
            return TICK_S
        steady = timedelta(seconds=self._clocks.steady() - self.since)
        return self.carry_out(
            rotation.plan(seen.held, seen.published, self._aims, self._clocks.now(), steady), seen
        )

    def carry_out(self, step: rotation.Step, seen: Seen) -> float:
        """Carry out a step; returns in how many seconds to look again."""
        match step:
            case rotation.Rest(why):
                self._say(logging.INFO, f"certificates: {why}")
                return TICK_S
            case rotation.Wait(why, seconds):
                self._say(logging.INFO, f"certificates: {why}")
                return min(seconds, TICK_S)
            case rotation.HandsOff(why):
                if self._say(logging.WARNING, f"certificates are left alone: {why}"):
                    self._tell(seen.secret.uid, names.CERTIFICATES_LEFT_ALONE, why, warning=True)
                return TICK_S
            case rotation.MakeAuthority(why):
                wait_s = self._pace.wait_s()
                if wait_s:
                    self._say(
                        logging.WARNING,
                        f"certificates: {why}; those made a short while ago are gone: somebody "
                        "else writes the Secret, so the next one waits",
                    )
                    return min(wait_s, TICK_S)
                self._pace.made()
                return self._wrote(self._authority(step, seen), seen, names.AUTHORITY_MADE, why)
            case rotation.IssueLeaf(why):
                answer = self._store(seen, self._leaf(seen))
                return self._wrote(answer, seen, names.CERTIFICATE_ISSUED, why)
            case rotation.Forget(why, keep):
                answer = self._store(seen, {AUTHORITIES: to_pem(keep).encode()})
                return self._wrote(answer, seen, names.AUTHORITY_DROPPED, why)
            case rotation.Publish(why, bundle, hooks):
                answer = self._bundles.write(seen.hooks, hooks, to_pem(bundle).encode())
                return self._wrote(answer, seen, names.TRUST_PUBLISHED, why)

    def _authority(self, step: rotation.MakeAuthority, seen: Seen) -> Answer:
        now = self._clocks.now()
        made = make_authority(now, self._aims.authority_life)
        bundle = ordered(step.keep, [read_certificate(made.certificate)])
        data = {AUTHORITIES: to_pem(bundle).encode(), AUTHORITY_KEY: made.key}
        if step.leaf:
            data |= self._signed(made, now)
        elif not seen.secret.uid:
            # Secrets of type kubernetes.io/tls have both keys, or none are made.
            data |= {CERTIFICATE: b"", KEY: b""}
        return self._store(seen, data)

    def _leaf(self, seen: Seen) -> dict[str, bytes]:
        signing = seen.held.signing
        if signing is None:
            raise AssertionError("planned without an authority")
        pair = Pair(signing.pem.encode(), seen.secret.data[AUTHORITY_KEY])
        return self._signed(pair, self._clocks.now())

    def _signed(self, authority: Pair, now: datetime) -> dict[str, bytes]:
        leaf = make_leaf(authority, self._aims.names, now, self._aims.leaf_life)
        return {CERTIFICATE: leaf.certificate, KEY: leaf.key}

    def _store(self, seen: Seen, data: dict[str, bytes]) -> Answer:
        if not seen.secret.uid:
            return self._secrets.create(data)
        return self._secrets.update(seen.secret.uid, seen.secret.version, data)

    def _wrote(self, answer: Answer, seen: Seen, reason: str, why: str) -> float:
        """Tell what became of a write."""
        self._races = self._races + 1 if answer.raced else 0
        if answer.raced and self._races < _RACES:
            self._say(logging.INFO, f"{reason}: somebody else was faster; looking again")
            return _RACED_S
        if answer.problem:
            text = f"{why}; {reason} did not succeed: {answer.problem}"
            if self._say(logging.ERROR, text):
                self._tell(seen.secret.uid, names.CERTIFICATES_NOT_KEPT, text, warning=True)
            return TICK_S
        self._said = ""
        self._tell(seen.secret.uid, reason, why)  # which logs it as well
        return 0.0

    def _note(self, seen: Seen) -> None:
        """Notice since when all has been as it is, and show when it expires."""
        same = (
            seen.secret.uid,
            dict(seen.secret.data),
            {(h.name, one.fingerprint) for h in seen.published.hooks for one in h.trusted},
        )
        if same != self._same:
            self._same, self.since = same, self._clocks.steady()
        leaf, signing = seen.held.leaf, seen.held.signing
        for label, one in (("serving", leaf and leaf.certificate), ("authority", signing)):
            expiry = one.expires.timestamp() if one else 0.0
            metrics.CERTIFICATE_EXPIRY.labels(label).set(expiry)

    def _say(self, level: int, text: str) -> bool:
        """Log what is not the same as the last time; tells whether it was not."""
        if text == self._said:
            return False
        self._said = text
        _log.log(level, "%s", text)
        return True


def held(secret: StoredSecret) -> Held:
    """Tell what a Secret holds."""
    return read_secret(secret.data, secret.manager) if secret.uid else Held()


def published(hooks: StoredHooks) -> Published:
    """Tell whom each hook trusts."""
    return Published(
        exists=bool(hooks.uid),
        hooks=tuple(Hook(one.name, *read_bundle(one.ca_bundle)) for one in hooks.entries),
        injector=hooks.injector,
    )
