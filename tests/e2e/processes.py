"""Processes that tests start, kill and start again, each with a log and a gate of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml
from e2e.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Sequence

EVENCORE: Final = str(Path(sys.executable).with_name("evencore"))
PATIENCE_S: Final = 30.0


def free_port() -> int:
    """Return a port on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Process:
    """A command that runs, or did."""

    command: Sequence[str]
    log_file: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, with its children in a group of their own."""
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        """End it and its children with SIGKILL, as the kernel does to a container."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it orderly; returns its exit code."""
        return self._end(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for its end; returns its exit code."""
        assert self._process is not None
        return self._process.wait(PATIENCE_S)

    def log(self) -> str:
        """Return what it has said in all its lives."""
        return self.log_file.read_text()

    def _end(self, number: signal.Signals) -> int:
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            # Orderly: the first process tells its children. Killed: nobody is asked.
            target = os.killpg if number is signal.SIGKILL else os.kill
            target(process.pid, number)
        try:
            return process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def through(kubeconfig: Path, target: Path) -> Gate:
    """Make a gate to the cluster of a kubeconfig, and a kubeconfig that leads through it."""
    content = yaml.safe_load(kubeconfig.read_text())
    current = content["current-context"]
    [name] = [c["context"]["cluster"] for c in content["contexts"] if c["name"] == current]
    [cluster] = [c["cluster"] for c in content["clusters"] if c["name"] == name]
    gate = Gate(cluster["server"])
    cluster["server"] = gate.address
    cluster.setdefault("tls-server-name", gate.host)
    target.write_text(yaml.safe_dump(content))
    return gate
