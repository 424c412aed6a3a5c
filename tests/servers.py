"""Starts `stub_server.py` as a process of its own, waits until it is ready, and ends it."""

import contextlib
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from certificates import Authority, SecretVolume

SCRIPT = Path(__file__).with_name("stub_server.py")

# Generous: the machine that runs the tests may be busy with something else.
DEADLINE = 30.0


@dataclass
class Running:
    """A server process and what is needed to talk to it."""

    process: subprocess.Popen[bytes]
    authority: Authority
    volume: SecretVolume
    log_file: Path
    port: int = 0  # the kernel chooses it, see the log

    def client_context(self) -> ssl.SSLContext:
        """Make a client's TLS context that trusts only this server's authority."""
        context = ssl.create_default_context(cadata=self.authority.pem)
        context.check_hostname = False  # probes come by address
        return context

    def get(self, path: str) -> tuple[int, str]:
        """GET over a connection of its own."""
        url = f"https://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(
                url, timeout=DEADLINE, context=self.client_context()
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

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

    def worker_pid(self) -> int:
        """Process id of the (first) worker."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])


@contextlib.contextmanager
def serve_many(directory: Path, count: int, **options: object) -> Iterator[list[Running]]:
    """Run that many servers, each in a directory of its own; they start at the same time."""
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
def serve(directory: Path, **options: object) -> Iterator[Running]:
    """Run a server over TLS with the options of stub_server.py, until the block ends."""
    directory.mkdir(exist_ok=True)
    authority = Authority()
    volume = SecretVolume(directory / "tls")
    volume.write(authority.issue())
    arguments = {
        "bind": "127.0.0.1:0",
        "certificate": volume.certificate,
        "key": volume.key,
        **options,
    }
    command = [sys.executable, "-W", "error", str(SCRIPT)]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()]
    log_file = directory / "log"
    with log_file.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        running = Running(process, authority, volume, log_file)
        try:
            _wait_until_ready(running)
            yield running
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(DEADLINE)
                finally:
                    process.kill()
    assert "Traceback" not in running.log(), running.log()


def _wait_until_ready(running: Running) -> None:
    deadline = time.monotonic() + DEADLINE
    while True:
        assert running.process.poll() is None, f"the server ended:\n{running.log()}"
        listening = re.search(r"Listening at: https://127\.0\.0\.1:(\d+) ", running.log())
        if listening is not None:
            running.port = int(listening[1])
            with contextlib.suppress(OSError):
                if running.get("/readyz")[0] == 200:
                    return
        assert time.monotonic() < deadline, f"the server is not ready:\n{running.log()}"
        time.sleep(0.02)
