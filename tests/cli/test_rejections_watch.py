"""`evencore rejections --watch` as a process that follows a pocket cluster, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator_still import cpus
from simulator_support import PODS, Wire, pod

from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.server import Options

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def api() -> Iterator[Wire]:
    with Cluster(PRESETS["autokh"], Options(secure=False)) as cluster, Wire(cluster.server) as wire:
        Path("kubeconfig").write_text(cluster.server.kubeconfig())
        yield wire


def test_a_rejection_is_told_when_it_happens(api: Wire) -> None:
    evencore = Path(sys.executable).with_name("evencore")
    command = [str(evencore), "rejections", "--kubeconfig", "kubeconfig", "--watch"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "No rejected pods: nothing to do\n"
            api.post(PODS, pod("big", **cpus("27")))
            line = process.stdout.readline()
            assert line.startswith("default Pod/big rejected by autokh-")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()  # one that does not heed it would be waited for without end
    assert (process.returncode, errors) == (0, "")
