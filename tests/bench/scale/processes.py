"""The processes of a run: the stand-in for the API server, the controller, the webhook.

The webhook and the load have one core, everything else has the other: what a latency then shows
of the others is what they do to the webhook, not that they take its core. Webhook and controller
run as in a pod: with what the image has installed and no more, and with a service account.
"""

import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.bench.certificate import Certificate, client_context, make_certificate
from tests.bench.cores import Cores, choose_cores, cpu_seconds, pinned_to, process_tree
from tests.bench.errors import BenchError
from tests.bench.servers import ROOT, Place, end, free_port, tail

BIN = ROOT / ".venv-lean" / "bin"
"""What the image has; `make` makes it. In .venv libraries find more to import."""

READY_SECONDS = 120.0
"""Patience with a controller that reads a large cluster on a busy machine."""

_POLICY = ROOT / "deploy/base/policy.yaml"
_IN_POD = Path(__file__).with_name("in_pod.py")

_SECRET = "evencore-webhook-tls"  # noqa: S105  a name; the stand-in has one by any

_WRITES = "1000"
"""A second: what is measured is what the controller can do, not what it allows itself."""


@dataclass(frozen=True)
class Size:
    """How large a cluster is."""

    nodes: int
    pods: int
    rejected: int

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes, {self.pods:,} pods, {self.rejected:,} rejected"


@dataclass(frozen=True)
class Site:
    """What all processes of one size share."""

    size: Size
    directory: Path
    certificate: Certificate
    cores: Cores
    api_port: int

    @property
    def account(self) -> Path:
        """Return the directory of the service account: how the stand-in is reached."""
        return self.directory / "account"

    @property
    def place(self) -> Place:
        """Return where the webhook runs, and with it the load."""
        together = replace(self.cores, load=self.cores.server)
        return Place(self.directory, self.certificate, together)


