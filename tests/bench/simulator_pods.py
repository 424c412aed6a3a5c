"""Prints how fast a whole pocket cluster brings pods to life, over HTTPS: part of `make bench`.

500 nodes and in the end 10,000 pods, made by several clients with kept connections, each followed
by watches until it is Running. Cluster and clients are two processes: on two cores of their own
the figures are wall-clock time of the cluster alone.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import uvloop
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES, PODS, FIRST = 500, 10_000, 3_000
CLIENTS, WATCHERS = 6, 20
PATH = "/api/v1/namespaces/default/pods"
RUNNING = b'"phase":"Running"'
UNREAD = 64 * 1024 * 1024
POD = {
    "metadata": {"generateName": "web-", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "app",
                "image": "registry.example/app:1",
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            }
        ]
    },
}


class Where(NamedTuple):
    """An API server, as a kubeconfig tells it."""

    port: int
    context: ssl.SSLContext

    @classmethod
    def read(cls, kubeconfig: Path) -> Where:
        """Read it from a file."""
        cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
        ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
        port = int(cluster["server"].rpartition(":")[2])
        return cls(port, ssl.create_default_context(cadata=ca))


class Connection:
    """One kept connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, where: Where) -> Connection:
        """Connect."""
        return cls(
            *await asyncio.open_connection("127.0.0.1", where.port, ssl=where.context, limit=UNREAD)
        )

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request that must succeed; gives the body of its answer."""
        head = await self._head(method, path, body)
        length = next(line for line in head if line.startswith(b"content-length:"))
        return await self._reader.readexactly(int(length.partition(b":")[2]))

    async def watch(self, path: str) -> None:
        """Begin a watch."""
        await self._head("GET", f"{path}?watch=true&timeoutSeconds=3600", b"")

    async def event(self) -> bytes:
        """Give the next event of the watch."""
        size = int((await self._reader.readuntil(b"\r\n")).strip(), 16)
        return (await self._reader.readexactly(size + 2))[:-2]

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def _head(self, method: str, path: str, body: bytes) -> list[bytes]:
        lines = f"{method} {path} HTTP/1.1\r\nHost: pocket\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        if not head[0].startswith(b"http/1.1 20"):
            raise SystemExit(f"{method} {path}: {head[0].decode()}")
        return head


async def create(where: Where, left: Iterator[int], body: bytes) -> None:
    """Make pods on one connection as long as there are some left to make."""
    connection = await Connection.open(where)
    for _ in left:
        await connection.ask("POST", PATH, body)
    connection.close()


async def follow(connection: Connection, count: int) -> None:
    """Read a watch until so many pods more are Running."""
    running: set[str] = set()
    while len(running) < count:
        event = await connection.event()
        if RUNNING in event:
            running.add(json.loads(event)["object"]["metadata"]["uid"])


async def bring_to_life(where: Where, count: int, watchers: int) -> tuple[float, float]:
    """Make pods; tells after how many seconds all were made, and all seen Running by all."""
    watches = [await Connection.open(where) for _ in range(watchers)]
    for one in watches:
        await one.watch(PATH)
        await asyncio.sleep(0)
    known = len(json.loads(await (await Connection.open(where)).ask("GET", PATH))["items"])
    followers = [asyncio.ensure_future(follow(one, known + count)) for one in watches]
    left, body = iter(range(count)), json.dumps(POD).encode()
    began = time.perf_counter()
    await asyncio.gather(*(create(where, left, body) for _ in range(CLIENTS)))
    made = time.perf_counter() - began
    await asyncio.gather(*followers)
    alive = time.perf_counter() - began
    for one in watches:
        one.close()
    return made, alive


async def measure(where: Where, pid: int) -> None:
    """Fill the cluster in two steps and list it."""
    for count, watchers in ((FIRST, 1), (PODS - FIRST, WATCHERS)):
        before = cpu_s(pid)
        made, alive = await bring_to_life(where, count, watchers)
        each = (cpu_s(pid) - before) / count * 1000
        click.echo(
            f"  {count:6} pods, {CLIENTS} clients, {watchers:2} watches: "
            f"created {count / made:.0f}, scheduled and Running {count / alive:.0f} a second; "
            f"{each:.2f} ms of CPU each"
        )
    connection = await Connection.open(where)
    for path in (PATH, "/api/v1/nodes"):
        began = time.perf_counter()
        listed = await connection.ask("GET", path)
        took = (time.perf_counter() - began) * 1000
        items, size = len(json.loads(listed)["items"]), len(listed) / 1e6
        click.echo(f"  {items:6} {path.rpartition('/')[2]} listed: {took:.0f} ms, {size:.1f} MB")


def cpu_s(pid: int) -> float:
    """Tell the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[Where, int]]:
    """Run a cluster as people do."""
    nodes, kubeconfig = folder / "nodes.yaml", folder / "kubeconfig"
    nodes.write_text(f"nodes: [{{name: node, count: {NODES}, machine: {{coresPerSocket: 16}}}}]")
    evencore = Path(sys.executable).with_name("evencore")
    command = [evencore, "cluster", "up", "--nodes", nodes, "--kubeconfig", kubeconfig]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            _, _, started = process.stdout.readline().strip().partition(" ")
            click.echo(f"Pocket cluster of {NODES} nodes {started}")
            yield Where.read(kubeconfig), process.pid
        finally:
            process.terminate()


def main() -> None:
    """Start a cluster, measure, stop it."""
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)) as (where, pid):
        uvloop.run(measure(where, pid))


if __name__ == "__main__":
    main()
