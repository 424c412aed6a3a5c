"""The world of the end-to-end tests: a cluster, our webhook and our controllers, as processes.

For: starting and killing them, namespaces that take part, nodes that are full.
Not for: what is to come of it; that is in the tests.
"""

from __future__ import annotations

import contextlib
import http.client
import secrets
import ssl
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import pytest
import yaml
from certificates import Authority, SecretVolume
from e2e import workloads
from e2e.api import Api, until
from e2e.counter import Counter
from e2e.installation import CONFIGURATIONS, configuration, divided_policy, namespace
from e2e.nodes import Nodes
from e2e.processes import EVENCORE, Process, free_port, through

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.api import Object
    from e2e.gate import Gate

FACTOR: Final = 5
"""All times of the policy are divided by it. Kubelets tell times in whole seconds."""

ROOM_S: Final = 60.0 / FACTOR + 15.0
"""Within 60 s of room everything that fits runs; divided where it is ours, and 15 s for others."""

_HERE: Final = Path(__file__).parent


class World:
    """Everything that runs. Enter it as a context."""

    def __init__(self, directory: Path, kubeconfig: Path | None, nodes: Path | None) -> None:
        self._directory = directory
        self._run = secrets.token_hex(3)
        self._stack = contextlib.ExitStack()
        self._given = kubeconfig
        self.kubeconfig = kubeconfig or directory / "kubeconfig"
        self._file = nodes or _HERE / "nodes.yaml"
        self._pocket: subprocess.Popen[str] | None = None
        self._port = free_port()
        self._authority = Authority()
        self._volume = SecretVolume(directory / "tls")
        self.own_namespace = f"e2e-{self._run}-evencore"
        self.configuration = f"e2e-{self._run}"
        self.controllers: dict[str, Process] = {}
        self._metrics: dict[str, int] = {}  # their ports
        self.gates: dict[str, Gate] = {}

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        for log in self._directory.glob("*.log"):
            faults = [line for line in log.read_text().splitlines() if "Traceback" in line]
            assert not faults, f"{log.name}: {faults[0]}"

    def _start(self) -> None:
        if self._given is None:
            self._start_pocket()
        self.api = Api(self.kubeconfig)
        self.nodes = Nodes(self._file, self.api)
        self._stack.callback(self.nodes.restore)
        self.api.post("/api/v1/namespaces", namespace(self.own_namespace, self._run))
        self._stack.callback(self.api.delete, f"/api/v1/namespaces/{self.own_namespace}")
        self.counter = Counter(self.api)
        self._stack.callback(self.counter.close)
        self._volume.write(self._authority.issue())
        (self._directory / "policy.yaml").write_text(yaml.safe_dump(divided_policy(FACTOR)))
        self.webhook = self._process(
            "webhook", "--bind", f"127.0.0.1:{self._port}",
            "--tls-cert", str(self._volume.certificate), "--tls-key", str(self._volume.key),
            "--drain-seconds", "0", "--closing-seconds", "0",
        )  # fmt: skip
        self.start_webhook()
        self.install()
        self.start_controller("a")

    def start_webhook(self) -> None:
        """Start the webhook and wait until it is ready."""
        self.webhook.start()
        until(self._webhook_is_ready, self.webhook.log)

    def start_controller(self, name: str, *, leads: bool = True) -> None:
        """Start a controller, and wait until it leads."""
        if name not in self.controllers:
            port = self._metrics[name] = free_port()
            self.controllers[name] = self._process(
                f"controller-{name}", "--bind", f"127.0.0.1:{port}", "--identity", name
            )
        self.controllers[name].start()
        if leads:
            until(lambda: self.leads(name), self.controllers[name].log)

    def install(self) -> None:
        """Have the API server call our webhook for the namespaces of this run."""
        url = f"https://127.0.0.1:{self._port}/mutate"
        self.api.post(
            CONFIGURATIONS, configuration(self.configuration, self._run, url, self._authority.pem)
        )
        self._stack.callback(self.api.delete, f"{CONFIGURATIONS}/{self.configuration}")

    def mend(self) -> None:
        """Start again what has ended, as kubelets do with containers."""
        if not self.webhook.alive:
            self.start_webhook()
        for name, controller in self.controllers.items():
            if not controller.alive:
                self.start_controller(name, leads=False)

    @contextlib.contextmanager
    def away(self, *processes: str) -> Iterator[None]:
        """Take the API server away from processes of ours alone; without names, from all."""
        chosen = [self.gates[name] for name in processes or self.gates]
        for gate in chosen:
            gate.shut()
        try:
            yield
        finally:
            for gate in chosen:
                gate.open()

    def at_peace(self, namespace: str, workload: str) -> bool:
        """Tell whether no pod of a workload is under way that we would not steer."""
        lives = self.counter.lives(namespace, workload)
        loose = any(life.phase == "Pending" and not life.steered for life in lives)
        return not loose and any(life.steered for life in lives)

    def story(self, namespace: str) -> list[str]:
        """Tell what became of the pods of a namespace."""
        return [
            f"{life.name}: {life.phase or 'gone'} {life.rejected} {'steered' * life.steered}"
            for life in self.counter.lives(namespace)
        ]

    def leads(self, name: str) -> bool:
        """Tell whether a controller leads by its own account; a Lease outlives its holder."""
        connection = http.client.HTTPConnection("127.0.0.1", self._metrics[name], timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/metrics")
            return "\nevencore_leading 1.0\n" in connection.getresponse().read().decode()
        return False

    def restart_kubelet(self, node: str) -> None:
        """Restart a node's kubelet."""
        if self._pocket is None or self._pocket.stdin is None or self._pocket.stdout is None:
            pytest.skip("only the pocket cluster's kubelets can be restarted from here")
        self._pocket.stdin.write(f"restart {node}\n")
        self._pocket.stdin.flush()
        assert self._pocket.stdout.readline() == "done\n"

    @contextlib.contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """Make a namespace that takes part; in the end nothing of it is left on any node."""
        full = f"e2e-{self._run}-{name}"
        labels = {names.ADMISSION: names.ENABLED}
        self.api.post("/api/v1/namespaces", namespace(full, self._run, **labels))
        try:
            yield full
            assert not self.counter.touched(full)
        finally:
            for life in self.counter.lives(full):
                self.counter.forgive(life.pod["metadata"]["uid"])
            self.api.delete(f"/api/v1/namespaces/{full}")
            until(
                lambda: not self.api.there("Pod", full),
                lambda: [(life.name, life.pod["metadata"]) for life in self.counter.alive(full)],
            )

    def fill(self, namespace: str, group: str, *cpus: int) -> list[Object]:
        """Put pods with so many CPUs of their own on each node of a group; they run."""
        made = [
            self.api.make(
                workloads.pod(namespace, f"filler-{node}-{number}", (), str(size))
                | {"spec": {"nodeName": node, "containers": workloads.containers(str(size))}}
            )
            for node in self.nodes.names(group)
            for number, size in enumerate(cpus)
        ]
        wanted = {pod["metadata"]["uid"] for pod in made}
        until(
            lambda: (
                wanted <= {life.pod["metadata"]["uid"] for life in self.counter.running(namespace)}
            ),
            lambda: [(one.name, one.phase, one.rejected) for one in self.counter.lives(namespace)],
        )
        return made

    def end(self, pod: Object) -> None:
        """Delete a pod, as its author may."""
        self.counter.forgive(pod["metadata"]["uid"])
        meta = pod["metadata"]
        self.api.delete(f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}")

    def _start_pocket(self) -> None:
        self._pocket = self._stack.enter_context(
            subprocess.Popen(
                [sys.executable, str(_HERE / "pocket.py"), "--nodes", str(self._file),
                 "--kubeconfig", str(self.kubeconfig)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
        assert self._pocket.stdout is not None
        assert self._pocket.stdout.readline() == "up\n"

    def _process(self, name: str, *flags: str) -> Process:
        """Make one process of ours, with a way of its own to the API server."""
        kubeconfig = self._directory / f"{name}.kubeconfig"
        self.gates[name] = through(self.kubeconfig, kubeconfig)
        self._stack.callback(self.gates[name].close)
        command = [
            EVENCORE, name.partition("-")[0], *flags,
            "--kubeconfig", str(kubeconfig), "--namespace", self.own_namespace,
            "--policy", str(self._directory / "policy.yaml"),
        ]  # fmt: skip
        process = Process(command, self._directory / f"{name}.log")
        self._stack.callback(process.stop)
        return process

    def _webhook_is_ready(self) -> bool:
        context = ssl.create_default_context(cadata=self._authority.pem)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, timeout=5, context=context
        )
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.HTTPStatus.OK
        return False
