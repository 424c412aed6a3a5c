"""Server processes for tests, over TLS, ended with the block: the real webhook, or a stub of it."""

import contextlib
import http.client
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from certificates import Authority, SecretVolume

STUB = Path(__file__).with_name("stub_server.py")
EVENCORE = Path(sys.executable).with_name("evencore")

# Generous: the machine that runs the tests may be busy with something else.
DEADLINE = 30.0


@dataclass
class Running:
    """A server process and what is needed to talk to it."""

    process: subprocess.Popen[bytes]
    authority: Authority
    volume: SecretVolume
    log_file: Path
    port: int = 0  # the kernel chooses it, the log tells it

    def client_context(self) -> ssl.SSLContext:
        """Make a client's TLS context that trusts only this server's authority."""
        context = ssl.create_default_context(cadata=self.authority.pem)
        context.check_hostname = False  # we dial an address; the certificate has a name
        return context

    def connect(self) -> http.client.HTTPSConnection:
        """Open a connection that verifies the certificate as an API server would."""
        context = self.client_context()
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=DEADLINE, context=context
        )

    def call(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Send one request over a connection of its own."""
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read()

    def get(self, path: str) -> tuple[int, str]:
        """GET over a connection of its own."""
        status, body = self.call("GET", path)
        return status, body.decode()

    def log(self) -> str:
        """Read what the server has logged so far."""
        return self.log_file.read_text()

    def wait(self) -> int:
        """Wait for the end of the process; its exit code."""
        return self.process.wait(DEADLINE)

    def wait_for_log(self, text: str) -> None:
        """Wait until the server has logged `text`."""
        deadline = time.monotonic() + DEADLINE
        while text not in self.log():
            assert time.monotonic() < deadline, f"{text!r} is not in the log:\n{self.log()}"
            time.sleep(0.01)

    def wait_for(self, status: int) -> bytes:
        """Wait until /readyz answers with this; returns its body."""
        deadline = time.monotonic() + DEADLINE
        while True:
            assert self.process.poll() is None, f"the server ended:\n{self.log()}"
            listening = re.search(r"Listening at: https://127\.0\.0\.1:(\d+) ", self.log())
            if listening is not None:
                self.port = int(listening[1])
                with contextlib.suppress(OSError, http.client.HTTPException):
                    seen, body = self.call("GET", "/readyz")
                    if seen == status:
                        return body
            assert time.monotonic() < deadline, f"/readyz is not {status}:\n{self.log()}"
            time.sleep(0.02)

    def wait_ready(self) -> None:
        """Wait until /readyz says that all is well."""
        self.wait_for(HTTPStatus.OK)

    def worker_pid(self) -> int:
        """Process id of the (first) worker."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])


@contextlib.contextmanager
def webhook(directory: Path, *flags: str, ready: bool = True) -> Iterator[Running]:
    """Run `evencore webhook` as people do, with these flags beside address and certificate."""
    volume = SecretVolume(directory / "tls")
    command = [
        str(EVENCORE), "webhook", "--bind", "127.0.0.1:0",
        "--tls-cert", str(volume.certificate), "--tls-key", str(volume.key),
        "--drain-seconds", "0", "--closing-seconds", "0", *flags,
    ]  # fmt: skip
    with _run(command, directory, volume) as running:
        if ready:
            running.wait_ready()
        yield running


@contextlib.contextmanager
def serve(directory: Path, **options: object) -> Iterator[Running]:
    """Run stub_server.py with its options; what differs from real is the answer, and patience."""
    directory.mkdir(exist_ok=True)
    volume = SecretVolume(directory / "tls")
    arguments = {
        "bind": "127.0.0.1:0",
        "certificate": volume.certificate,
        "key": volume.key,
        **options,
    }
    command = [sys.executable, "-W", "error", str(STUB)]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()]
    with _run(command, directory, volume) as running:
        running.wait_ready()
        yield running


@contextlib.contextmanager
def serve_many(directory: Path, count: int, **options: object) -> Iterator[list[Running]]:
    """Run that many stubs, each in a directory of its own; they start at the same time."""
    directory.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(count) as threads:
        contexts = [serve(directory / str(number), **options) for number in range(count)]
        starts = [threads.submit(context.__enter__) for context in contexts]
        wait(starts)
        for context, start in zip(contexts, starts, strict=True):
            if start.exception() is None:
                stack.push(context.__exit__)
        yield [start.result() for start in starts]


@contextlib.contextmanager
def _run(command: list[str], directory: Path, volume: SecretVolume) -> Iterator[Running]:
    authority = Authority()
    volume.write(authority.issue())
    log_file = directory / "log"
    with log_file.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        running = Running(process, authority, volume, log_file)
        try:
            yield running
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(DEADLINE)
                finally:
                    process.kill()
    assert "Traceback" not in running.log(), running.log()
