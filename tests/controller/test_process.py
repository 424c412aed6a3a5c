"""`evencore controller` as people run it: a process, beside a pocket cluster's API server."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from controller_parts import Kube, held

from evencore.domain.written import keys
from evencore.settings import ControllerSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVENCORE = str(Path(sys.executable).with_name("evencore"))
LEASE = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/evencore-controller"
PATIENCE_S = 30.0


def run(*flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EVENCORE, "controller", *flags],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_help_names_every_setting() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in keys(ControllerSettings):
        assert f"--{name.replace('_', '-')} " in done.stdout


def test_all_mistakes_are_told_at_once() -> None:
    done = run(
        *("--workers", "0", "--bind", "nowhere", "--writes-per-second", "fast"),
        EVENCORE_WRITE_BURST="0",
        EVENCORE_WORKER="4",
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for part in ("--workers", "--bind", "--writes-per-second", "EVENCORE_WRITE_BURST", "_WORKER:"):
        assert part in done.stderr


class Running:
    """A controller process."""

    def __init__(self, directory: Path, *flags: str) -> None:
        self.log = directory / "log"
        command = [EVENCORE, "controller", "--kubeconfig", str(directory / "kubeconfig"), *flags]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def until(self, true: Callable[[], Any]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def leads(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return " leads" in self.log.read_text()


@contextlib.contextmanager
def controller(directory: Path, *flags: str) -> Iterator[Running]:
    running = Running(directory, "--namespace", "shop", "--bind", "127.0.0.1:0", *flags)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait(PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_gives_the_lease_back(
    kube: Kube, tmp_path: Path, number: signal.Signals
) -> None:
    with controller(tmp_path) as running:
        running.until(running.leads)
        assert kube.read(LEASE)["spec"]["holderIdentity"]
        running.process.send_signal(number)
        assert running.process.wait(PATIENCE_S) == 0
    assert not kube.read(LEASE)["spec"].get("holderIdentity")


def test_who_loses_the_lease_ends_with_1(kube: Kube, tmp_path: Path) -> None:
    with controller(tmp_path) as running:
        running.until(running.leads)
        merge = "application/merge-patch+json"
        spec = {"holderIdentity": "another", "leaseDurationSeconds": 3600}
        kube.client.write("PATCH", LEASE, {"spec": spec}, content_type=merge)
        assert running.process.wait(PATIENCE_S) == 1
        assert "no longer leads" in running.log.read_text()
    assert kube.read(LEASE)["spec"]["holderIdentity"] == "another"


def test_a_held_pod_of_a_namespace_that_takes_no_part_any_more_is_let_go(
    kube: Kube, tmp_path: Path
) -> None:
    kube.make(held())
    with controller(tmp_path) as running:
        path = "/api/v1/namespaces/shop/pods/web-6d-a"
        running.until(lambda: not kube.read(path)["spec"].get("schedulingGates"))


def test_an_address_in_use_is_one_line_and_exit_code_2(kube: Kube, tmp_path: Path) -> None:
    port = str(kube.server.port)
    config = str(tmp_path / "kubeconfig")
    done = run("--kubeconfig", config, "--bind", f"127.0.0.1:{port}")
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
