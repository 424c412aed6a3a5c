"""From the Secret to the webhook's files: what every replica does for itself.

It only reads the Secret, whoever looks after it: our controller, cert-manager, a person. What
cannot be served never replaces what can. As long as there is nothing, a placeholder is served, so
that probes are answered and tell what is waited for; API servers do not trust it, and no Service
leads here while we are not ready.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from certs.facts import stamp
from certs.pem import CERTIFICATE, KEY, Pair

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from certs.files import Volume
    from certs.ports import StoredSecret
    from certs.usable import Usable

_log = logging.getLogger(__name__)

LOOK_S: Final = 5.0
FIRST_LOOK_S: Final = 1.0
"""Between two looks as long as there is no certificate."""

PATIENCE_S: Final = 1.0
"""So long a start waits for the first look: an API server answers within milliseconds, or is not
there."""


class Sources(NamedTuple):
    """What a follower asks. Of what goes wrong all but a full disk is told in a sentence."""

    secret: Callable[[], StoredSecret]
    judge: Callable[[Pair], Usable | str]
    """Tells whether a pair can be served. Raises OSError."""
    placeholder: Callable[[], Pair | str]


class Follower:
    """Keeps `volume` as the Secret is: `start`, then `provide`, then serve.

    `name`: of the Secret, for people.
    """

    def __init__(self, sources: Sources, volume: Volume, name: str) -> None:
        self._sources, self._volume, self._name = sources, volume, name
        self._why: str | None = f"waiting for the certificate in {name}"
        self._said = ""
        self._judged: tuple[Pair, Usable | str] | None = None
        self._writing = threading.Lock()
        self._known, self._stop = threading.Event(), threading.Event()
        self.ends: datetime | None = None
        """When the certificate that is served ends."""

    def missing(self) -> str | None:
        """Say what keeps us from being ready; None: a certificate is served."""
        return self._why

    def start(self) -> None:
        """Follow in a thread of its own."""
        threading.Thread(target=self._run, name="certificate", daemon=True).start()

    def stop(self) -> None:
        """End that."""
        self._stop.set()

    def provide(self) -> None:
        """Return when there is something to serve: of before, of the Secret, else a placeholder.

        If none can be made it goes on trying: without any nobody can be answered.
        """
        self._known.wait(PATIENCE_S)
        while problem := self._fill():
            self._say(logging.ERROR, f"nothing can be served before {self._name} is: {problem}")
            self._stop.wait(FIRST_LOOK_S)

    def begin(self) -> None:
        """Serve the files of before until the Secret was read, if they can be. Raises OSError."""
        found = self._there()
        if not isinstance(found, str) and not found.placeholder:
            _log.info("serving the certificate of before until %s was read", self._name)
            self._serves(found)

    def look(self) -> float:
        """Look once; returns in how many seconds to look again."""
        problem = self._follow()
        self._known.set()
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
        secret = self._sources.secret()
        if secret.problem:
            return secret.problem
        if not secret.uid:
            return "there is no such Secret"
        pair = Pair(secret.data.get(CERTIFICATE, b""), secret.data.get(KEY, b""))
        try:
            return self._take(pair)
        except OSError as error:
            # Not its own file name: each try has another, and this is to be said once.
            return f"{self._volume.certificate} cannot be written: {error.strerror}"

    def _take(self, pair: Pair) -> str:
        # Looked at every five seconds, changed every few weeks: judged when it has changed.
        if self._judged is None or self._judged[0] != pair:
            self._judged = (pair, self._sources.judge(pair))
        found = self._judged[1]
        if isinstance(found, str):
            return found
        if pair != self._volume.read():
            with self._writing:
                self._volume.write(pair)
            _log.info("serving the certificate that ends %s", stamp(found.ends))
        self._serves(found)
        return ""

    def _fill(self) -> str:
        """See that something is in the files; says what is in the way."""
        try:
            if self._why is None or not isinstance(self._there(), str):
                return ""
            made = self._sources.placeholder()
            if isinstance(made, str):
                return made
            with self._writing:
                # The Secret may have been read meanwhile: what is there by now is better.
                if isinstance(self._there(), str):
                    self._volume.write(made)
        except OSError as error:
            return f"{self._volume.certificate} cannot be written: {error.strerror}"
        return ""

    def _there(self) -> Usable | str:
        """Judge what is in the files."""
        there = self._volume.read()
        return "there are no files" if there is None else self._sources.judge(there)

    def _serves(self, found: Usable) -> None:
        self.ends, self._why = found.ends, None
        self._known.set()

    def _run(self) -> None:
        # In each worker: one that replaces another begins with what is in the files by then.
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
