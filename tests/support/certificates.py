"""Throw-away certificates for tests, and a directory that changes as a mounted Secret does."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from certs.authority import make_authority
from certs.serving import make_leaf

HOST = "evencore-webhook.evencore.svc"
INSTALLED = "evencore-webhook.evencore-system.svc"
"""As the manifests in deploy/ have it."""

# Loopback: an API server may be told to call a webhook there (clientConfig.url).
_NAMES = (HOST, INSTALLED, "127.0.0.1")
_LIFE = timedelta(hours=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key in PEM; `serial` as Python's ssl module prints it."""

    certificate: bytes
    key: bytes
    serial: str


class Authority:
    """A certificate authority that lives as long as a test."""

    def __init__(self) -> None:
        self._pair = make_authority(datetime.now(UTC), _LIFE)
        self.pem = self._pair.certificate.decode()

    def issue(self) -> Pair:
        """Make a certificate for HOST, INSTALLED and loopback with a new key."""
        made = make_leaf(self._pair, _NAMES, datetime.now(UTC), _LIFE)
        serial = f"{x509.load_pem_x509_certificate(made.certificate).serial_number:X}"
        return Pair(made.certificate, made.key, serial.zfill(len(serial) + len(serial) % 2))


class SecretVolume:
    """Files behind the link `..data`, all swapped by one rename, as the kubelet does it."""

    def __init__(self, path: Path) -> None:
        self.certificate = path / "tls.crt"
        self.key = path / "tls.key"
        self._path = path
        self._count = 0
        path.mkdir()

    def write(self, pair: Pair) -> None:
        """Swap both files at once, then remove the old ones."""
        old = self._path / f"..{self._count}"
        self._count += 1
        new = self._path / f"..{self._count}"
        new.mkdir()
        (new / "tls.crt").write_bytes(pair.certificate)
        (new / "tls.key").write_bytes(pair.key)
        link = self._path / "..data_tmp"
        link.symlink_to(new.name)
        link.rename(self._path / "..data")
        for file in (self.certificate, self.key):
            if not file.is_symlink():
                file.symlink_to(Path("..data") / file.name)
        if old.is_dir():
            shutil.rmtree(old)
