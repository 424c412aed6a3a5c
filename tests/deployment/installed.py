"""An installation as the manifests have it, in a pocket cluster whose API server asks RBAC.

The real processes run with the arguments of their Deployments and the tokens of their service
accounts; only what a container would have (addresses, files) is this machine's.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import yaml
from deployment.manifests import Object, container, objects
from e2e.processes import EVENCORE, Process, free_port
from simulator_kubectl import Kubectl

from evencore.nodefiles.files import nodes_file
from simulator import resources, server
from simulator.admission.chain import User
from simulator.auth.authentication import service_account
from simulator.auth.authorization import Rbac
from simulator.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pytest

    from simulator.auth.asked import Asked
    from simulator.auth.rbac import Verdict

NAMESPACE: Final = "evencore-system"
PATIENCE_S: Final = 60.0
_NODE: Final = """
nodes:
  - name: n1
    machine: {sockets: 2, coresPerSocket: 12, memory: 192Gi}
    kubelet:
      cpuManagerPolicy: static
      cpuManagerPolicyOptions: {full-pcpus-only: true}
      topologyManagerPolicy: single-numa-node
      reservedSystemCPUs: 0,24
"""
_SERVED: Final = frozenset(one.kind for one in resources.ALL)
"""Kinds that the pocket cluster knows: no PodDisruptionBudgets and NetworkPolicies."""


class Call(NamedTuple):
    """A request that a service account made."""

    user: str
    asked: Asked
    allowed: bool


def until(condition: Callable[[], object], what: Callable[[], object]) -> None:
    """Wait until a condition holds; `what` is told if it does not in time."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


class Installed:
    """A cluster with evencore in it. Enter it as a context; then `start` what is to run."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._directory = directory
        self._stack = contextlib.ExitStack()
        self.calls: list[Call] = []
        self._services: dict[tuple[str, str], tuple[str, int]] = {}
        tokens = {
            "root": User("root", ("system:masters",)),
            "webhook": service_account(NAMESPACE, "evencore-webhook"),
            "controller": service_account(NAMESPACE, "evencore-controller"),
        }
        monkeypatch.setattr(server, "Rbac", self._recording())
        options = server.Options(tokens=tokens, rbac=True, services=self._services)
        self.cluster = Cluster(nodes_file(yaml.safe_load(_NODE), "the node"), options)
        self.processes: list[Process] = []

    def __enter__(self) -> Self:
        self._stack.enter_context(self.cluster)
        self.kubectl = Kubectl(self.cluster.server, self._directory, "root")
        served = [obj for obj in objects() if obj["kind"] in _SERVED]
        self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(served))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _recording(self) -> type[Rbac]:
        calls = self.calls

        class Recording(Rbac):
            """RBAC, and a note of what every service account asked."""

            def decide(self, user: User, asked: Asked) -> Verdict:
                verdict = super().decide(user, asked)
                if user.name.startswith("system:serviceaccount:"):
                    calls.append(Call(user.name, asked, verdict.allowed))
                return verdict

        return Recording

    def start(self, which: str, policy: Object, **instead: str) -> int:
        """Start a replica of `webhook` or `controller`; returns the port that it listens on.

        `instead`: arguments that replace those of the Deployment.
        """
        number = len(self.processes)
        kubeconfig = self._directory / f"{which}-{number}.kubeconfig"
        kubeconfig.write_text(self.cluster.server.kubeconfig(which))
        file = self._directory / f"policy-{number}.yaml"
        file.write_text(yaml.safe_dump(policy))
        port = free_port()
        values = {
            "bind": f"127.0.0.1:{port}",
            "policy": str(file),
            "kubeconfig": str(kubeconfig),
            "namespace": NAMESPACE,
            **instead,
        }
        arguments = _replaced(container(which)["args"], values)
        process = Process([EVENCORE, *arguments], self._directory / f"{which}-{number}.log")
        self._stack.callback(process.stop)
        process.start()
        self.processes.append(process)
        return port

    def serve(self, port: int) -> None:
        """Let the webhook's Service lead to a port of this machine."""
        self._services[NAMESPACE, "evencore-webhook"] = ("127.0.0.1", port)

    def logs(self) -> str:
        """Return what all processes have said."""
        return "\n".join(process.log() for process in self.processes)


def _replaced(arguments: list[str], values: Mapping[str, str]) -> list[str]:
    """Give the arguments of a container with these values in place of their own."""
    names = {name.replace("_", "-"): value for name, value in values.items()}
    kept = [a for a in arguments if (m := re.match("--([a-z-]+)=", a)) is None or m[1] not in names]
    return [*kept, *(f"--{name}={value}" for name, value in names.items())]
