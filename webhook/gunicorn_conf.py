"""How gunicorn serves the webhook: its settings, each with a reason, and the server object.

The application is built in the worker, after the fork: threads do not survive one. gunicorn logs
through the standard `logging` and writes nothing itself.

Not for: the program's own settings file (evencore.settings) and the set-up of logs.
"""

import logging
import math
import os
import signal
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gunicorn.app.base import BaseApplication
from msgspec import Struct

from evencore.lasting import lasting
from webhook.asgi import Admission, Application
from webhook.gunicorn_log import StandardLogger
from webhook.tls import CertificateFiles, CurrentContext
from webhook.worker import LAST_SECONDS, DrainingWorker

logger = logging.getLogger(__name__)

# In memory: a heartbeat file on a slow disk has stalled workers.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - gunicorn makes an unguessable file there, unlinked at once

SWITCH_S = 0.0005
"""How long a thread that reads the cluster may go on while an admission waits for the interpreter;
Python's own 5 ms are longer than all that an admission takes."""


class Serving(Struct, frozen=True, kw_only=True):
    """Where and how to serve. Times are in seconds.

    Nothing is checked here: what people write is, in evencore.settings, and only there.
    """

    bind: tuple[str, ...]
    """ADDRESS:PORT, or [IPv6 ADDRESS]:PORT."""

    certificate: Path | None = None
    """PEM chain, with `key`; neither of them: plain HTTP, for tests."""

    key: Path | None = None

    workers: int = 1
    """Processes. Each watches the cluster for itself; one answers thousands of calls a second."""

    drain_seconds: float = 5.0
    """From SIGTERM on, serve as before: Services and API servers notice only after seconds."""

    closing_seconds: float = 5.0
    """Then, how long connections in use get to be given up with an answer. Keep the sum, and some
    seconds more, under the pod's terminationGracePeriodSeconds."""

    keepalive_seconds: int = 120
    """Close idle connections later than the API server does (90 s), or calls get lost."""

    certificate_poll_seconds: float = 1.0
    """How often to look for a new certificate. A look costs some microseconds."""

    loop: Literal["auto", "uvloop", "asyncio"] = "auto"


class Served(Struct, frozen=True, kw_only=True):
    """What runs in one worker, and whom to tell about its end."""

    app: Admission

    serving: Callable[[], None] = lambda: None
    """Called once when connections are accepted: begin what a first answer need not wait for. Must
    return at once."""

    draining: Callable[[], None] = lambda: None
    """Called once at SIGTERM: fail readiness. Must return at once."""

    stopped: Callable[[], None] = lambda: None
    """Called when the last connection is closed: end threads and watches."""


def options(serving: Serving) -> dict[str, object]:
    """Map to gunicorn's settings, without the TLS hook that `Server` adds."""
    chosen: dict[str, object] = {
        "bind": list(serving.bind),
        "workers": serving.workers,
        "worker_class": DrainingWorker,
        "asgi_loop": serving.loop,
        # The application needs no start and stop events.
        "asgi_lifespan": "off",
        # The C parser costs more than it saves as soon as reviews are large.
        "http_parser": "python",
        "http_protocols": "h1",  # what API servers speak to webhooks
        "keepalive": serving.keepalive_seconds,
        # A worker that gives no sign of life for so long is killed; also the longest pause
        # between two parts of a body.
        "timeout": 30,
        # After it the master kills: leave room for the whole stop and an unwilling client.
        "graceful_timeout": math.ceil(
            serving.drain_seconds + serving.closing_seconds + LAST_SECONDS + 4
        ),
        "control_socket_disable": True,  # nobody uses it, and it writes into the home directory
        "accesslog": None,  # one line per admission is logged elsewhere
        "logger_class": StandardLogger,
        # By default a line of debugging that nobody sees, and a look at which logger that goes to.
        "pre_request": _nothing,
        "on_exit": _ignore_signals,
    }
    if SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK):
        chosen["worker_tmp_dir"] = str(SHARED_MEMORY)
    if serving.certificate is not None:
        # Makes gunicorn use TLS. It loads neither file, the hook does.
        chosen["certfile"] = str(serving.certificate)
        chosen["keyfile"] = str(serving.key)
    return chosen


class Server(BaseApplication):  # type: ignore[misc] # gunicorn has no types
    """gunicorn, serving what `factory` builds. `run` returns by SystemExit, 0 after SIGTERM.

    `factory` is called in each worker before it accepts connections, and must not take longer
    than 30 s: start what takes long, and let readiness wait for it. `certificate`: what is in the
    files already; each worker looks whether they changed meanwhile.
    """

    def __init__(
        self,
        serving: Serving,
        factory: Callable[[], Served],
        certificate: CurrentContext | None = None,
    ) -> None:
        self._serving = serving
        self._factory = factory
        self._served: Served | None = None
        self._certificate = certificate
        self.drain_seconds = serving.drain_seconds
        self.closing_seconds = serving.closing_seconds
        self.certificate_poll_seconds = serving.certificate_poll_seconds
        super().__init__()

    def load_config(self) -> None:
        """Set gunicorn's settings. Its environment variables and files are not read."""
        for name, value in options(self._serving).items():
            self.cfg.set(name, value)
        if self._serving.certificate is not None:
            self.cfg.set("ssl_context", self._base_context)

    def load(self) -> Application:
        """Build the application; gunicorn calls it in the worker."""
        with lasting():
            self._served = self._factory()
        sys.setswitchinterval(SWITCH_S)
        return self._served.app

    def serving(self) -> None:
        """Hand on that connections are accepted."""
        if self._served is not None:
            self._served.serving()

    def draining(self) -> None:
        """Hand on that SIGTERM came."""
        if self._served is not None:
            self._served.draining()

    def stopped(self) -> None:
        """Hand on that the worker serves no more."""
        if self._served is not None:
            self._served.stopped()

    def refresh_certificate(self) -> None:
        """Publish the certificate files anew if they changed."""
        if self._certificate is None:
            return
        try:
            self._certificate.refresh()
        except Exception:  # the watch must outlive what nobody thought of
            logger.exception("looking for a new certificate failed: this is a bug")

    def _base_context(self, _config: object, _default: object) -> ssl.SSLContext:
        serving = self._serving
        if self._certificate is not None:
            self._certificate.refresh()
            return self._certificate.base
        if serving.certificate is None or serving.key is None:
            raise AssertionError("gunicorn asks for a TLS context without certificate files")
        self._certificate = CurrentContext(CertificateFiles(serving.certificate, serving.key))
        return self._certificate.base


def _nothing(_worker: object, _request: object) -> None:
    """Do nothing before a request."""


def _ignore_signals(_arbiter: object) -> None:
    """Let no late SIGTERM turn the master's exit code 0 into a death by signal."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
