"""The service account that a kubelet mounts into a pod.

For: reading it as client-go does, without the official client, which a pod has no other use for.
Not for: finding out whether we are in a pod at all; that is `configuration`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from evencore.kube import proxies
from evencore.kube.access import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TOKEN_AGE_S = 60.0
"""How old our copy of the token gets. Kubelets renew the file long before the token ends."""


def access(
    environ: Mapping[str, str], account: Path, now: Callable[[], float] = time.monotonic
) -> Access:
    """Make the Access of a pod with `account` mounted; `now` in seconds.

    Raises OSError, and ValueError for a file that is empty or no text.
    """
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    authority = account / "ca.crt"
    _content(authority)
    return Access(
        url,
        Token(account / "token", now),
        ca_file=str(authority),
        proxy=proxies.from_environment(url),
    )


class Token:
    """The token of a file that somebody else renews; read again when the copy is too old."""

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        self._file, self._now = file, now
        self._copy = self._read()

    def __call__(self) -> str:
        """Return the value of the header now. Raises OSError and ValueError as `access`."""
        value, end = self._copy
        if self._now() >= end:
            # Two threads may both read it: that is one small file more.
            value, _ = self._copy = self._read()
        return value

    def _read(self) -> tuple[str, float]:
        end = self._now() + TOKEN_AGE_S
        return f"Bearer {_content(self._file)}", end


def _content(file: Path) -> str:
    content = file.read_bytes().strip()
    if not content or not content.isascii():
        raise ValueError(f"{file} is no text")
    return content.decode()
