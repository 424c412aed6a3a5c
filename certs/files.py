"""The files that the webhook serves from, swapped all at once, as kubelets swap mounted Secrets.

A reader finds the old pair or the new one, never one half of each: both files are links through
`..data`, and that link is replaced by one rename.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Final

from certs.pem import CERTIFICATE, KEY, Pair

if TYPE_CHECKING:
    from pathlib import Path

_DATA: Final = "..data"
_OURS_ALONE: Final = 0o700


class Volume:
    """A directory with tls.crt and tls.key. Several processes may write the same pairs to it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.certificate = directory / CERTIFICATE
        self.key = directory / KEY

    def read(self) -> Pair | None:
        """Give what is there; None if it cannot be read. It may be torn or rubbish."""
        try:
            return Pair(self.certificate.read_bytes(), self.key.read_bytes())
        except OSError:
            return None

    def prepare(self) -> None:
        """See that there are files, empty ones if need be. Raises OSError as `write`."""
        if self.read() is None:
            self.write(Pair(b"", b""))

    def write(self, pair: Pair) -> None:
        """Swap both files. On OSError, which is passed on, the old ones are still there."""
        self.directory.mkdir(_OURS_ALONE, parents=True, exist_ok=True)
        new = self.directory / f"..{_unheard_of()}"
        link = self.directory / f"{_DATA}_{_unheard_of()}"
        try:
            new.mkdir(_OURS_ALONE)
            for name, content in ((CERTIFICATE, pair.certificate), (KEY, pair.key)):
                _write(new / name, content)
            old = self._current()
            link.symlink_to(new.name)
            link.rename(self.directory / _DATA)
        except OSError:
            link.unlink(missing_ok=True)
            shutil.rmtree(new, ignore_errors=True)
            raise
        for file in (self.certificate, self.key):
            self._through_data(file)
        if old is not None and old != new:
            shutil.rmtree(old, ignore_errors=True)

    def _current(self) -> Path | None:
        """Give the directory that `..data` points to."""
        with contextlib.suppress(OSError):
            return self.directory / (self.directory / _DATA).readlink()
        return None

    def _through_data(self, file: Path) -> None:
        """Make a name a link through `..data`, whatever it was before."""
        target = f"{_DATA}/{file.name}"
        if file.is_symlink() and str(file.readlink()) == target:
            return
        link = self.directory / f"{_DATA}_{_unheard_of()}"
        link.symlink_to(target)
        link.rename(file)


def _unheard_of() -> str:
    """Make a name up."""
    return os.urandom(8).hex()  # as `secrets` would, without the hashes that come along


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # a rename may reach the disk before what it renames
