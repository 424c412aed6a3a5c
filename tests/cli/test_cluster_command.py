"""`evencore cluster up`: a whole cluster as a process, and what it says of mistakes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from kubernetes import client, config
from simulator_kubectl import find

from evencore.cli import main
from simulator.server import ApiServer

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
    assert not kubeconfig.exists(), "nothing is left behind"


def test_with_rbac_the_kubeconfig_is_an_admins_and_others_may_what_roles_say(
    tmp_path: Path,
) -> None:
    kubeconfig = tmp_path / "pocket"
    evencore = Path(sys.executable).with_name("evencore")
    command = [str(evencore), "cluster", "up", "--rbac", "--kubeconfig", str(kubeconfig)]
    environ = {**os.environ, "HOME": str(tmp_path), "KUBECONFIG": str(kubeconfig)}

    def kubectl(*arguments: str) -> str:
        done = subprocess.run(  # noqa: PLW1510  "no" is an exit status of 1
            [find(), *arguments], env=environ, capture_output=True, text=True, timeout=PATIENCE_S
        )
        return done.stdout.strip() + done.stderr.strip()

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "started in" in process.stdout.readline()
            assert kubectl("auth", "can-i", "*", "*") == "yes"
            assert kubectl("auth", "can-i", "list", "pods", "--as", "ann") == "no"
            assert 'User "ann" cannot list resource "pods"' in kubectl("get", "pods", "--as=ann")
            bind = ("create", "clusterrolebinding", "ann", "--clusterrole=view", "--user=ann")
            assert kubectl(*bind).endswith("created")
            assert kubectl("auth", "can-i", "list", "pods", "--as", "ann") == "yes"
        finally:
            process.send_signal(signal.SIGINT)


MISTAKES = {
    "a node file that is not there": (["--nodes", "nowhere.yaml"], "there is no such file"),
    "nodes from two places": (["--nodes", "a", "--preset", "autokh"], "exclude each other"),
    "a service without an address": (["--service", "a/b"], "is not NAMESPACE/NAME=HOST:PORT"),
    "a preset that does not exist": (["--preset", "big"], "'autokh'"),
    "a port that is none": (["--port", "99999"], "not in the range 0<=x<=65535"),
    "a speed that is none": (["--speed", "nan"], "--speed is no number"),
    "no place for the kubeconfig": (
        ["--kubeconfig", "no/where"],
        "no/where: No such file or directory",
    ),
    "a kubeconfig of somebody else": (
        ["--kubeconfig", __file__],
        "is there and not of a pocket cluster: name another",
    ),
}


@pytest.mark.parametrize("command", [[], ["cluster"]], ids=["evencore", "cluster"])
def test_help_tells_of_each_command_in_a_whole_sentence(command: list[str]) -> None:
    result = CliRunner().invoke(main, [*command, "--help"])
    assert (result.exit_code, "..." in result.output.partition("Commands:")[2]) == (0, False)


def test_the_kubeconfig_of_a_cluster_that_runs_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pocket"
    flags = ["cluster", "up", "--nodes", str(tmp_path / "none"), "--kubeconfig", str(path)]
    with ApiServer() as server:
        path.write_text(server.kubeconfig())
        result = CliRunner().invoke(main, flags)
        assert result.exit_code == 2
        assert f"that runs at {server.url}: name another, or end that one" in result.output
    result = CliRunner().invoke(main, flags)
    assert "there is no such file" in result.output, "of one that ended: on to the next mistake"


@pytest.mark.parametrize(("flags", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_it_with_2_and_a_message(flags: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["cluster", "up", *flags])
    assert (result.exit_code, words in result.output) == (2, True)


def test_a_scenario_leaves_a_kubeconfig_of_somebody_else_alone(tmp_path: Path) -> None:
    own = tmp_path / "config"
    own.write_text("current-context: production\n")
    result = CliRunner().invoke(main, ["cluster", "run", "any.yaml", "--kubeconfig", str(own)])
    assert (result.exit_code, "name another" in result.output) == (2, True)
    assert own.read_text() == "current-context: production\n"


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        flags = ["--port", port, "--kubeconfig", str(tmp_path / "pocket")]
        result = CliRunner().invoke(main, ["cluster", "up", *flags])
    assert result.exit_code == 2
    assert f"'127.0.0.1', {port}): address already in use" in result.output
