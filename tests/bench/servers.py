"""The three servers: how each is started, waited for and ended.

All listen on 127.0.0.1 with the same certificate, one process that works, pinned to one core.
"""

import http.client
import os
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .certificate import Certificate, client_context
from .cores import Cores, pinned_to, process_tree
from .errors import BenchError

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

EVENCORE, GO, FLASK = "evencore", "go", "flask"
NAMES = (EVENCORE, GO, FLASK)

START_SECONDS = 20.0
STOP_SECONDS = 5.0
LOG_BYTES = 1 << 20
"""A server's log is emptied between two measurements when it has grown past this."""


@dataclass(frozen=True)
class Place:
    """What the servers of a run share."""

    directory: Path
    certificate: Certificate
    cores: Cores

    @property
    def snapshot(self) -> Path:
        """Return the file that holds the cluster of the webhook, see snapshot.py."""
        return self.directory / "cluster.json"

    def tls(self) -> list[str]:
        """Return the options that evencore and the Go yardstick take their certificate by."""
        pair = self.certificate
        return ["--tls-cert", str(pair.certificate), "--tls-key", str(pair.key)]


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    port: int
    pids: list[int]
    """The process and all its descendants."""
    log: Path

    def trim_log(self) -> None:
        """Keep a server that writes a line per admission from filling the disk."""
        if self.log.stat().st_size > LOG_BYTES:
            os.truncate(self.log, 0)


def subject_command(subject: str, port: int, place: Place) -> list[str]:
    """Return the command line of what is measured: the webhook, reading its cluster from a file.

    `subject` replaces the evencore of this environment, e.g. by that of another checkout.
    """
    program = shlex.split(subject) if subject else [str(BIN / "evencore")]
    options = ["--snapshot", str(place.snapshot), "--bind", f"127.0.0.1:{port}"]
    return [*program, "webhook", *options, *place.tls()]


def go_command(program: Path, port: int, place: Place) -> list[str]:
    """Return the command line of the Go yardstick, see go/main.go."""
    return [str(program), "--bind", f"127.0.0.1:{port}", *place.tls()]


def flask_command(port: int, place: Place) -> list[str]:
    """Return the command line of the Flask yardstick, see flask_yardstick.py.

    The control socket lies in the user's home, where a benchmark has no business.
    """
    worker = ["--worker-class", "gthread", "--workers", "1", "--threads", "64"]
    pair = place.certificate
    tls = ["--certfile", str(pair.certificate), "--keyfile", str(pair.key)]
    other = ["--keep-alive", "120", "--no-control-socket", "--chdir", str(ROOT)]
    bind = ["--bind", f"127.0.0.1:{port}", "tests.bench.flask_yardstick:app"]
    return [sys.executable, "-m", "gunicorn", *worker, *tls, *other, *bind]


@contextmanager
def running(name: str, command: list[str], port: int, place: Place) -> Iterator[Server]:
    """Start a server, wait until it is ready, and end it with all its children afterwards.

    Raises BenchError with the end of its log if it does not get ready.
    """
    log = place.directory / f"{name}.log"
    # One thread for Go, as it has one core: otherwise its collector runs beside the load.
    environment = {**os.environ, "GOMAXPROCS": "1"}
    with log.open("ab") as output, pinned_to(place.cores.server, place.cores):
        try:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C reaches us alone, we end it in order
            )
        except OSError as error:
            raise BenchError(f"{name} does not start: {command[0]}: {error.strerror}") from error
    try:
        context = client_context(place.certificate.certificate)
        _wait_until_ready(name, process, port, context, log)
        yield Server(name, port, process_tree(process.pid), log)
    finally:
        end(process)


def free_port() -> int:
    """Return a port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(
    name: str, process: subprocess.Popen[bytes], port: int, context: ssl.SSLContext, log: Path
) -> None:
    """Ask GET /readyz until it answers 200."""
    deadline = time.monotonic() + START_SECONDS
    trouble = "no connection"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BenchError(f"{name} ended with status {process.returncode} at start{tail(log)}")
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=2, context=context)
        try:
            connection.request("GET", "/readyz")
            trouble = f"GET /readyz gives {connection.getresponse().status}"
            if trouble.endswith("200"):
                return
        except OSError as error:
            trouble = str(error)
        finally:
            connection.close()
        time.sleep(0.05)  # it tells nobody when it is ready
    raise BenchError(f"{name} is not ready after {START_SECONDS:.0f} s: {trouble}{tail(log)}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End the process group: politely, then not."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(STOP_SECONDS)
        except ProcessLookupError:  # the whole group is gone
            return
        except subprocess.TimeoutExpired:
            continue


def tail(log: Path, lines: int = 15) -> str:
    """Return the end of a log for an error message."""
    text = log.read_text(errors="replace").strip().splitlines()[-lines:]
    return "".join(f"\n  | {line}" for line in text) or " (it wrote nothing)"
