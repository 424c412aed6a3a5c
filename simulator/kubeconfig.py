"""The kubeconfig of a pocket cluster as a file: never over somebody's own, and gone at the end."""

from __future__ import annotations

import base64
import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click
import yaml

from simulator.server import CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE_S: Final = 1.0


def refuse_foreign(path: Path) -> None:
    """Refuse a file that no pocket cluster wrote, or one that still runs."""
    if not path.exists():
        return
    text = path.read_text(errors="replace")
    if f"current-context: {CONTEXT}" not in text.splitlines():
        raise click.UsageError(f"{path} is there and not of a pocket cluster: name another")
    url = _running(text)
    if url:
        raise click.UsageError(
            f"{path} is of a pocket cluster that runs at {url}: name another, or end that one"
        )


@contextmanager
def written(path: Path, text: str) -> Iterator[None]:
    """Write it, and remove it at the end, unless it is a later cluster's by then."""
    path.write_text(text)
    try:
        yield
    finally:
        if path.exists() and path.read_text() == text:
            path.unlink()


def _running(text: str) -> str | None:
    """Give the address of the cluster of a kubeconfig if it answers, with its own certificate."""
    try:
        cluster: Any = yaml.safe_load(text)["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        trust = ssl.create_default_context(cadata=authority)
        address = (url.hostname, url.port)
        with (
            socket.create_connection(address, _PATIENCE_S) as bare,
            trust.wrap_socket(bare, server_hostname=url.hostname),
        ):
            return str(cluster["server"])
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return None  # it was left behind, and may be replaced
