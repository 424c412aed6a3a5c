"""A pocket cluster with our webhook configuration, and webhooks and controllers of it as processes.

For: starting and killing them, admissions that are counted. Two webhooks stand behind one Service.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from e2e.processes import EVENCORE, Process, free_port
from scripted_webhook import configuration, hook

from evencore.kube.bundles import BundleStore
from evencore.kube.client import connect
from evencore.kube.secrets import SecretStore
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Object = dict[str, Any]
NAMESPACE: Final = "evencore-system"
SERVICE: Final = (NAMESPACE, "evencore-webhook")
HOST: Final = f"evencore-webhook.{NAMESPACE}.svc"
SECRET: Final = "evencore-webhook-tls"  # noqa: S105  a name
CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SECRETS: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets"
PODS: Final = "/api/v1/namespaces/default/pods?dryRun=All"
PATIENCE_S: Final = 60.0


def until(
    holds: Callable[[], object], what: Callable[[], object], seconds: float = PATIENCE_S
) -> float:
    """Wait until something holds; returns how many seconds that took."""
    started = time.monotonic()
    while not holds():
        assert time.monotonic() < started + seconds, what()
        time.sleep(0.02)
    return time.monotonic() - started


class Turns(dict[tuple[str, str], tuple[str, int]]):
    """A Service that leads to one of several webhooks in turn, whenever somebody dials."""

    def __init__(self) -> None:
        super().__init__()
        self.ports: list[int] = []
        self._turn = itertools.count()

    def get(self, key: tuple[str, str], default: Any = None) -> Any:  # noqa: ANN401  as dict.get
        if key != SERVICE or not self.ports:
            return default
        return "127.0.0.1", self.ports[next(self._turn) % len(self.ports)]


class Cluster:
    """Enter it as a context. `api` is asked in plain objects."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._services = Turns()
        self.server = ApiServer(Options(services=self._services))
        self._stack = contextlib.ExitStack()
        self.webhooks: list[tuple[Process, int]] = []

    def __enter__(self) -> Self:
        self._stack.enter_context(self.server)
        self.kubeconfig = self._directory / "kubeconfig"
        self.kubeconfig.write_text(self.server.kubeconfig())
        self.api = connect(str(self.kubeconfig), agent="test")
        self._stack.callback(self.api.close)
        self.secrets = SecretStore(self.api, NAMESPACE, SECRET)
        self.bundles = BundleStore(self.api, "evencore")
        self.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for log in self._directory.glob("*.log"):
            assert "Traceback" not in log.read_text(), log.read_text()

    def post(self, path: str, obj: Object) -> None:
        self.api.write("POST", path, obj)

    def configure(self, **more: object) -> None:
        """Apply the webhook configuration as manifests have it: without caBundle."""
        namespace, name = SERVICE
        client = {"service": {"namespace": namespace, "name": name, "path": "/mutate"}}
        one = hook("pods.evencore.io", client, failurePolicy="Ignore", timeoutSeconds=3)
        made = configuration(one, name="evencore")
        made["metadata"] |= more
        self.post(CONFIGURATIONS, made)

    def controller(self, name: str, *flags: str) -> Process:
        """Start a controller."""
        return self._start(
            "controller", name, "--bind", "127.0.0.1:0", "--identity", name,
            "--kubeconfig", str(self.kubeconfig), *flags,
        )  # fmt: skip

    def webhook(self, name: str, *flags: str) -> Process:
        """Start a webhook behind the Service."""
        port = free_port()
        process = self._start(
            "webhook", name, "--bind", f"127.0.0.1:{port}", "--cert-secret", SECRET,
            "--drain-seconds", "0", "--closing-seconds", "0",
            "--kubeconfig", str(self.kubeconfig), *flags,
        )  # fmt: skip
        self.webhooks.append((process, port))
        return process

    def ready(self, port: int) -> tuple[int, str]:
        """Ask a webhook whether it is ready."""
        return self.get(port, "/readyz")

    def get(self, port: int, path: str) -> tuple[int, str]:
        """Ask a webhook for something, as a kubelet does: without looking who it is."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        return 0, ""

    def serve(self) -> None:
        """Wait until all webhooks are ready, and lead the Service to them."""
        for process, port in self.webhooks:
            until(lambda port=port: self.ready(port)[0] == 200, process.log)  # type: ignore[misc]
        self._services.ports = [port for _, port in self.webhooks]

    def served(self, port: int) -> str:
        """Tell which certificate a webhook serves, as PEM."""
        with contextlib.suppress(OSError):
            return ssl.get_server_certificate(("127.0.0.1", port), timeout=5)
        return ""

    def mutated(self) -> bool:
        """Create a pod of 3 CPUs, and tell whether the webhook made it 4."""
        return Load(self.server).once()

    def _start(self, command: str, name: str, *flags: str) -> Process:
        process = Process([EVENCORE, command, *flags], self._directory / f"{name}.log")
        process.start()
        self._stack.callback(process.stop)
        return process


@dataclass
class Probes:
    """Calls each webhook over a new connection, verified against caBundle as it is just then."""

    cluster: Cluster
    calls: int = 0
    failed: list[str] = field(default_factory=list)
    serials: set[str] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Call for as long as the block takes."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join(PATIENCE_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            for _, port in self.cluster.webhooks:
                (entry,) = self.cluster.bundles.read().entries
                try:
                    self._call(port, entry.ca_bundle.decode())
                except (OSError, AssertionError, http.client.HTTPException) as error:
                    self.failed.append(repr(error))
                self.calls += 1

    def _call(self, port: int, bundle: str) -> None:
        context = ssl.create_default_context(cadata=bundle)
        with (
            socket.create_connection(("127.0.0.1", port), timeout=30) as plain,
            context.wrap_socket(plain, server_hostname=HOST) as connection,
        ):
            self.serials.add(str((connection.getpeercert() or {})["serialNumber"]))
            head = f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(_REVIEW)}\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n{_REVIEW}".encode())
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert (answer.status, b'"patch"' in answer.read()) == (http.HTTPStatus.OK, True)


@dataclass
class Load:
    """Pods created all the time by several clients; counts those that the webhook left alone."""

    server: ApiServer
    clients: int = 4
    admitted: int = 0
    unmutated: int = 0
    failed: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self) -> bool:
        """Create one pod."""
        with contextlib.closing(self._connect()) as connection:
            return self._create(connection)

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Create pods for as long as the block takes."""
        threads = [threading.Thread(target=self._run) for _ in range(self.clients)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)

    def _run(self) -> None:
        with contextlib.closing(self._connect()) as connection:
            while not self._stop.is_set():
                mutated = self._create(connection)
                with self._lock:
                    self.admitted += 1
                    self.unmutated += not mutated

    def _connect(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cadata=self.server.ca)
        return http.client.HTTPSConnection(
            "127.0.0.1", self.server.port, timeout=30, context=context
        )

    def _create(self, connection: http.client.HTTPSConnection) -> bool:
        connection.request("POST", PODS, _POD, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read().decode()
        if answer.status != http.HTTPStatus.CREATED:
            self.failed.append(body)
        return '"cpu":"4"' in body.replace(" ", "")


_SPEC: Final = (
    '"spec":{"containers":[{"name":"a","image":"a","resources":'
    '{"limits":{"cpu":"3","memory":"1Gi"}}}]}'
)
_REVIEW: Final = (
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",'
    '"operation":"CREATE","namespace":"default","kind":{"group":"","version":"v1","kind":"Pod"},'
    '"resource":{"group":"","version":"v1","resource":"pods"},"object":{"metadata":{"name":"p"},'
    f"{_SPEC}}}}}}}"
)
_POD: Final = '{"metadata":{"name":"p"},' + _SPEC + "}"
