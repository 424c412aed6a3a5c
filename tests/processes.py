"""Runs `evencore webhook` as people do: a process of its own, over TLS, ended with the block."""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from certificates import Authority, SecretVolume

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 30.0  # patience with a busy machine
EVENCORE = Path(sys.executable).with_name("evencore")


class DidNotStartError(Exception):
    """The process ended or was not ready in time; carries its log."""


@dataclass
class Server:
    """A running webhook: where it listens, and whom its certificate is to be checked against."""

    authority: Authority
    process: subprocess.Popen[bytes]
    log_file: Path
    port: int = 0  # the kernel chooses it, the log tells it

    def connect(self) -> http.client.HTTPSConnection:
        """Open a connection that verifies the certificate as an API server would."""
        context = ssl.create_default_context(cadata=self.authority.pem)
        context.check_hostname = False  # we dial an address; the certificate has a name
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)

    def call(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Send one request over a connection of its own."""
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read()

    def log(self) -> str:
        """Return what the process has logged so far."""
        return self.log_file.read_text()

    def wait_ready(self) -> None:
        """Wait until /readyz says 200. Raises DidNotStartError."""
        self.wait_for(http.HTTPStatus.OK)

    def wait_for(self, *statuses: int) -> bytes:
        """Wait until /readyz answers with one of these; returns its body."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            listening = re.search(r"Listening at: https://127\.0\.0\.1:(\d+) ", self.log())
            if listening is not None:
                self.port = int(listening[1])
                with contextlib.suppress(OSError, http.client.HTTPException):
                    status, body = self.call("GET", "/readyz")
                    if status in statuses:
                        return body
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise DidNotStartError(f"the webhook did not get ready; it says:\n{self.log()}")
            time.sleep(0.02)


@contextlib.contextmanager
def webhook(directory: Path, *flags: str, ready: bool = True) -> Iterator[Server]:
    """Run `evencore webhook` with these flags beside address and certificate."""
    authority = Authority()
    files = SecretVolume(directory / "tls")
    files.write(authority.issue())
    command = [
        str(EVENCORE), "webhook", "--bind", "127.0.0.1:0",
        "--tls-cert", str(files.certificate), "--tls-key", str(files.key),
        "--drain-seconds", "0", "--closing-seconds", "0", *flags,
    ]  # fmt: skip
    log_file = directory / "log"
    with log_file.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        server = Server(authority, process, log_file)
        try:
            if ready:
                server.wait_ready()
            yield server
        finally:
            process.terminate()
