"""`evencore cluster up`: a whole cluster as a process, and what it says of mistakes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from kubernetes import client, config

from evencore.cli import main

PATIENCE_S = 30.0
CPU = {"cpu": "27", "memory": "1Gi"}


def test_a_pod_that_no_numa_node_can_hold_is_rejected_as_in_reality(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "pocket"
    evencore = Path(sys.executable).with_name("evencore")
    command = [str(evencore), "cluster", "up", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "started in" in process.stdout.readline()
            config.load_kube_config(str(kubeconfig))
            with client.ApiClient() as api:
                core = client.CoreV1Api(api)
                container = {"name": "app", "image": "x", "resources": {"limits": CPU}}
                pod = {"metadata": {"name": "big"}, "spec": {"containers": [container]}}
                core.create_namespaced_pod("default", pod)
                deadline = time.monotonic() + PATIENCE_S
                while (
                    status := core.read_namespaced_pod("big", "default").status
                ).phase == "Pending":
                    assert time.monotonic() < deadline
                assert (status.phase, status.reason) == ("Failed", "TopologyAffinityError")
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0


MISTAKES = {
    "a node file that is not there": (["--nodes", "nowhere.yaml"], "there is no such file"),
    "nodes from two places": (["--nodes", "a", "--preset", "autokh"], "exclude each other"),
    "a service without an address": (["--service", "a/b"], "is not NAMESPACE/NAME=HOST:PORT"),
    "a preset that does not exist": (["--preset", "big"], "'autokh'"),
}


@pytest.mark.parametrize(("flags", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_it_with_2_and_a_message(flags: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["cluster", "up", *flags])
    assert (result.exit_code, words in result.output) == (2, True)