@dataclass(frozen=True)
class Process:
    """One that runs."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    @property
    def pids(self) -> list[int]:
        """Return it and its descendants."""
        return process_tree(self.process.pid)

    def cpu(self) -> float:
        """Return its processor time so far, in seconds."""
        return cpu_seconds(self.pids)

    def wait(
        self, done: Callable[[], bool], seconds: float, trouble: str, pause: float = 0.05
    ) -> None:
        """Wait until something is so. Raises BenchError if it takes too long, or the process ends.

        `trouble`: what is wrong if it never is. `pause`: between two looks, in seconds.
        """
        deadline = time.monotonic() + seconds
        while not done():
            if self.process.poll() is not None:
                raise BenchError(f"it ended with {self.process.returncode}{tail(self.log)}")
            if time.monotonic() > deadline:
                raise BenchError(f"after {seconds:.0f} s {trouble}{tail(self.log)}")
            time.sleep(pause)  # it tells nobody


@contextmanager
def site(directory: Path, size: Size) -> Iterator[Site]:
    """Start the stand-in for an API server of this size."""
    made = Site(size, directory, make_certificate(directory), choose_cores(), free_port())
    command = [sys.executable, "-m", "tests.bench.scale.recorded", f"--port={made.api_port}"]
    command += [f"--nodes={size.nodes}", f"--pods={size.pods}", f"--rejected={size.rejected}"]
    pair = made.certificate
    command += [f"--certificate={pair.certificate}", f"--key={pair.key}"]
    made.account.mkdir(exist_ok=True)
    (made.account / "token").write_text("bench")
    (made.account / "ca.crt").write_bytes(pair.certificate.read_bytes())
    with _started("recorded", command, made, made.cores.load, made.api_port) as process:
        process.wait(lambda: ask(made, "stats") is not None, 20.0, "it does not answer")
        yield made


def ask(where: Site, what: str, **wishes: float) -> Any:  # noqa: ANN401  JSON
    """Have the stand-in do something; None if it does not answer."""
    query = "&".join(f"{name}={value}" for name, value in wishes.items())
    context = client_context(where.certificate.certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", where.api_port, context=context)
    with closing(connection):
        try:
            connection.request("POST", f"/bench/{what}?{query}")
            return json.loads(connection.getresponse().read())
        except ConnectionRefusedError:
            return None


@contextmanager
def controller(where: Site) -> Iterator[Process]:
    """Start a controller; it may not have read anything yet."""
    ask(where, "forget")
    port = free_port()
    command = [*_in_pod(where, "controller"), f"--bind=127.0.0.1:{port}"]
    command += ["--certs=external", "--log-level=warning"]
    command += [f"--writes-per-second={_WRITES}", f"--write-burst={_WRITES}"]
    with _started("controller", command, where, where.cores.load, port) as process:
        yield process


def wait_ready(process: Process) -> None:
    """Wait until a controller has read everything. Raises BenchError."""
    process.wait(lambda: _get(process.port, "/readyz") == 200, READY_SECONDS, "it is not ready")


def wait_settled(process: Process, where: Site) -> None:
    """Wait until a controller has neither written nor worked for two seconds."""
    last: tuple[Any, float] = (None, 0.0)

    def settled() -> bool:
        nonlocal last
        time.sleep(2.0)  # a stretch in which nothing may have happened
        now = (_writes(where), process.cpu())
        before, last = last, now
        return now[0] == before[0] and now[1] - before[1] < 0.1

    process.wait(settled, READY_SECONDS, "it does not come to rest")


@contextmanager
def webhook(where: Site) -> Iterator[Process]:
    """Start a webhook that follows the cluster; it may not serve yet."""
    port = free_port()
    command = [*_in_pod(where, "webhook"), f"--bind=127.0.0.1:{port}", f"--cert-secret={_SECRET}"]
    command += ["--drain-seconds=0", "--closing-seconds=0"]
    with (
        tempfile.TemporaryDirectory(dir=where.directory) as files,  # of a pod that is new
        _started(
            "webhook", [*command, f"--cert-directory={files}"], where, where.cores.server, port
        ) as process,
    ):
        yield process


def _in_pod(where: Site, command: str) -> list[str]:
    """Return how a command line begins that runs as in a pod of deploy/base. Raises BenchError."""
    python = BIN / "python"
    if not python.exists():
        raise BenchError(f"{python} is not there: `make bench-scale` makes it")
    return [str(python), "-P", str(_IN_POD), str(where.account), command, f"--policy={_POLICY}"]


def _writes(where: Site) -> dict[str, int]:
    requests = ask(where, "stats")["requests"]
    passive = ("GET", "LIST", "WATCH", "PATCH leases")
    return {what: n for what, n in requests.items() if not what.startswith(passive)}


def _get(port: int, path: str, context: ssl.SSLContext | None = None) -> int:
    """Return the status of an answer, 0 for none."""
    made = (
        http.client.HTTPSConnection("127.0.0.1", port, timeout=2, context=context)
        if context
        else http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    )
    with closing(made) as connection:
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0


def wait_serving(process: Process, where: Site) -> None:
    """Wait until a webhook has read everything. Raises BenchError."""
    context = client_context(where.certificate.certificate)
    process.wait(
        lambda: _get(process.port, "/readyz", context) == 200, READY_SECONDS, "it is not ready"
    )


def _environment(where: Site) -> dict[str, str]:
    """Return the variables of a pod: KUBECONFIG would go before them.

    The image has byte code; here the first start writes it.
    """
    without = ("KUBECONFIG", "PYTHONDONTWRITEBYTECODE")
    ours = {name: value for name, value in os.environ.items() if name not in without}
    address = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": where.api_port}
    return {**ours, **{name: str(value) for name, value in address.items()}}


@contextmanager
def _started(name: str, command: list[str], where: Site, core: int, port: int) -> Iterator[Process]:
    log = where.directory / f"{name}.log"
    with log.open("ab") as output, pinned_to(core, where.cores):
        process = subprocess.Popen(
            command, cwd=ROOT, env=_environment(where), stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield Process(process, port, log)
    finally:
        end(process)
