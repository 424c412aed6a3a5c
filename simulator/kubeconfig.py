"""Where the kubeconfig of a pocket cluster may be written: never over somebody's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulator.server import CONTEXT

if TYPE_CHECKING:
    from pathlib import Path


def refuse_foreign(path: Path) -> None:
    """Refuse a file that is there and was not written by a pocket cluster."""
    if not path.exists():
        return
    if f"current-context: {CONTEXT}" not in path.read_text(errors="replace").splitlines():
        raise click.UsageError(f"{path} is there and not of a pocket cluster: name another")
