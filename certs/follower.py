"""From the Secret to the webhook's files: what every replica does for itself.

It only reads the Secret, whoever looks after it: our controller, cert-manager, a person. What
cannot be served never replaces what can. Before there is anything, a placeholder is served, so that
probes are answered and tell what is waited for; API servers do not trust it, and no Service leads
here while we are not ready.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from certs.authority import Pair
from certs.facts import stamp
from certs.reading import CERTIFICATE, KEY, read_leaf
from certs.serving import PLACEHOLDER, make_placeholder
from evencore import metrics

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from certs.facts import Leaf
    from certs.files import Volume
    from certs.ports import StoredSecret

_log = logging.getLogger(__name__)

LOOK_S: Final = 5.0
FIRST_LOOK_S: Final = 1.0
"""Between two looks as long as there is no certificate."""

_PLACEHOLDER_LIFE: Final = timedelta(days=365)


class Follower:
    """Keeps `volume` as the Secret is. `begin` once, before anything is served; then `start`.

    `name`: of the Secret, for people.
    """

    def __init__(
        self,
        read: Callable[[], StoredSecret],
        volume: Volume,
        name: str,
        now: Callable[[], datetime],
    ) -> None:
        self._read, self._volume, self._name, self._now = read, volume, name, now
        self._why: str | None = f"waiting for the certificate in {name}"
        self._said = ""
        self._stop = threading.Event()

    def begin(self) -> None:
        """See that there are files to begin with: those of before, else a placeholder.

        Raises OSError if they cannot be written.
        """
        there = self._volume.read()
        leaf = _leaf(there)
        if isinstance(leaf, str) or leaf.certificate.name == PLACEHOLDER:
            self._volume.write(make_placeholder(self._now(), _PLACEHOLDER_LIFE))
            return
        _log.info("serving the certificate of before until %s was read", self._name)
        self._serves(leaf)

    def missing(self) -> str | None:
        """Say what keeps us from being ready; None: a certificate is served."""
        return self._why

    def start(self) -> None:
        """Follow in a thread of its own."""
        threading.Thread(target=self._run, name="certificate", daemon=True).start()

    def stop(self) -> None:
        """End that."""
        self._stop.set()

    def look(self) -> float:
        """Look once; returns in how many seconds to look again."""
        problem = self._follow()
        if problem and self._why is not None:
            self._why = f"waiting for the certificate in {self._name}: {problem}"
            self._say(logging.WARNING, self._why)
        elif problem:
            self._say(logging.ERROR, f"the certificate of before stays in use: {problem}")
        else:
            self._said = ""
        return FIRST_LOOK_S if self._why else LOOK_S

    def _follow(self) -> str:
        """Bring what is in the Secret to the files; says what is in the way."""
        secret = self._read()
        if secret.problem:
            return secret.problem
        if not secret.uid:
            return "there is no such Secret"
        leaf = read_leaf(secret.data)
        if isinstance(leaf, str):
            return leaf
        pair = Pair(secret.data[CERTIFICATE], secret.data[KEY])
        if pair != self._volume.read():
            try:
                self._volume.write(pair)
            except OSError as error:
                # Not its own file name: each try has another, and this is to be said once.
                return f"{self._volume.certificate} cannot be written: {error.strerror}"
            _log.info("serving the certificate that ends %s", stamp(leaf.certificate.expires))
        self._serves(leaf)
        return ""

    def _serves(self, leaf: Leaf) -> None:
        metrics.CERTIFICATE_EXPIRY.labels("serving").set(leaf.certificate.expires.timestamp())
        self._why = None

    def _run(self) -> None:
        # Once more in this process: one that replaces a worker knows only what was at the fork.
        with contextlib.suppress(OSError):
            self.begin()
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            try:
                wait_s = self.look()
            except Exception:  # noqa: BLE001  if this thread ended, the certificate would
                _log.exception("following %s failed: this is a bug", self._name)
                wait_s = LOOK_S

    def _say(self, level: int, text: str) -> None:
        if text != self._said:
            self._said = text
            _log.log(level, "%s", text)


def _leaf(pair: Pair | None) -> Leaf | str:
    if pair is None:
        return "there are no files"
    return read_leaf({CERTIFICATE: pair.certificate, KEY: pair.key})
