"""The webhook's certificate out of a Secret: put together for `evencore webhook`.

For: where the files go, and who reads the Secret. Not for: what is done with either (`certs`).
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from certs import placeholder, usable
from certs.files import Volume
from certs.follower import Follower, Sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.kube.client import Client
    from evencore.kube.secrets import SecretStore

_MEMORY: Final = Path("/dev/shm")  # noqa: S108  a new directory is made there, for us alone


class Followed(NamedTuple):
    """Who keeps the files as the Secret is, and the files."""

    follower: Follower
    volume: Volume


def follow(
    client: Callable[[], Client], namespace: str, name: str, directory: Path | None
) -> Followed:
    """Prepare to serve what is in a Secret. Raises ValueError if its files cannot be written.

    They are there when this returns, for gunicorn looks whether they are, but may be empty: a
    worker fills them before it reads them. `client`: called in its thread, at the first look.
    """

    @cache
    def store() -> SecretStore:
        from evencore.kube.secrets import SecretStore  # noqa: PLC0415  it brings urllib3 along

        return SecretStore(client(), namespace, name)

    try:
        volume = Volume(directory or _new_directory())
        volume.prepare()
    except OSError as error:
        raise ValueError(
            f"--cert-directory (or EVENCORE_CERT_DIRECTORY): {error.filename}: {error.strerror}; "
            "give a directory that this process may write to, such as one on an emptyDir in memory"
        ) from error
    sources = Sources(
        secret=lambda: store().read(),
        judge=lambda pair: usable.judge(pair, volume.directory),
        placeholder=placeholder.make,
    )
    return Followed(Follower(sources, volume, f"Secret {namespace}/{name}"), volume)


def _new_directory() -> Path:
    """Make one that goes with this process; in memory if possible: the key is on no disk."""
    place = str(_MEMORY) if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="evencore-", dir=place))
    owner = os.getpid()  # its forks end before it, and must leave the files to it

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return made
