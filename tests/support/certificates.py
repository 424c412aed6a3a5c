"""Throw-away certificates for tests, and a directory that changes as a mounted Secret does."""

import datetime as dt
import ipaddress
import shutil
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)

HOST = "evencore-webhook.evencore.svc"
INSTALLED = "evencore-webhook.evencore-system.svc"
"""As the manifests in deploy/ have it."""


@dataclass(frozen=True)
class Pair:
    """A certificate and its key in PEM; `serial` as Python's ssl module prints it."""

    certificate: bytes
    key: bytes
    serial: str


class Authority:
    """A certificate authority that lives as long as a test.

    Not made by `certs`: it is somebody else's, which the controller must leave alone.
    """

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "evencore test")])
        unsigned = _builder(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        # Python 3.13 verifies strictly (RFC 5280): key usage and key identifiers must be there.
        unsigned = unsigned.add_extension(_SIGNS, critical=True).add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
        )
        self._certificate = unsigned.sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self) -> Pair:
        """Make a certificate for HOST, INSTALLED and loopback with a new EC P-256 key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        # Loopback: an API server may be told to call a webhook there (clientConfig.url).
        hosts = [x509.DNSName(HOST), x509.DNSName(INSTALLED)]
        names = [*hosts, x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            _builder(name, self._name, key)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        serial = f"{certificate.serial_number:X}"
        return Pair(
            certificate.public_bytes(serialization.Encoding.PEM),
            pem,
            serial.zfill(len(serial) + len(serial) % 2),
        )


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


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
    )
